"""How items are made."""

import shlex
from pathlib import Path

import pytest

from dpnoise_papers.config import load
from dpnoise_papers.papers import papers
from dpnoise_papers.review.making import Folders, command_options, making
from dpnoise_papers.steps import steps


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
