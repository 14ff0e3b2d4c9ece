"""Draw Figure 1 of flipped-huber-2023."""

from pathlib import Path

from dpnoise import tables
from dpnoise.figures.flipped_huber import figure_1
from dpnoise.figures.style import save

table = tables.read(snakemake.input.table)
save(figure_1(table), Path(snakemake.output[0]).with_suffix(""))
Path(snakemake.log[0]).write_text(f"drawn from {len(table)} rows\n", encoding="utf-8")
