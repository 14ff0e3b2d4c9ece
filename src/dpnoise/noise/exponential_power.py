"""Noise whose -log density is a power of |t|: Laplace, Gaussian, Subbotin, truncated Laplace.

*Laplace*, the two-sided exponential distribution, has the power 1 and *Gaussian* noise 2.

*Subbotin* noise, the generalised Gaussian, has any power from 1 on. Subbotin, "On the law of
frequency of error" (1923), as in Muthukrishnan & Kalyani's slides:

    density = p^(1 - 1/p) / (2 scale Gamma(1/p)) exp(-|t|^p / (p scale^p)).

|t|^p / (p scale^p) has the gamma distribution with shape a = 1/p and scale 1, so the tail is an
incomplete gamma function. SciPy's underflows from 700 on; there, and well before, the
continued fraction of Legendre replaces it.

*Truncated Laplace* noise never leaves [-bound, bound]. Geng, Ding, Guo & Kumar, "Tight analysis of
privacy and utility tradeoff in approximate differential privacy" (AISTATS 2020), optimal in one
dimension for small delta. The density jumps at the bound; a shift by d moves mass out of the
support, which delta has to pay for.
"""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
from scipy import special

from dpnoise._validation import Problems
from dpnoise.noise.base import Noise, Piece
from dpnoise.noise.exact import ZERO, Quadratic, as_double

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.noise.exact import Ball

_MAX_POWER = 1e3  # rounding of t changes |t|^p by p units in the last place
_NEAR = 1e-17  # up to it one term of the incomplete gamma function's series is enough
_FAR = 10.0  # from it its continued fraction is short
_TERMS = 20  # leave an error of about exp(-4 sqrt(_FAR _TERMS)) in the continued fraction
_DIGITS = 60  # of the mass beyond a point
_MIN_RATIO = 1e-100  # below it (bound / beta)^3 has no double; the noise is uniform by then


@dataclass(frozen=True)
class Laplace(Noise):
    """Laplace noise with density exp(-|t| / beta) / (2 beta).

    Parameters
    ----------
    beta : float
        The scale, positive; |T| is exponential with mean beta.

    Raises
    ------
    ValueError
        If `beta` is not a positive finite number.
    """

    title, source = "Laplace", "Dwork, McSherry, Nissim & Smith 2006"

    beta: float

    def __post_init__(self) -> None:
        """Check of the parameter, stored as a float."""
        problems = Problems("Laplace noise")
        problems.number("beta", self.beta, low=0.0, open_low=True)
        problems.raise_if_any()
        object.__setattr__(self, "beta", float(self.beta))

    def _log_density(self, x: Array) -> Array:
        return -x / self.beta - math.log(2.0) - math.log(self.beta)

    def _log_tail(self, x: Array) -> Array:
        return -x / self.beta - math.log(2.0)

    def _magnitude(self, level: Array) -> Array:
        return self.beta * level

    def exact_tail(self, t: Fraction, ball: Ball) -> Any:  # noqa: ANN401
        """P(|T| > t) in the numbers of `ball`."""
        return (-ball(t / Fraction(self.beta))).exp()

    def _scaled(self, factor: float) -> Self:
        return type(self)(factor * self.beta)

    def pieces(self) -> tuple[Piece, ...]:
        """-log density on t >= 0 as quadratics."""
        value = math.log(2.0) + math.log(self.beta)
        return (Piece(0.0, math.inf, value, 1.0 / self.beta, 0.0),)

    def exact_pieces(self) -> list[Quadratic]:
        """-log density as rational functions of the parameters."""
        return [Quadratic(ZERO, 1 / Fraction(self.beta), ZERO)]

    def dispersion(self) -> tuple[tuple[Any, ...], tuple[float, ...]]:
        """More dispersed with beta."""
        return (Laplace,), (self.beta,)

    def zcdp_pair(self, sensitivity: Fraction) -> tuple[Fraction, Fraction]:
        """(D / beta, 0), the pure DP of sensitivity D."""
        return sensitivity / Fraction(self.beta), ZERO

    def var(self) -> float:
        """The variance, 2 beta^2."""
        return 2.0 * self.beta * self.beta

    def mean_abs(self) -> float:
        """E|T| = beta."""
        return self.beta

    def fisher_information(self) -> float:
        """The Fisher information about a shift, 1 / beta^2."""
        return 1.0 / self.beta / self.beta


@overload
def mills_ratio(x: float) -> float: ...
@overload
def mills_ratio(x: Array) -> Array: ...
def mills_ratio(x: Array | float) -> Array | float:
    """Mills ratio Q(x) / phi(x), the integral of exp(-u^2 / 2 - x u) over u >= 0."""
    return math.sqrt(math.pi / 2.0) * special.erfcx(x / math.sqrt(2.0))


