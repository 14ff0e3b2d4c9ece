"""Say from which code, settings and data, on which machine, every file of this run was made."""

from pathlib import Path

from dpnoise_papers.making import job
from dpnoise_papers.result_files import write_text
from dpnoise_papers.review.run import as_json

params = snakemake.params
with job(snakemake) as log:
    text = as_json(snakemake.input, params.told, params.run, logs=Path(snakemake.log[0]).parent)
    write_text(text, snakemake.output[0])
    log.append(f"{len(snakemake.input)} files")
