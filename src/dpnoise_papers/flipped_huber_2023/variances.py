"""Minimum variance of each mechanism (flipped-huber-2023, Sections V-A and V-B).

What Figures 3a and 4, Table II and their slides have in common: for each budget, mechanism and
method one row, and a second one where the minimum is a limit that no member of the family attains.

Section V-A searches a grid in alpha, gamma (or theta, rho) in [0.02, 150] x [0.02, 50] and does
not print its resolution. Here the box is searched continuously: what is found is what ever finer
grids come down to, and the unrestricted minimum stands beside it. At fixed alpha a larger gamma is
more private and has more variance (see `dpnoise.calibration.published`), so for each alpha the
smallest private gamma counts. Alphas are scanned on a geometric grid, then around the best on ever
finer ones. An alpha is left at once if the largest gamma that would still be an improvement is not
private.

In one dimension Figure 3a and the slide 'variances' compare mechanisms at one delta, Figures 3b and
3c give the ratio of flipped Huber noise to another mechanism over epsilon and delta.

In K dimensions Figure 4 (K = 3 and 5), Table II (K = 20) and the slides' curves are one
experiment: independent noise per coordinate, neighbouring answers differ by at most
`sensitivity` = 1 in each, so that Delta_2 = sqrt K and Delta_1 = K. The paper has the grid
search and the sufficient condition of Theorem 8 for flipped Huber noise; the minimum
through the two-sided K-fold profile is what it leaves out (the best found). Inside the box that the
paper searches both come out larger.
"""

from __future__ import annotations

import math
from functools import cache, partial
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from dpnoise.calibration.budget import Target, delta_to_compare
from dpnoise.calibration.calibrate import calibrate
from dpnoise.calibration.published import theorem_8_delta
from dpnoise.noise import FlippedHuber, OffsetSymmetricGaussian
from dpnoise_papers.pages import describe, parameters
from dpnoise_papers.settings import values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from dpnoise._types import Array
    from dpnoise.calibration.budget import Calibration
    from dpnoise.noise import Noise
    from dpnoise_papers.flipped_huber_2023.settings import (
        Gain,
        MinimumVariances,
        VarianceRatio,
        VectorVariances,
    )

    Family = type[FlippedHuber | OffsetSymmetricGaussian]
    Ranges = tuple[tuple[float, float], tuple[float, float]]

FAMILIES: dict[str, Family] = {
    "flipped-huber": FlippedHuber,
    "offset-symmetric-gaussian": OffsetSymmetricGaussian,
}
_SCAN, _FINER = 33, 9
_FAR = 30.0  # logarithms further from that of delta only say 'far'
_STEEP, _GROWTH = 10.0, 8.0  # by how much log delta falls with log gamma, at least mostly
_CLOSE = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-7, 1e-7)  # of log gamma: scan, then each finer grid
# Methods that search a box, with the method of `calibrate` that searches all parameters.
UNRESTRICTED = {"box": "exact", "sufficient-box": "sufficient"}
COLUMNS = [
    "dimension", "delta", "epsilon", "mechanism", "method", "variance", "gain_db", "noise",
    "delta_bound", "attained",
]  # fmt: skip
_BUDGET = ["dimension", "delta", "epsilon"]


class InBox(NamedTuple):
    """Noise of minimum variance in a box; `noise` is None, the rest NaN, if none is private.

    Attributes
    ----------
    variance : float
        Per coordinate.
    delta : float
        What is certified, or, for "sufficient-box", what Theorem 8 vouches for; at most the
        budget's.
    """

    noise: Noise | None
    variance: float
    delta: float

    @property
    def told(self) -> str:
        """Parameters of the noise."""
        return describe(self.noise) if self.noise else "none in the box"


