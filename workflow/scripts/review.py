"""Write the page for reviewers from the tables, figures and benchmark files of a run."""

from pathlib import Path

from dpnoise_papers.config import places
from dpnoise_papers.making import job
from dpnoise_papers.result_files import write_text
from dpnoise_papers.review.making import Folders, command_options
from dpnoise_papers.review.report import report
from dpnoise_papers.steps import Run

params, page = snakemake.params, Path(snakemake.output[0])
with job(snakemake) as log:
    run = Run.of(*params.files, overrides=params.overrides)
    folders = Folders(
        results=Path(run.results),
        figures=Path(run.figures),
        benchmarks=Path(places(run.config)["benchmarks"]),
        page=page,
        options=tuple(command_options(params.files, params.overrides)),
    )
    documents = {"published": "published", "choices": "docs/choices.md"}
    text = report(run, folders, optional=run.optional(), **documents)
    write_text(text, page)
    log.append(f"{page}: {len(text.encode('utf-8'))} bytes")
