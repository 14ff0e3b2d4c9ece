"""Make the result tables of some items: read, call the function, write."""

import gc
import time

from dpnoise_papers.config import typed
from dpnoise_papers.making import arguments, job, resolve
from dpnoise_papers.result_files import write_table

gc.disable()  # loading modules leaves no garbage; looking for it takes a tenth of the time
with job(snakemake) as log:
    functions = [resolve(call["function"]) for call in snakemake.params.calls]
    gc.enable()
    for function, call in zip(functions, snakemake.params.calls, strict=True):
        began = time.monotonic()
        settings = typed(call["module"], call["settings"])
        data = [resolve(call["reader"])(path) for path in call["npz"]]
        tables, claims = arguments(call)
        keywords = call["keywords"] | claims
        if call["threaded"]:
            keywords["threads"] = snakemake.threads
        made = function(*settings, *data, *tables, **keywords)
        made = made if isinstance(made, tuple) else (made,)
        for table, path in zip(made, call["outputs"], strict=True):
            write_table(table.assign(**call["columns"]), path)
            log.append(f"{path}: {len(table)} rows")
        log.append(f"{call['item']}: {time.monotonic() - began:.1f} s")
