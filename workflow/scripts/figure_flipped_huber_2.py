"""Draw Figure 2 of flipped-huber-2023."""

from pathlib import Path

from dpnoise import tables
from dpnoise.figures.flipped_huber import figure_2
from dpnoise.figures.style import save

table = tables.read(snakemake.input.table)
save(figure_2(table), Path(snakemake.output[0]).with_suffix(""))
Path(snakemake.log[0]).write_text(f"drawn from {len(table)} rows\n", encoding="utf-8")
