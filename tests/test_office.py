"""The four tasks of an office on the page of peers: our numbers, and the recorded ones."""

import importlib.util
from datetime import date

import numpy as np
import pytest

from document_pages import ROOT, loaded
from dpnoise import Budget, Counts, best, release

PAGE = ROOT / "docs" / "peers.md"
WHO = {"relation": "add-remove"}
VISITS = Counts(3, of=12, **WHO)


@pytest.fixture(scope="module")
def office():
    return loaded(ROOT / "benchmarks" / "peers" / "office.py")


def ours():
    """Standard deviation of each task, and from which count on codes are named."""
    sums = release.sum(
        np.ones(2), bounds=(0, 1e5), by=np.array(["A", "B"]), groups=list("ABCDEFGHIJKLMNOPQRST"),
        epsilon=1.0, **WHO,
    )  # fmt: skip
    codes = release.histogram(["a"], epsilon=1.0, delta=1e-9, **WHO)
    year = Budget(1.0, 1e-6, **WHO).plan(VISITS, times=52)
    return [
        (best(VISITS, epsilon=1.0).std, None),
        (sums.std[0], None),
        (codes.std, codes.threshold),
        (year.std, None),
    ]


def test_ours_needs_no_more_noise_on_any_task(office):
    rows = office.recorded()
    assert len(rows) == 7  # diffprivlib has no unknown categories
    for task, (std, least) in zip(office.TASKS, ours(), strict=True):
        peers = [row for row in rows if row["task"] == task]
        assert peers
        for row in peers:
            assert date.fromisoformat(row["day"]) <= date.today()  # noqa: DTZ011
            if task == "unknown codes":
                assert std == pytest.approx(float(row["std"]), rel=1e-6)
                assert least <= int(row["named_from"])
            else:
                assert std < 0.99 * float(row["std"])


@pytest.mark.slow  # imports them
@pytest.mark.parametrize("library", ["opendp", "diffprivlib"])
def test_what_is_recorded_is_what_a_library_says_where_it_is_installed(office, library):
    known = [row for row in office.recorded() if row["library"] == library]
    if importlib.util.find_spec(library) is None:
        assert known  # dated, of the version on the page
        return
    for row, again in zip(known, office.rows_of(library), strict=True):
        assert row["task"] == again["task"]
        if row["version"] == again["version"]:
            assert float(row["std"]) == pytest.approx(float(again["std"]), rel=1e-6)
            assert row["named_from"] == again["named_from"]


def test_the_page_has_these_numbers(office):
    section = PAGE.read_text(encoding="utf-8").partition("## Four tasks")[2].partition("\n## ")[0]
    lines = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    header, _, *table = [[cell.strip() for cell in line] for line in lines]
    rows = office.recorded()
    libraries = [name.split()[0] for name in header[1:]]
    for name in header[2:]:
        library, version = name.split()
        assert {row["version"] for row in rows if row["library"] == library} == {version}
    for cells, task, (std, least) in zip(table, office.TASKS, ours(), strict=True):
        for library, cell in zip(libraries, cells[1:], strict=True):
            known = [row for row in rows if (row["task"], row["library"]) == (task, library)]
            if library != "dpnoise" and not known:
                assert cell == "-"
                continue
            value = std if library == "dpnoise" else float(known[0]["std"])
            named = least if library == "dpnoise" else known[0]["named_from"]
            assert cell == f"{float(f'{value:.4g}'):g}" + (f" ({named})" if named else "")
