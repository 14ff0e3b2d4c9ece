"""Minimum variance of each mechanism in K coordinates, by quadrature or a lattice of losses.

On the lattice the loss of each coordinate, tilted by e^(tau loss), is spread over six
points, so that polynomials of degree five keep their means; the coordinates are composed by FFT and
summed. What is left is the error of the sum at its corner, epsilon, which falls with the square of
the spacing: two spacings take it away. `dpnoise.privacy` inverts a transform on a complex contour
instead. Staircase noise goes by adding up its steps, in one and in two dimensions.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import fft, optimize, special

from dpnoise_papers.verify.oracles.densities import (
    Density,
    laplace,
    minimum,
    minimum_in_box,
    panels,
    scalar_delta,
    theorem_8_delta,
)
from dpnoise_papers.verify.oracles.gaussian import gaussian_sigma

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise._types import Array
    from dpnoise_papers.verify.oracles.densities import Minimum, Spent


_WIDTH = 34.0  # of the lattice, in standard deviations of the tilted sum
_CELLS = 25  # of the bulk of the noise, each in several stretches
_SURE = 1e-12
_AROUND = (-2, -1, 0, 1, 2, 3)  # points of the lattice that share a loss
_FEW = 8  # spacings that a meaningful epsilon has at least
_LOWEST = -600.0  # of log delta
_LOG_TILTS = (-12.0, 12.0)
Box = tuple[tuple[float, float], tuple[float, float]]
_COARSE, _FINE = 2**10, 2**13
_LEFT = 50.0  # steps are followed down to exp(-50)


class _Losses(NamedTuple):
    """Losses of one coordinate at the nodes of a quadrature, and their masses."""

    loss: Array
    mass: Array
    infinite: float
    copies: int

    def log_moment(self, tilt: float) -> float:
        """Logarithm of the sum of mass e^(tilt loss)."""
        return float(special.logsumexp(tilt * self.loss, b=self.mass))


def profile(
    parts: Sequence[tuple[Density, float, int]], epsilon: float, points: int = 2**15
) -> float:
    """Delta at epsilon > 0 of independent noise: (density, shift, copies) of each kind.

    `points` is about the number of lattice points of the wider spacing.
    """
    losses = [_losses(*part) for part in parts if part[1] > 0.0]
    away = -math.expm1(
        sum(one.copies * math.log1p(-min(one.infinite, 1.0 - 1e-16)) for one in losses)
    )
    if epsilon >= sum(one.copies * float(one.loss.max()) for one in losses):
        return away
    tilted = _tilted(losses, epsilon)
    if tilted.log_bound < _LOWEST:
        return away
    atoms = [atom for atom in (_atom(noise, shift) for noise, shift, _ in parts) if atom > 0.0]
    step = _spacing(atoms, epsilon, _WIDTH * tilted.deviation, points)
    coarse, fine = (_composed(losses, epsilon, tilted, one) for one in (step, 0.5 * step))
    return away + (4.0 * fine - coarse) / 3.0


def _losses(noise: Density, shift: float, copies: int) -> _Losses:
    """Losses of a coordinate under the first of two neighbouring answers."""
    end = noise.reach(0.0, 110.0)
    marks = [s * seam + o for seam in noise.seams for s in (1, -1) for o in (0.0, -shift)]
    inside = [mark for mark in marks if -end < mark < end]
    bulk = noise.reach(0.0, 12.0)
    t, weights = panels([-end, end, *np.linspace(-bulk, bulk, _CELLS), *inside])
    mass = weights * np.exp(-noise.psi(t)) / (2.0 * noise.half)
    loss = noise.loss(t, shift)
    gone = np.isposinf(loss)
    kept = ~gone & (mass > 0.0)
    return _Losses(loss[kept], mass[kept], float(mass[gone].sum()), copies)


class _Tilted(NamedTuple):
    """Losses weighted with e^(tilt loss): tilt, log masses, mean and deviation of the sum.

    `log_bound` is Chernoff's bound on log delta.
    """

    tilt: float
    log_masses: list[float]
    log_bound: float
    mean: float
    deviation: float


def _tilted(losses: Sequence[_Losses], epsilon: float) -> _Tilted:
    """Tilt under which epsilon is an ordinary value of the sum of losses."""

    def exponent(log_tilt: float) -> float:
        tilt = math.exp(log_tilt)
        total = sum(one.copies * one.log_moment(tilt) for one in losses)
        return total - tilt * epsilon - math.log(tilt) - math.log1p(tilt)

    # ends: a recomputation: a minimum that is missed shows as a disagreement
    found = optimize.minimize_scalar(exponent, bounds=_LOG_TILTS, method="bounded")
    tilt = math.exp(found.x)
    log_masses, mean, variance = [], 0.0, 0.0
    for one in losses:
        log_masses.append(one.log_moment(tilt))
        weight = one.mass * np.exp(tilt * one.loss - log_masses[-1])
        middle = float(weight @ one.loss)
        mean += one.copies * middle
        variance += one.copies * float(weight @ (one.loss - middle) ** 2)
    return _Tilted(tilt, log_masses, float(found.fun), mean, math.sqrt(variance))


def _composed(losses: Sequence[_Losses], epsilon: float, tilted: _Tilted, step: float) -> float:
    """Delta of the finite losses by one lattice, of which epsilon is a point or nearly so."""
    tilt = tilted.tilt
    size = fft.next_fast_len(math.ceil(_WIDTH * tilted.deviation / step) + 8, real=True)
    spectrum = np.ones(size // 2 + 1, dtype=complex)
    for one, log_mass in zip(losses, tilted.log_masses, strict=True):
        spectrum *= fft.rfft(_spread(one, log_mass, tilt, step, size)) ** one.copies
    weight = fft.irfft(spectrum, size)
    place = np.arange(size, dtype=float)
    place = place + size * np.round((tilted.mean / step - place) / size)
    gap = place * step - epsilon
    above = gap > 0.0
    value = float(-np.expm1(-gap[above]) * np.exp(-tilt * gap[above]) @ weight[above])
    log_total = sum(n.copies * mass for n, mass in zip(losses, tilted.log_masses, strict=True))
    return value * math.exp(log_total - tilt * epsilon)


def _spacing(atoms: Sequence[float], epsilon: float, width: float, points: int) -> float:
    """Distance of lattice points: the largest atom is one of them and epsilon nearly so.

    Without atoms epsilon is a point.
    """
    unit = width / points
    first = max((atom for atom in atoms if atom > _FEW * unit), default=epsilon)
    if epsilon < _FEW * unit:  # far inside the bulk, where delta is near 1
        return unit
    count = math.ceil(first / unit)
    counts = count + np.arange(min(count // 4, points) + 1)
    part = epsilon * counts / first
    return first / int(counts[int(np.argmin(np.abs(part - np.round(part))))])


def _atom(noise: Density, shift: float) -> float:
    """Largest loss that has a positive probability, 0 if there is none."""
    ends = [*(piece[0] for piece in noise.pieces[1:]), noise.bound]
    flat = [
        rate * shift
        for (start, _, rate, curvature), end in zip(noise.pieces, ends, strict=True)
        if curvature == 0.0 and end - start > shift
    ]
    return max(flat, default=0.0)


def _spread(one: _Losses, log_mass: float, tilt: float, step: float, size: int) -> Array:
    """Tilted masses of a coordinate on the lattice, whose ends meet."""
    place = np.floor(one.loss / step + _SURE)
    part = one.loss / step - place
    weight = one.mass * np.exp(tilt * one.loss - log_mass)
    masses = np.zeros(size)
    for offset in _AROUND:
        others = [other for other in _AROUND if other != offset]
        share = np.prod([(part - other) / (offset - other) for other in others], axis=0)
        masses += np.bincount((place + offset).astype(int) % size, weight * share, minlength=size)
    return masses


class Problem(NamedTuple):
    """Privacy budget, the sensitivity of each coordinate and their number."""

    epsilon: float
    delta: float
    sensitivity: float = 1.0
    dimension: int = 1


def vector_delta(epsilon: float, sensitivity: float, dimension: int, points: int) -> Spent:
    """Delta of K coordinates whose neighbours all differ by the sensitivity."""
    if dimension == 1:
        return scalar_delta(epsilon, sensitivity)
    return lambda noise: profile([(noise, sensitivity, dimension)], epsilon, points)


@cache
def found(mechanism: str, budget: Problem, hint: float | None = None) -> Minimum:
    """Noise of minimum variance of a family under the exact privacy profile."""
    fine, coarse = (_account("exact", budget, points) for points in (_FINE, _COARSE))
    return minimum(mechanism, fine, budget.delta, coarse=coarse, hint=hint)


@cache
def minimum_variance(
    mechanism: str,
    method: str,
    budget: Problem,
    box: Box | None = None,
    hint: float | None = None,
) -> float:
    """Minimum variance per coordinate of a mechanism by a method of the result tables.

    `hint` is the shape (alpha / gamma, theta / rho) that a result claims.
    """
    epsilon, delta, sensitivity, dimension = budget
    if mechanism == "staircase":
        return staircase_variance(epsilon, sensitivity, dimension)
    gaussian = gaussian_sigma(epsilon, delta, sensitivity * math.sqrt(dimension)) ** 2
    pure = laplace(dimension * sensitivity / epsilon).variance
    if mechanism == "gaussian" or method == "pure":
        return gaussian if mechanism == "gaussian" else pure
    if mechanism in ("laplace", "truncated-laplace"):
        return found(mechanism, budget).variance
    if box is not None:
        fine, coarse = (_account(method, budget, points) for points in (_FINE, _COARSE))
        return minimum_in_box(mechanism, fine, delta, box, coarse=coarse, hint=hint)
    # the ends of both families are Gaussian and Laplace noise
    if method == "sufficient":
        spent = theorem_8_delta(epsilon, sensitivity, dimension)
        return min(gaussian, pure, minimum(mechanism, spent, delta, hint=hint).variance)
    both = found("laplace", budget), found(mechanism, budget, hint)
    return min(gaussian, *(one.variance for one in both))


def _account(method: str, budget: Problem, points: int) -> Spent:
    """Delta of noise by the condition behind a method."""
    epsilon, _, sensitivity, dimension = budget
    if method.startswith("sufficient"):
        return theorem_8_delta(epsilon, sensitivity, dimension)
    return vector_delta(epsilon, sensitivity, dimension, points)


def _moment(epsilon: float, gamma: float, power: int, ball: int) -> float:
    """Mean of R^power when the density falls in steps of R, in `ball` dimensions."""
    k = np.arange(int(_LEFT / epsilon) + 3)
    edges = np.append(0.0, np.column_stack([k + gamma, k + 1.0]).ravel())
    height = np.exp(-epsilon * np.column_stack([k, k + 1.0]).ravel())
    top, bottom = (float(height @ np.diff(edges ** (n + ball))) / (n + ball) for n in (power, 0))
    return top / bottom


@cache
def minimum_moment(epsilon: float, power: int, ball: int = 1) -> float:
    """Minimum over gamma of the mean of R^power, sensitivity 1."""
    grid = np.linspace(0.0, 1.0, 201)
    values = [_moment(epsilon, gamma, power, ball) for gamma in grid]
    k = int(np.argmin(values))
    ends = grid[max(k - 1, 0)], grid[min(k + 1, 200)]
    # ends: a recomputation: a minimum that is missed shows as a disagreement
    found = optimize.minimize_scalar(
        lambda gamma: _moment(epsilon, gamma, power, ball),
        bounds=ends, method="bounded", options={"xatol": 1e-10, "maxiter": 200},
    )  # fmt: skip
    return min(float(found.fun), values[k])


def staircase_variance(epsilon: float, sensitivity: float = 1.0, dimension: int = 1) -> float:
    """Minimum variance per coordinate of one staircase for each, with an equal share of epsilon."""
    return sensitivity**2 * minimum_moment(epsilon / dimension, 2)
