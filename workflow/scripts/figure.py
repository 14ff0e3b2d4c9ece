"""Draw the figure of one item from its tables, some beside the numbers that the paper prints."""

import gc
from pathlib import Path

from dpnoise_papers.making import job, read_tables, resolve

given, params = snakemake.input, snakemake.params
gc.disable()  # a figure leaves little garbage; looking for it took a tenth of the time
with job(snakemake) as log:
    from dpnoise_papers.style import save

    tables = read_tables(given.tables, params.groups)
    if params.claims:
        beside = resolve(params.claims)
        tables.append(beside(given.claims[0], params.paper, params.printed, given.tables))
    stem = Path(snakemake.output[0]).with_suffix("")
    title = f"{params.paper}, {stem.name}"
    save(resolve(params.function)(*tables), stem, title=title, description=params.caption)
    log.append(f"drawn from {', '.join(given.tables)}")
