"""Run coordinate descent on one data set with noise for other weights and by other readings."""

from pathlib import Path

import pandas as pd

from dpnoise import tables
from dpnoise.data.dataset import DatasetUnavailable
from dpnoise.data.prepared import read_prepared
from dpnoise.experiments import descent_readings as experiment

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
