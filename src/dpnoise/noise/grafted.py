"""Noise between Laplace and Gaussian: flipped Huber, Huber and offset symmetric Gaussian.

m(b) = Q(b) / phi(b) is the Mills ratio throughout.

*Flipped Huber* noise, a Laplace centre grafted onto Gaussian tails. Muthukrishnan & Kalyani,
"Grafting Laplace and Gaussian distributions" (IEEE TIFS 2023), Definition 7 and equations (7)-(12),
(23). With b = alpha / gamma and x = |t| / gamma,

    density = exp(-rho(x)) / (2 Z gamma),  rho(x) = b x  (x <= b),  (x^2 + b^2) / 2  (x > b).

The printed formulas overflow for b > 38, divide by zero at b = 0 and cancel when b is small.
Here every constant and moment is a sum of positive terms, written with the Mills ratio and the
incomplete gamma function:

    Z          = P(1, b^2) / b      + exp(-b^2) m(b)
    E|T|   Z   = P(2, b^2) / b^2    + exp(-b^2)
    E T^2  Z   = 2 P(3, b^2) / b^3  + exp(-b^2) (b + m(b))
    E rho'^2 Z = b P(1, b^2)        + exp(-b^2) (b + m(b))

where the first term of each is the centre and the second the two tails.

*Huber* noise, a Gaussian centre with Laplace tails, the flipped Huber turned inside out: the least
favourable distribution of Huber, "Robust estimation of a location parameter" (Annals of
Mathematical Statistics 1964), as in Muthukrishnan & Kalyani's slides (which leave out the factor
1 / sqrt(2 pi) of the tails). With a = alpha and z = |t| / scale,

    density = exp(-rho(z)) / (2 H scale),  rho(z) = z^2 / 2  (z <= a),  a z - a^2 / 2  (z > a),
    H = sqrt(pi / 2) erf(a / sqrt 2) + exp(-a^2 / 2) / a,

so that 1 / (1 - tau) = sqrt(2 / pi) H. What is computed is a H, which stays finite as a -> 0.

*Offset symmetric Gaussian* noise (OSGT), the two far flanks of a Gaussian, pushed together. Sadeghi
& Korki, "Offset-symmetric Gaussians for differential privacy" (IEEE TIFS 2022); appendix F of
Muthukrishnan & Kalyani. With s = theta / rho, z = |t| / rho,

    density = phi(z + s) / (2 Q(s) rho) = exp(-z^2 / 2 - s z) / (2 m(s) rho).

The second form has no underflow. With I_n the integral of z^n exp(-z^2 / 2 - s z) / n! over
z >= 0, the moments are E|T| = rho I_1 / I_0 and E T^2 = 2 rho^2 I_2 / I_0. Integration by
parts gives I_{n-1} = s I_n + (n + 1) I_{n+1}, which forwards cancels for large s and
backwards is a continued fraction of positive terms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from scipy import special

from dpnoise._validation import Problems, floats
from dpnoise.noise.base import Noise, Piece
from dpnoise.noise.exact import ZERO, Quadratic, mills, upper_erf
from dpnoise.noise.exponential_power import Gaussian, gaussian_magnitude, mills_ratio

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.noise.exact import Ball

# Below the first ratio the density differs from the Gaussian's by less than 1e-60, so the
# Gaussian needs no case of its own; up to the second, b^2 and s^2 have doubles.
_MIN_RATIO = 1e-60
_MAX_RATIO = 1e150
_HALF_MASS = math.sqrt(math.pi / 2.0)  # of exp(-z^2 / 2)
_MIN_ALPHA, _MAX_ALPHA = 1e-150, 1e150  # alpha^2 and 1 / alpha^2 have doubles
_SMALL_LEVEL = 0.05  # below it log P(|T| > x) loses digits of x; P(|T| <= x) does not
_NODES, _WEIGHTS = (0.5 * v for v in np.polynomial.legendre.leggauss(5))


class _Shape(NamedTuple):
    """Quantities of the distribution at gamma = 1 that depend on b = alpha / gamma."""

    b: Array  # alpha / gamma
    square: Array  # b^2
    centre: Array  # P(1, b^2): b times the weight of the centre
    rim: Array  # exp(-b^2)
    mills: Array  # m(b)
    weight: Array  # b Z


def _shape(alpha: ArrayLike, gamma: ArrayLike) -> _Shape:
    b = np.maximum(np.divide(alpha, gamma), _MIN_RATIO)
    square = b * b
    centre, rim = -np.expm1(-square), np.exp(-square)
    mills = mills_ratio(b)
    return _Shape(b, square, centre, rim, mills, centre + rim * b * mills)


def _check_ratio(problems: Problems, alpha: Array | float, gamma: Array | float) -> None:
    """A ratio of good parameters that double precision cannot square is refused."""
    if not problems.found:
        with np.errstate(over="ignore"):
            ratio = np.max(np.divide(alpha, gamma, dtype=float), initial=0.0)
        problems.require(
            bool(ratio <= _MAX_RATIO), "alpha / gamma", f"at most {_MAX_RATIO:g}", ratio
        )


def _variance(shape: _Shape) -> Array:
    """The variance at gamma = 1, between 2 / b^2 and 1 and never above either."""
    b = shape.b
    centre = 2.0 * special.gammainc(3.0, shape.square) / b / b
    return (centre + shape.rim * b * (b + shape.mills)) / shape.weight


def flipped_huber_variance(alpha: ArrayLike, gamma: ArrayLike) -> Array:
    """The variance of flipped Huber noise for many parameters at once.

    Parameters
    ----------
    alpha, gamma : array_like of float
        Transition parameter (non-negative) and scale (positive); they broadcast.

    Returns
    -------
    numpy.ndarray or float
        The variances, equation (11) of the paper in a form without cancellation; infinite
        beyond the largest double.

    Raises
    ------
    ValueError
        If a parameter is out of range or alpha / gamma exceeds 1e150.
    """
    problems = Problems("flipped Huber variance")
    alpha = floats(problems, "alpha", alpha, low=0.0)
    gamma = floats(problems, "gamma", gamma, low=0.0, open_low=True)
    _check_ratio(problems, alpha, gamma)
    problems.raise_if_any()
    with np.errstate(over="ignore"):
        return (gamma * (gamma * _variance(_shape(alpha, gamma))))[()]


def _log_ratio(s: _Shape) -> Array:
    """Log of P(|Z| > x) / P(|T| > x) in the tails, Z normal with the same gamma.

    It is of order b^3 for small b, where the difference of two terms of order b resolves
    it well enough for quantiles, which are at least b there.
    """
    if s.b < 1.0:
        excess = math.sqrt(2.0 / math.pi) * (2.0 / s.b) * np.sinh(0.5 * s.square)
        return np.log1p(excess - special.erf(s.b / math.sqrt(2.0)))
    return 0.5 * s.square + np.log(math.sqrt(2.0 / math.pi) * s.weight / s.b)


@dataclass(frozen=True)
class FlippedHuber(Noise):
    """Flipped Huber noise FH(alpha, gamma^2).

    Parameters
    ----------
    alpha : float
        Where the Laplace centre ends, non-negative. alpha = 0 is N(0, gamma^2);
        alpha -> infinity at fixed gamma^2 / alpha is Laplace(gamma^2 / alpha).
    gamma : float
        The scale of the Gaussian tails, positive.

    Raises
    ------
    ValueError
        If a parameter is out of range or alpha / gamma exceeds 1e150.
    """

    title, source = "flipped Huber", "Muthukrishnan & Kalyani 2023"

    alpha: float
    gamma: float

    def __post_init__(self) -> None:
        """Check of the parameters, stored as floats."""
        problems = Problems("flipped Huber noise")
        problems.number("alpha", self.alpha, low=0.0)
        problems.number("gamma", self.gamma, low=0.0, open_low=True)
        if not problems.found:  # fractions too
            _check_ratio(problems, float(self.alpha), float(self.gamma))
        problems.raise_if_any()
        object.__setattr__(self, "alpha", float(self.alpha))
        object.__setattr__(self, "gamma", float(self.gamma))

    @property
    def _shape(self) -> _Shape:
        return _shape(self.alpha, self.gamma)

    def _log_density(self, x: Array) -> Array:
        s = self._shape
        x = x / self.gamma
        beyond = np.maximum(x, s.b)
        rho = s.b * np.minimum(x, s.b) + 0.5 * (beyond - s.b) * (beyond + s.b)
        return -rho - np.log(2.0 * s.weight / s.b) - math.log(self.gamma)

    def _log_tail(self, x: Array) -> Array:
        s = self._shape

        def centre(x: Array) -> Array:
            rest = s.b * (s.b - x)
            mass = (-np.expm1(-rest) + s.b * s.mills * np.exp(-rest)) / (2.0 * s.weight)
            return -s.b * x + np.log(mass)

        def tail(x: Array) -> Array:
            return special.log_ndtr(-x) - _log_ratio(s)

        x = x / self.gamma
        return np.piecewise(x, [x <= s.b], [centre, tail])

    def _magnitude(self, level: Array) -> Array:
        s = self._shape
        edge = s.square - np.log(s.b * s.mills / s.weight)  # the level at |t| = alpha

        def centre_near(e: Array) -> Array:
            return -np.log1p(s.weight * np.expm1(-e)) / s.b

        def centre_far(e: Array) -> Array:
            return (e - np.log(s.weight + np.exp(e - s.square) * (1.0 - s.b * s.mills))) / s.b

        def tail(e: Array) -> Array:
            return gaussian_magnitude(e - _log_ratio(s))

        inside, near = level <= edge, level <= math.log(2.0)
        return self.gamma * np.piecewise(
            level, [inside & near, inside & ~near], [centre_near, centre_far, tail]
        )

    def exact_tail(self, t: Fraction, ball: Ball) -> Any:  # noqa: ANN401
        """P(|T| > t) in the numbers of `ball`: both masses without the factor 1 / Z."""
        b, x = Fraction(self.alpha) / Fraction(self.gamma), t / Fraction(self.gamma)
        rim = (-ball(b * b / 2)).exp()
        tails = rim * upper_erf(ball(max(b, x)))
        if b == 0:
            return tails / upper_erf(ball(0))
        whole = -(-ball(b * b)).expm1() / ball(b) + rim * upper_erf(ball(b))
        if x >= b:
            return tails / whole
        centre = -(-ball(b * (b - x))).expm1() * (-ball(b * x)).exp() / ball(b)
        return (centre + tails) / whole

    def _scaled(self, factor: float) -> Self:
        return type(self)(factor * self.alpha, factor * self.gamma)

    def pieces(self) -> tuple[Piece, ...]:
        """-log density on t >= 0 as quadratics."""
        s, precision = self._shape, 1.0 / self.gamma / self.gamma
        value = math.log(2.0 * self.gamma) + float(np.log(s.weight / s.b))
        tail = Piece(
            self.alpha, math.inf, value + float(s.square), self.alpha * precision, precision
        )
        centre = Piece(0.0, self.alpha, value, self.alpha * precision, 0.0)
        return (centre, tail) if self.alpha > 0 else (tail,)

    def exact_pieces(self) -> list[Quadratic]:
        """-log density as rational functions of the parameters."""
        alpha, precision = Fraction(self.alpha), 1 / Fraction(self.gamma) ** 2
        tail = Quadratic(alpha, alpha * precision, precision)
        return [Quadratic(ZERO, tail.slope, ZERO), tail] if alpha else [tail]

    def dispersion(self) -> tuple[tuple[Any, ...], tuple[float, ...]]:
        """More dispersed with alpha and with gamma / alpha."""
        if self.alpha == 0.0:
            return (Gaussian,), (self.gamma,)
        ratio = self.gamma / self.alpha
        return ((FlippedHuber,), (self.alpha, ratio)) if ratio < math.inf else ((self,), ())

    def zcdp_pair(self, sensitivity: Fraction) -> tuple[Fraction, Fraction]:
        """(R_D(alpha), D^2) / (2 gamma^2) for sensitivity D, Theorem 9."""
        d, alpha, twice = sensitivity, Fraction(self.alpha), 2 * Fraction(self.gamma) ** 2
        return (alpha**2 - max(alpha - d, ZERO) ** 2) / twice, (d / Fraction(self.gamma)) ** 2 / 2

    def centre_mass(self) -> float:
        """P(|T| <= alpha), the part of the noise in the Laplace centre."""
        return float(self._shape.centre / self._shape.weight)

    def var(self) -> float:
        """The variance, equation (11)."""
        return self.gamma * (self.gamma * float(_variance(self._shape)))

    def mean_abs(self) -> float:
        """E|T|."""
        s = self._shape
        centre = special.gammainc(2.0, s.square) / s.b
        return float(self.gamma * (centre + s.b * s.rim) / s.weight)

    def fisher_information(self) -> float:
        """The Fisher information about a shift, equation (12)."""
        s = self._shape
        total = s.b * (s.b * s.centre + s.rim * (s.b + s.mills)) / s.weight
        return float(total) / self.gamma / self.gamma


@dataclass(frozen=True)
class Huber(Noise):
    """Huber noise: N(0, scale^2) up to alpha standard deviations, exponential beyond.

    Parameters
    ----------
    alpha : float
        Where the Gaussian centre ends, in units of `scale`, from 1e-150 to 1e150.
        alpha -> infinity is N(0, scale^2); alpha -> 0 at fixed scale / alpha is
        Laplace(scale / alpha).
    scale : float
        The scale of the Gaussian centre, positive.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    title, source = "Huber", "Muthukrishnan & Kalyani 2023"

    alpha: float
    scale: float = 1.0

    def __post_init__(self) -> None:
        """Check of the parameters, stored as floats."""
        problems = Problems("Huber noise")
        problems.number("alpha", self.alpha, low=_MIN_ALPHA, high=_MAX_ALPHA)
        problems.number("scale", self.scale, low=0.0, open_low=True)
        problems.raise_if_any()
        object.__setattr__(self, "alpha", float(self.alpha))
        object.__setattr__(self, "scale", float(self.scale))

    @property
    def _rim(self) -> float:
        """exp(-a^2 / 2), which is a times the weight of the tails."""
        return math.exp(-0.5 * self.alpha**2)

    @property
    def _log_weight(self) -> float:
        """log(a H); with a relative error even where a H is nearly 1."""
        a = self.alpha
        excess = math.expm1(-0.5 * a * a) + a * _HALF_MASS * math.erf(a / math.sqrt(2.0))
        return math.log1p(excess)

    @property
    def _weight(self) -> float:
        """The value of a H."""
        return self._rim + self.alpha * _HALF_MASS * math.erf(self.alpha / math.sqrt(2.0))

    @property
    def _surplus(self) -> float:
        """1 / a - m(a): by how much the exponential tail outweighs the Gaussian one."""
        return 1.0 / self.alpha - float(mills_ratio(self.alpha))

    def _log_density(self, x: Array) -> Array:
        a, z = self.alpha, x / self.scale
        inner = np.minimum(z, a)
        value = self._log_weight - math.log(a) + math.log(2.0) + math.log(self.scale)
        return -0.5 * inner * inner - a * (z - inner) - value

    def _log_tail(self, x: Array) -> Array:
        a, log_weight = self.alpha, self._log_weight

        def centre(z: Array) -> Array:
            beyond = np.exp(-0.5 * (a - z) * (a + z)) * self._surplus
            mass = 0.5 * a / self._weight * (mills_ratio(z) + beyond)
            return -0.5 * z * z + np.log(mass)

        def tail(z: Array) -> Array:
            return -a * (z - 0.5 * a) - log_weight - math.log(2.0)

        z = x / self.scale
        return np.piecewise(z, [z <= a], [centre, tail])

    def _magnitude(self, level: Array) -> Array:
        a, weight, log_weight = self.alpha, self._weight, self._log_weight

        def centre_near(e: Array) -> Array:
            return math.sqrt(2.0) * special.erfinv(-np.expm1(-e) * (weight / a / _HALF_MASS))

        def centre_far(e: Array) -> Array:
            mass = weight / a - np.exp(e - 0.5 * a * a) * self._surplus
            return gaussian_magnitude(e - np.log(mass / _HALF_MASS))

        def tail(e: Array) -> Array:
            return 0.5 * a + (e - log_weight) / a

        inside, near = level <= 0.5 * a * a + log_weight, level <= math.log(2.0)
        return self.scale * np.piecewise(
            level, [inside & near, inside & ~near], [centre_near, centre_far, tail]
        )

    def exact_tail(self, t: Fraction, ball: Ball) -> Any:  # noqa: ANN401
        """P(|T| > t) in the numbers of `ball`."""
        a, z = Fraction(self.alpha), t / Fraction(self.scale)
        tails = (-ball(a * max(z, a) - a * a / 2)).exp() / ball(a)
        edge = upper_erf(ball(a))
        whole = upper_erf(ball(0)) - edge + (-ball(a * a / 2)).exp() / ball(a)
        return (tails if z >= a else upper_erf(ball(z)) - edge + tails) / whole

    def _scaled(self, factor: float) -> Self:
        return type(self)(self.alpha, factor * self.scale)

    def pieces(self) -> tuple[Piece, ...]:
        """-log density on t >= 0 as quadratics."""
        a, edge = self.alpha, self.alpha * self.scale
        value = self._log_weight - math.log(a) + math.log(2.0) + math.log(self.scale)
        return (
            Piece(0.0, edge, value, 0.0, 1.0 / self.scale / self.scale),
            Piece(edge, math.inf, value + 0.5 * a * a, a / self.scale, 0.0),
        )

    def exact_pieces(self) -> list[Quadratic]:
        """-log density as rational functions of the parameters."""
        alpha, scale = Fraction(self.alpha), Fraction(self.scale)
        centre = Quadratic(ZERO, ZERO, 1 / scale**2)
        return [centre, Quadratic(alpha * scale, alpha / scale, ZERO)]

    def dispersion(self) -> tuple[tuple[Any, ...], tuple[float, ...]]:
        """More dispersed with alpha scale, the end of the centre, and with 1 / alpha."""
        return (Huber,), (self.alpha * self.scale, 1.0 / self.alpha)

    @property
    def _centre_second(self) -> float:
        """The integral of z^2 exp(-z^2 / 2) over the centre, times a."""
        return self.alpha * _HALF_MASS * float(special.gammainc(1.5, 0.5 * self.alpha**2))

    def var(self) -> float:
        """The variance."""
        square = self.alpha**2
        total = self._centre_second + self._rim * (square + 2.0 + 2.0 / square)
        return self.scale * (self.scale * (total / self._weight))

    def mean_abs(self) -> float:
        """E|T|."""
        a = self.alpha
        return self.scale * ((a + self._rim / a) / self._weight)

    def fisher_information(self) -> float:
        """The Fisher information about a shift, P(|T| <= alpha scale) / scale^2."""
        a = self.alpha
        centre = a * _HALF_MASS * math.erf(a / math.sqrt(2.0))
        return centre / self._weight / self.scale / self.scale


