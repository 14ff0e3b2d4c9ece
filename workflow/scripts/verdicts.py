"""Judge every claim of the papers against the result tables."""

from pathlib import Path

from dpnoise import tables
from dpnoise.claims import judge, markdown, read_claims, read_tables

claims = read_claims(snakemake.input.claims)
results = Path(snakemake.output.table).parent
verdicts = judge(claims, read_tables(claims, results))
tables.write(verdicts, snakemake.output.table)
tables.write_text(markdown(claims, verdicts), snakemake.output.page)
counts = verdicts["verdict"].value_counts(sort=False)
Path(snakemake.log[0]).write_text(f"{counts.to_string()}\n", encoding="utf-8")
