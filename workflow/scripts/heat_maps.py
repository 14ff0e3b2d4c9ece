"""Release one map of a city by every method: its errors, its counts, its roads."""

from pathlib import Path

from dpnoise_papers.balle_wang_2018.tables.heat_maps import heat_maps
from dpnoise_papers.data.city.counts import read_city
from dpnoise_papers.data.city.synthetic import complete_city
from dpnoise_papers.result_files import write_table

params = snakemake.params
city = complete_city(
    read_city(snakemake.input.city), [params.settings["hour"]], seed=params.seed, **params.synthetic
)
made = heat_maps(city, seed=params.seed, **params.settings)
for table, path in zip(made, snakemake.output, strict=True):
    write_table(table, path)
Path(snakemake.log[0]).write_text(f"{len(made[1])} junctions\n", encoding="utf-8")
