"""Sweep the hyper-parameters of Table III of flipped-huber-2023 on one data set."""

from pathlib import Path

import pandas as pd

from dpnoise_papers.data.dataset import DatasetUnavailable
from dpnoise_papers.data.prepared import read_prepared
from dpnoise_papers.flipped_huber_2023.tables.table_3 import CHOSEN_COLUMNS, table_3
from dpnoise_papers.result_files import write_table

params = snakemake.params
try:
    dataset = read_prepared(snakemake.input.npz, snakemake.input.status)
except DatasetUnavailable as missing:
    sweep, chosen = pd.DataFrame(columns=["mechanism"]), pd.DataFrame(columns=CHOSEN_COLUMNS)
    outcome = f"not run: {missing}"
else:
    sweep, chosen = table_3(
        dataset, params.task, params.settings, seed=params.seed, threads=snakemake.threads
    )
    outcome = f"{len(sweep)} configurations"
write_table(sweep, snakemake.output.sweep)
write_table(chosen, snakemake.output.chosen)
Path(snakemake.log[0]).write_text(f"{outcome}\n", encoding="utf-8")
