"""Files that a run with other settings takes over, and those that it must not."""

from pathlib import Path

import pytest

from dpnoise_papers.making import (
    MARK,
    Record,
    file_digests,
    read_record,
    record_path,
    write_record,
)
from dpnoise_papers.run.doubts import Making, Records, take_over, words_on_takeover

OWN = {"results": "runs/mine/results", "figures": "runs/mine/figures", "logs": "runs/mine/logs"}
DATA = "data/prepared/houses.npz"
TABLE = Making("p/a-table", ("results/p/a.csv",), (DATA,), "told", "code")
FIGURE = Making("p/a-figure", ("figures/p/a.svg", "figures/p/a.pdf"), TABLE.outputs, "told", "code")
OTHER = Making("p/b-table", ("results/p/b.csv",), (DATA,), "told", "code")


def own(making):
    """The same job in the run of one's own."""
    outputs, inputs = (
        tuple(path if path.startswith("data") else f"runs/mine/{path}" for path in paths)
        for paths in (making.outputs, making.inputs)
    )
    return making._replace(outputs=outputs, inputs=inputs)


HERE = [own(one) for one in (FIGURE, TABLE, OTHER)]  # a figure may stand before its table


@pytest.fixture(autouse=True)
def _run(tmp_path, monkeypatch):
    """The papers' run, complete."""
    monkeypatch.chdir(tmp_path)
    for path in (DATA, *TABLE.outputs, *FIGURE.outputs, *OTHER.outputs):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(f"x,y\n1,7070\n{path},2\n")
    for one in (TABLE, FIGURE, OTHER):
        inputs = file_digests(one.inputs) | {f"results/.made/{one.stem}.mark": MARK}
        record = Record(one.told, one.code, inputs, file_digests(one.outputs))
        write_record(record, record_path("results", one.stem))


def taken(made=HERE, places=OWN):
    return {one.stem for one in take_over(made, places, Records("results"))}


def test_what_the_papers_run_made_alike_is_copied_with_dates_and_records():
    assert taken() == {TABLE.stem, FIGURE.stem, OTHER.stem}
    for one in HERE:
        for path in one.outputs:
            before, after = Path(path.removeprefix("runs/mine/")), Path(path)
            assert after.read_bytes() == before.read_bytes()
            assert after.stat().st_mtime_ns == before.stat().st_mtime_ns
        assert "taken over from results" in Path(f"runs/mine/logs/{one.stem}.log").read_text()
        found = read_record(record_path(OWN["results"], one.stem))
        assert set(found.inputs) == set(one.inputs)
        assert set(found.outputs) == set(one.outputs)
    assert Records(OWN["results"]).doubts(HERE) == {}
    assert taken() == set()


@pytest.mark.parametrize("changed", [{"told": "other settings"}, {"code": "other code"}])
def test_other_settings_or_code_are_made_with_all_that_reads_them(changed):
    assert taken([HERE[0], HERE[1]._replace(**changed), HERE[2]]) == {OTHER.stem}
    assert not Path("runs/mine/results/p/a.csv").exists()


def test_other_data_and_other_inputs_are_no_longer_the_same():
    Path(DATA).write_text("other\n")
    assert taken() == set()
    more = HERE[2]._replace(inputs=(DATA, "published/p.csv"))
    assert taken([more]) == taken([HERE[2]._replace(inputs=())]) == set()


@pytest.mark.parametrize("path", [*TABLE.outputs, FIGURE.outputs[1]])
@pytest.mark.parametrize("edit", [lambda p: p.write_text("7071\n"), lambda p: p.unlink()])
def test_files_that_are_not_what_was_made_are_not_taken_over(path, edit):
    edit(Path(path))
    kept = {TABLE.stem, OTHER.stem} if path in FIGURE.outputs else {OTHER.stem}
    assert taken() == kept


def test_a_file_of_the_run_itself_is_left_alone():
    made = Path("runs/mine/results/p/a.csv")
    made.parent.mkdir(parents=True)
    made.write_text("its own\n")
    assert taken() == {OTHER.stem}
    assert made.read_text() == "its own\n"


def test_a_figure_of_a_table_with_the_same_bytes_is_taken_over():
    made = Path("runs/mine/results/p/a.csv")
    made.parent.mkdir(parents=True)
    made.write_bytes(Path(TABLE.outputs[0]).read_bytes())
    assert taken() == {FIGURE.stem, OTHER.stem}


def test_folders_within_one_another_are_kept_apart():
    places = OWN | {"figures": "runs/mine/results/figures"}
    figure = HERE[0]._replace(
        outputs=tuple(path.replace("mine/", "mine/results/") for path in HERE[0].outputs)
    )
    assert FIGURE.stem in taken([figure, HERE[1]], places)
    assert Path("runs/mine/results/figures/p/a.svg").exists()


def test_without_a_run_of_the_papers_nothing_is_taken_over():
    assert take_over(HERE, OWN, Records("nowhere")) == []
    assert words_on_takeover([]) == ""


def test_the_message_counts_files_and_says_how_to_make_them():
    said = words_on_takeover(take_over(HERE, OWN, Records("results")))
    assert said.startswith("4 file(s) of 3 job(s) were taken over from results/ and figures/")
    assert "--forceall" in said
