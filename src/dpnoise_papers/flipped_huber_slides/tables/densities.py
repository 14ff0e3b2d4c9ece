"""One-dimensional densities of the slides: what Huber noise is, and what a budget asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from dpnoise._validation import Problems
from dpnoise.calibration.calibrate import calibrate
from dpnoise.noise import Gaussian, Huber, Laplace, Noise, Staircase
from dpnoise_papers.grids import describe, require_count, symmetric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_JUST_OUTSIDE = 1.0 + 1e-9


def huber_density(*, alpha: float, half_width: float, points: int) -> pd.DataFrame:
    """Return the Huber density beside the two that it is made of (slides).

    Parameters
    ----------
    alpha : float
        Where the Gaussian centre of unit scale ends and the Laplace tail of rate alpha begins.
    half_width : float
        The grid runs from minus to plus this.
    points : int
        Grid points; 0 and the transitions are added.

    Returns
    -------
    DataFrame
        Columns mechanism (huber; gaussian with sigma = 1; laplace with beta = 1/alpha), t,
        density, noise and transition (1 where abs(t) = alpha and the mechanism is huber).

    Raises
    ------
    ValueError
        If a setting is out of range; names all that are.
    """
    problems = Problems("Huber density")
    problems.number("alpha", alpha, low=0.0, open_low=True)
    _require_window(problems, half_width, points)
    problems.raise_if_any()
    t = symmetric(half_width, points, [0.0, alpha])
    noises = {"gaussian": Gaussian(1.0), "laplace": Laplace(1.0 / alpha), "huber": Huber(alpha)}
    table = pd.concat([_density(*item, t) for item in noises.items()], ignore_index=True)
    marked = (table["mechanism"] == "huber") & (table["t"].abs() == alpha)
    return table.assign(transition=marked.astype(int))


def calibrated_densities(
    *,
    epsilon: float,
    delta: float,
    sensitivity: float,
    dimension: int,
    mechanisms: Sequence[str],
    half_width: float,
    points: int,
) -> pd.DataFrame:
    """Return the density of each mechanism's least-variance noise for a budget (slides).

    Parameters
    ----------
    epsilon, delta : float
        The budget.
    sensitivity : float
        Largest difference between neighbouring answers, per coordinate.
    dimension : int
        Number of coordinates, each with noise of its own.
    mechanisms : sequence of str
        Kebab names. A family with no least variance is represented by the private noise that
        `dpnoise.calibrate` returns, close to its limit.
    half_width : float
        The grid runs from minus to plus this.
    points : int
        Grid points; 0 and both sides of each jump of a density are added.

    Returns
    -------
    DataFrame
        Columns mechanism, t, density, noise and variance.

    Raises
    ------
    ValueError
        If a setting is out of range; names all that are.
    """
    problems = Problems("calibrated densities")
    problems.require(len(mechanisms) > 0, "mechanisms", "at least one", mechanisms)
    _require_window(problems, half_width, points)
    problems.raise_if_any()
    budget = {"epsilon": epsilon, "delta": delta, "sensitivity": sensitivity}
    parts = []
    for name in mechanisms:
        noise = calibrate(name, dimension=dimension, **budget).noise
        t = symmetric(half_width, points, [0.0, *_jumps(noise, half_width)])
        parts.append(_density(name, noise, t).assign(variance=noise.var()))
    return pd.concat(parts, ignore_index=True)


def _jumps(noise: Noise, half_width: float) -> list[float]:
    """Return points on both sides of each jump of the density, so that it is drawn upright."""
    if isinstance(noise, Staircase):
        steps = range(int(half_width / noise.sensitivity) + 1)
        edges = [noise.sensitivity * (k + part) for k in steps for part in (noise.gamma, 1.0)]
    else:
        edges = [noise.bound]
    return [side for edge in edges for side in (edge / _JUST_OUTSIDE, edge * _JUST_OUTSIDE)]


def _density(name: str, noise: Noise, t: NDArray) -> pd.DataFrame:
    return pd.DataFrame(
        {"mechanism": name, "t": t, "density": noise.pdf(t), "noise": describe(noise)}
    )


def _require_window(problems: Problems, half_width: object, points: object) -> None:
    problems.number("half_width", half_width, low=0.0, open_low=True)
    require_count(problems, "points", points, 2)
