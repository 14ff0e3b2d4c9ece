"""Tabulate the normalised Fisher information (Figure 2 of flipped-huber-2023)."""

from pathlib import Path

from dpnoise import tables
from dpnoise.experiments.densities import fisher_information

table = fisher_information(**snakemake.params.settings)
tables.write(table, snakemake.output[0])
Path(snakemake.log[0]).write_text(f"{len(table)} rows\n", encoding="utf-8")
