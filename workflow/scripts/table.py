"""Make the result tables of one item: read its inputs, call its function, write."""

from dpnoise_papers import result_files
from dpnoise_papers.call import log, read_data, read_statuses, read_tables, resolve
from dpnoise_papers.claims.published import read_claims
from dpnoise_papers.settings import typed

given, params = snakemake.input, snakemake.params
data = [
    read_data(npz, status)
    for npz, status in zip(given.get("npz", []), given.get("status", []), strict=False)
]
tables = read_tables(given.get("tables", []), params.groups)
keywords = {}
if given.get("claims"):
    keywords["claims"] = read_claims(given.claims[0])
if given.get("status") and not data:
    keywords["statuses"] = read_statuses(given.status)
if snakemake.wildcards.get("part") and not data:
    keywords["part"] = snakemake.wildcards.part
if params.threaded:
    keywords["threads"] = snakemake.threads
made = resolve(params.function)(*typed(params.module, params.settings), *data, *tables, **keywords)
made = made if isinstance(made, tuple) else (made,)
for table, path in zip(made, snakemake.output, strict=True):
    result_files.write(table, path)
log(snakemake.log[0], ", ".join(f"{len(table)} rows" for table in made))
