"""Say what became of the trips of each hour, and which sensitivity holds."""

from pathlib import Path

from dpnoise_papers.data.city.counts import read_city
from dpnoise_papers.data.city.synthetic import city_data, complete_city
from dpnoise_papers.result_files import write_table

params = snakemake.params
city = complete_city(
    read_city(snakemake.input.city), params.hours, seed=params.seed, **params.synthetic
)
table = city_data(city, most=params.synthetic["most"])
write_table(table, snakemake.output[0])
Path(snakemake.log[0]).write_text(f"{len(table)} hours\n", encoding="utf-8")
