"""Draw where Lemma 7 of flipped-huber-2023 fails."""

from pathlib import Path

from dpnoise import tables
from dpnoise.figures.style import save
from dpnoise.figures.theory import lemma_7

table = tables.read(snakemake.input.table)
save(lemma_7(table), Path(snakemake.output[0]).with_suffix(""))
Path(snakemake.log[0]).write_text(f"drawn from {len(table)} rows\n", encoding="utf-8")
