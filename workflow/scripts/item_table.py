"""Run the experiment of one item of a paper and write its table."""

from importlib import import_module
from pathlib import Path

from dpnoise_papers.result_files import write_table

module, name = snakemake.params.experiment.split(":")
table = getattr(import_module(module), name)(**snakemake.params.settings)
write_table(table, snakemake.output[0])
Path(snakemake.log[0]).write_text(f"{len(table)} rows\n", encoding="utf-8")
