"""The privacy loss of noise on one coordinate, cut into parts with a closed-form transform.

The loss of noise T with density g under a shift by the sensitivity d is

    L = zeta(T),  zeta(t) = psi(t + d) - psi(t),  psi = -log g,

and lengths are measured in units of d. Where psi is piecewise quadratic, so is zeta: the
breakpoints of psi(t) and of psi(t + 1) cut the line into stretches on which both are
quadratics. A stretch with constant zeta puts an atom into the distribution of the loss (flipped
Huber noise with alpha > d, Laplace noise); stretches on which t + 1 has left the support make
the loss infinite (truncated Laplace noise). Gaussian noise needs no stretches, its loss is
Gaussian. Staircase noise has a loss of three values.
"""

from __future__ import annotations

import math
from dataclasses import astuple
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise.noise.exact import as_double_above
from dpnoise.noise.integers import DiscreteLaplace, DiscreteStaircase, IntegerNoise
from dpnoise.noise.stepwise import Staircase

if TYPE_CHECKING:
    from dpnoise.noise.base import Noise, Piece

# Slopes and curvatures of psi(t) and psi(t + 1) that agree to this are taken as equal; they
# come from the same parameters by different roundings.
_SAME = 1e-14
_NEGLIGIBLE = 1e-25  # length of a stretch in units of the shift or of the noise


class NoiseStretch(NamedTuple):
    """A stretch of noise values, from its end nearest 0 (y = 0) outwards to y = length.

    psi = psi_0 + psi_1 y + psi_2 y^2 / 2 and zeta = zeta_0 + zeta_1 y + zeta_2 y^2 / 2.
    """

    length: float
    psi_0: float
    psi_1: float
    psi_2: float
    zeta_0: float
    zeta_1: float
    zeta_2: float


class CoordinateLoss(NamedTuple):
    """The distribution of the privacy loss of one coordinate.

    Gaussian noise has only `gaussian`, mu^2 with mu = sensitivity / sigma. Other noise has `atoms`,
    values of positive mass and its logarithm, `stretches`, where the loss is finite and continuous,
    the mass `infinite` at infinity and the `largest` finite value of the loss, or infinity.
    """

    gaussian: float = 0.0
    atoms: tuple[tuple[float, float], ...] = ()
    stretches: tuple[NoiseStretch, ...] = ()
    infinite: float = 0.0
    largest: float = math.inf


def _psi(piece: Piece, t: float) -> tuple[float, float]:
    """-log density and its slope at t >= 0 by one piece."""
    x = t - piece.left if t != piece.left else 0.0
    return piece.value + x * (piece.slope + 0.5 * x * piece.curvature), (
        piece.slope + x * piece.curvature
    )


def _signed(piece: Piece, side: int, t: float) -> tuple[float, float]:
    """-log density and its slope at t by a piece, on the side of the sign of t."""
    value, slope = _psi(piece, side * t)
    return value, side * slope


def _locate(pieces: tuple[Piece, ...], left: float, right: float) -> tuple[Piece, int]:
    """The piece that covers the interval, and the side of 0 on which it does."""
    middle = 0.5 * (left + right)
    side = 1 if middle > 0 else -1
    return next((p for p in pieces if p.right > abs(middle)), pieces[-1]), side


def _same(a: float, b: float) -> float:
    """A - b, or 0 if that is only rounding."""
    return 0.0 if abs(a - b) <= _SAME * (abs(a) + abs(b)) else a - b


def _stretch(pieces: tuple[Piece, ...], left: float, right: float) -> NoiseStretch:
    """The stretch of noise values from `left` to `right`, shift 1."""
    outwards = 1 if left + right > 0 else -1
    start = left if outwards > 0 else right
    before, side = _locate(pieces, left, right)
    after, side_after = _locate(pieces, left + 1.0, right + 1.0)
    psi_0, psi_1 = _signed(before, side, start)
    if before is after and side == side_after:
        # Without the cancellation of psi(t + 1) - psi(t) for small shifts.
        zeta_0 = psi_1 + 0.5 * before.curvature
        zeta_1, zeta_2 = before.curvature, 0.0
    else:
        value, slope = _signed(after, side_after, start + 1.0)
        zeta_0, zeta_1 = value - psi_0, _same(slope, psi_1)
        zeta_2 = _same(after.curvature, before.curvature)
    # zeta does not fall with t, which rounding must not hide where it is stationary.
    zeta_1 = max(zeta_1, 0.0)
    if outwards * zeta_2 * (right - left) < -zeta_1:
        zeta_2 = -outwards * zeta_1 / (right - left)
    return NoiseStretch(
        right - left, psi_0, outwards * psi_1, before.curvature, zeta_0, outwards * zeta_1, zeta_2
    )


def _cuts(pieces: tuple[Piece, ...], bound: float) -> list[float]:
    """The ends of all stretches with a finite loss, shift 1."""
    breaks = {piece.left for piece in pieces} | {bound}
    breaks |= {-t for t in breaks}
    ends = breaks | {t - 1.0 for t in breaks}
    return sorted(t for t in ends if -bound <= t <= bound - 1.0)