def minimum_in_box(
    family: str,
    box: Ranges,
    *,
    epsilon: float,
    delta: float,
    sensitivity: float = 1.0,
    dimension: int = 1,
    method: str = "box",
) -> InBox:
    """Noise of minimum variance in a box that keeps a privacy budget.

    Parameters
    ----------
    family : {"flipped-huber", "offset-symmetric-gaussian"}
    box : ((float, float), (float, float))
        The ranges of alpha or theta and of gamma or rho, positive.
    epsilon, delta, sensitivity, dimension
        As for `dpnoise.calibrate`; epsilon and delta positive.
    method : {"box", "sufficient-box"}
        Under the exact privacy profile, or (flipped Huber noise) under Theorem 8.

    Examples
    --------
    >>> box = ((0.02, 150.0), (0.02, 50.0))
    >>> found = minimum_in_box("offset-symmetric-gaussian", box, epsilon=0.3, delta=1e-6)
    >>> round(found.variance, 2)
    27.98
    """
    budget = Target(epsilon, delta, sensitivity, dimension)

    def spent(noise: Noise) -> float:
        if method == "sufficient-box" and isinstance(noise, FlippedHuber):
            place = noise.alpha, noise.gamma, budget.sensitivity, budget.epsilon, budget.dimension
            return float(theorem_8_delta(*place))
        return delta_to_compare(noise, budget)

    return search(FAMILIES[family], spent, budget.delta, box)


def inside(noise: Noise, box: Ranges) -> bool:
    """Whether the two parameters of a noise lie in a box."""
    pairs = zip(parameters(noise).values(), box, strict=True)
    return all(low <= value <= high for value, (low, high) in pairs)


def search(family: Family, spent: Callable[[Noise], float], delta: float, box: Ranges) -> InBox:
    """Noise of minimum variance in a box that spends at most delta.

    Parameters
    ----------
    family : type
        With two parameters, alpha and gamma.
    spent : callable
        Noise -> delta; no larger for a larger gamma at the same alpha.
    box : ((float, float), (float, float))
        The ranges of alpha and of gamma, positive.
    """
    (low, high), (bottom, ceiling) = box
    best: tuple[float, float, float] | None = None  # variance, alpha, gamma

    def attempt(alphas: Array, close: float) -> None:
        nonlocal best
        for alpha in alphas:
            top = ceiling
            if best is not None:
                top = _gamma_of(family, alpha, best[0], (bottom, ceiling))
            excess = partial(_excess, spent, delta, family, alpha)
            if top <= bottom or excess(math.log(top)) > 0.0:
                continue
            gamma = _smallest_private(excess, (bottom, top), close)
            variance = family(alpha, gamma).var()
            if best is None or variance < best[0]:
                best = variance, float(alpha), gamma

    scan = np.geomspace(low, high, _SCAN)
    scan[-1] = high  # geomspace rounds its ends
    attempt(scan[::-1], _CLOSE[0])
    ratio = math.log(scan[1] / scan[0])
    for close in _CLOSE[1:]:
        if best is None:
            break
        around = best[1] * np.exp(ratio * np.linspace(-1.0, 1.0, _FINER))
        attempt(np.unique(np.clip(around, low, high)), close)
        ratio *= 2.0 / (_FINER - 1)
    if best is None:
        return InBox(None, math.nan, math.nan)
    noise = family(best[1], best[2])
    return InBox(noise, best[0], spent(noise))


def _excess(
    spent: Callable[[Noise], float], delta: float, family: Family, alpha: float, log_gamma: float
) -> float:
    """Log of what noise of two parameters spends, less log delta."""
    found = spent(family(alpha, math.exp(log_gamma)))
    return math.log(found / delta) if found > 0.0 else -math.inf


def _gamma_of(family: Family, alpha: float, variance: float, ends: tuple[float, float]) -> float:
    """Largest gamma in a range at which noise of this alpha has less than a variance."""
    if family(alpha, ends[1]).var() < variance:
        return ends[1]
    low, high = math.log(ends[0]), math.log(ends[1])
    # ends: halves to a tolerance above rounding
    while high - low > _CLOSE[-1]:
        middle = 0.5 * (low + high)
        below = family(alpha, math.exp(middle)).var() < variance
        low, high = (middle, high) if below else (low, middle)
    return math.exp(low)


