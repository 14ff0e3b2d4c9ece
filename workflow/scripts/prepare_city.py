"""Make the counts of a city, or record why there are none."""

from contextlib import redirect_stderr
from pathlib import Path

from dpnoise_papers.data.city.counts import prepare_city

with Path(snakemake.log[0]).open("w", encoding="utf-8") as log, redirect_stderr(log):
    status = prepare_city(
        snakemake.output.npz,
        hours=snakemake.params.hours,
        **snakemake.params.counting,
        cache=snakemake.params.cache,
        offline=snakemake.params.offline,
        registry=snakemake.input.registry,
        attempt=snakemake.params.attempt,
        strict=snakemake.params.strict,
    )
    log.write(f"{status['status']} {status['reason']}\n")
