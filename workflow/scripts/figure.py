"""Draw the figure of one item from its tables, some beside the numbers that the paper prints."""

from pathlib import Path

from dpnoise_papers.call import log, read_tables, resolve
from dpnoise_papers.claims.beside import printed_beside
from dpnoise_papers.style import save

given, params = snakemake.input, snakemake.params
tables = read_tables(given.tables, params.groups)
if params.printed:
    tables.append(printed_beside(given.claims[0], params.paper, params.printed, given.tables))
save(resolve(params.function)(*tables), Path(snakemake.output[0]).with_suffix(""))
log(snakemake.log[0], f"drawn from {len(given.tables)} tables")