@dataclass(frozen=True)
class OffsetSymmetricGaussian(Noise):
    """Offset symmetric Gaussian noise (OSGT) with density phi((|t| + theta) / rho) / (2 rho Q).

    Parameters
    ----------
    theta : float
        The offset, non-negative. theta = 0 is N(0, rho^2); rho -> infinity at fixed
        rho^2 / theta is Laplace(rho^2 / theta).
    rho : float
        The scale of the Gaussian flanks, positive.

    Raises
    ------
    ValueError
        If a parameter is out of range or theta / rho exceeds 1e150.
    """

    title, source = "offset symmetric Gaussian", "Sadeghi & Korki 2022"

    theta: float
    rho: float

    def __post_init__(self) -> None:
        """Check of the parameters, stored as floats."""
        problems = Problems("offset symmetric Gaussian noise")
        problems.number("theta", self.theta, low=0.0)
        problems.number("rho", self.rho, low=0.0, open_low=True)
        if not problems.found:
            ratio = float(self.theta) / float(self.rho)
            problems.number("theta / rho", ratio, high=_MAX_RATIO)
        problems.raise_if_any()
        object.__setattr__(self, "theta", float(self.theta))
        object.__setattr__(self, "rho", float(self.rho))

    @property
    def _offset(self) -> float:
        return self.theta / self.rho

    def _log_density(self, x: Array) -> Array:
        s, z = self._offset, x / self.rho
        return -z * (0.5 * z + s) - math.log(2.0 * mills_ratio(s)) - math.log(self.rho)

    def _log_tail(self, x: Array) -> Array:
        s, z = self._offset, x / self.rho
        return -z * (0.5 * z + s) + np.log(self._thinning(z)) - math.log(2.0)

    def _thinning(self, z: Array) -> Array:
        """m(s + z) / m(s), not above 1."""
        # Past 1e300 the ratio no longer matters beside exp(-z^2 / 2), but must not become 0.
        s = self._offset
        return mills_ratio(s + np.minimum(z, 1e300)) / mills_ratio(s)

    def _magnitude(self, level: Array) -> Array:
        s = self._offset
        mills = mills_ratio(s)

        def near(e: Array) -> Array:
            mass = -np.expm1(-e) * mills
            z = mass
            # ends: the error squares from below 0.03 each time; exercised below
            for _ in range(4):  # the error squares from below 0.03 each time
                inner = z[..., None] * (_NODES + 0.5)
                found = z * (np.exp(-inner * (0.5 * inner + s)) @ _WEIGHTS)
                z = z - (found - mass) * np.exp(z * (0.5 * z + s))
            return z

        def far(e: Array) -> Array:
            # The level is convex in z and at least z / m(s) and z^2 / 2 + s z, so that
            # Newton's method starts on the right of the root and stays there.
            finite = np.minimum(e, 1e300)
            z = np.minimum(finite * mills, 2.0 * finite / (s + np.sqrt(s * s + 2.0 * finite)))
            # ends: Newton's method from the right of a convex function; exercised
            # below
            for _ in range(6):
                excess = z * (0.5 * z + s) - np.log(self._thinning(z)) - finite
                z = z - excess * mills_ratio(s + z)
            return np.where(e == math.inf, math.inf, z)

        return self.rho * np.piecewise(level, [level < _SMALL_LEVEL], [near, far])

    def exact_tail(self, t: Fraction, ball: Ball) -> Any:  # noqa: ANN401
        """P(|T| > t) in the numbers of `ball`."""
        rho, theta = Fraction(self.rho), Fraction(self.theta)
        z, s = t / rho, theta / rho
        return (-ball(z * (z / 2 + s))).exp() * mills(z + s, ball) / mills(s, ball)

    def _scaled(self, factor: float) -> Self:
        return type(self)(factor * self.theta, factor * self.rho)

    def pieces(self) -> tuple[Piece, ...]:
        """-log density on t >= 0 as quadratics."""
        value = math.log(2.0 * mills_ratio(self._offset)) + math.log(self.rho)
        slope = self._offset / self.rho
        return (Piece(0.0, math.inf, value, slope, 1.0 / self.rho / self.rho),)

    def exact_pieces(self) -> list[Quadratic]:
        """-log density as rational functions of the parameters."""
        precision = 1 / Fraction(self.rho) ** 2
        return [Quadratic(ZERO, Fraction(self.theta) * precision, precision)]

    def dispersion(self) -> tuple[tuple[Any, ...], tuple[float, ...]]:
        """More dispersed with theta and with rho / theta."""
        if self.theta == 0.0:
            return (Gaussian,), (self.rho,)
        kind, ratio = OffsetSymmetricGaussian, self.rho / self.theta
        return ((kind,), (self.theta, ratio)) if ratio < math.inf else ((self,), ())

    def _ratios(self) -> tuple[float, float]:
        """I_1 / I_0 and I_2 / I_1."""
        s = self._offset
        if s < 1.0:
            first = 1.0 / float(mills_ratio(s)) - s
            return first, 0.5 * (1.0 / first - s)
        # The error falls as exp(-2 s sqrt(2 terms)), and faster for large s.
        ratio = 0.0
        for n in range(20 + int(420.0 / (s * s)), 1, -1):
            ratio = 1.0 / (s + (n + 1.0) * ratio)
        return 1.0 / (s + 2.0 * ratio), ratio

    def var(self) -> float:
        """The variance, 2 rho^2 I_2 / I_0."""
        first, second = self._ratios()
        return 2.0 * (self.rho * first) * (self.rho * second)

    def mean_abs(self) -> float:
        """E|T| = rho I_1 / I_0."""
        return self.rho * self._ratios()[0]

    def fisher_information(self) -> float:
        """The Fisher information about a shift, E[(z + s)^2] / rho^2."""
        s = self._offset
        return (1.0 + s * (self._ratios()[0] + s)) / self.rho / self.rho
