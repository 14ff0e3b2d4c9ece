"""Release one map of a city by every method: its errors, its counts, its roads."""

from pathlib import Path

from dpnoise import tables
from dpnoise.data.city import read_city
from dpnoise.experiments.city import complete_city
from dpnoise.experiments.heat_maps import heat_maps

params = snakemake.params
city = complete_city(
    read_city(snakemake.input.city), [params.settings["hour"]], seed=params.seed, **params.synthetic
)
made = heat_maps(city, seed=params.seed, **params.settings)
for table, path in zip(made, snakemake.output, strict=True):
    tables.write(table, path)
Path(snakemake.log[0]).write_text(f"{len(made[1])} junctions\n", encoding="utf-8")
