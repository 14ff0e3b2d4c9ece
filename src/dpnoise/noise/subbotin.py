"""Subbotin noise: the generalised Gaussian, with -log density a power of |t|.

Subbotin, "On the law of frequency of error" (1923), as in Muthukrishnan & Kalyani's slides:

    density = p^(1 - 1/p) / (2 scale Gamma(1/p)) exp(-|t|^p / (p scale^p)).

|t|^p / (p scale^p) has the gamma distribution with shape a = 1/p and scale 1, so the tail is an
incomplete gamma function. SciPy's underflows from 700 on; there, and well before, the
continued fraction of Legendre replaces it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import special

from dpnoise._validation import Problems
from dpnoise.noise.base import Noise, Piece
from dpnoise.noise.rational import ZERO, Quadratic

if TYPE_CHECKING:
    from dpnoise._types import Array

_MAX_POWER = 1e3  # rounding of t changes |t|^p by p units in the last place
_NEAR = 1e-17  # up to it one term of the incomplete gamma function's series is enough
_FAR = 10.0  # from it its continued fraction is short
_TERMS = 20  # leave an error of about exp(-4 sqrt(_FAR _TERMS)) in the continued fraction


def _log_upper_gamma(a: float, u: Array) -> Array:
    """Log of the regularised upper incomplete gamma function, for u > _FAR, a <= 1."""
    finite = np.minimum(u, np.finfo(float).max)
    rest = finite + (2.0 * _TERMS + 1.0 - a)
    for n in range(_TERMS, 0, -1):
        rest = finite + (2.0 * n - 1.0 - a) - n * (n - a) / rest
    value = a * np.log(finite) - np.log(rest) - special.gammaln(a) - finite
    return np.where(u == math.inf, -math.inf, value)


@dataclass(frozen=True)
class Subbotin(Noise):
    """Subbotin noise with density proportional to exp(-|t|^p / (p scale^p)).

    Parameters
    ----------
    p : float
        The power, from 1 to 1000. p = 1 is Laplace(scale), p = 2 is N(0, scale^2) and
        p -> infinity is uniform on [-scale, scale]. Below 1 the density is not log-concave,
        so that the largest shift need not be the worst one; such p are refused.
    scale : float
        The scale, positive.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    p: float
    scale: float

    def __post_init__(self) -> None:
        """Check of the parameters, stored as floats."""
        problems = Problems("Subbotin noise")
        problems.number("p", self.p, low=1.0, high=_MAX_POWER)
        problems.number("scale", self.scale, low=0.0, open_low=True)
        problems.raise_if_any()
        object.__setattr__(self, "p", float(self.p))
        object.__setattr__(self, "scale", float(self.scale))

    @property
    def _log_peak(self) -> float:
        """The log density at 0; Gamma(1/p) is p Gamma(1 + 1/p)."""
        a = 1.0 / self.p
        return -a * math.log(self.p) - math.log(2.0 * math.gamma(1.0 + a)) - math.log(self.scale)

    def _log_density(self, x: Array) -> Array:
        return self._log_peak - (x / self.scale) ** self.p / self.p

    def _log_tail(self, x: Array) -> Array:
        a = 1.0 / self.p

        def near(x: Array) -> Array:  # P(a, u) from its first term, lest u underflow
            return np.log1p(-x / (self.p**a * math.gamma(1.0 + a)))

        def middle(x: Array) -> Array:
            return np.log(special.gammaincc(a, x**self.p / self.p))

        def far(x: Array) -> Array:
            return _log_upper_gamma(a, x**self.p / self.p)

        x = x / self.scale
        u = x**self.p / self.p
        tail = np.piecewise(x, [u < _NEAR, (u >= _NEAR) & (u <= _FAR)], [near, middle, far])
        return tail - math.log(2.0)

    def _magnitude(self, level: Array) -> Array:
        a = 1.0 / self.p

        def near(e: Array) -> Array:
            mass = -np.expm1(-e)
            u = special.gammaincinv(a, mass)
            return np.where(u < _NEAR, mass * math.gamma(1.0 + a), u**a)

        def middle(e: Array) -> Array:
            return np.asarray(special.gammainccinv(a, np.exp(-e)), dtype=float) ** a

        def far(e: Array) -> Array:
            finite = np.minimum(e, 1e300)
            u = np.maximum(finite - (1.0 - a) * np.log(finite) - special.gammaln(a), _FAR)
            for _ in range(4):
                log_tail = _log_upper_gamma(a, u)
                # The level's derivative, u^(a - 1) exp(-u) / Gamma(a, u).
                slope = np.exp((a - 1.0) * np.log(u) - u - special.gammaln(a) - log_tail)
                u = np.maximum(u + (finite + log_tail) / slope, _FAR)
            return np.where(e == math.inf, math.inf, u**a)

        # P(|T| > x) at u = _FAR is below exp(-_FAR), so far levels have u > _FAR or close to it.
        edge = -float(_log_upper_gamma(a, np.asarray(_FAR)))
        root = np.piecewise(
            level,
            [level <= math.log(2.0), (level > math.log(2.0)) & (level <= edge)],
            [near, middle, far],
        )
        return self.scale * (self.p**a * root)

    def _scaled(self, factor: float) -> Self:
        return type(self)(self.p, factor * self.scale)

    def pieces(self) -> tuple[Piece, ...] | None:
        """-log density on t >= 0 as quadratics, which it is for p = 1 and p = 2."""
        if self.p == 1.0:
            return (Piece(0.0, math.inf, -self._log_peak, 1.0 / self.scale, 0.0),)
        if self.p == 2.0:
            return (Piece(0.0, math.inf, -self._log_peak, 0.0, 1.0 / self.scale / self.scale),)
        return None

    def exact_pieces(self) -> list[Quadratic]:
        """-log density as rational functions of the parameters."""
        if self.p == 1.0:
            return [Quadratic(ZERO, 1 / Fraction(self.scale), ZERO)]
        return [Quadratic(ZERO, ZERO, 1 / Fraction(self.scale) ** 2)] if self.p == 2.0 else []

    def dispersion(self) -> tuple[tuple[Any, ...], tuple[float, ...]]:
        """More dispersed with the scale, at a fixed power p."""
        return (Subbotin, self.p), (self.scale,)

    @classmethod
    def from_dispersion(cls, *parameters: float) -> Self:
        """The noise with a given power and scale."""
        return cls(*parameters)

    def _absolute_moment(self, power: float) -> float:
        """E|T|^power at scale 1, p^(power / p) Gamma((power + 1) / p) / Gamma(1 / p)."""
        a = 1.0 / self.p
        ratio = math.gamma(1.0 + (power + 1.0) * a) / math.gamma(1.0 + a) / (power + 1.0)
        return self.p ** (power * a) * ratio

    def var(self) -> float:
        """The variance."""
        return self.scale * (self.scale * self._absolute_moment(2.0))

    def mean_abs(self) -> float:
        """E|T|."""
        return self.scale * self._absolute_moment(1.0)

    def fisher_information(self) -> float:
        """The Fisher information about a shift, E|T / scale|^(2 p - 2) / scale^2."""
        return self._absolute_moment(2.0 * self.p - 2.0) / self.scale / self.scale
