"""Get, verify and store one data set, or record why there is none."""

from contextlib import redirect_stderr
from functools import partial
from pathlib import Path

from dpnoise_papers.data.prepared import dataset_contents, prepare

name, places = snakemake.params.name, dict(snakemake.config["datasets"])
strict = places.pop("strict")
get = partial(dataset_contents, name, registry=snakemake.input.registry, **places)
with Path(snakemake.log[0]).open("w", encoding="utf-8") as log, redirect_stderr(log):
    outcome = prepare(
        name,
        snakemake.output.npz,
        get,
        tried_with=snakemake.params.tried_with,
        strict=strict,
    )
    log.write(f"{name}: {outcome['status']} {outcome['source'] or outcome['reason']}\n")
