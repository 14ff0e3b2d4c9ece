"""Checks at random parameters: a planted violation is found, and the draws are told."""

import importlib
import inspect
from pathlib import Path

import numpy as np
import pytest

from dpnoise_papers.checks import Check, Outcome, read_checks, run_checks
from dpnoise_papers.strict_yaml import YamlError


def sound(rng, trials):
    x = rng.uniform(1.0, 2.0, trials)
    return Outcome(x - 1.0, 1e-9, {"x": x})


def planted(place, size):
    def run(rng, trials):
        found = sound(rng, trials)
        margin = found.margin.copy()
        margin[place] = size
        return found._replace(margin=margin)

    return run


def table(run, trials=50):
    return run_checks([Check("x", "Lemma 1", "x >= 1", "complete", run)], 1, "toy", trials).iloc[0]


def test_a_true_statement_has_no_violation_and_tells_its_draws():
    row = table(sound)
    assert (row.violations, row.trials) == (0, 50)
    low, high = (float(word) for word in row.ranges.removeprefix("x from ").split(" to "))
    assert 1.0 <= low < high <= 2.0
    assert row.drawn_by.endswith("test_checks.sound")


@pytest.mark.parametrize("place", [0, 17, 49])
@pytest.mark.parametrize("size", [-2e-9, -1.0, -np.inf, np.nan])
def test_a_planted_violation_is_found_wherever_it_is(place, size):
    row = table(planted(place, size))
    assert row.violations == 1
    assert row.worst < 0


def test_cases_are_gone_through_and_are_no_random_trials():
    def run(_rng, trials):
        x = np.arange(float(trials))
        return Outcome(x[x != 1.0] - 2.0, 0.0, {"x": x[x != 1.0]})  # one case is left out

    check = Check("x", "Lemma 1", "x >= 2", "false", run, cases=4)
    row = run_checks([check], 1, "toy", 50).iloc[0]
    assert (row.trials, row.violations, row.trials_are) == (3, 1, "cases")
    assert table(sound).trials_are == "random trials"


def test_what_rounding_explains_is_no_violation():
    assert table(planted(3, -0.5e-9)).violations == 0


@pytest.mark.parametrize("paper", ["balle_wang_2018", "flipped_huber_2023", "inid_2024"])
def test_no_check_of_a_paper_is_forgotten_in_its_table(paper):
    folder = Path(importlib.import_module(f"dpnoise_papers.{paper}.theory").__path__[0])
    table = "".join(path.read_text() for path in folder.glob("*.yaml"))
    code = "".join(path.read_text() for path in folder.glob("*.py"))
    for path in folder.glob("*.py"):
        module = importlib.import_module(f"dpnoise_papers.{paper}.theory.{path.stem}")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__annotations__.get("return") in {"Outcome", "Ratios"}:
                named = f"check: {function.__module__.rpartition('.')[2]}.{name}\n" in table
                assert named or code.count(f"{name}(") > 1, name


def shifted(_rng, trials, by):
    x = np.arange(float(trials))
    return Outcome(x - by, 0.0, {"x": x})


def test_an_entry_runs_its_function_with_what_it_is_told(tmp_path):
    entry = (
        "{where: Lemma 1, statement: x >= 2, check: test_checks.shifted, told: {by: 2}, cases: 5}"
    )
    (tmp_path / "table.yaml").write_text(f"lemma-1: {entry}")
    checks = read_checks(tmp_path / "table.yaml", [inspect.getmodule(shifted)])
    row = run_checks(checks, 1, "toy", 50).iloc[0]
    assert (row.id, row.trials, row.violations) == ("lemma-1", 5, 2)
    (tmp_path / "table.yaml").write_text(f"lemma-1: {entry.replace('where', 'were')}")
    with pytest.raises(YamlError, match=r"lemma-1\.where: .*lemma-1\.were: "):
        read_checks(tmp_path / "table.yaml", [inspect.getmodule(shifted)])
