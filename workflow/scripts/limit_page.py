"""Say in words where each mechanism is within 1 % of the limit of additive noise."""

from pathlib import Path

from dpnoise_papers import tables
from dpnoise_papers.flipped_huber_2023.figures.limit_page import limit_page
from dpnoise_papers.flipped_huber_2023.tables.limit import within

table = tables.read(snakemake.input.table)
runs = within(table)
tables.write(runs, snakemake.output.table)
tables.write_text(limit_page(table), snakemake.output.page)
Path(snakemake.log[0]).write_text(f"{len(runs)} runs\n", encoding="utf-8")