def _atom_mass(stretch: NoiseStretch) -> float:
    """The logarithm of the mass of a stretch of exponential density."""
    if stretch.length == math.inf:
        return -stretch.psi_0 - math.log(stretch.psi_1)
    x = stretch.psi_1 * stretch.length
    mean = -math.expm1(-x) / x if x != 0.0 else 1.0
    return -stretch.psi_0 + math.log(stretch.length * mean)


def _largest(stretch: NoiseStretch) -> float:
    """The largest zeta on a stretch, where zeta is monotone."""
    if stretch.length == math.inf:
        # On an infinite stretch zeta is linear.
        return math.inf if stretch.zeta_1 > 0 else stretch.zeta_0
    y = stretch.length
    return max(stretch.zeta_0, stretch.zeta_0 + y * (stretch.zeta_1 + 0.5 * y * stretch.zeta_2))


def _staircase_loss(noise: Staircase) -> CoordinateLoss:
    """The loss under a shift of 1 by staircase noise, whose steps are not narrower.

    Such a shift crosses at most one fall of the density, so that the loss is -epsilon, 0 or
    epsilon with P(-epsilon) = exp(-epsilon) P(epsilon). The total variation distance,
    P(epsilon) (1 - exp(-epsilon)), is P(|T| <= 1/2) for any unimodal symmetric noise.
    """
    epsilon, fall = noise.epsilon, math.exp(-noise.epsilon)
    step, drop = noise.sensitivity, noise.gamma * noise.sensitivity
    half = min(0.5, drop) + max(0.5 - drop, 0.0) * fall  # P(|T| <= 1/2) / (2 density(0))
    up = half / (drop + fall * (step - drop))
    down = up * fall
    atoms = [(epsilon, up), (0.0, 1.0 - up - down), (-epsilon, down)]
    return CoordinateLoss(
        atoms=tuple((value, math.log(mass)) for value, mass in atoms if mass > 0.0),
        largest=epsilon,
    )


def coordinate_loss(noise: Noise) -> CoordinateLoss:
    """The privacy loss of noise in units of the sensitivity.

    `pieces()` must not be None, unless it is a staircase at least as wide as the sensitivity.
    """
    if isinstance(noise, Staircase):
        return _staircase_loss(noise)
    pieces = noise.pieces() or ()
    if len(pieces) == 1 and pieces[0].slope == 0.0 and pieces[0].right == math.inf:
        return CoordinateLoss(gaussian=pieces[0].curvature)
    bound = noise.bound
    infinite = float(noise.sf(max(bound - 1.0, -bound))) if bound < math.inf else 0.0
    ends = _cuts(pieces, bound)
    smallest = _NEGLIGIBLE * min(1.0, noise.mean_abs())
    stretches = [_stretch(pieces, a, b) for a, b in pairwise(ends) if b - a > smallest]
    flat = [cut for cut in stretches if cut.zeta_1 == 0.0 and cut.zeta_2 == 0.0]
    merged: dict[float, list[float]] = {}
    for cut in flat:
        near = [value for value in merged if abs(value - cut.zeta_0) <= _SAME * abs(value)]
        merged.setdefault(near[0] if near else cut.zeta_0, []).append(_atom_mass(cut))
    return CoordinateLoss(
        atoms=tuple((v, float(np.logaddexp.reduce(m))) for v, m in sorted(merged.items())),
        stretches=tuple(cut for cut in stretches if cut not in flat),
        infinite=infinite,
        largest=max(map(_largest, stretches), default=-math.inf),
    )


class IntegerStep(NamedTuple):
    """Noise on the integers with a sensitivity; as a group of coordinates it is like no other."""

    noise: IntegerNoise
    size: float

    @property
    def listed(self) -> bool:
        """False."""
        return False

    @property
    def has_closed_loss(self) -> bool:
        """False."""
        return False

    @property
    def log_concave(self) -> bool:
        """Of the noise."""
        return self.noise.log_concave

    def pieces(self) -> None:
        """None, as for noise without a density of quadratic pieces."""

    def dispersion(self) -> tuple[tuple[IntegerStep], tuple[()]]:
        """Not comparable."""
        return (self,), ()


def _as_staircase(noise: IntegerNoise, size: float) -> Staircase | None:
    """Continuous noise in units of the sensitivity with the same loss, if there is such noise.

    The discrete staircase is a rounded one, and discrete Laplace noise the one with steps of 1.
    """
    if isinstance(noise, DiscreteLaplace) and size == 1.0:
        return Staircase(as_double_above(noise.largest_loss(1)), 1.0, 0.5)
    return noise.continuous.scaled(1.0 / size) if isinstance(noise, DiscreteStaircase) else None


def canonical(
    noise: Noise | IntegerNoise, sensitivity: float
) -> tuple[tuple[str, ...], Noise | IntegerStep]:
    """A key that equal distributions share, and noise in units of its positive sensitivity.

    The parameters in the key have 15 digits, so that coordinates whose noise is proportional
    to their sensitivity count as copies whatever the rounding.
    """
    if noise.whole:
        same = _as_staircase(noise, sensitivity)
        if same is None:
            return (repr(noise), repr(sensitivity)), IntegerStep(noise, sensitivity)
        noise, sensitivity = same, 1.0
    scaled = noise.scaled(1.0 / sensitivity)
    return (type(scaled).__name__, *(f"{v:.14e}" for v in astuple(scaled))), scaled
