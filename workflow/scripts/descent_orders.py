"""Run coordinate descent on one data set with its columns in many orders."""

from pathlib import Path

import pandas as pd

from dpnoise_papers.data.dataset import DatasetUnavailable
from dpnoise_papers.data.prepared import read_prepared
from dpnoise_papers.inid_2024.tables import descent_orders as experiment
from dpnoise_papers.result_files import write_table

params = snakemake.params
try:
    dataset = read_prepared(snakemake.input.npz, snakemake.input.status)
except DatasetUnavailable as missing:
    orders = pd.DataFrame(columns=experiment.COLUMNS)
    spread = pd.DataFrame(columns=experiment.SPREAD_COLUMNS)
    outcome = f"not run: {missing}"
else:
    settings = params.settings, params.more
    orders, spread = experiment.descent_orders(
        dataset, params.task, *settings, seed=params.seed, threads=snakemake.threads
    )
    outcome = f"{len(orders)} rows"
write_table(orders, snakemake.output.orders)
write_table(spread, snakemake.output.spread)
Path(snakemake.log[0]).write_text(f"{outcome}\n", encoding="utf-8")
