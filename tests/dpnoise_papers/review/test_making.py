import inspect
import shlex
from pathlib import Path

import pytest

from dpnoise_papers.config import load
from dpnoise_papers.item import papers
from dpnoise_papers.making import resolve
from dpnoise_papers.review.making import (
    BEGIN,
    END,
    Folders,
    command_options,
    cost,
    costs_table,
    making,
    place,
    write_costs,
)
from dpnoise_papers.steps import steps
from for_all import for_all

NAMES = sorted(
    getattr(item, kind).function
    for paper in papers()
    for item in paper.items[:4]
    for kind in ("table", "figure", "page")
    if getattr(item, kind)
)
HEAD = "s\th:m:s\tmax_rss\tmax_vms\n"


@pytest.fixture(scope="module")
def config():
    return load("config.yaml")


@pytest.mark.parametrize("paper", papers(), ids=lambda paper: paper.id)
def test_every_item_can_be_remade_by_rules_that_exist(config, paper, tmp_path):
    names = ("results", "figures", "benchmarks")
    folders = Folders(**{name: tmp_path / name for name in names}, page=tmp_path / "report.html")
    rules = {
        step.rule for kind in ("table", "figure", "page") for step in steps(config, (paper,), kind)
    }
    for item in paper.items:
        made = making(config, paper, item, folders)
        words = shlex.split(made.command)
        if item.extra:
            assert words == ["make", item.target]
            continue
        assert set(words[words.index("--forcerun") + 1 :]) <= rules
        assert f"/{paper.id}/" in words[1]
        assert "{" not in words[1]
        assert made.functions
        assert (made.cost, made.files) == (None, ())
        assert bool(made.settings) == bool(item.table and item.table.settings)


def test_options_are_those_of_the_run():
    assert command_options([], {}) == []
    assert command_options([Path("a.yaml").resolve()], {"seed": 3, "data": {"offline": True}}) == [
        "--configfile", "a.yaml", "--config", 'data={"offline": true}', "seed=3",
    ]  # fmt: skip


@for_all("name", NAMES)
def test_the_line_is_where_the_function_is_defined(name):
    found = place(name)
    function = inspect.unwrap(resolve(name))
    line = Path(found.path).read_text(encoding="utf-8").splitlines()[found.line - 1]
    assert line.startswith(f"def {function.__name__}(")


def test_an_unknown_function_is_named():
    with pytest.raises(ValueError, match="expected a function 'nothing'"):
        place("dpnoise_papers.making.nothing")


def test_seconds_add_up_and_the_largest_memory_counts(tmp_path):
    (tmp_path / "a.tsv").write_text(HEAD + "1.5\t0:00:01\t100.0\t1\n")
    (tmp_path / "b.tsv").write_text(HEAD + "2.5\t0:00:02\tNA\t-\n")
    names = [tmp_path / f"{name}.tsv" for name in "abc"]
    assert cost(names) == (4.0, 100.0, 2)


def test_what_left_no_file_has_no_cost(tmp_path):
    assert cost([tmp_path / "a.tsv"]) is None


@pytest.fixture
def benchmarks(tmp_path):
    folder = tmp_path / "benchmarks/flipped-huber-2023"
    folder.mkdir(parents=True)
    (folder / "figure-1-table.tsv").write_text("s\tmax_rss\n12.4\t99.5\n")
    return tmp_path / "benchmarks"


def test_one_row_for_each_measured_item(benchmarks):
    lines = costs_table(load("config.yaml"), papers(), benchmarks)
    assert len(lines) == 3
    assert lines[2].startswith("| flipped-huber-2023/figure-1 | 1 | 12 | 100 |")


def test_the_table_replaces_what_stands_between_the_marks(benchmarks, tmp_path):
    document = tmp_path / "page.md"
    document.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    assert write_costs(document, benchmarks, load("config.yaml"), papers()) == 1
    text = document.read_text()
    assert "old" not in text
    assert text.startswith("before\n")
    assert text.endswith("after\n")


def test_no_marks_or_no_run(benchmarks, tmp_path):
    document = tmp_path / "page.md"
    document.write_text("nothing\n")
    with pytest.raises(ValueError, match="expected the marks"):
        write_costs(document, benchmarks, load("config.yaml"), papers())
    document.write_text(f"{BEGIN}{END}")
    with pytest.raises(ValueError, match="no benchmark files"):
        write_costs(document, tmp_path / "none", load("config.yaml"), papers())
