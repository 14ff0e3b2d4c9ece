"""Result tables of flipped-huber-slides: densities, parameters of least variance, and DP-CD curves.

The slides show private coordinate descent at epsilon = 1, delta = 1/N^2. A curve is the smallest
mean error over steps and clips at each number of passes, with the standard error of that
configuration; it is computed beside Table III of flipped-huber-2023.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import scipy  # its optimize, 0.2 s, loads where it is used
from scipy import special

from dpnoise.calibration.calibrate import calibrate
from dpnoise.noise import Gaussian, Huber, Laplace, Noise, Staircase
from dpnoise_papers.flipped_huber_2023.variances import delta_of
from dpnoise_papers.pages import describe, parameters, together
from dpnoise_papers.settings import symmetric

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpnoise._types import Array
    from dpnoise_papers.flipped_huber_slides.settings import (
        CalibratedDensities,
        HuberDensity,
        HuberMass,
        IllustrativeValues,
    )

_JUST_OUTSIDE = 1.0 + 1e-9


def huber_density(settings: HuberDensity) -> pd.DataFrame:
    """Huber's density beside the two that it is made of (slides).

    Columns mechanism (huber; gaussian with sigma = 1; laplace with beta = 1/alpha), t, density,
    noise and transition (1 where abs(t) = alpha and the mechanism is huber).
    """
    alpha = settings.alpha
    t = symmetric(settings.half_width, settings.points, [0.0, alpha])
    noises = {"gaussian": Gaussian(1.0), "laplace": Laplace(1.0 / alpha), "huber": Huber(alpha)}
    table = pd.concat([_density(*item, t) for item in noises.items()], ignore_index=True)
    marked = (table["mechanism"] == "huber") & (table["t"].abs() == alpha)
    return table.assign(transition=marked.astype(int))


def calibrated_densities(settings: CalibratedDensities) -> pd.DataFrame:
    """Density of each mechanism's minimum-variance noise for a budget (slides).

    A family with no minimum variance is represented by the private noise that `calibrate`
    returns, close to its limit.

    Columns mechanism, t, density, noise and variance.
    """
    half_width = settings.half_width
    parts = []
    for name in settings.mechanisms:
        noise = calibrate(
            name,
            epsilon=settings.epsilon,
            delta=delta_of(name, settings.delta),
            sensitivity=settings.sensitivity,
            dimension=settings.dimension,
        ).noise
        t = symmetric(half_width, settings.points, [0.0, *_jumps(noise, half_width)])
        parts.append(_density(name, noise, t).assign(variance=noise.var()))
    return pd.concat(parts, ignore_index=True)


def _jumps(noise: Noise, half_width: float) -> list[float]:
    """Points on both sides of each jump of the density, so that it is drawn upright."""
    if isinstance(noise, Staircase):
        steps = range(int(half_width / noise.sensitivity) + 1)
        edges = [noise.sensitivity * (k + part) for k in steps for part in (noise.gamma, 1.0)]
    else:
        edges = [noise.bound]
    return [side for edge in edges for side in (edge / _JUST_OUTSIDE, edge * _JUST_OUTSIDE)]


def _density(name: str, noise: Noise, t: Array) -> pd.DataFrame:
    """Rows of one density."""
    return pd.DataFrame(
        {"mechanism": name, "t": t, "density": noise.pdf(t), "noise": describe(noise)}
    )


def huber_mass(settings: HuberMass) -> pd.DataFrame:
    """Mass under Huber's density as printed and with continuous tails.

    The slides give (1 - tau) phi(t) up to alpha and (1 - tau) exp(-alpha (|t| - alpha / 2))
    beyond. Continuity at alpha needs the factor 1 / sqrt(2 pi) of phi in the tail too.

    Per alpha and reading ("printed", "corrected"): columns alpha, reading, mass and jump (of the
    density at alpha, relative to its value below).
    """
    rows = []
    for alpha in settings.alphas:
        phi = math.exp(-alpha * alpha / 2.0) / math.sqrt(2.0 * math.pi)
        tau = 1.0 / (1.0 + alpha / (2.0 * (phi - alpha * special.ndtr(-alpha))))
        centre = 1.0 - 2.0 * special.ndtr(-alpha)
        for variant, factor in (("printed", 1.0), ("corrected", 1.0 / math.sqrt(2.0 * math.pi))):
            edge = factor * math.exp(-alpha * alpha / 2.0)
            mass = (1.0 - tau) * (centre + 2.0 * edge / alpha)
            rows.append((alpha, variant, mass, edge / phi - 1.0))
    return pd.DataFrame(rows, columns=["alpha", "reading", "mass", "jump"])


def illustrative_values(settings: IllustrativeValues) -> pd.DataFrame:
    """Best (alpha, gamma) at some epsilons (slides, 'illustrative values').

    Columns epsilon, alpha, gamma, variance_grid (the paper's grid search), alpha_exact,
    gamma_exact, variance_exact (the optimum, the best found) and
    delta_bound (the latter's).
    """
    delta, sensitivity = settings.delta, settings.sensitivity
    rows = []
    for epsilon in settings.epsilons:
        grid = calibrate(
            "flipped-huber",
            epsilon=epsilon,
            delta=delta,
            sensitivity=sensitivity,
            method="grid",
            box=settings.box,
            resolution=settings.resolution,
        )
        exact = calibrate("flipped-huber", epsilon=epsilon, delta=delta, sensitivity=sensitivity)
        row = {"epsilon": epsilon, **parameters(grid.noise), "variance_grid": grid.variance}
        row |= {f"{name}_exact": value for name, value in parameters(exact.noise).items()}
        rows.append(row | {"variance_exact": exact.variance, "delta_bound": exact.delta})
    return pd.DataFrame(rows)


def composition(variances: pd.DataFrame) -> pd.DataFrame:
    """Laplace noise in K dimensions calibrated by composition of its K coordinates.

    `variances` are those of `vector_variances`, with epsilon-DP ('pure') and exact Laplace noise.
    By the basic theorem K mechanisms of epsilon / K compose to epsilon; the optimal one is that of
    Kairouz, Oh and Viswanath (2015) at the delta of the table.

    Columns theorem ('basic' or 'optimal'), dimension, delta, epsilon, composed and exact
    (variances per coordinate) and excess (composed / exact - 1).
    """
    laplace = variances[variances["mechanism"] == "laplace"]
    keys = ["dimension", "delta", "epsilon"]
    pure, exact = (laplace[laplace["method"] == name] for name in ("pure", "exact"))
    both = pure[[*keys, "variance"]].merge(exact[[*keys, "variance"]], on=keys)
    rows = []
    for dimension, delta, epsilon, basic, needed in both.itertuples(index=False, name=None):
        best = 2.0 / largest_each(int(dimension), epsilon, delta) ** 2  # Laplace noise of 1 / it
        for theorem, variance in (("basic", basic), ("optimal", best)):
            excess = variance / needed - 1.0
            rows.append((theorem, dimension, delta, epsilon, variance, needed, excess))
    columns = ["theorem", *keys, "composed", "exact", "excess"]
    return pd.DataFrame(rows, columns=columns)


def composed_delta(each: float, copies: int, epsilon: float) -> float:
    """Least delta at `epsilon` of any `copies` mechanisms that are `each`-DP (Kairouz et al.)."""
    k = np.arange(copies + 1)
    log_weight = special.gammaln(copies + 1) - special.gammaln(k + 1)
    log_weight -= special.gammaln(copies - k + 1) + copies * np.logaddexp(0.0, each)
    loss = (copies - 2 * k) * each
    above = np.maximum(-np.expm1(np.minimum(epsilon - loss, 0.0)), 0.0)
    return float(np.sum(np.exp(log_weight + (copies - k) * each) * above))


def largest_each(copies: int, epsilon: float, delta: float) -> float:
    """Largest epsilon of each of some mechanisms that compose to (epsilon, delta)."""
    ends = epsilon / copies, epsilon + 1.0
    root = scipy.optimize.brentq(
        lambda each: composed_delta(each, copies, epsilon) - delta, *ends, xtol=1e-14, rtol=1e-13
    )
    return float(root)


def descent_curves(curves: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the best error by passes, of all data sets together.

    Parameters
    ----------
    curves : mapping of str to DataFrame
        By data set, as `dpnoise_papers.flipped_huber_2023.table_3.replicates.curves` returns it; a
        data set that could not be had is without rows.
    """
    return together(curves).sort_values(["dataset", "mechanism", "passes"], ignore_index=True)
