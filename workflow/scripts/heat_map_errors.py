"""Measure every method's error over epsilon for one hour of a city."""

from pathlib import Path

from dpnoise_papers.balle_wang_2018.tables.heat_maps import heat_map_errors
from dpnoise_papers.data.city.counts import read_city
from dpnoise_papers.data.city.synthetic import complete_city
from dpnoise_papers.result_files import write_table

params = snakemake.params
city = complete_city(
    read_city(snakemake.input.city), [params.hour], seed=params.seed, **params.synthetic
)
table = heat_map_errors(city, seed=params.seed, hour=params.hour, **params.settings)
write_table(table, snakemake.output[0])
Path(snakemake.log[0]).write_text(f"{len(table)} rows\n", encoding="utf-8")
