"""List the data sets of this run: which were there, from where, and why others were not."""

import json
from pathlib import Path

import pandas as pd

from dpnoise_papers.result_files import write_table

COLUMNS = ["name", "status", "samples", "features", "fingerprint", "reason"]
rows = []
for path in snakemake.input.status:
    status = json.loads(Path(path).read_text(encoding="utf-8"))
    samples, features = status["shape"] or ("", "")
    rows.append(status | {"samples": samples, "features": features})
write_table(pd.DataFrame(rows)[COLUMNS], snakemake.output[0])
Path(snakemake.log[0]).write_text(f"{len(rows)} data sets\n", encoding="utf-8")
