"""Write several tables of one form as one."""

from pathlib import Path

import pandas as pd

from dpnoise_papers.result_files import read_table, write_table

table = pd.concat([read_table(path) for path in snakemake.input.tables])
write_table(table, snakemake.output[0])
Path(snakemake.log[0]).write_text(f"{len(table)} rows\n", encoding="utf-8")
