"""Get, verify and store one data set, city or images; an error says what was looked for."""

from contextlib import redirect_stderr
from functools import partial
from io import StringIO

from dpnoise_papers.data.sets import prepare
from dpnoise_papers.making import job, resolve

call, name = snakemake.params.call, snakemake.wildcards.dataset.rpartition("/")[2]
with job(snakemake) as log, redirect_stderr(StringIO()) as said:
    get = partial(resolve(call["function"]), **call["told"], **snakemake.config["places"])
    status = prepare(name, snakemake.output.npz, get)
    log.extend(said.getvalue().splitlines())
    log.append(f"{status['name']}: {status['source']}")
