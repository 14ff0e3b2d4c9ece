"""Checks at random parameters: a planted violation is found, and the draws are told."""

import numpy as np
import pytest

from dpnoise_papers.checks import Check, Outcome, run_checks


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
