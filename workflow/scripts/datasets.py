"""List the data sets of this run: which were there, from where, and why others were not."""

import pandas as pd

from dpnoise_papers.making import job, read_statuses
from dpnoise_papers.result_files import write_table

COLUMNS = ["name", "status", "samples", "features", "fingerprint", "reason"]
with job(snakemake) as log:
    rows = []
    for status in read_statuses(snakemake.input.status).values():
        samples, features = status["shape"] or ("", "")
        rows.append(status | {"samples": samples, "features": features})
    write_table(pd.DataFrame(rows)[COLUMNS], snakemake.output[0])
    log.append(f"{len(rows)} data sets")
