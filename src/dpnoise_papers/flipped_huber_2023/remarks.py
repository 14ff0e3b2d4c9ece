"""Sentences of flipped-huber-2023 that a few numbers decide.

Remark 1: P(loss >= epsilon) <= delta suffices for privacy, but typically asks for a variance much
larger than what is needed. Section VI-C: truncated Laplace noise can give a data set away for
certain, with positive probability. Section V-B compares the panels of Figure 4, 3 and 5
dimensions, in words: how much of the gain over Gaussian noise is lost, and how the gap between the
sufficient condition (Theorem 8) and the exact one grows. Both are taken unrestricted and inside the
box that the paper searches.

The slides call some mechanisms optimal. `dpnoise.optimality.bounds` brackets the minimum variance,
or E|T|, of any noise that is (epsilon, delta)-DP for a real query of sensitivity 1. `limit` puts
every mechanism beside these bounds: value / upper is how many times the limit it costs at least,
value / lower at most.
"""

from __future__ import annotations

import math
from functools import cache, partial
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from scipy import special
from scipy.integrate import quad

from dpnoise.calibration.calibrate import calibrate
from dpnoise.noise import FlippedHuber, Gaussian, Staircase, staircase_gamma
from dpnoise.optimality.bounds import minimum_cost
from dpnoise_papers.flipped_huber_2023.variances import search
from dpnoise_papers.pages import describe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise.noise import Noise
    from dpnoise_papers.flipped_huber_2023.settings import Limit, Remark

_WIDE = ((1e-3, 1e5), (1e-3, 1e4))  # alpha and gamma, sensitivity 1
_HALVINGS = 100
_APART = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)  # neighbouring answers
_KEYS = ["delta", "epsilon"]
_ROUNDING = 1e-12  # of a cost in closed form
_SEARCHES = {"unrestricted": ("exact", "sufficient"), "box": ("box", "sufficient-box")}


def loss_tail(noise: Noise, epsilon: float) -> float:
    """P(loss >= epsilon) of symmetric log-concave noise for a shift of 1.

    The loss log g(t) - log g(t + 1) grows with t; the smallest t where it is epsilon or more is
    bracketed from below, so that the probability errs upwards.
    """
    low, high = -60.0 * noise.std() - 1.0, 60.0 * noise.std()
    # ends: halves to the last digit; errs upwards
    for _ in range(_HALVINGS):
        t = 0.5 * (low + high)
        below = noise.logpdf(t) - noise.logpdf(t + 1.0) < epsilon
        low, high = (t, high) if below else (low, t)
    return float(noise.sf(low))


def remark_1(settings: Remark) -> pd.DataFrame:
    """Minimum variances under P(loss >= epsilon) <= delta and under the exact condition.

    Per mechanism (gaussian, laplace, flipped-huber) and epsilon, sensitivity 1: columns mechanism,
    epsilon, delta, exact, sufficient (variances), ratio (sufficient over exact) and noise (that
    meets the sufficient condition). Laplace noise meets it only where its loss, at most 1 / beta,
    stays below epsilon, as the limit beta = 1 / epsilon.
    """
    delta = settings.delta
    rows = []
    for epsilon in settings.epsilons:
        exact = {
            name: calibrate(name, epsilon=epsilon, delta=delta).infimum
            for name in ("gaussian", "laplace", "flipped-huber")
        }

        spent = partial(loss_tail, epsilon=epsilon)
        # P(loss >= epsilon) = Q(epsilon sigma - 1 / (2 sigma)): a quadratic in sigma
        x = -special.ndtri(delta)
        sigma = (x + math.sqrt(x * x + 2.0 * epsilon)) / (2.0 * epsilon)
        graft = search(FlippedHuber, spent, delta, _WIDE)
        found = {
            "gaussian": (sigma * sigma, describe(Gaussian(sigma))),
            "laplace": (2.0 / epsilon**2, f"the limit beta={1.0 / epsilon:.6g}"),
            "flipped-huber": (graft.variance, graft.told),
        }
        for name, (variance, told) in found.items():
            ratio = variance / exact[name]
            rows.append((name, epsilon, delta, exact[name], variance, ratio, told))
    columns = ["mechanism", "epsilon", "delta", "exact", "sufficient", "ratio", "noise"]
    return pd.DataFrame(rows, columns=columns)


