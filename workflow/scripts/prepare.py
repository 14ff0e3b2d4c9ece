"""Get, verify and store one data set or city, or record why there is none."""

from contextlib import redirect_stderr
from functools import partial
from pathlib import Path

from dpnoise_papers.call import resolve
from dpnoise_papers.data.prepared import prepare

params, places = snakemake.params, dict(snakemake.config["datasets"])
strict = places.pop("strict")
get = partial(resolve(params.contents), **params.told, registry=snakemake.input.registry, **places)
with Path(snakemake.log[0]).open("w", encoding="utf-8") as log, redirect_stderr(log):
    status = prepare(
        params.name, snakemake.output.npz, get, tried_with=params.tried_with, strict=strict
    )
    log.write(f"{status['name']}: {status['status']} {status['source'] or status['reason']}\n")
