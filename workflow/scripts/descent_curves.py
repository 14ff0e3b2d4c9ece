"""Take the DP-CD curves of the slides out of the sweeps of Table III."""

from pathlib import Path

from dpnoise_papers.flipped_huber_slides.tables.descent_curves import descent_curves
from dpnoise_papers.result_files import read_table, write_table

sweeps = map(read_table, snakemake.input.sweeps)
table = descent_curves(dict(zip(snakemake.params.datasets, sweeps, strict=True)))
write_table(table, snakemake.output[0])
Path(snakemake.log[0]).write_text(f"{len(table)} rows\n", encoding="utf-8")
