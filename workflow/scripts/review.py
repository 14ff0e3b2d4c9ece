"""Write the page for reviewers from the tables, figures and benchmark files of a run."""

from dpnoise_papers.making import job
from dpnoise_papers.result_files import write_text
from dpnoise_papers.review.report import command_options, report
from dpnoise_papers.steps import Run

params, page = snakemake.params, snakemake.output[0]
with job(snakemake) as log:
    run = Run.of(*params.files, overrides=params.overrides)
    text = report(run, command_options(params.files, params.overrides))
    write_text(text, page)
    log.append(f"{page}: {len(text.encode('utf-8'))} bytes")