def gaussian_magnitude(level: Array) -> Array:
    """The x >= 0 with P(|Z| > x) = exp(-level) for standard normal Z, at levels >= 0.

    `erfinv` keeps the relative accuracy of x near 0, `ndtri_exp` reaches the far tail.
    """
    return np.piecewise(
        level,
        [level <= math.log(2.0)],
        [
            lambda e: math.sqrt(2.0) * special.erfinv(-np.expm1(-e)),
            lambda e: -special.ndtri_exp(-e - math.log(2.0)),
        ],
    )


@dataclass(frozen=True)
class Gaussian(Noise):
    """Gaussian noise with density exp(-t^2 / (2 sigma^2)) / (sigma sqrt(2 pi)).

    Parameters
    ----------
    sigma : float
        The standard deviation, positive.

    Raises
    ------
    ValueError
        If `sigma` is not a positive finite number.
    """

    title, source = "Gaussian", "Balle & Wang 2018"

    sigma: float

    def __post_init__(self) -> None:
        """Check of the parameter, stored as a float."""
        problems = Problems("Gaussian noise")
        problems.number("sigma", self.sigma, low=0.0, open_low=True)
        problems.raise_if_any()
        object.__setattr__(self, "sigma", float(self.sigma))

    def _log_density(self, x: Array) -> Array:
        return -0.5 * (x / self.sigma) ** 2 - 0.5 * math.log(2.0 * math.pi) - math.log(self.sigma)

    def _log_tail(self, x: Array) -> Array:
        return special.log_ndtr(-x / self.sigma)

    def _magnitude(self, level: Array) -> Array:
        return self.sigma * gaussian_magnitude(level)

    def exact_tail(self, t: Fraction, ball: Ball) -> Any:  # noqa: ANN401
        """P(|T| > t) in the numbers of `ball`."""
        return (ball(t / Fraction(self.sigma)) / ball(2).sqrt()).erfc()

    def _scaled(self, factor: float) -> Self:
        return type(self)(factor * self.sigma)

    def pieces(self) -> tuple[Piece, ...]:
        """-log density on t >= 0 as quadratics."""
        value = 0.5 * math.log(2.0 * math.pi) + math.log(self.sigma)
        return (Piece(0.0, math.inf, value, 0.0, 1.0 / self.sigma / self.sigma),)

    def exact_pieces(self) -> list[Quadratic]:
        """-log density as rational functions of the parameters."""
        return [Quadratic(ZERO, ZERO, 1 / Fraction(self.sigma) ** 2)]

    def dispersion(self) -> tuple[tuple[Any, ...], tuple[float, ...]]:
        """More dispersed with sigma."""
        return (Gaussian,), (self.sigma,)

    def zcdp_pair(self, sensitivity: Fraction) -> tuple[Fraction, Fraction]:
        """(0, D^2 / (2 sigma^2)) for sensitivity D, which is exact."""
        return ZERO, (sensitivity / Fraction(self.sigma)) ** 2 / 2

    def var(self) -> float:
        """The variance, sigma^2."""
        return self.sigma * self.sigma

    def mean_abs(self) -> float:
        """E|T| = sigma sqrt(2 / pi)."""
        return self.sigma * math.sqrt(2.0 / math.pi)

    def fisher_information(self) -> float:
        """The Fisher information about a shift, 1 / sigma^2."""
        return 1.0 / self.sigma / self.sigma


def _log_upper_gamma(a: float, u: Array) -> Array:
    """Log of the regularised upper incomplete gamma function, for u > _FAR, a <= 1."""
    finite = np.minimum(u, np.finfo(float).max)
    rest = finite + (2.0 * _TERMS + 1.0 - a)
    # ends: a continued fraction; exercised below
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

    title, source = "Subbotin", "Liu 2019"

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
            # ends: Newton's method; exercised below
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

    def exact_tail(self, t: Fraction, ball: Ball) -> Any:  # noqa: ANN401
        """P(|T| > t) in the numbers of `ball`."""
        p = ball(self.p)
        power = ball(t / Fraction(self.scale)) ** p / p
        return power.gamma_upper(1 / p, regularized=1)

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


