"""Say from which code, settings and data, on which machine, every file of this run was made."""

import json

from dpnoise_papers.making import job, read_statuses
from dpnoise_papers.result_files import write_text
from dpnoise_papers.run.provenance import files_made, run_stamp

given, params = snakemake.input, snakemake.params
with job(snakemake) as log:
    record = {"revision": params.revision, "modified": params.modified} | run_stamp()
    record |= {"seed": params.seed, "settings_changed": params.settings_changed}
    statuses = read_statuses(given.status)
    record["data"] = {
        name: {key: one[key] for key in ("status", "fingerprint")} for name, one in statuses.items()
    }
    record["strays"] = params.strays
    record |= files_made(given.files, params.files, params.stems, params.records, params.also)
    record["files"] |= params.optional
    write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", snakemake.output[0])
    log.append(f"{len(given.files)} files")
