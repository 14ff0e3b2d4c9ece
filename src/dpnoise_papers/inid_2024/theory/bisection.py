"""Checks of Lemma 11 and Algorithm 1 of inid-2024 at 60 digits, by their printed formulas.

Algorithm 1 is run as printed in numbers that neither overflow nor cancel, so that what is checked
is the algorithm and not an implementation of it. `tables/bisection.py` has it in double precision.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import mpmath
import numpy as np

from dpnoise_papers.checks import Outcome, log_uniform

if TYPE_CHECKING:
    from mpmath import mpf
    from numpy.random import Generator

    from dpnoise._types import Array

_DIGITS = 60
_ROUNDING = 1e-40
_MOST_HALVINGS = 200  # for the tolerances drawn here 40 are enough


def _tail(x: mpf) -> mpf:
    """Q(x), the standard normal tail."""
    return mpmath.erfc(x / mpmath.sqrt(2)) / 2


def _quantile(delta: mpf) -> mpf:
    """Q^(-1)(delta)."""
    return mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * delta)


def _profile(epsilon: mpf, a: mpf) -> mpf:
    """(14), phi_epsilon(a); its limit 0 at a = 0."""
    if a == 0:
        return mpmath.mpf(0)
    return _tail(epsilon / a - a / 2) - mpmath.exp(epsilon) * _tail(epsilon / a + a / 2)


def _end(epsilon: mpf, delta: mpf) -> mpf:
    """R_epsilon(delta) of Appendix B, an end of the first bracket."""
    y = _quantile(delta)
    return mpmath.sqrt(y * y + 2 * epsilon) - y


class _Budget(NamedTuple):
    """One budget for which both ends of the first bracket exist."""

    epsilon: mpf
    delta: mpf
    low: mpf
    high: mpf


def _budgets(rng: Generator, n: int) -> tuple[list[_Budget], dict[str, Array]]:
    """N budgets with both ends: epsilon from 0 to 1000, delta from 1e-12 to 1.

    Others, whose delta' = delta + e^epsilon Q(sqrt(2 epsilon)) is 1 or more, are drawn anew.
    """
    found: list[_Budget] = []
    # ends: draws again what has no bracket, a minor share
    while len(found) < n:
        epsilon = mpmath.mpf(0 if rng.random() < 0.05 else log_uniform(rng, 1e-3, 1e3, 1)[0])
        small = rng.random() < 0.5
        delta = mpmath.mpf(log_uniform(rng, 1e-12, 0.5, 1)[0] if small else rng.uniform(0, 1))
        raised = delta + mpmath.exp(epsilon) * _tail(mpmath.sqrt(2 * epsilon))
        if delta > 0 and raised < 1:
            found.append(_Budget(epsilon, delta, _end(epsilon, delta), _end(epsilon, raised)))
    drawn = {
        "epsilon": np.array([float(b.epsilon) for b in found]),
        "delta": np.array([float(b.delta) for b in found]),
    }
    return found, drawn


def _lower_end(budget: _Budget, tolerance: mpf) -> tuple[mpf, int]:
    """Output of Algorithm 1 as printed, and how often it halved."""
    low, high = budget.low, budget.high
    # ends: not a number when it runs out; exercised in test_bisection
    for count in range(1, _MOST_HALVINGS + 1):
        middle = (low + high) / 2
        if _profile(budget.epsilon, middle) > budget.delta:
            high = middle
        else:
            low = middle
        if high - low <= tolerance:
            return low, count
    return mpmath.nan, 0


def _grows(rng: Generator, n: int) -> Outcome:
    """Growth of phi_epsilon(a), relative, per step of 1e-3 in log a (Lemma 11)."""
    epsilon = np.where(rng.random(n) < 0.1, 0.0, log_uniform(rng, 1e-3, 100, n))
    a, margin = log_uniform(rng, 1e-2, 20, n), np.empty(n)
    with mpmath.workdps(_DIGITS):
        for k in range(n):
            values = [_profile(mpmath.mpf(epsilon[k]), mpmath.mpf(a[k]) * x) for x in (1, 1.001)]
            margin[k] = values[1] / values[0] - 1
    return Outcome(np.where(margin > _ROUNDING, margin, -1.0), 0.0, {"epsilon": epsilon, "a": a})


def _slope(rng: Generator, n: int) -> Outcome:
    """Error of phi'(a) = density(epsilon/a - a/2), relative."""
    epsilon = np.where(rng.random(n) < 0.1, 0.0, log_uniform(rng, 1e-3, 20, n))
    a, margin = log_uniform(rng, 0.05, 15, n), np.empty(n)
    with mpmath.workdps(_DIGITS):
        for k in range(n):
            e, x = mpmath.mpf(epsilon[k]), mpmath.mpf(a[k])
            slope = mpmath.diff(lambda b, e=e: _profile(e, b), x)
            density = mpmath.exp(-((e / x - x / 2) ** 2) / 2) / mpmath.sqrt(2 * mpmath.pi)
            margin[k] = -abs(slope / density - 1)
    return Outcome(margin, 1e-12, {"epsilon": epsilon, "a": a})


def _bracket(rng: Generator, n: int) -> Outcome:
    """Slack of phi(mu_l) <= delta <= phi(mu_u), over delta; phi increases."""
    margin = np.empty(n)
    with mpmath.workdps(_DIGITS):
        budgets, drawn = _budgets(rng, n)
        for k, (epsilon, delta, low, high) in enumerate(budgets):
            ends = [_profile(epsilon, x) / delta - 1 for x in (low, high)]
            margin[k] = min(-ends[0], ends[1])
    return Outcome(margin, _ROUNDING, drawn)


def _runs(rng: Generator, n: int) -> tuple[list[tuple[_Budget, mpf, mpf, int]], dict[str, Array]]:
    """Budgets, tolerances below the first bracket, outputs and halvings of Algorithm 1."""
    budgets, drawn = _budgets(rng, n)
    rows = []
    for budget in budgets:
        tolerance = (budget.high - budget.low) * mpmath.mpf(10) ** -mpmath.mpf(rng.uniform(0.1, 10))
        rows.append((budget, tolerance, *_lower_end(budget, tolerance)))
    drawn["tolerance"] = np.array([float(row[1]) for row in rows])
    return rows, drawn


def _private(rng: Generator, n: int) -> Outcome:
    """Slack of phi(mu) <= delta over delta at the output, the lower end of the last bracket."""
    with mpmath.workdps(_DIGITS):
        rows, drawn = _runs(rng, n)
        margin = [1 - _profile(b.epsilon, output) / b.delta for b, _, output, _ in rows]
        return Outcome(np.array(margin, dtype=float), _ROUNDING, drawn)


def _halvings(rng: Generator, n: int) -> Outcome:
    """Slack of delta <= phi(mu + tolerance); -1 unless the count of halvings is the printed one."""
    margin = np.empty(n)
    with mpmath.workdps(_DIGITS):
        rows, drawn = _runs(rng, n)
        for k, (budget, tolerance, output, count) in enumerate(rows):
            expected = math.ceil(mpmath.log((budget.high - budget.low) / tolerance, 2))
            above = _profile(budget.epsilon, output + tolerance) / budget.delta - 1
            margin[k] = above if count == expected else -1.0
    return Outcome(margin, _ROUNDING, drawn)
