"""Every statement of inid-2024 that can be checked, over random parameters.

Each theorem, lemma, remark and footnote, and each sentence between them that claims something,
has a row: how often it failed, how near it came to failing and what its proof is worth.

The proofs of Theorem 9 and Corollary 6 hold but for a sign or a power. Each such line is checked
as it stands, which fails, and as it should stand.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from sys import modules
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.allocation.allocate import allocate
from dpnoise.noise.exponential_power import Laplace
from dpnoise.privacy.vector import vector_profile
from dpnoise_papers.checks import Outcome, equal, log_uniform, read_checks, run_checks
from dpnoise_papers.inid_2024.tables.profiles import gini, profile
from dpnoise_papers.inid_2024.theory import (
    bisection,
    gain,
    optimum,
    privacy,
)
from dpnoise_papers.inid_2024.theory.tools import ROUNDING, budgets, draw_sensitivities

if TYPE_CHECKING:
    import pandas as pd
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpnoise._types import Array
    from dpnoise_papers.inid_2024.settings import Theory


def _norm_of_scales(rng: Generator, n: int, power: int) -> Outcome:
    """Error of ||sigma||_2^power = ||lambda||_1^2 / mu_0^2, relative."""
    drawn = budgets(rng, n) | {"K": rng.integers(1, 9, n).astype(float)}
    margin = np.empty(n)
    for k in range(n):
        budget = {"epsilon": drawn["epsilon"][k], "delta": drawn["delta"][k]}
        profile = draw_sensitivities(rng, int(drawn["K"][k]))
        unit = allocate([1.0], scheme="iid", **budget)[0]  # 1 / mu_0
        right = (profile.sum() * unit) ** 2
        left = float(np.linalg.norm(allocate(profile, **budget))) ** power
        margin[k] = equal(left, right, right)
    return Outcome(margin, 1e-9, drawn)


def _spent(rng: Generator, n: int, above: float) -> dict[str, Array]:
    """Epsilon and sum lambda / beta, of which a part `above` exceeds epsilon."""
    epsilon = log_uniform(rng, 0.05, 5, n)
    over = rng.random(n) < above
    factor = np.where(over, rng.uniform(1.0, 2.0, n), rng.uniform(0.1, 1.0, n))
    return {"epsilon": epsilon, "spent": factor * epsilon}


def _dropped(rng: Generator, n: int, above: float) -> Outcome:
    """Error of dropping [.]_+ from the integral of the bracket over the densities.

    The bracket is exp(-|t|) (1 - exp(epsilon - spent)) at every t, with or without [.]_+.
    """
    drawn = _spent(rng, n, above)
    t = rng.laplace(size=(n, 3))
    inside = np.exp(-np.abs(t)) - np.exp((drawn["epsilon"] - drawn["spent"])[:, None] - np.abs(t))
    kept, dropped = np.maximum(inside, 0.0).sum(axis=1), inside.sum(axis=1)
    return Outcome(equal(dropped, kept), ROUNDING, drawn)


def _conditions(rng: Generator, n: int) -> tuple[dict[str, Array], NDArray[np.bool], Array]:
    """Parameters, whether 1 - exp(epsilon - spent) <= delta, and the limit of spent."""
    drawn = _spent(rng, n, 0.5) | {"delta": log_uniform(rng, 1e-3, 0.9, n)}
    holds = -np.expm1(drawn["epsilon"] - drawn["spent"]) <= drawn["delta"]
    return drawn, holds, drawn["epsilon"] - np.log1p(-drawn["delta"])


def _corollary_6_active(rng: Generator, n: int) -> Outcome:
    """Minus the error of the condition as an equality at the limit; -1 unless the sides differ.

    One in 1e6 below the limit the condition has to hold, one above it has to fail. Where it is an
    equality it has to be sufficient: delta at the worst neighbour of scales at random, by the
    exact account, counts as the slack below the delta of the condition, relative.
    """
    drawn, _, limit = _conditions(rng, n)
    values = [-np.expm1(drawn["epsilon"] - factor * limit) for factor in (1.0, 1 - 1e-6, 1 + 1e-6)]
    apart = (values[1] < drawn["delta"]) & (values[2] > drawn["delta"])
    margin = np.where(apart, equal(values[0], drawn["delta"], drawn["delta"]), -1.0)
    for k in range(n):
        s = draw_sensitivities(rng, int(rng.integers(1, 7)))
        beta = s / (limit[k] * rng.dirichlet(np.full(len(s), 2.0)))
        noise = [Laplace(float(b)) for b in beta]
        exact = vector_profile(noise, list(s), float(drawn["epsilon"][k])).estimate
        margin[k] = min(margin[k], 1.0 - float(exact) / drawn["delta"][k])
    return Outcome(margin, 1e-9, drawn)


def _shifted_indices(rng: Generator, n: int, *, printed: bool) -> Outcome:
    """Minus the errors of lines 5 and 6 of Algorithm 2: of the budget spent and of the sensitivity.

    Coordinate i gets the noise of coordinate j, another one if `printed`, and the sum of N clipped
    slopes the divisor n, an index below N if `printed`. The sensitivity is 2 tau_i C_i / N.
    """
    drawn = {"K": rng.integers(2, 13, n).astype(float), "N": rng.integers(2, 1001, n).astype(float)}
    margin = np.empty(n)
    for k in range(n):
        s = draw_sensitivities(rng, int(drawn["K"][k]))
        samples = drawn["N"][k]
        divisor = float(rng.integers(1, int(samples))) if printed else samples
        sigma = np.sqrt(s * s.sum())  # Theorem 4 for mu_0 = 1
        spent = np.sum((s / (np.roll(sigma, 1) if printed else sigma)) ** 2)
        margin[k] = -max(abs(spent - 1.0), abs(samples / divisor - 1.0))
    return Outcome(margin, 1e-9, drawn)


def _samples(_rng: Generator, n: int, numbers: tuple[float, ...]) -> Outcome:
    """Minus the relative error of delta = 1/N^2 = 1e-6 of Section VI-B, for each of n numbers."""
    samples = np.array(numbers[:n])
    return Outcome(equal(samples**-2.0, 1e-6, 1e-6), ROUNDING, {"N": samples})


def _dispersed(_rng: Generator, n: int, measure: str, noise: str) -> Outcome:
    """How much more optimal noise gains for the more dispersed of two profiles, in dB.

    Pairs of Figure 2 at K = 2 to 40 in turn, ordered by the Gini coefficient or by majorisation,
    of squares for Gaussian noise (Theorems 9 and 10). Pairs that are not ordered are left out.
    """
    gaussian = noise == "gaussian"
    norm, power, decibels = (2, 1.0, 20.0) if gaussian else (1, 2.0 / 3.0, 30.0)
    pairs = list(combinations(("uniform", "linear", "quadratic", "exponential", "one-hot"), 2))
    margin, dimensions = np.empty(n), 2.0 + np.arange(n) // len(pairs) % 39
    ordered = np.empty(n, dtype=bool)
    for k in range(n):
        count = int(dimensions[k])
        shapes = [np.sort(profile(name, count, norm))[::-1] for name in pairs[k % len(pairs)]]
        if measure == "gini":
            apart = np.array([gini(shapes[1]) - gini(shapes[0])])
        else:
            apart = np.cumsum(shapes[1] ** norm - shapes[0] ** norm)[:-1]
        # Both have norm 1, so that the error goes with a power of sum lambda or sum lambda^(2/3).
        sums = [np.sum(shape**power) for shape in shapes]
        gain = decibels * np.log10(sums[0] / sums[1])
        first, second = np.all(apart >= -ROUNDING), np.all(apart <= ROUNDING)
        margin[k], ordered[k] = gain if first else -gain, first != second
    return Outcome(margin[ordered], -ROUNDING, {"K": dimensions[ordered]})


CHECKS = read_checks(
    Path(__file__).with_suffix(".yaml"),
    (bisection, gain, optimum, privacy, modules[__name__]),
)
_COUPLING = {"section-iv-range": "decoupled", "section-iv-coupled": "weighted histograms"}


def inid_theory(settings: Theory) -> pd.DataFrame:
    """Verdicts on the statements of the paper, of `dpnoise_papers.checks.run_checks`.

    The status of a proof is complete, cited, none given or false, with the reason.
    """
    return run_checks(CHECKS, settings.seed, "inid-theory", settings.trials)


def higher_accuracy(settings: Theory) -> pd.DataFrame:
    """Trials in which optimal noise has a greater error than i.i.d. noise, by coupling.

    Columns as of `dpnoise_papers.checks.run_checks` after coupling ('decoupled', or 'weighted
    histograms', where replacing one user changes two coordinates).
    """
    checks = [check for check in CHECKS if check.id in _COUPLING]
    table = run_checks(checks, settings.seed, "inid-theory", settings.trials)
    table.insert(0, "coupling", table["id"].map(_COUPLING))
    return table
