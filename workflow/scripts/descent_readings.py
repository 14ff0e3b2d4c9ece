"""Run coordinate descent on one data set with noise for other weights and by other readings."""

from pathlib import Path

import pandas as pd

from dpnoise_papers import tables
from dpnoise_papers.data.dataset import DatasetUnavailable
from dpnoise_papers.data.prepared import read_prepared
from dpnoise_papers.inid_2024.tables import descent_variants as experiment

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
tables.write(weights, snakemake.output.weights)
tables.write(readings, snakemake.output.readings)
Path(snakemake.log[0]).write_text(f"{outcome}\n", encoding="utf-8")
