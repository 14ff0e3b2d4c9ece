"""Lemma 11 and Algorithm 1 at 60 digits: they agree with the library, and mistakes are caught."""

import mpmath
import numpy as np
import pytest

from dpnoise.privacy.gaussian import gaussian_log_delta, gaussian_sigma
from dpnoise_papers.inid_2024.theory import bisection
from dpnoise_papers.inid_2024.theory.statements import CHECKS
from dpnoise_papers.seeds import generator

RUN = {one.id: one.run for one in CHECKS if one.run in vars(bisection).values()}


def violations(name, n=20):
    outcome = RUN[name](generator(3, name), n)
    return int(np.sum(~(outcome.margin >= -outcome.tolerance)))


def test_the_printed_profile_is_that_of_the_library():
    with mpmath.workdps(60):
        printed = mpmath.log(bisection._profile(mpmath.mpf("0.5"), mpmath.mpf("0.3")))
    assert float(printed) == pytest.approx(gaussian_log_delta(0.3, 0.5), rel=1e-12)
    assert bisection._profile(1, 0) == 0


def test_the_output_is_mu_0():
    with mpmath.workdps(60):
        epsilon, delta = mpmath.mpf("0.5"), mpmath.mpf("1e-6")
        raised = delta + mpmath.exp(epsilon) * bisection._tail(mpmath.sqrt(2 * epsilon))
        ends = (bisection._end(epsilon, x) for x in (delta, raised))
        output, _ = bisection._lower_end(bisection._Budget(epsilon, delta, *ends), 1e-14)
    assert float(output) == pytest.approx(1 / gaussian_sigma(0.5, 1e-6), rel=1e-12)


def test_a_tolerance_that_is_never_met_has_no_output():
    output, count = bisection._lower_end(bisection._Budget(0.5, 1e-6, 0.1, 1.0), -1.0)
    assert (mpmath.isnan(output), count) == (True, 0)


@pytest.mark.parametrize(
    ("name", "wrong", "rows"),
    [
        ("_profile", lambda e, a: bisection._tail(e / a - a / 3) if a else 0, {"lemma-11-slope"}),
        ("_profile", lambda e, a: bisection._tail(a + e), {"lemma-11"}),
        ("_end", lambda e, d: bisection._quantile(1 - d) ** 2 + e, {"algorithm-1-bracket"}),
        (
            "_lower_end",
            lambda b, _: (b.high, 10),
            {"algorithm-1-private", "algorithm-1-iterations"},
        ),
    ],
)
def test_a_wrong_formula_is_caught(monkeypatch, name, wrong, rows):
    monkeypatch.setattr(bisection, name, wrong)
    for row in rows:
        assert violations(row) > 0, row


@pytest.mark.parametrize("name", RUN)
def test_what_is_printed_holds(name):
    assert violations(name) == 0