@dataclass(frozen=True)
class TruncatedLaplace(Noise):
    """Truncated Laplace noise with density proportional to exp(-|t| / beta) on [-bound, bound].

    Parameters
    ----------
    beta : float
        The scale of the Laplace distribution, positive. beta -> infinity is uniform noise.
    bound : float
        The largest |t|, positive. bound -> infinity is Laplace(beta).

    Raises
    ------
    ValueError
        If a parameter is not positive and finite or bound / beta is below 1e-100.
    """

    title, source = "truncated Laplace", "Geng, Ding, Guo & Kumar 2020"

    beta: float
    bound: float = field()

    def __post_init__(self) -> None:
        """Check of the parameters, stored as floats."""
        problems = Problems("truncated Laplace noise")
        problems.number("beta", self.beta, low=0.0, open_low=True)
        problems.number("bound", self.bound, low=0.0, open_low=True)
        if not problems.found:
            ratio = float(self.bound) / float(self.beta)
            problems.number("bound / beta", ratio, low=_MIN_RATIO, finite=False)
        problems.raise_if_any()
        object.__setattr__(self, "beta", float(self.beta))
        object.__setattr__(self, "bound", float(self.bound))

    @property
    def _reach(self) -> float:
        return self.bound / self.beta

    @property
    def _mass(self) -> float:
        """P(|L| <= bound) for the Laplace variable L."""
        return -math.expm1(-self._reach)

    def _log_density(self, x: Array) -> Array:
        inside = -x / self.beta - math.log(2.0 * self._mass) - math.log(self.beta)
        return np.where(x > self.bound, -math.inf, inside)

    def _log_tail(self, x: Array) -> Array:
        rest = (self.bound - np.minimum(x, self.bound)) / self.beta
        with np.errstate(divide="ignore"):  # no mass is left at the bound
            return -x / self.beta + np.log(-np.expm1(-rest) / (2.0 * self._mass))

    def _magnitude(self, level: Array) -> Array:
        reach = self._reach

        def near(e: Array) -> Array:
            return -np.log1p(self._mass * np.expm1(-e))

        def far(e: Array) -> Array:  # -log(exp(-reach) + mass exp(-e))
            free = np.minimum(e, 1e300) - math.log(self._mass)
            return np.minimum(reach, free) - np.log1p(np.exp(-np.abs(reach - free)))

        x = np.piecewise(level, [(level <= math.log(2.0)) | (reach <= math.log(2.0))], [near, far])
        # The bound is reached exactly, and never passed by rounding.
        return np.where(level == math.inf, self.bound, np.minimum(self.beta * x, self.bound))

    def exact_tail(self, t: Fraction, ball: Ball) -> Any:  # noqa: ANN401
        """P(|T| > t) in the numbers of `ball`."""
        beta, bound = Fraction(self.beta), Fraction(self.bound)
        if t >= bound:
            return ball(0)
        rest, all_ = (-ball((bound - t) / beta)).expm1(), (-ball(bound / beta)).expm1()
        return (-ball(t / beta)).exp() * rest / all_

    def _scaled(self, factor: float) -> Self:
        return type(self)(factor * self.beta, factor * self.bound)

    def pieces(self) -> tuple[Piece, ...]:
        """-log density on [0, bound] as quadratics."""
        value = math.log(2.0 * self._mass) + math.log(self.beta)
        return (Piece(0.0, self.bound, value, 1.0 / self.beta, 0.0),)

    def exact_pieces(self) -> list[Quadratic]:
        """-log density as rational functions of the parameters."""
        return [Quadratic(ZERO, 1 / Fraction(self.beta), ZERO)]

    def mass_beyond(self, t: Fraction) -> Fraction:
        """P(T > t) for |t| < bound, rounded up by less than 1e-60 of its value.

        For t >= 0 it is exp(-t / beta) (1 - exp(-rest)) / (2 (1 - exp(-reach))), rest =
        (bound - t) / beta and reach = bound / beta.
        """
        if t < 0:
            return 1 - self.mass_beyond(-t) * (1 - Fraction(2, 10**_DIGITS))
        beta, bound = Fraction(self.beta), Fraction(self.bound)
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

    def dispersion(self) -> tuple[tuple[Any, ...], tuple[float, ...]]:
        """More dispersed with beta and with bound / beta."""
        kind, ratio = TruncatedLaplace, self.bound / self.beta
        return ((kind,), (self.beta, ratio)) if ratio < math.inf else ((self,), ())

    def var(self) -> float:
        """The variance, 2 beta^2 P(3, r) / P(1, r) with r = bound / beta."""
        share = float(special.gammainc(3.0, self._reach)) / self._mass
        return 2.0 * self.beta * (self.beta * share)

    def mean_abs(self) -> float:
        """E|T| = beta P(2, r) / P(1, r) with r = bound / beta."""
        return float(self.beta * (special.gammainc(2.0, self._reach) / self._mass))

    def fisher_information(self) -> float:
        """infinity: a density that jumps locates a shift at a faster rate."""
        return math.inf
