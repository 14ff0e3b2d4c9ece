"""Draw where Lemma 7 of flipped-huber-2023 fails."""

from pathlib import Path

from dpnoise_papers.flipped_huber_2023.figures.lemma_7 import lemma_7
from dpnoise_papers.result_files import read_table
from dpnoise_papers.style import save

table = read_table(snakemake.input.table)
save(lemma_7(table), Path(snakemake.output[0]).with_suffix(""))
Path(snakemake.log[0]).write_text(f"drawn from {len(table)} rows\n", encoding="utf-8")
