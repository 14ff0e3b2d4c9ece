"""Say in words where each mechanism is within 1 % of the limit of additive noise."""

from pathlib import Path

from dpnoise_papers.flipped_huber_2023.figures.limit_page import limit_page
from dpnoise_papers.flipped_huber_2023.tables.limit import within
from dpnoise_papers.result_files import read_table, write_table, write_text

table = read_table(snakemake.input.table)
runs = within(table)
write_table(runs, snakemake.output.table)
write_text(limit_page(table), snakemake.output.page)
Path(snakemake.log[0]).write_text(f"{len(runs)} runs\n", encoding="utf-8")
