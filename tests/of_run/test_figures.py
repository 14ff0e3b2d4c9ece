"""Every figure of a run, drawn again from its tables: what must hold of all of them.

Not part of `make test`, which judges the code and no run: `make look`, or the folder of results in
DPNOISE_RESULTS.
"""

import os
from pathlib import Path

import numpy as np
import pytest

import caption_words
import figure_checks
from dpnoise_papers.claims.judge import bounds_beside, printed_beside
from dpnoise_papers.item import PART, papers
from dpnoise_papers.making import read_tables, resolve

ROOT = Path(__file__).parents[2]
PAPERS = {paper.id: paper for paper in papers()}
ITEMS = [(paper, item) for paper in PAPERS.values() for item in paper.items if item.figure]
RESULTS = Path(os.environ["DPNOISE_RESULTS"])


def test_there_is_a_run():
    assert (RESULTS / "verdicts.csv").is_file(), f"no run in {RESULTS}: `make reproduce`"


def paths(paper, item):
    names = item.figure.reads or item.tables
    return [
        RESULTS / (name if name.split("/")[0] in PAPERS else f"{paper.id}/{name}") for name in names
    ]


def drawing(paper, item):
    """Return the figure and its printed numbers."""
    files = [str(path.with_name(f"{path.name}.csv")) for path in paths(paper, item)]
    if any(PART in name for name in files) or not all(Path(name).is_file() for name in files):
        pytest.skip("not in this run")
    tables = read_tables(files)
    printed = None
    if item.figure.printed:
        beside = bounds_beside if item.figure.bounds else printed_beside
        claims = str(ROOT / "published" / f"{paper.id}.csv")
        printed = beside(claims, item.figure.printed, files)
        tables.append(printed)
    return figure_checks.drawn(resolve(item.figure.function)(*tables)), printed


def named(case):
    return f"{case[0].id}/{case[1].id}"


@pytest.mark.parametrize("case", ITEMS, ids=named)
def test_a_figure_is_whole_and_readable(case):
    figure, _ = drawing(*case)
    assert figure_checks.clipped_texts(figure) == []
    assert figure_checks.overlapping_tick_labels(figure) == []
    assert figure_checks.struck_texts(figure) == []
    assert figure_checks.wrong_looks(figure) == []


@pytest.mark.parametrize("case", ITEMS, ids=named)
def test_a_caption_says_what_is_drawn(case):
    figure, _ = drawing(*case)
    assert caption_words.wrong_words(case[1].caption, figure) == []


PRINTING = [case for case in ITEMS if case[1].figure.printed]


# Columns that figures show as they are; other numbers stand on them in other units.
SHOWN = ("variance", "searched", "gain_db", "mse_db", "crossover", "error", "sre")


@pytest.mark.parametrize("case", PRINTING, ids=named)
def test_printed_numbers_are_on_the_figure(case):
    figure, printed = drawing(*case)
    marks, texts = figure_checks.shown_numbers(figure)
    marks, words = marks[np.isfinite(marks)], " ".join(texts)
    columns = ("gain",) if case[1].figure.bounds else SHOWN
    rows = [row for row in printed.to_dict("records")
            if row["column"] in columns and row.get("verdict") != "not run"]  # fmt: skip
    missing = [row for row in rows if f"{row['printed']:.2f}" not in words
               and not np.isclose(marks, row["printed"], rtol=1e-6).any()]  # fmt: skip
    several = len(case[1].figure.printed) > 1  # of which a figure shows some
    assert len(missing) < len(rows) if several else missing == [], missing
