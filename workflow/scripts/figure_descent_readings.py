"""Draw the readings of improved DP-CD beside what Figures 5 and 6 of inid-2024 print."""

from pathlib import Path

import pandas as pd

from dpnoise import tables
from dpnoise.claims import judge, printed_numbers, read_claims
from dpnoise.figures.improved_descent import readings
from dpnoise.figures.style import save

claims = read_claims(snakemake.input.claims)
printed = []
for item in ("figure-5", "figure-6"):
    own = [claim for claim in claims if claim.result == f"inid-2024/{item}.csv"]
    printed.append(printed_numbers(own, judge(own, {}), paper="inid-2024", item=item))
table = tables.read(snakemake.input.table)
figure = readings(table, pd.concat(printed))
save(figure, Path(snakemake.output[0]).with_suffix(""))
Path(snakemake.log[0]).write_text(f"drawn from {len(table)} rows\n", encoding="utf-8")
