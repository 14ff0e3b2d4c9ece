"""Rank the variants of Table III's ablation by how well they explain the printed numbers."""

from pathlib import Path

import pandas as pd

from dpnoise_papers.claims import read_claims
from dpnoise_papers.flipped_huber_2023.figures.table_3_ablation import markdown, rank
from dpnoise_papers.flipped_huber_2023.figures.table_3_pages import printed_values
from dpnoise_papers.result_files import read_table, write_table, write_text

parts = [part for part in map(read_table, snakemake.input.tables) if len(part)]
paper = printed_values(read_claims(snakemake.input.claims))
runs = pd.concat(parts, ignore_index=True) if parts else read_table(snakemake.input.tables[0])
ranking = rank(runs, paper)
write_table(ranking, snakemake.output.table)
write_text(markdown(ranking, runs, paper), snakemake.output.page)
Path(snakemake.log[0]).write_text(f"{len(ranking)} variants\n", encoding="utf-8")
