"""Privacy in K dimensions by flipped-huber-2023, put to the test: Algorithm 2 and Theorem 8.

Algorithm 2, as published and corrected, stands beside the exact profile. It builds the
K-dimensional privacy profile one coordinate at a time, on a set of grid points for epsilon. Its
line 4 is printed as

    delta_k(nu) <- integral of g(t) delta_{k-1}(epsilon - loss(t)) dt,

whose right-hand side does not depend on nu: every delta_k is then a constant and stays at the
value of K = 2. With nu for epsilon it is the recursion that is meant, but it asks for
delta_{k-1} at negative arguments and between grid points, of which the paper says nothing.
Negative arguments follow from those it has, delta(-x) = 1 - e^-x + e^-x delta(x).

Four variants are run: `printed`; `clamped` and `zero` use nu, with grid points at nu >= 0 only
and delta(0) or 1 below them; `corrected` uses nu and the reflection. All interpolate linearly,
which lies above a convex profile.

Theorem 8 takes Delta_1, Delta_2 and Delta (the largest l1, l2 and l-infinity norm of a
difference d of neighbouring answers) as if one d had all three. In the search for parameters and
neighbours that break it, d has m equal entries, and the three sensitivities are anything that other
neighbours may force upwards: as large as, or larger than, the norms of d. The adversary picks
epsilon, gamma, alpha, m, the entry and the sensitivities so that the exact delta of d is as large a
multiple of the theorem's delta as can be: first at random, then by Nelder-Mead from the worst of
these. A multiple above 1 would be a counterexample. As alpha falls to 0 the theorem becomes the
exact condition of Gaussian noise and the multiple 1, where every search ends; so it is also run
with alpha / gamma bounded from below.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from dpnoise.noise import FlippedHuber
from dpnoise.privacy.profile import privacy_profile
from dpnoise.privacy.vector import vector_profile
from dpnoise_papers.flipped_huber_2023 import as_printed as printed
from dpnoise_papers.seeds import generator

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise_papers.flipped_huber_2023.settings import Algorithm2, Theorem8Search

VARIANTS = ("printed", "clamped", "zero", "corrected")
_TAIL = 1e-25  # the integral stops where this much noise is left
_TOLERANCE = 1e-6  # the exact profile comes with bounds 1e-7 apart
_SMALLEST = 1e-14  # a bound below it is lost to the cancellation of the printed formula
# epsilon, 2 gamma^2 epsilon / Delta_2^2 - 1, alpha over the largest admitted, ||d||_2 / Delta_2,
# Delta over its smallest value, Delta_1 over its smallest value: ranges, in logarithms
_LOW = np.log([0.03, 1e-3, 0.05, 0.2, 1.0, 1.0])  # alpha = 0 is the Gaussian, multiple 1
_HIGH = np.log([6.0, 30.0, 1.0, 1.0, 4.0, 4.0])
_STARTS = 3


def algorithm_2(settings: Algorithm2) -> pd.DataFrame:
    """Delta by Algorithm 2 for some flipped Huber noises, and the exact delta.

    Per case: alpha, gamma, dimension, epsilon, variance, lower and upper (the exact delta), and for
    each variant its delta, `<variant>_error`, relative to the exact delta, and `<variant>_off`, the
    size of that error.
    """
    rows = []
    for alpha, gamma, dimension, epsilon in settings.cases:
        noise = FlippedHuber(alpha, gamma)
        exact = vector_profile(noise, 1.0, epsilon, copies=dimension)
        row: dict[str, float | Array] = {"alpha": alpha, "gamma": gamma, "dimension": dimension}
        row |= {"epsilon": epsilon, "variance": noise.var()}
        row |= {"lower": exact.lower, "upper": exact.upper}
        nu = np.linspace(0.0, settings.grid_factor * epsilon, settings.grid_points)
        for variant in VARIANTS:
            delta = iterate(noise, dimension, epsilon, nu=nu, nodes=settings.nodes, variant=variant)
            error = delta / exact.estimate - 1.0
            row |= {variant: delta, f"{variant}_error": error, f"{variant}_off": abs(error)}
        rows.append(row)
    return pd.DataFrame(rows)


def iterate(
    noise: FlippedHuber, dimension: int, epsilon: float, *, nu: Array, nodes: int, variant: str
) -> float:
    """Value of delta_K(epsilon) by one variant of Algorithm 2, sensitivity 1.

    Parameters
    ----------
    noise : FlippedHuber
        The noise of each coordinate.
    dimension : int
        K.
    epsilon : float
        Where the profile is wanted.
    nu : ndarray, shape (n,)
        The set of grid points, from 0 upwards.
    nodes : int
        Points of the trapezoidal rule in t, beside a twentieth as many between -1 and 0.
    variant : {"printed", "clamped", "zero", "corrected"}
        See the module's text.
    """
    end = noise.isf(_TAIL)
    # the loss turns at -1 and 0, and between them it may fall from end to end within one step
    t = np.union1d(np.linspace(-end - 1.0, end, nodes), np.linspace(-1.0, 0.0, nodes // 20 + 2))
    steps = np.diff(t)
    mass = noise.pdf(t) * 0.5 * (np.append(steps, 0.0) + np.append(0.0, steps))
    loss = noise.logpdf(t) - noise.logpdf(t + 1.0)
    delta = privacy_profile(noise, 1.0, nu)
    argument = (epsilon if variant == "printed" else nu[:, None]) - loss
    if variant == "printed" and dimension > 1:  # constant from K = 2 on
        return float(_interpolated(argument, nu, delta, variant) @ mass)
    for _ in range(dimension - 1):
        delta = _interpolated(argument, nu, delta, variant) @ mass
    return float(np.interp(epsilon, nu, delta))


def _interpolated(x: Array, nu: Array, delta: Array, variant: str) -> Array:
    """Interpolate delta at any x from its values at nu >= 0."""
    if variant == "clamped":
        return np.interp(x, nu, delta, right=0.0)
    if variant == "zero":
        return np.interp(x, nu, delta, left=1.0, right=0.0)
    value = np.interp(np.abs(x), nu, delta, right=0.0)
    below = np.minimum(x, 0.0)
    return np.where(x < 0, -np.expm1(below) + np.exp(below) * value, value)


def theorem_8_search(settings: Theorem8Search) -> pd.DataFrame:
    """Largest multiple of Theorem 8's delta that was found, per dimension.

    Columns dimension, neighbour ("corner": d has all three norms, or "other"), least_shape,
    evaluations, random (the largest exact delta over the theorem's at random), multiple (the
    largest of all), violations (how many evaluations are above 1 by more than the exact account's
    resolution) and parameters (of the largest).
    """
    rows = []
    for dimension in settings.dimensions:
        for neighbour in ("corner", "other"):
            for shape in settings.shapes if dimension > 1 or neighbour == "corner" else ():
                rng = generator(settings.seed, "theorem-8-search", neighbour, dimension, shape)
                place = _Place(dimension, neighbour, shape)
                rows.append(_attack(place, rng, settings.trials, settings.steps))
    return pd.DataFrame(rows)


class _Place(NamedTuple):
    """Where a search takes place."""

    dimension: int
    neighbour: str
    least_shape: float  # a column, which keeps its name


def _attack(place: _Place, rng: np.random.Generator, trials: int, steps: int) -> dict[str, object]:
    """Search one place at random, then downhill from the worst of what was found."""
    from scipy.optimize import minimize  # noqa: PLC0415 - slow to import

    seen: list[tuple[float, str]] = []

    def lost(x: Array, entries: int) -> float:
        """Minus the logarithm of the multiple, which is kept."""
        multiple, told = _multiple(np.clip(x, _LOW, _HIGH), entries, place)
        seen.append((multiple, told))
        return -math.log(max(multiple, 1e-300))

    starts = []
    for _ in range(trials):
        entries = int(rng.integers(1, place.dimension + 1))
        if place.neighbour == "corner":
            entries = place.dimension
        x = rng.uniform(_LOW, _HIGH)
        starts.append((lost(x, entries), entries, x))
    random = max(seen)[0]
    for _, entries, x in sorted(starts, key=lambda start: start[0])[:_STARTS]:
        # ends: an attack: what it saw, lower bounds all
        minimize(
            partial(lost, entries=entries),
            x,
            method="Nelder-Mead",
            options={"maxfev": steps, "xatol": 1e-4, "fatol": 1e-9},
        )
    multiple, told = max(seen)
    return {
        **place._asdict(),
        "evaluations": len(seen),
        "random": random,
        "multiple": multiple,
        "violations": sum(value > 1.0 + _TOLERANCE for value, _ in seen),
        "parameters": told,
    }


def _multiple(x: Array, entries: int, place: _Place) -> tuple[float, str]:
    """Exact delta over the theorem's, and the parameters in words.

    0 where the printed formula cancels or alpha is less than the place allows.
    """
    epsilon, surplus, part, share, wider, longer = np.exp(x)
    delta_2, dimension = 1.0, place.dimension
    if place.neighbour == "corner":
        entry = delta = 1.0 / math.sqrt(dimension)
        delta_1 = math.sqrt(dimension)
    else:
        entry = share / math.sqrt(entries)
        # some neighbour has l2 norm 1, so that its largest entry is at least 1 / sqrt K
        delta = min(max(entry, 1.0 / math.sqrt(dimension)) * wider, 1.0)
        delta_1 = min(max(entries * entry, 1.0) * longer, math.sqrt(dimension))
    gamma = math.sqrt((1.0 + surplus) * delta_2**2 / (2.0 * epsilon))
    largest_cost = (2.0 * gamma**2 * epsilon - delta_2**2) / dimension
    alpha = part * float(printed.transition_inverse(np.float64(largest_cost), np.float64(delta)))
    alpha = min(alpha, 30.0 * gamma)  # beyond, the printed normaliser overflows
    norms = np.float64(delta_1), np.float64(delta_2), np.float64(delta)
    upper, lower, _ = printed.theorem_8(epsilon, np.float64(alpha), gamma, dimension, norms)
    bound = float(upper - math.exp(epsilon) * lower)
    told = (
        f"epsilon={epsilon:.6g}, alpha={alpha:.6g}, gamma={gamma:.6g}, entries={entries}, "
        f"entry={entry:.6g}, Delta_1={delta_1:.6g}, Delta_2=1, Delta={delta:.6g}"
    )
    if bound <= _SMALLEST or alpha < place.least_shape * gamma:
        return 0.0, told
    exact = vector_profile(FlippedHuber(alpha, gamma), entry, epsilon, copies=entries)
    return float(exact.lower) / bound, told
