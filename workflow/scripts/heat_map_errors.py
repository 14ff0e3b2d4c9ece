"""Measure every method's error over epsilon for one hour of a city."""

from pathlib import Path

from dpnoise import tables
from dpnoise.data.city import read_city
from dpnoise.experiments.city import complete_city
from dpnoise.experiments.heat_maps import heat_map_errors

params = snakemake.params
city = complete_city(
    read_city(snakemake.input.city), [params.hour], seed=params.seed, **params.synthetic
)
table = heat_map_errors(city, seed=params.seed, hour=params.hour, **params.settings)
tables.write(table, snakemake.output[0])
Path(snakemake.log[0]).write_text(f"{len(table)} rows\n", encoding="utf-8")
