import inspect
import shlex
from pathlib import Path

import pytest

from dpnoise_papers.config import load
from dpnoise_papers.item import papers
from dpnoise_papers.making import resolve
from dpnoise_papers.review.making import command_options, cost, making, place
from dpnoise_papers.steps import Run, outputs
from for_all import for_all

NAMES = sorted(
    getattr(item, kind).function
    for paper in papers()
    for item in paper.items[:4]
    for kind in ("table", "figure", "page")
    if getattr(item, kind)
)
HEAD = "s\th:m:s\tmax_rss\tmax_vms\n"


@pytest.mark.parametrize("paper", papers(), ids=lambda paper: paper.id)
def test_every_item_can_be_remade_by_the_path_of_a_file_of_its_own(paper, tmp_path):
    run = Run(load("config.yaml"))
    run.results, run.figures, run.logs = (str(tmp_path / name) for name in ("r", "f", "logs"))
    for item in paper.items:
        made = making(run, f"{paper.id}/{item.id}", [])
        words = shlex.split(made.command)
        if item.extra:
            assert words == ["make", item.target]
            continue
        assert words[:-1] == ["snakemake", "--cores", "2", "--force"]
        assert words[-1] in outputs(run.calls(f"{paper.id}/{item.id}"))
        assert made.functions
        assert (made.cost, made.files) == (None, [])
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


def test_the_largest_numbers_of_a_benchmark_count_and_no_number_is_none(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text(HEAD + "1.5\t0:00:01\t100.0\t1\n2.5\t0:00:02\tNA\t-\n")
    assert cost(path) == (2.5, 100.0)


def test_what_left_no_file_has_no_cost(tmp_path):
    assert cost(tmp_path / "a.tsv") is None
