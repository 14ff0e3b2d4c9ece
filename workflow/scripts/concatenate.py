"""Write several tables of one form as one."""

from pathlib import Path

import pandas as pd

from dpnoise_papers import tables

table = pd.concat([tables.read(path) for path in snakemake.input.tables])
tables.write(table, snakemake.output[0])
Path(snakemake.log[0]).write_text(f"{len(table)} rows\n", encoding="utf-8")