def identification(settings: Remark) -> pd.DataFrame:
    """Probability that truncated Laplace noise gives a data set away for certain.

    An answer that only one of two neighbouring answers can have led to tells which it was. The
    noise is calibrated to (epsilon, delta); the probability is the integral of exp(-|t|/beta)
    where the other answer has no noise, over that of the whole support, and the largest over
    neighbours up to 1 apart.

    Per epsilon: columns epsilon, delta, bound (of the noise), probability and over_delta (the
    probability over delta).
    """
    delta = settings.delta
    rows = []
    for epsilon in settings.epsilons:
        noise = calibrate("truncated-laplace", epsilon=epsilon, delta=delta).noise
        probability = max(_beyond(noise.beta, noise.bound, apart) for apart in _APART)
        rows.append((epsilon, delta, noise.bound, probability, probability / delta))
    return pd.DataFrame(rows, columns=["epsilon", "delta", "bound", "probability", "over_delta"])


def _beyond(beta: float, bound: float, apart: float) -> float:
    """Probability by quadrature of noise within `apart` of one end of its support."""

    def density(t: float) -> float:
        return math.exp(-t / beta)

    start = max(bound - apart, -bound)
    # ends: smooth and monotone: the tests compare it with the closed form
    last = quad(density, max(start, 0.0), bound, epsabs=0.0, epsrel=1e-12)[0]
    if start < 0:
        # ends: smooth and monotone: the tests compare it with the closed form
        last += quad(density, 0.0, -start, epsabs=0.0, epsrel=1e-12)[0]
    # ends: smooth and monotone: the tests compare it with the closed form
    return float(last / (2.0 * quad(density, 0.0, bound, epsabs=0.0, epsrel=1e-12)[0]))


def compare_dimensions(lower: pd.DataFrame, higher: pd.DataFrame) -> pd.DataFrame:
    """Gains and gaps of two dimensions side by side.

    One row per search (unrestricted, box), delta and epsilon, but for those where a box has no
    private noise. The gain is the Gaussian variance over the minimum flipped Huber variance in
    decibels, and the gap the variance by the sufficient condition less the minimum; gain_lost_db
    and gap_grown are their differences. excess_from and excess_to are the gaps in units of the
    minimum variance, and excess is the larger of the two; over_gaussian and over_osgt, the minimum
    variance over that of Gaussian and of offset-symmetric Gaussian noise of the same search, are
    the larger of both dimensions. searched_excess is the excess again, with searched_excess_least
    and searched_excess_greatest, its range over the searches (of a box without private noise for
    one of the dimensions, the excess of the other).

    Parameters
    ----------
    lower, higher : DataFrame
        The two panels of Figure 4: columns dimension, delta, epsilon, mechanism, method and
        variance, each with one dimension and the same delta and epsilon.
    """
    parts = []
    for space in _SEARCHES:
        one, two = _measures(lower, space), _measures(higher, space)
        larger = np.maximum(one, two)  # no number where one is none
        parts.append(pd.DataFrame({
            "search": space,
            "gain_lost_db": one["gain"] - two["gain"],
            "gap_grown": two["gap"] - one["gap"],
            "excess_from": one["excess"],
            "excess_to": two["excess"],
            "excess": larger["excess"],
            "over_gaussian": larger["over_gaussian"],
            "over_osgt": larger["over_osgt"],
            "seen": np.fmax(one["excess"], two["excess"]),
        }))  # fmt: skip
    table = pd.concat(parts).reset_index().set_index("search").reset_index()
    same = table.groupby(_KEYS)["seen"]
    return (
        table.assign(
            searched_excess=table["excess"],
            searched_excess_least=same.transform("min"),
            searched_excess_greatest=same.transform("max"),
        )
        .drop(columns="seen")
        .dropna(ignore_index=True)
    )


