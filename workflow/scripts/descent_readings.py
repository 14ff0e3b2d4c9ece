"""Run coordinate descent on one data set with noise for other weights and by other readings."""

from pathlib import Path

import pandas as pd

from dpnoise_papers.data.dataset import DatasetUnavailable
from dpnoise_papers.data.prepared import read_prepared
from dpnoise_papers.inid_2024.tables import descent_variants as experiment
from dpnoise_papers.result_files import write_table

params = snakemake.params
try:
    dataset = read_prepared(snakemake.input.npz, snakemake.input.status)
except DatasetUnavailable as missing:
    weights = pd.DataFrame(columns=experiment.WEIGHTS_COLUMNS)
    readings = pd.DataFrame(columns=experiment.READINGS_COLUMNS)
    outcome = f"not run: {missing}"
else:
    settings = params.settings, params.more
    weights, readings = experiment.descent_readings(
        dataset, params.task, *settings, seed=params.seed, threads=snakemake.threads
    )
    outcome = f"{len(weights)} and {len(readings)} rows"
write_table(weights, snakemake.output.weights)
write_table(readings, snakemake.output.readings)
Path(snakemake.log[0]).write_text(f"{outcome}\n", encoding="utf-8")