def _smallest_private(
    excess: Callable[[float], float], ends: tuple[float, float], close: float
) -> float:
    """Private gamma close to the smallest one between `ends`, of which the upper is private.

    `excess` is log delta less that of the budget, as a function of log gamma.
    """
    low, high = math.log(ends[0]), math.log(ends[1])
    private = high

    @cache
    def cut(x: float) -> float:
        nonlocal private
        value = min(max(excess(x), -_FAR), _FAR)
        private = min(private, x) if value <= 0.0 else private
        return value

    # Mostly it is near the upper end: the steps down grow until it is passed.
    step = max(close, -cut(high) / _STEEP)
    # ends: its steps grow, to the end of the box
    while cut(start := max(high - step, low)) <= 0.0:
        if start == low:
            return ends[0]
        high, step = start, _GROWTH * step
    brentq(cut, start, high, xtol=close)
    return math.exp(private)


def delta_of(family: str, delta: float) -> float:
    """The delta that the paper and its slides give a family: 0 for staircase noise."""
    return 0.0 if family == "staircase" else delta


class MinimumVariance(NamedTuple):
    """One row: a mechanism, a method, and the noise of minimum variance that it finds.

    Attributes
    ----------
    mechanism, method : str
        The method 'infimum' has the limit that no noise attains.
    variance : float
        Per coordinate; NaN if no noise of the box is private.
    noise : str
        Its parameters; empty for an infimum.
    delta_bound : float
        Certified.
    attained : int
        1 or 0.
    """

    mechanism: str
    method: str
    variance: float
    noise: str
    delta_bound: float
    attained: int


def minimum_variances(
    mechanisms: Iterable[tuple[str, str]],
    box: Ranges,
    *,
    epsilon: float,
    delta: float,
    sensitivity: float = 1.0,
    dimension: int = 1,
) -> Iterator[MinimumVariance]:
    """Yield the minimum variance of each mechanism for one budget.

    Parameters
    ----------
    mechanisms : iterable of (family, method)
        Families by kebab name. Methods are those of `calibrate` ('exact' is unrestricted);
        'box' and 'sufficient-box', which search a box; and 'pure', (epsilon, 0)-DP noise.
    epsilon, delta, sensitivity, dimension
        As for `calibrate`.
    """

    @cache
    def calibrated(family: str, method: str) -> Calibration:
        pure = method == "pure"
        return calibrate(
            family,
            epsilon=epsilon,
            delta=0.0 if pure else delta_of(family, delta),
            sensitivity=sensitivity,
            dimension=dimension,
            method="exact" if pure else method,
        )

    for mechanism, method in mechanisms:
        found = calibrated(mechanism, UNRESTRICTED.get(method, method))
        if method in UNRESTRICTED and not (found.attained and inside(found.noise, box)):
            boxed = minimum_in_box(
                mechanism,
                box,
                epsilon=epsilon,
                delta=delta,
                sensitivity=sensitivity,
                dimension=dimension,
                method=method,
            )
            private = int(boxed.noise is not None)
            yield MinimumVariance(
                mechanism, method, boxed.variance, boxed.told, boxed.delta, private
            )
            continue
        told, attained = describe(found.noise), int(found.attained)
        yield MinimumVariance(mechanism, method, found.variance, told, found.delta, attained)
        if method == "exact" and not found.attained:
            yield MinimumVariance(mechanism, "infimum", found.infimum, "", np.nan, 0)