def _measures(table: pd.DataFrame, search: str) -> pd.DataFrame:
    """Gain, gap and excess by delta and epsilon."""

    def variances(mechanism: str, method: str) -> pd.Series:
        rows = table[(table["mechanism"] == mechanism) & (table["method"] == method)]
        return rows.set_index(_KEYS)["variance"].sort_index()

    smallest, sufficient = (variances("flipped-huber", method) for method in _SEARCHES[search])
    gaussian = variances("gaussian", "exact")
    osgt = variances("offset-symmetric-gaussian", _SEARCHES[search][0])
    return pd.DataFrame({
        "gain": 10 * np.log10(gaussian / smallest),
        "over_gaussian": smallest / gaussian,
        "over_osgt": smallest / osgt,
        "gap": sufficient - smallest,
        "excess": (sufficient - smallest) / smallest,
    })  # fmt: skip


class _Bounds(NamedTuple):
    """Bounds on the limit, and lattice points per unit of the program behind the lower one."""

    lower: float
    upper: float
    cells: int


def limit(settings: Limit) -> pd.DataFrame:
    """Cost of each mechanism beside the limit of additive noise.

    Sorted by cost as given, delta, epsilon and mechanism as given. Columns cost, delta, epsilon,
    lower, upper, cells (of the program behind `lower`), mechanism, value, over_limit (value /
    lower, the most it can be), over_limit_least (value / upper), noise and status: 'ok', 'infimum'
    where the family only approaches the value, or why it has none, with NaN for the numbers.
    """
    deltas, epsilons = sorted(settings.deltas), sorted(settings.epsilons)
    pairs = list(product(settings.costs, epsilons))
    limits = {pair: _limits(*pair, deltas, settings.gap) for pair in pairs}
    rows = []
    for cost, delta, epsilon in product(settings.costs, deltas, epsilons):
        bounds = limits[cost, epsilon][delta]
        here = (cost, delta, epsilon, *bounds)
        for mechanism in settings.mechanisms:
            noise, value, status = _mechanism(mechanism, epsilon, delta, cost)
            over = value / bounds.lower, value / bounds.upper
            told = "" if noise is None else describe(noise)
            rows.append((*here, mechanism, value, *over, told, status))
    columns = ["cost", "delta", "epsilon", "lower", "upper", "cells", "mechanism", "value"]
    columns += ["over_limit", "over_limit_least", "noise", "status"]
    return pd.DataFrame(rows, columns=columns)


def _limits(cost: str, epsilon: float, deltas: Sequence[float], gap: float) -> dict[float, _Bounds]:
    """Bounds for each of some rising deltas.

    The limit falls as delta rises. So the bound below it for one delta holds for every smaller one,
    and what the best noise with delta = 0, a staircase, costs is a bound above it for every delta.
    """
    pure = _cost(_staircase(epsilon, cost), cost) * (1.0 + _ROUNDING)
    found: dict[float, _Bounds] = {}
    known = _Bounds(0.0, math.inf, 0)
    for delta in reversed(deltas):
        if pure > (1.0 + gap) * known.lower:
            new = minimum_cost(epsilon, delta, cost=cost, gap=gap)
            lower, cells = max((new.lower, new.cells), (known.lower, known.cells))
            known = _Bounds(lower, min(new.upper, pure), cells)
        else:
            known = known._replace(upper=pure)
        found[delta] = known
    return found


def _staircase(epsilon: float, cost: str) -> Staircase:
    """The best noise with delta = 0."""
    return Staircase(epsilon, 1.0, float(staircase_gamma(epsilon, 2 if cost == "variance" else 1)))


def _mechanism(
    mechanism: str, epsilon: float, delta: float, cost: str
) -> tuple[Noise | None, float, str]:
    """Noise of a family, its cost and how it was had."""
    if mechanism == "staircase":
        steps = _staircase(epsilon, cost)
        return steps, _cost(steps, cost), "ok"
    noise, status = _calibrated(mechanism, epsilon, delta)
    return noise, np.nan if noise is None else _cost(noise, cost), status


@cache  # one calibration serves both costs
def _calibrated(mechanism: str, epsilon: float, delta: float) -> tuple[Noise | None, str]:
    """Noise of a family and 'ok' or 'infimum', or None and why there is none."""
    try:
        found = calibrate(mechanism, epsilon=epsilon, delta=delta)
    except ValueError as refusal:
        return None, str(refusal)
    return found.noise, "ok" if found.attained else "infimum"


def _cost(noise: Noise, cost: str) -> float:
    """Variance or mean absolute error of a noise."""
    return noise.var() if cost == "variance" else noise.mean_abs()
