"""Get, verify and store one data set or city, or record why there is none."""

from contextlib import redirect_stderr
from functools import partial
from io import StringIO

from dpnoise_papers.data.sets import prepare
from dpnoise_papers.making import job, resolve

params, places = snakemake.params, dict(snakemake.config["datasets"])
strict = places.pop("strict")
get = partial(resolve(params.contents), **params.told, registry=params.registry, **places)
with job(snakemake) as log, redirect_stderr(StringIO()) as said:
    status = prepare(
        params.name, snakemake.output.npz, get, tried_with=params.tried_with, strict=strict
    )
    log.extend(said.getvalue().splitlines())
    log.append(f"{status['name']}: {status['status']} {status['source'] or status['reason']}")
