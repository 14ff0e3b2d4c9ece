"""-log density by pieces in rational arithmetic, as an exact function of the parameters.

The profile of noise with stretches of constant privacy loss hangs on the difference between
epsilon and that loss: for Laplace noise delta = 1 - exp((epsilon - d / beta) / 2), which is
exactly 0 from epsilon = d / beta on. Parameters, shift and epsilon are doubles, hence rational
numbers, and so is every such difference; 1 / beta as a double would already spoil it.
"""

from __future__ import annotations

import decimal
import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from dpnoise.noise import (
    FlippedHuber,
    Gaussian,
    Huber,
    Laplace,
    OffsetSymmetricGaussian,
    Subbotin,
    TruncatedLaplace,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise.noise import Noise


class Quadratic(NamedTuple):
    """One piece of psi = -log g on t >= 0: psi' = slope + curvature (t - left) from left on."""

    left: Fraction
    slope: Fraction
    curvature: Fraction

    def at(self, t: Fraction) -> Fraction:
        """Return psi'(t)."""
        return self.slope + self.curvature * (t - self.left)

    def rise(self, t: Fraction) -> Fraction:
        """Return psi(t) - psi(left)."""
        x = t - self.left
        return x * (self.slope + self.curvature * x / 2)


_ZERO = Fraction(0)


def _laplace(beta: float) -> list[Quadratic]:
    return [Quadratic(_ZERO, 1 / Fraction(beta), _ZERO)]


def _gaussian(sigma: float) -> list[Quadratic]:
    return [Quadratic(_ZERO, _ZERO, 1 / Fraction(sigma) ** 2)]


def _flipped_huber(noise: FlippedHuber) -> list[Quadratic]:
    alpha, precision = Fraction(noise.alpha), 1 / Fraction(noise.gamma) ** 2
    tail = Quadratic(alpha, alpha * precision, precision)
    return [Quadratic(_ZERO, tail.slope, _ZERO), tail] if alpha else [tail]


def _offset_gaussian(noise: OffsetSymmetricGaussian) -> list[Quadratic]:
    precision = 1 / Fraction(noise.rho) ** 2
    return [Quadratic(_ZERO, Fraction(noise.theta) * precision, precision)]


def _huber(noise: Huber) -> list[Quadratic]:
    alpha, scale = Fraction(noise.alpha), Fraction(noise.scale)
    return [
        Quadratic(_ZERO, _ZERO, 1 / scale**2),
        Quadratic(alpha * scale, alpha / scale, _ZERO),
    ]


_EXACT: dict[type[Noise], Callable[..., list[Quadratic]]] = {
    Gaussian: lambda noise: _gaussian(noise.sigma),
    Laplace: lambda noise: _laplace(noise.beta),
    FlippedHuber: _flipped_huber,
    OffsetSymmetricGaussian: _offset_gaussian,
    TruncatedLaplace: lambda noise: _laplace(noise.beta),
    Huber: _huber,
    Subbotin: lambda noise: (_laplace if noise.p == 1.0 else _gaussian)(noise.scale),
}


def exact_pieces(noise: Noise) -> list[Quadratic]:
    """Return psi on t >= 0, up to its constant.

    Parameters
    ----------
    noise : Noise
        Noise for which `pieces()` is not None. A family that this module does not know is
        taken as the doubles that its pieces state.
    """
    if type(noise) in _EXACT:
        return _EXACT[type(noise)](noise)
    return [Quadratic(*map(Fraction, (p.left, p.slope, p.curvature))) for p in noise.pieces()]


_DIGITS = 60


def mass_beyond(noise: TruncatedLaplace, t: Fraction) -> Fraction:
    """Return P(T > t), |t| < bound, rounded up by less than 1e-60 of its value.

    For t >= 0 it is exp(-t / beta) (1 - exp(-rest)) / (2 (1 - exp(-reach))), rest =
    (bound - t) / beta and reach = bound / beta.
    """
    if t < 0:
        return 1 - mass_beyond(noise, -t) * (1 - Fraction(2, 10**_DIGITS))
    beta, bound = Fraction(noise.beta), Fraction(noise.bound)
    parts = [-t / beta, (t - bound) / beta, -bound / beta]
    if parts[0] < -10_000:  # below every positive double
        return Fraction(1, 2**1100)
    # Digits for a small argument, whose exponential is nearly 1, and for a large one.
    lost = max(abs(math.log10(max(as_double(-x), 1e-300))) for x in parts[1:])
    with decimal.localcontext() as context:
        context.prec = _DIGITS + 10 + 2 * int(lost)
        context.Emin, context.Emax = decimal.MIN_EMIN, decimal.MAX_EMAX
        fall, rest, reach = (
            (decimal.Decimal(x.numerator) / decimal.Decimal(x.denominator)).exp() for x in parts
        )
        mass = Fraction(fall * (1 - rest) / (2 * (1 - reach)))
    return mass * (1 + Fraction(1, 10**_DIGITS))


def as_double(value: Fraction | float) -> float:
    """Return the nearest double, infinite beyond the largest."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def as_pair(value: Fraction) -> tuple[float, float]:
    """Return two doubles whose sum is `value` to about 32 digits."""
    high = as_double(value)
    return high, as_double(value - Fraction(high)) if math.isfinite(high) else 0.0


def as_double_above(value: Fraction) -> float:
    """Return the least double that is not below `value`."""
    high = as_double(value)
    return math.nextafter(high, math.inf) if math.isfinite(high) and high < value else high
