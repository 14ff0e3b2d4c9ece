"""Write the page for reviewers from the tables, figures and benchmark files of a run."""

from pathlib import Path

from dpnoise_papers.config import load_run, places
from dpnoise_papers.item import papers
from dpnoise_papers.making import job
from dpnoise_papers.result_files import write_text
from dpnoise_papers.review.making import Folders
from dpnoise_papers.review.report import report

given, params = snakemake.input, snakemake.params
with job(snakemake) as log:
    config, _ = load_run("config.yaml", *params.configfiles, overrides=params.overrides)
    page = Path(snakemake.output[0])
    folders = Folders(
        results=Path(given.verdicts).parent,
        figures=Path(places(config)["figures"]),
        benchmarks=Path(places(config)["benchmarks"]),
        page=page,
        options=tuple(params.options),
    )
    documents = {
        "published": Path(given.published[0]).parent,
        "choices": next(iter(given.get("choices", ())), ""),
    }
    optional = {path: state["reason"] for path, state in params.optional.items()}
    text = report(config, papers(), folders, optional=optional, **documents)
    write_text(text, page)
    log.append(f"{page}: {len(text.encode('utf-8'))} bytes")
