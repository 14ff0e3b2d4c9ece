"""What the checks of a paper's theory share: random parameters, quadrature, verdicts.

A check draws its trials, compares two sides that were computed in different ways and
returns how far each trial is from violating the statement. Integrals are Gauss-Legendre
sums over stretches between the kinks of the integrand, for all trials at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from scipy import special

from dpnoise._validation import Problems
from dpnoise_papers.flipped_huber_2023 import as_printed as printed
from dpnoise_papers.grids import require_count
from dpnoise_papers.seeds import generator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.random import Generator

    from dpnoise._types import Array

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
# A Gaussian tail is followed this far beyond alpha, to a density of exp(-72) of its start.
REACH = 12.0
LEAST_TRIALS = 20  # of the slow checks, which run a part of the trials


class Outcome(NamedTuple):
    """The trials of one check.

    Attributes
    ----------
    margin : ndarray of shape (trials,)
        For 'left <= right' the slack right - left in a unit that suits it, for an identity
        minus the error.
    tolerance : float
        How negative a margin rounding and quadrature can explain.
    parameters : dict of str to ndarray of shape (trials,)
        What was drawn.
    """

    margin: Array
    tolerance: float
    parameters: dict[str, Array]


class Check(NamedTuple):
    """One statement, where it stands, what its proof is worth and how it is tested.

    `run` takes a generator and the number of trials. `share` is the part of the trials
    that a slow check makes do with.
    """

    id: str
    where: str
    statement: str
    proof: str
    run: Callable[[Generator, int], Outcome]
    share: float = 1.0


def run_checks(checks: Iterable[Check], seed: int, scope: str, trials: int) -> pd.DataFrame:
    """Return one row per check, each on its own random stream.

    Parameters
    ----------
    checks : iterable of Check
    seed : int
        The seed of the config.
    scope : str
        What the streams are for, with each check's id.
    trials : int
        Random parameters per statement; a check with a share below 1 makes do with that part.

    Returns
    -------
    DataFrame
        Columns id, where, statement, trials, violations, worst (the least slack beyond
        what rounding explains, in the unit of the check: negative if and only if there is
        a violation), tolerance, parameters (of the worst trial) and status_of_proof.

    Raises
    ------
    ValueError
        If `trials` is not a whole number of at least 20 or `seed` is negative.
    """
    problems = Problems(scope)
    require_count(problems, "trials", trials, LEAST_TRIALS)
    require_count(problems, "seed", seed, 0)
    problems.raise_if_any()
    rows = []
    for check in checks:
        count = max(LEAST_TRIALS, round(check.share * trials))
        outcome = check.run(generator(seed, scope, check.id), count)
        # A trial without a value does not speak for the statement.
        margin = np.where(np.isnan(outcome.margin), -np.inf, outcome.margin) + outcome.tolerance
        worst = int(np.argmin(margin))
        drawn = (f"{name}={values[worst]:.6g}" for name, values in outcome.parameters.items())
        rows.append(
            {
                "id": check.id,
                "where": check.where,
                "statement": check.statement,
                "trials": count,
                "violations": int(np.sum(margin < 0)),
                "worst": float(f"{margin[worst]:.3g}"),
                "tolerance": outcome.tolerance,
                "parameters": ", ".join(drawn),
                "status_of_proof": check.proof,
            }
        )
    return pd.DataFrame(rows)


def at_most(left: Array, right: Array | float, unit: Array | float = 1.0) -> Array:
    """Return the slack of left <= right in a unit."""
    return (right - left) / unit


def equal(left: Array | float, right: Array | float, unit: Array | float = 1.0) -> Array:
    """Return minus the error of left = right in a unit."""
    return -np.abs(left - right) / unit


def draw_shape(rng: Generator, n: int) -> dict[str, Array]:
    """Return n pairs alpha, gamma with alpha / gamma from 0.01 to 6, in log scale."""
    gamma = np.exp(rng.uniform(np.log(0.2), np.log(5.0), n))
    return {"alpha": gamma * np.exp(rng.uniform(np.log(0.01), np.log(6.0), n)), "gamma": gamma}


def draw_scalar(rng: Generator, n: int) -> dict[str, Array]:
    """Return n shapes with a sensitivity and an epsilon that together reach all five cases."""
    drawn = draw_shape(rng, n)
    alpha, gamma = drawn["alpha"], drawn["gamma"]
    # Half of the sensitivities compare with alpha, half with gamma.
    unit = np.where(rng.random(n) < 0.5, alpha, gamma)
    sensitivity = unit * np.exp(rng.uniform(np.log(0.1), np.log(5.0), n))
    sensitivity = np.minimum(sensitivity, 6 * gamma)
    last = (sensitivity + 2 * alpha) * sensitivity / (2 * gamma**2)
    return drawn | {"sensitivity": sensitivity, "epsilon": last * rng.uniform(0, 1.4, n)}


def column(x: Array) -> Array:
    """Return an array over trials in a shape that broadcasts with nodes."""
    return np.asarray(x)[:, None, None]


def integrate(function: Callable[[Array], Array], edges: Array, parts: int = 4) -> Array:
    """Return the integrals of a function that is smooth between edges, one per trial.

    Parameters
    ----------
    function : callable
        Takes and returns an array of shape (trials, stretches, nodes).
    edges : ndarray of shape (trials, m)
        In any order; the least and the greatest are the ends.
    parts : int
        Stretches into which each interval between edges is cut.
    """
    edges = np.sort(edges, axis=1)
    steps = np.diff(edges, axis=1)[:, :, None] * (np.arange(parts) / parts)
    starts = (edges[:, :-1, None] + steps).reshape(len(edges), -1)
    halves = np.repeat(np.diff(edges, axis=1) / (2 * parts), parts, axis=1)
    t = (starts + halves)[:, :, None] + halves[:, :, None] * _NODES
    return np.einsum("ijk,ij,k->i", function(t), halves, _WEIGHTS)


def kinks(alpha: Array, gamma: Array, *points: Array) -> Array:
    """Return edges for an integral against the density: its kinks, its ends and more points.

    Points beyond the ends are moved to them.
    """
    end = alpha + REACH * gamma
    rows = [np.clip(p, -end, end) for p in (-end, -alpha, np.zeros_like(alpha), alpha, end)]
    rows += [np.clip(p, -end, end) for p in points]
    return np.stack(rows, axis=1)


def weight(t: Array, alpha: Array, gamma: Array) -> Array:
    """Return exp(-rho_alpha(t) / gamma^2), the density but for its factor."""
    return np.exp(-printed.loss_function(t, alpha) / gamma**2)


def mass(alpha: Array, gamma: Array) -> Array:
    """Return the integral of `weight` by quadrature."""
    a, g = column(alpha), column(gamma)
    return integrate(lambda t: weight(t, a, g), kinks(alpha, gamma))


def tail(x: Array, alpha: Array, gamma: Array) -> Array:
    """Return P(T > x) of flipped Huber noise as a sum of positive terms where x >= 0."""
    w, b, size = printed.omega(alpha, gamma), alpha / gamma, np.abs(x)
    rim = printed.ROOT_2PI * printed.upper_tail(np.maximum(size / gamma, b))
    inside = np.minimum(size, alpha) / gamma
    centre = np.exp(b * (b / 2 - inside)) * -np.expm1(-b * (b - inside)) / b
    upper = (rim + centre) / w
    return np.where(x < 0, 1 - upper, upper)


def two_fold_tail(level: Array, one: Array, two: Array, alpha: Array, gamma: Array) -> Array:
    """Return P(one T_1 + two T_2 > level) for positive factors, by quadrature."""
    middle = level * one / (one * one + two * two)  # where T_1 is most likely to be then
    end = alpha + np.abs(middle) + REACH * gamma
    places = [(level - two * edge) / one for edge in (-alpha, 0 * alpha, alpha)]
    places += [middle - REACH / 2 * gamma, middle, middle + REACH / 2 * gamma]
    edges = [-end, -alpha, 0 * end, alpha, end, *(np.clip(p, -end, end) for p in places)]
    a, g, x, c, e = (column(v) for v in (alpha, gamma, level, one, two))
    integral = integrate(
        lambda t: weight(t, a, g) * tail((x - c * t) / e, a, g), np.stack(edges, axis=1)
    )
    return integral / mass(alpha, gamma)


def normal_tail(x: Array) -> Array:
    """Return Q(x)."""
    return special.ndtr(-x)