def scalar_variances(settings: MinimumVariances) -> pd.DataFrame:
    """Minimum variance of each mechanism against epsilon (Figure 3a).

    Columns epsilon, mechanism, method, variance, noise, delta_bound (certified), attained,
    off_truncated_laplace (by how much of it the variance differs from that of truncated Laplace
    noise at this epsilon, either way; NaN without that mechanism) and, for flipped Huber noise,
    gain_step and gain_step_osgt (see `gain_steps`). Where the minimum is a limit that no member of
    the family attains, a second row of method 'infimum' has it, without noise.
    """
    rows = [
        (epsilon, *row)
        for epsilon in np.union1d(values(settings.epsilons), settings.also)
        for row in minimum_variances(
            settings.mechanisms,
            settings.box,
            epsilon=float(epsilon),
            delta=settings.delta,
            sensitivity=settings.sensitivity,
        )
    ]
    table = pd.DataFrame(rows, columns=["epsilon", *MinimumVariance._fields])
    truncated = table[(table["mechanism"] == "truncated-laplace") & (table["method"] == "exact")]
    other = table["epsilon"].map(truncated.set_index("epsilon")["variance"])
    table["off_truncated_laplace"] = (table["variance"] / other - 1.0).abs()
    return gain_steps(table)


def gain_steps(table: pd.DataFrame) -> pd.DataFrame:
    """How much more flipped Huber noise gains than at the next smaller epsilon.

    The gain is the variance of another mechanism over that of flipped Huber noise. Column gain_step
    is for Gaussian noise, gain_step_osgt for offset-symmetric Gaussian noise of the same method.
    The smallest epsilon has the step to the next one; rows of other mechanisms have NaN.
    """
    table = table.assign(gain_step=np.nan, gain_step_osgt=np.nan)

    def variances(mechanism: str, method: str) -> pd.Series:
        rows = table[(table["mechanism"] == mechanism) & (table["method"] == method)]
        return rows.set_index("epsilon")["variance"].sort_index()

    for method in ("exact", "box"):
        own = variances("flipped-huber", method)
        others = {
            "gain_step": variances("gaussian", "exact"),
            "gain_step_osgt": variances("offset-symmetric-gaussian", method),
        }
        rows = (table["mechanism"] == "flipped-huber") & (table["method"] == method)
        for column, other in others.items():
            steps = (other.reindex(own.index) / own).diff().bfill(limit=1)
            table.loc[rows, column] = table.loc[rows, "epsilon"].map(steps)
    return table


def variance_ratio(settings: VarianceRatio) -> pd.DataFrame:
    """Variance of flipped Huber noise over that of another mechanism (Figures 3b, 3c).

    Columns epsilon, delta, flipped_huber, one named after the other mechanism (variances) and
    ratio_db. Where flipped Huber noise has no minimum variance, its infimum is used.
    """
    against, sensitivity = settings.against, settings.sensitivity
    rows = []
    for epsilon in values(settings.epsilons).tolist():
        for delta in values(settings.deltas).tolist():
            ours, theirs = (
                calibrate(
                    name, epsilon=epsilon, delta=delta_of(name, delta), sensitivity=sensitivity
                ).infimum
                for name in ("flipped-huber", against)
            )
            rows.append((epsilon, delta, ours, theirs, 10.0 * math.log10(ours / theirs)))
    columns = ["epsilon", "delta", "flipped_huber", against.replace("-", "_"), "ratio_db"]
    return pd.DataFrame(rows, columns=columns)


def vector_variances(settings: VectorVariances) -> pd.DataFrame:
    """Minimum variance per coordinate for each mechanism and budget.

    Columns dimension, delta, epsilon, mechanism, method, variance, gain_db (decibels below the
    exact Gaussian's variance), noise, delta_bound (certified) and attained. Where the minimum is a
    limit that no member of the family attains, a second row of method 'infimum' has it, without
    noise. Where no noise of the box is private, its variance is NaN. `searched` is the variance
    again, with searched_least and searched_greatest: the range over both search spaces, all
    parameters and the paper's box (which the paper states for one dimension only), where both are
    asked for.
    """
    budgets = list(product(settings.dimensions, settings.deltas, settings.epsilons))
    rows = [row for budget in budgets for row in _rows(settings, *budget)]
    return _over_search_spaces(pd.DataFrame(rows, columns=COLUMNS))


