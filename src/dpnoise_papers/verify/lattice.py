"""Privacy profile of independent noise in many coordinates, by a lattice of losses.

The loss of each coordinate, tilted by e^(tau loss), is spread over six points of a lattice, so that
polynomials of degree five keep their means; the coordinates are composed by FFT and summed. What
is left is the error of the sum at its corner, epsilon, which falls with the square of the spacing:
two spacings take it away.
`dpnoise.privacy` inverts a transform on a complex contour instead.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import fft, optimize, special

from dpnoise_papers.verify.densities import Density, panels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise._types import Array

_WIDTH = 34.0  # of the lattice, in standard deviations of the tilted sum
_CELLS = 25  # of the bulk of the noise, each in several stretches
_SURE = 1e-12
_AROUND = (-2, -1, 0, 1, 2, 3)  # points of the lattice that share a loss
_FEW = 8  # spacings that a meaningful epsilon has at least
_LOWEST = -600.0  # of log delta
_LOG_TILTS = (-12.0, 12.0)


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
