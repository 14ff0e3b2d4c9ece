"""A small real run for the tests of the page: a few items, their figures and all verdicts."""

import json
from pathlib import Path

from dpnoise_papers.claims import quantity
from dpnoise_papers.claims.judge import judge
from dpnoise_papers.claims.published import read_published
from dpnoise_papers.claims.references import named_tables
from dpnoise_papers.config import load, typed
from dpnoise_papers.item import papers
from dpnoise_papers.making import read_tables, resolve
from dpnoise_papers.result_files import write_table, write_text
from dpnoise_papers.review.making import Folders
from dpnoise_papers.steps import steps
from dpnoise_papers.style import save

ITEMS = {
    ("inid-2024", "figure-1a"),
    ("inid-2024", "figure-3b"),
    ("balle-wang-2018", "figure-1a"),
    ("inid-2024", "table-1"),
}
PROVENANCE = {
    "revision": "0123456789abcdef0123456789abcdef01234567",
    "date": "2026-01-02T03:04:05+00:00",
    "machine": {"system": "Linux", "cpu": "some <CPU>", "cores": 2, "python": "3.11.2"},
    "settings_changed": [{"setting": "seed", "paper": 1, "run": 2}],
}


def run(folder):
    """Make the items below a folder as the rules do; return the config and the folders."""
    config = load("config.yaml", "config.quick.yaml")
    folders = Folders(
        results=folder / "results",
        figures=folder / "figures",
        benchmarks=folder / "benchmarks",
        page=folder / "report.html",
        options=("--configfile", "config.quick.yaml"),
    )
    for kind in ("table", "figure", "page"):
        for step in steps(config, papers(), kind):
            if (step.paper, step.item) in ITEMS:
                _make(step, folders)
    write_text(json.dumps(PROVENANCE), folders.results / "provenance.json")
    published = read_published("published")
    tables = quantity.read_tables(named_tables(published), folders.results)
    write_table(judge(published.claims, tables), folders.results / "verdicts.csv")
    tsv = folders.benchmarks / "inid-2024" / "figure-1a-table.tsv"
    write_text("s\tmax_rss\n1.25\t150.5\n", tsv)
    return config, folders


def _make(step, folders):
    paths = [folders.path(name) for name in step.outputs]
    given = read_tables([folders.path(name) for name in step.inputs.get("tables", [])],
                        step.params["groups"])  # fmt: skip
    function = resolve(step.params["function"])
    if step.kind == "table":
        made = function(*typed(step.params["module"], step.params["settings"]), *given)
        for table, path in zip(made if isinstance(made, tuple) else (made,), paths, strict=True):
            write_table(table, path)
    elif step.kind == "figure":
        if step.params["claims"]:
            tables = [folders.path(name) for name in step.inputs["tables"]]
            beside = resolve(step.params["claims"])
            told = step.inputs["claims"][0], step.paper, step.params["printed"], tables
            given.append(beside(*told))
        save(function(*given), Path(paths[0]).with_suffix(""))
    else:
        made = function(*given)
        for text, path in zip(made if isinstance(made, tuple) else (made,), paths, strict=True):
            write_text(text, path)
