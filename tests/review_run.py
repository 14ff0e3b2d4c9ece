"""A small real run for the tests of the page: a few items, their figures and all verdicts."""

import json
from pathlib import Path

from dpnoise_papers.claims import quantity
from dpnoise_papers.claims.judge import judge
from dpnoise_papers.claims.published import read_published
from dpnoise_papers.claims.references import named_tables
from dpnoise_papers.config import load, typed
from dpnoise_papers.making import arguments, resolve
from dpnoise_papers.result_files import write_table, write_text
from dpnoise_papers.steps import Run
from dpnoise_papers.style import save

ITEMS = {
    ("inid-2024", "figure-1a"),
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
    """Make the items below a folder as the rules do; return the run."""
    made = Run(load("config.yaml", "config.quick.yaml"))
    made.results, made.figures = str(folder / "results"), str(folder / "figures")
    made.logs, made.page_for_reviewers = str(folder / "logs"), str(folder / "report.html")
    for key in ("/".join(one) for one in ITEMS):
        call = made.table(key)
        tables = resolve(call["function"])(*typed(call["module"], call["settings"]))
        for table, path in zip([tables], call["outputs"], strict=True):
            write_table(table, path)
        for call in made.figure(key, "png"):
            path = Path(call["outputs"][0])
            figure = resolve(call["function"])(*arguments(call)[0])
            for ending in (".svg", ".png"):
                save(figure, path.with_suffix(ending))
        for call in made.page(key):
            tables, claims = arguments(call)
            texts = resolve(call["function"])(*tables, **claims)
            for text, path in zip(texts, call["outputs"], strict=True):
                write_text(text, path)
    write_text(json.dumps(PROVENANCE), folder / "results" / "provenance.json")
    published = read_published("published")
    tables = quantity.read_tables(named_tables(published), made.results)
    write_table(judge(published.claims, tables), folder / "results" / "verdicts.csv")
    tsv = folder / "logs" / "benchmarks" / "inid-2024" / "figure-1a-table.tsv"
    write_text("s\tmax_rss\n1.25\t150.5\n", tsv)
    return made