def _over_search_spaces(table: pd.DataFrame) -> pd.DataFrame:
    """Table with the range of the variance over the box and all parameters."""
    condition = table["method"].replace(UNRESTRICTED)
    same = table.groupby([*(table[name] for name in _BUDGET), table["mechanism"], condition])
    table["searched"] = table["variance"]
    table["searched_least"] = same["variance"].transform("min")
    table["searched_greatest"] = same["variance"].transform("max")
    return table


def _rows(
    settings: VectorVariances, dimension: int, delta: float, epsilon: float
) -> Iterator[tuple[object, ...]]:
    """Yield the rows of one budget."""
    gaussian = calibrate("gaussian", epsilon=epsilon, delta=delta, dimension=dimension).variance
    for mechanism, method, variance, *told in minimum_variances(
        settings.mechanisms, settings.box, epsilon=epsilon, delta=delta, dimension=dimension
    ):
        gain = 10.0 * math.log10(gaussian / variance)
        yield dimension, delta, epsilon, mechanism, method, variance, gain, *told


def gain_by_dimension(settings: Gain) -> pd.DataFrame:
    """Gain of flipped Huber noise over the better of Gaussian and Laplace.

    Columns dimension, epsilon, delta, flipped_huber, gaussian, laplace (variances), gain_db
    (decibels below the better of the two), better (which), laplace_share (the probability of the
    Laplace centre), alpha, gamma (of the noise, sensitivity 1), attained, and columns for what
    Section VI-C says of many compositions: alpha_step (alpha less that of the next smaller
    dimension and the same budget; NaN for the smallest), laplace_by_information (the Laplace
    variance over that of the Laplace noise with the Fisher information of the Gaussian noise, which
    is twice the Gaussian's: the limit that the central limit theorem gives), laplace_by_variance
    (the Gaussian variance over the Laplace one) and laplace_as_gaussian (the first of the two, with
    the range over both as least and greatest). laplace_pure is the variance of (epsilon, 0)-DP
    Laplace noise.
    """
    rows = []
    cases = list(product(settings.budgets, settings.dimensions))
    for (epsilon, delta), dimension in cases:
        found, gaussian, laplace = (
            calibrate(name, epsilon=epsilon, delta=delta, dimension=dimension)
            for name in ("flipped-huber", "gaussian", "laplace")
        )
        variance = found.variance if found.attained else found.infimum
        both = {"gaussian": gaussian.variance, "laplace": laplace.variance}
        better = min(both, key=both.__getitem__)
        share = found.noise.centre_mass() if isinstance(found.noise, FlippedHuber) else np.nan
        gain = 10.0 * math.log10(both[better] / variance)
        shape = [getattr(found.noise, name, np.nan) for name in ("alpha", "gamma")]
        rows.append((dimension, epsilon, delta, variance, *both.values(), gain, better, share,
                     *shape, int(found.attained)))  # fmt: skip
    columns = ["dimension", "epsilon", "delta", "flipped_huber", "gaussian", "laplace", "gain_db",
               "better", "laplace_share", "alpha", "gamma", "attained"]  # fmt: skip
    return with_limits(pd.DataFrame(rows, columns=columns))


def with_limits(table: pd.DataFrame) -> pd.DataFrame:
    """The same rows with the columns that need no calibration (see `gain_by_dimension`)."""
    ordered = table.sort_values("dimension", kind="stable")
    steps = ordered.groupby(["epsilon", "delta"])["alpha"].diff()
    shares = {
        "laplace_by_information": table["laplace"] / (2.0 * table["gaussian"]),
        "laplace_by_variance": table["gaussian"] / table["laplace"],
    }
    both = pd.DataFrame(shares)
    return table.assign(
        alpha_step=steps,
        **shares,
        laplace_as_gaussian=both["laplace_by_information"],
        laplace_as_gaussian_least=both.min(axis=1),
        laplace_as_gaussian_greatest=both.max(axis=1),
        laplace_pure=2.0 * (table["dimension"] / table["epsilon"]) ** 2,
    )
