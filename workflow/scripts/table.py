"""Make the result tables of one item: read its inputs, call its function, write."""

import time

from dpnoise_papers import result_files
from dpnoise_papers.config import typed
from dpnoise_papers.making import PROCESSOR_TIME, job, read_statuses, read_tables, resolve

given, params = snakemake.input, snakemake.params
with job(snakemake) as log:
    data, keywords = [], {}
    if params.data:
        data = list(map(resolve(params.data), given.npz))
        log.extend("no data: not run" for one in data if one is None)
    if params.by_part:
        keywords["part"] = snakemake.wildcards.part
    if params.statuses:
        keywords["statuses"] = read_statuses(given.status)
    if params.claims:
        keywords["claims"] = resolve(params.claims)(given.claims[0])
    if params.threaded:
        keywords["threads"] = snakemake.threads
    tables = read_tables(given.get("tables", []), params.groups)
    settings = typed(params.module, params.settings)
    made = resolve(params.function)(*settings, *data, *tables, **keywords)
    made = made if isinstance(made, tuple) else (made,)
    if "digest" in params.keys():  # noqa: SIM118 - of an optional item; params is no mapping
        made = [table.assign(settings_digest=params.digest) for table in made]
    for table, path in zip(made, snakemake.output, strict=True):
        result_files.write_table(table, path)
        log.append(f"{path}: {len(table)} rows")
    log.append(f"{time.process_time():.1f}{PROCESSOR_TIME}")
