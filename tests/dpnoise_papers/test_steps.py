"""Steps of the pipeline: inputs, outputs and targets follow from the declarations.

Optional tables: which settings are behind one, and when one counts.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from dpnoise_papers.config import load
from dpnoise_papers.item import Figure, Item, Page, Paper, Table
from dpnoise_papers.item import papers as all_papers
from dpnoise_papers.making import Record, file_digest, record_path, write_record
from dpnoise_papers.settings import Section
from dpnoise_papers.steps import (
    DIGEST,
    OptionalTable,
    digest_behind,
    named_results,
    optional_tables,
    outputs,
    parts,
    standing,
    steps,
    target,
    targets,
    verdicts,
)


class Sweep(Section):
    tasks: dict[str, float]
    hours: tuple[int, ...]


class Net(Section):
    device: str


CONFIG = SimpleNamespace(
    inid_2024=SimpleNamespace(sweep=Sweep(tasks={"b": 1, "a": 2}, hours=[9, 8]))
)
RUNS = Item(
    id="runs",
    table=Table(
        function="toy.runs",
        settings=("sweep",),
        data=("{part}",),
        parts="sweep.tasks",
        for_each=True,
        makes=("runs/{part}", "runs/{part}-more"),
        threads=4,
    ),
)
SUMMARY = Item(
    id="summary",
    caption="All runs.",
    table=Table(
        function="toy.summary",
        settings=(),
        reads=("runs/{part}",),
        parts="sweep.tasks",
        statuses=True,
    ),
    figure=Figure(function="toy.draw", printed=("summary",)),
    page=Page(function="toy.write", claims=True, formats=("md", "tex")),
)
SECOND = Item(
    id="second", caption="Again.", figure=Figure(function="toy.again", reads=("summary",))
)
PAPER = Paper(id="inid-2024", items=(RUNS, SUMMARY, SECOND), shows=("inid-2024/second",))


def only(kind):
    return list(steps(CONFIG, (PAPER,), kind))


def test_parts_are_keys_in_alphabetical_order_or_values_in_theirs():
    assert parts(CONFIG, PAPER, "sweep.tasks") == ["a", "b"]
    assert parts(CONFIG, PAPER, "sweep.hours") == ["9", "8"]
    assert parts(CONFIG, PAPER, "inid_2024.sweep.tasks") == ["a", "b"]


def test_a_swept_table_is_one_rule_with_a_wildcard():
    runs, _ = only("table")
    assert runs.rule == "inid_2024_runs_table"
    assert runs.parts == ["a", "b"]
    assert runs.inputs == {
        "npz": ["data/prepared/{part}.npz"],
        "status": ["data/prepared/{part}.json"],
    }
    assert runs.outputs == [
        "<results>/inid-2024/runs/{part}.csv",
        "<results>/inid-2024/runs/{part}-more.csv",
    ]
    assert runs.stem == "inid-2024/runs-{part}-table"
    assert runs.params["threaded"]
    own = runs.params["settings"](SimpleNamespace(part="b"))  # a change of another part is none
    assert own == {"sweep": {"tasks": {"b": 1.0}, "hours": [9, 8]}}
    assert "dpnoise_papers.inid_2024.settings.Settings" in runs.functions


def test_a_summary_reads_all_parts_as_one_group():
    _, summary = only("table")
    assert summary.parts == []
    assert summary.inputs["tables"] == [f"<results>/inid-2024/runs/{p}.csv" for p in "ab"]
    assert summary.inputs["status"] == [f"data/prepared/{p}.json" for p in "ab"]
    assert summary.params["groups"] == [["a", "b"]]


def test_figures_and_pages_read_the_tables_of_their_item_unless_told_otherwise():
    own, again = only("figure")
    beside = [f"published/{name}" for name in ("words.yaml", "inid-2024.paragraphs.yaml")]
    assert own.inputs == {
        "tables": ["<results>/inid-2024/summary.csv"],
        "claims": ["published/inid-2024.csv", *(one for one in beside if Path(one).is_file())],
    }
    assert again.inputs == {"tables": ["<results>/inid-2024/summary.csv"]}
    assert again.outputs == [f"<figures>/inid-2024/second.{end}" for end in ("svg", "pdf", "png")]
    (page,) = only("page")
    assert page.outputs == ["<results>/inid-2024/summary.md", "<results>/inid-2024/summary.tex"]
    assert page.params["caption"] == "All runs."


def test_a_table_of_another_paper_is_read_from_its_folder():
    item = Item(
        id="more",
        table=Table(function="toy.more", settings=(), reads=("flipped-huber-2023/table-3",)),
    )
    (step,) = steps(CONFIG, (Paper(id="inid-2024", items=(item,)),), "table")
    assert step.inputs["tables"] == ["<results>/flipped-huber-2023/table-3.csv"]


def test_the_target_of_a_paper_is_every_file_of_every_part_and_what_it_shows():
    files = target(CONFIG, PAPER)
    assert files[:3] == outputs(PAPER, SECOND, "figure")
    for item in (SUMMARY, SECOND):
        for kind in ("table", "figure", "page"):
            assert set(outputs(PAPER, item, kind)) <= set(files)
    assert {f"<results>/inid-2024/runs/{p}{end}.csv" for p in "ab" for end in ("", "-more")} <= set(
        files
    )
    assert not any("{" in name for name in files)


def test_an_optional_item_is_made_by_its_own_target_only():
    optional = replace(SUMMARY, id="large", extra="deep", target="large")
    paper = Paper(id="inid-2024", items=(RUNS, SUMMARY, SECOND, optional), shows=PAPER.shows)
    assert target(CONFIG, paper) == target(CONFIG, PAPER)
    assert target(CONFIG, paper, "large") == [
        *outputs(paper, optional, "table"),
        *outputs(paper, optional, "figure"),
        *outputs(paper, optional, "page"),
    ]
    assert target(CONFIG, paper, "deep") == []


def test_the_settings_behind_an_optional_table_are_written_into_it():
    optional = replace(SUMMARY, extra="deep")
    paper = Paper(id="inid-2024", items=(RUNS, optional, SECOND))
    swept, told = steps(CONFIG, (paper,), "table")
    assert told.params["digest"] == digest_behind(CONFIG, (paper,), paper, optional)
    assert "digest" not in swept.params
    assert not any("digest" in step.params for kind in ("table", "figure") for step in only(kind))


@pytest.mark.parametrize(("device", "resources"), [("cuda", {"gpu": 1}), ("cpu", {})])
def test_a_table_made_on_a_gpu_asks_for_one(device, resources):
    config = SimpleNamespace(inid_2024=SimpleNamespace(net=Net(device=device)))
    table = Table(function="toy.train", settings=("net",), device="net.device")
    (step,) = steps(config, (Paper(id="inid-2024", items=(Item(id="net", table=table),)),), "table")
    assert step.resources == resources


def test_a_target_of_optional_items_has_verdicts_where_there_is_a_claim_about_its_tables():
    config, papers = load("config.yaml"), all_papers()
    found = {name: verdicts(config, papers, name) for name in targets(papers)}
    assert found["deep"] == ["<results>/verdicts-deep.csv"]


def test_a_claim_about_a_table_that_no_item_makes_is_refused():
    with pytest.raises(ValueError, match=r"no item makes .*\.csv, row 2 \(.*and \d+ more"):
        named_results(CONFIG, (PAPER,), [])


@pytest.mark.parametrize(
    ("data", "told"), [((), True), (("city/manhattan",), True), (("{part}",), False)]
)
def test_a_swept_function_takes_its_part_as_data_or_by_name(data, told):
    table = Table(
        function="toy.hours",
        settings=(),
        data=data,
        parts="sweep.hours",
        for_each=True,
        makes=("hour-{part}",),
    )
    item = Item(id="hours", table=table)
    (step,) = steps(CONFIG, (Paper(id="inid-2024", items=(item,)),), "table")
    assert step.params["by_part"] is told


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
OPTIONAL_SUMMARY = Item(
    id="summary",
    extra="deep",
    target="large",
    table=Table(function="toy.summary", settings=("shown",), reads=("cells/{part}",),
                parts="sweep.cells"),
)  # fmt: skip
UNUSED = Item(id="unused", table=Table(function="toy.unused", settings=("unused",)))
OWNER = Paper(id="inid-2024", items=(CELLS, OPTIONAL_SUMMARY, UNUSED))
PAPERS = (OWNER,)


def digest(**settings):
    return digest_behind(config(**settings), PAPERS, OWNER, OPTIONAL_SUMMARY)


def test_the_digest_depends_on_all_settings_behind_a_table_and_on_no_others():
    assert digest() == digest(unused=5.0)
    assert len({digest(), digest(scale=4.0), digest(cells=(1.0, 3.0))}) == 3


def test_one_part_that_is_read_by_name_counts_as_read():
    one = replace(
        OPTIONAL_SUMMARY, table=replace(OPTIONAL_SUMMARY.table, reads=("inid-2024/cells/a",))
    )
    paper = replace(OWNER, items=(CELLS, one))
    first, second = (
        digest_behind(config(cells=cells), (paper,), paper, one)
        for cells in ((1.0, 2.0), (1.0, 3.0))
    )
    assert first != second


def test_items_that_read_each_other_have_a_digest():
    loop = replace(OPTIONAL_SUMMARY, table=replace(OPTIONAL_SUMMARY.table, reads=("summary",)))
    paper = replace(OWNER, items=(loop,))
    assert digest_behind(config(), (paper,), paper, loop) != digest()


def test_parts_and_default_tables_are_no_optional_tables():
    shown = Item(id="shown", caption="It.", extra="deep", figure=Figure(function="toy.draw"))
    paper = replace(OWNER, items=(*OWNER.items, shown))
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
