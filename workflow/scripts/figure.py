"""Draw the figure of one item from its tables, some beside the numbers that the paper prints."""

from pathlib import Path

from dpnoise_papers.call import logged, read_tables, resolve
from dpnoise_papers.style import save

given, params = snakemake.input, snakemake.params
with logged(snakemake.log[0]) as log:
    tables = read_tables(given.tables, params.groups)
    if params.claims:
        beside = resolve(params.claims)
        tables.append(beside(given.claims[0], params.paper, params.printed, given.tables))
    stem = Path(snakemake.output[0]).with_suffix("")
    title = f"{params.paper}, {stem.name}"
    save(resolve(params.function)(*tables), stem, title=title, description=params.caption)
    log.append(f"drawn from {', '.join(given.tables)}")
