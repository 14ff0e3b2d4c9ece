"""Make the counts of a city, or record why there are none."""

from contextlib import redirect_stderr
from functools import partial
from pathlib import Path

from dpnoise_papers.data.city.counts import city_contents
from dpnoise_papers.data.prepared import prepare

params, places = snakemake.params, dict(snakemake.config["datasets"])
strict = places.pop("strict")
get = partial(
    city_contents,
    params.hours,
    **params.counting,
    registry=snakemake.input.registry,
    **places,
)
with Path(snakemake.log[0]).open("w", encoding="utf-8") as log, redirect_stderr(log):
    status = prepare(
        "manhattan",
        snakemake.output.npz,
        get,
        tried_with=params.tried_with,
        strict=strict,
    )
    log.write(f"{status['status']} {status['reason']}\n")
