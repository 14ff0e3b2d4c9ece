"""Algorithm 2 of flipped-huber-2023, as published and corrected, beside the exact profile.

The algorithm builds the K-dimensional privacy profile one coordinate at a time, on a set of
grid points for epsilon. Its line 4 is printed as

    delta_k(nu) <- integral of g(t) delta_{k-1}(epsilon - loss(t)) dt,

whose right-hand side does not depend on nu: every delta_k is then a constant and stays at the
value of K = 2. With nu for epsilon it is the recursion that is meant, but it asks for
delta_{k-1} at negative arguments and between grid points, of which the paper says nothing.
Negative arguments follow from those it has, delta(-x) = 1 - e^-x + e^-x delta(x).

Four variants are run: `printed`; `clamped` and `zero` use nu, with grid points at nu >= 0 only
and delta(0) or 1 below them; `corrected` uses nu and the reflection. All interpolate linearly,
which lies above a convex profile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpnoise.noise import FlippedHuber
from dpnoise.privacy.profile import privacy_profile
from dpnoise.privacy.vector import vector_profile

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise_papers.flipped_huber_2023.settings import Algorithm2

VARIANTS = ("printed", "clamped", "zero", "corrected")
_TAIL = 1e-25  # the integral stops where this much noise is left


def algorithm_2(settings: Algorithm2) -> pd.DataFrame:
    """Delta by Algorithm 2 for some flipped Huber noises, and the exact delta.

    Per case: alpha, gamma, dimension, epsilon, variance, lower and upper (the exact delta), and for
    each variant its delta and `<variant>_error`, relative to the exact delta.
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
            row |= {variant: delta, f"{variant}_error": delta / exact.estimate - 1.0}
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
        Points of the trapezoidal rule in t.
    variant : {"printed", "clamped", "zero", "corrected"}
        See the module's text.
    """
    end = noise.isf(_TAIL)
    t = np.linspace(-end - 1.0, end, nodes)
    mass = noise.pdf(t) * (t[1] - t[0])
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
