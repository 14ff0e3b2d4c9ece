"""Draw where Lemma 7 of flipped-huber-2023 fails."""

from pathlib import Path

from dpnoise_papers import tables
from dpnoise_papers.flipped_huber_2023.figures.lemma_7 import lemma_7
from dpnoise_papers.style import save

table = tables.read(snakemake.input.table)
save(lemma_7(table), Path(snakemake.output[0]).with_suffix(""))
Path(snakemake.log[0]).write_text(f"drawn from {len(table)} rows\n", encoding="utf-8")
