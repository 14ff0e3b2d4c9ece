"""Vary the unprinted choices of Table III of flipped-huber-2023 on one data set."""

from pathlib import Path

import pandas as pd

from dpnoise_papers.data.dataset import DatasetUnavailable
from dpnoise_papers.data.prepared import read_prepared
from dpnoise_papers.flipped_huber_2023.tables.table_3_ablation import COLUMNS, ablate
from dpnoise_papers.result_files import write_table

params = snakemake.params
try:
    dataset = read_prepared(snakemake.input.npz, snakemake.input.status)
except DatasetUnavailable as missing:
    table, outcome = pd.DataFrame(columns=COLUMNS), f"not run: {missing}"
else:
    table = ablate(
        dataset,
        params.task,
        params.settings,
        params.ablation,
        seed=params.seed,
        threads=snakemake.threads,
    )
    outcome = f"{len(table)} rows"
write_table(table, snakemake.output[0])
Path(snakemake.log[0]).write_text(f"{outcome}\n", encoding="utf-8")
