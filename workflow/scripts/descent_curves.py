"""Take the DP-CD curves of the slides out of the sweeps of Table III."""

from pathlib import Path

from dpnoise_papers import tables
from dpnoise_papers.flipped_huber_slides.tables.descent_curves import descent_curves

sweeps = map(tables.read, snakemake.input.sweeps)
table = descent_curves(dict(zip(snakemake.params.datasets, sweeps, strict=True)))
tables.write(table, snakemake.output[0])
Path(snakemake.log[0]).write_text(f"{len(table)} rows\n", encoding="utf-8")
