"""Algorithm 2 of flipped-huber-2023, as published and corrected, beside the exact profile.

The algorithm builds the K-dimensional privacy profile one coordinate at a time, on a set of
grid points for epsilon. Its line 4 is printed as

    delta_k(nu) <- integral of g(t) delta_{k-1}(epsilon - loss(t)) dt,

whose right-hand side does not depend on nu: every delta_k is then a constant and stays at the
value of K = 2. With nu for epsilon it is the recursion that is meant, but it asks for
delta_{k-1} at negative arguments and between grid points, of which the paper says nothing.
Negative arguments follow from those it has, delta(-x) = 1 - e^-x + e^-x delta(x).

Four readings are run: `printed`; `clamped` and `zero` use nu, with grid points at nu >= 0 only
and delta(0) or 1 below them; `corrected` uses nu and the reflection. All interpolate linearly,
which lies above a convex profile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpnoise._validation import Problems
from dpnoise.noise import FlippedHuber
from dpnoise.privacy.profile import privacy_profile
from dpnoise.privacy.vector import vector_profile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise._types import Array

READINGS = ("printed", "clamped", "zero", "corrected")
_TAIL = 1e-25  # the integral stops where this much noise is left


def algorithm_2(
    *,
    cases: Sequence[Sequence[float]],
    grid_points: int,
    grid_factor: float,
    nodes: int,
) -> pd.DataFrame:
    """Return what Algorithm 2 says of some flipped Huber noises, and what is true.

    Parameters
    ----------
    cases : sequence of (alpha, gamma, dimension, epsilon)
        The noise per coordinate, the number of coordinates K and epsilon; sensitivity 1.
    grid_points : int
        Points of the set of epsilons, from 0 to `grid_factor` times epsilon.
    grid_factor : float
        See above; at least 1.
    nodes : int
        Points of the trapezoidal rule in t.

    Returns
    -------
    DataFrame
        Per case: alpha, gamma, dimension, epsilon, variance, lower and upper (the exact delta),
        and for each reading its delta and `<reading>_error`, relative to the exact delta.

    Raises
    ------
    ValueError
        If a setting is not as above; names all that are not.
    """
    problems = Problems("Algorithm 2")
    problems.number("grid_factor", grid_factor, low=1.0)
    for name, count in (("grid_points", grid_points), ("nodes", nodes)):
        problems.require(isinstance(count, int) and count >= 3, name, "a whole number >= 3", count)
    for place, case in enumerate(cases):
        problems.require(
            len(case) == 4, f"cases[{place}]", "(alpha, gamma, dimension, epsilon)", case
        )
    problems.raise_if_any()
    rows = []
    for alpha, gamma, dimension, epsilon in cases:
        noise = FlippedHuber(alpha, gamma)
        exact = vector_profile(noise, 1.0, epsilon, copies=int(dimension))
        place = {"dimension": int(dimension), "epsilon": epsilon}
        row = {"alpha": alpha, "gamma": gamma, **place, "variance": noise.var()}
        row |= {"lower": exact.lower, "upper": exact.upper}
        nu = np.linspace(0.0, grid_factor * epsilon, grid_points)
        for reading in READINGS:
            delta = iterate(noise, nu=nu, nodes=nodes, reading=reading, **place)
            row |= {reading: delta, f"{reading}_error": delta / exact.estimate - 1.0}
        rows.append(row)
    return pd.DataFrame(rows)


def iterate(
    noise: FlippedHuber, *, dimension: int, epsilon: float, nu: Array, nodes: int, reading: str
) -> float:
    """Return delta_K(epsilon) by Algorithm 2 in one of its readings, sensitivity 1.

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
        Points of the trapezoidal rule in t.
    reading : {"printed", "clamped", "zero", "corrected"}
        See the module's text.
    """
    end = noise.isf(_TAIL)
    t = np.linspace(-end - 1.0, end, nodes)
    mass = noise.pdf(t) * (t[1] - t[0])
    loss = noise.logpdf(t) - noise.logpdf(t + 1.0)
    delta = privacy_profile(noise, 1.0, nu)
    argument = (epsilon if reading == "printed" else nu[:, None]) - loss
    if reading == "printed" and dimension > 1:  # constant from K = 2 on
        return float(_interpolated(argument, nu, delta, reading) @ mass)
    for _ in range(dimension - 1):
        delta = _interpolated(argument, nu, delta, reading) @ mass
    return float(np.interp(epsilon, nu, delta))


def _interpolated(x: Array, nu: Array, delta: Array, reading: str) -> Array:
    """Return delta at any x from its values at nu >= 0."""
    if reading == "clamped":
        return np.interp(x, nu, delta, right=0.0)
    if reading == "zero":
        return np.interp(x, nu, delta, left=1.0, right=0.0)
    value = np.interp(np.abs(x), nu, delta, right=0.0)
    below = np.minimum(x, 0.0)
    return np.where(x < 0, -np.expm1(below) + np.exp(below) * value, value)
