"""Optional tables: which settings are behind one, and when one counts."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from dpnoise_papers.item import Figure, Item, Paper, Table
from dpnoise_papers.making import Record, file_digest, record_path, write_record
from dpnoise_papers.settings import Section
from dpnoise_papers.steps import (
    DIGEST,
    OptionalTable,
    digest_behind,
    optional_tables,
    standing,
    targets,
)

NAME = "inid-2024/summary.csv"
OPTIONAL = OptionalTable("deep", "large", "0123456789abcdef", "inid-2024/summary-table")


class Toy(Section):
    cells: dict[str, float]


class Other(Section):
    scale: float


def config(cells=(1.0, 2.0), scale=3.0, unused=4.0):
    return SimpleNamespace(
        inid_2024=SimpleNamespace(
            sweep=Toy(cells=dict(zip("ab", cells, strict=True))),
            shown=Other(scale=scale),
            unused=Other(scale=unused),
        )
    )


CELLS = Item(
    id="cells",
    extra="deep",
    target="large",
    table=Table(
        function="toy.cell",
        settings=("sweep",),
        parts="sweep.cells",
        for_each=True,
        makes=("cells/{part}",),
    ),
)
SUMMARY = Item(
    id="summary",
    extra="deep",
    target="large",
    table=Table(function="toy.summary", settings=("shown",), reads=("cells/{part}",),
                parts="sweep.cells"),
)  # fmt: skip
UNUSED = Item(id="unused", table=Table(function="toy.unused", settings=("unused",)))
PAPER = Paper(id="inid-2024", items=(CELLS, SUMMARY, UNUSED))
PAPERS = (PAPER,)


def digest(**settings):
    return digest_behind(config(**settings), PAPERS, PAPER, SUMMARY)


def test_the_digest_depends_on_all_settings_behind_a_table_and_on_no_others():
    assert digest() == digest(unused=5.0)
    assert len({digest(), digest(scale=4.0), digest(cells=(1.0, 3.0))}) == 3


def test_one_part_that_is_read_by_name_counts_as_read():
    one = replace(SUMMARY, table=replace(SUMMARY.table, reads=("inid-2024/cells/a",)))
    paper = replace(PAPER, items=(CELLS, one))
    first, second = (
        digest_behind(config(cells=cells), (paper,), paper, one)
        for cells in ((1.0, 2.0), (1.0, 3.0))
    )
    assert first != second


def test_items_that_read_each_other_have_a_digest():
    loop = replace(SUMMARY, table=replace(SUMMARY.table, reads=("summary",)))
    paper = replace(PAPER, items=(loop,))
    assert digest_behind(config(), (paper,), paper, loop) != digest()


def test_parts_and_default_tables_are_no_optional_tables():
    shown = Item(id="shown", caption="It.", extra="deep", figure=Figure(function="toy.draw"))
    paper = replace(PAPER, items=(*PAPER.items, shown))
    tables = optional_tables(config(), (paper,))
    assert tables == {NAME: OptionalTable("deep", "large", digest(), "inid-2024/summary-table")}
    assert targets((paper,)) == ["deep", "large"]


def state(folder):
    return standing({NAME: OPTIONAL}, folder)[NAME]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / NAME
    path.parent.mkdir()
    path.write_text(f"x,{DIGEST}\n1,{OPTIONAL.digest}\n2,{OPTIONAL.digest}\n")
    record(path)
    return path


def record(path):
    """Record the file as what its job made."""
    made = Record("told", "code", {}, {str(path): file_digest(path)})
    write_record(made, record_path(path.parents[1], OPTIONAL.stem))


def test_a_table_of_the_settings_in_force_counts_and_its_content_tells_when_it_changes(file):
    before = state(file.parents[1])
    assert before["reason"] == ""
    file.write_text(file.read_text().replace("1,", "3,"))
    record(file)
    after = state(file.parents[1])
    assert after["reason"] == ""
    assert len({before["content"], after["content"], ""}) == 3


def test_a_table_that_was_edited_does_not_count(file):
    file.write_text(file.read_text().replace("1,", "3,"))
    found = state(file.parents[1])
    assert found["content"] == ""
    assert "changed since it was made; `make large` makes it again" in found["reason"]
    assert standing({NAME: OPTIONAL}, file.parents[1], recorded=False)[NAME]["reason"] == ""


def test_a_table_without_a_record_counts_where_provenance_has_the_record(file):
    path = Path(record_path(file.parents[1], OPTIONAL.stem))
    kept = json.loads(path.read_text())
    path.unlink()
    assert "of unknown origin" in state(file.parents[1])["reason"]
    (file.parents[1] / "provenance.json").write_text(json.dumps({"jobs": {OPTIONAL.stem: kept}}))
    assert state(file.parents[1])["reason"] == ""


def test_a_table_that_was_not_made_does_not_count_and_the_command_is_named(tmp_path):
    found = state(tmp_path)
    assert found["content"] == ""
    assert "needs the extra 'deep'; `make large` makes it" in found["reason"]
    assert str(tmp_path / NAME) in found["reason"]


@pytest.mark.parametrize(
    "text",
    [
        f"x,{DIGEST}\n1,{OPTIONAL.digest}\n2,fedcba9876543210\n",  # a row of other settings
        "x\n1\n",
    ],
)
def test_a_table_of_other_settings_or_without_any_does_not_count(file, text):
    file.write_text(text)
    found = state(file.parents[1])
    assert found["content"] == ""
    assert (
        "made with other settings than those in force; `make large` makes it again"
        in (found["reason"])
    )


def test_a_table_that_cannot_be_read_does_not_count(file):
    file.write_bytes(b"\xff\xfe")
    assert "cannot be read" in state(file.parents[1])["reason"]


@pytest.mark.parametrize("text", [f"x,{DIGEST}\n", ""])
def test_a_table_without_rows_does_not_count_for_lack_of_data(file, text):
    file.write_text(text)
    found = state(file.parents[1])
    assert found["content"] == ""
    assert (
        "has no rows, because its data or device could not be had; once they can, `make large`"
        in (found["reason"])
    )
