"""Judge every claim of the papers against the result tables."""

from pathlib import Path

from dpnoise import tables
from dpnoise.claims import judge, markdown, named_tables, read_published, read_tables

published = read_published(Path(snakemake.input.published[0]).parent)
results = read_tables(named_tables(published), Path(snakemake.output.table).parent)
verdicts = judge(published.claims, results)
tables.write(verdicts, snakemake.output.table)
tables.write_text(markdown(published, verdicts, results), snakemake.output.page)
counts = verdicts["verdict"].value_counts(sort=False)
Path(snakemake.log[0]).write_text(f"{counts.to_string()}\n", encoding="utf-8")
