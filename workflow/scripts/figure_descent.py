"""Draw Figures 5 and 6 of inid-2024 or what varies them, beside the numbers that they print."""

from importlib import import_module
from pathlib import Path

import pandas as pd

from dpnoise_papers.claims import judge, printed_numbers, read_claims
from dpnoise_papers.result_files import read_table
from dpnoise_papers.style import save

claims = read_claims(snakemake.input.claims)
printed = []
for item in snakemake.params.beside:
    own = [claim for claim in claims if claim.item == item]
    printed.append(printed_numbers(own, judge(own, {}), paper="inid-2024", item=item))
module, name = snakemake.params.figure.split(":")
table = read_table(snakemake.input.table)
beside = [pd.concat(printed)] if printed else []
figure = getattr(import_module(module), name)(table, *beside)
save(figure, Path(snakemake.output[0]).with_suffix(""))
Path(snakemake.log[0]).write_text(f"drawn from {len(table)} rows\n", encoding="utf-8")
