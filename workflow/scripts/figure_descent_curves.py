"""Draw the DP-CD curves of the slides."""

from pathlib import Path

from dpnoise_papers.flipped_huber_slides.figures.descent_curves import descent_curves
from dpnoise_papers.result_files import read_table
from dpnoise_papers.style import save

table = read_table(snakemake.input.table)
save(descent_curves(table), Path(snakemake.output[0]).with_suffix(""))
Path(snakemake.log[0]).write_text(f"drawn from {len(table)} rows\n", encoding="utf-8")
