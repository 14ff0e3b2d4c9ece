"""Get, verify and store one data set, or record why there is none."""

from contextlib import redirect_stderr
from pathlib import Path

from dpnoise_papers.data.prepared import prepare

with Path(snakemake.log[0]).open("w", encoding="utf-8") as log, redirect_stderr(log):
    outcome = prepare(
        snakemake.params.name,
        snakemake.output.npz,
        snakemake.output.status,
        cache=snakemake.params.cache,
        mirror=snakemake.params.get("mirror"),
        offline=snakemake.params.offline,
        registry=snakemake.input.registry,
        attempt=snakemake.params.attempt,
        strict=snakemake.params.strict,
    )
    log.write(f"{outcome['name']}: {outcome['status']} {outcome['source'] or outcome['reason']}\n")
