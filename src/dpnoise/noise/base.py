"""Methods of every noise distribution, derived from symmetry and six primitives.

All noise here is continuous, symmetric about 0 and described by scalars. A family states
the logarithm of its density and of its tail for |t|, the quantile of |T| and three
moments; the methods of `scipy.stats` with their sign cases, far tails and sampling follow.

Quantiles are asked for through an exponential level E = -log P(|T| > x) instead of a
probability: E near 0 resolves the centre, E large resolves tails far beyond the smallest
double, and a standard exponential variate in place of E gives a sample of |T|.

The expected largest of independent |X_i| is the integral over t of 1 - prod P(|X_i| <= t).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from dpnoise._validation import check_factor, draws, points
from dpnoise.noise.exact import Quadratic

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike
    from typing_extensions import TypeIs

    from dpnoise._types import Array
    from dpnoise.noise.exact import Ball
    from dpnoise.noise.integers import IntegerNoise

_PANELS, _NODES = 400, 8  # of Gauss-Legendre quadrature
_MOST_VALUES = 2**25  # of the tail, with fewer panels where there are many scales
_NEGLIGIBLE = 1e-18  # probability of a larger value than the last one


class Piece(NamedTuple):
    """One stretch of t >= 0 on which -log density is a quadratic.

    With x = t - left it is value + slope x + curvature x^2 / 2 for left <= t <= right.
    """

    left: float
    right: float
    value: float
    slope: float
    curvature: float


class ScalarNoise(ABC):
    """What noise of one number says of itself, on the reals (`Noise`) or the integers.

    Attributes
    ----------
    whole : bool
        Whether it is on the integers (`dpnoise.noise.integers.IntegerNoise`).
    log_concave : bool
        Whether the density, or the mass, is log-concave: the loss grows with the value, and for
        the density the largest shift is the worst one for privacy.
    stepwise : bool
        Whether the density is constant but for jumps.
    """

    whole: ClassVar[bool]
    listed: ClassVar[Literal[False]] = False  # known by its privacy losses alone
    log_concave: ClassVar[bool] = True
    stepwise: ClassVar[bool] = False
    _drawn_by: ClassVar[str]  # the method by which it is released

    @property
    def step_width(self) -> float:
        """The width of the steps by which the density falls, infinite without such steps."""
        return math.inf

    @property
    def has_exact_draws(self) -> bool:
        """Whether its class states how it is drawn: one on it may have another distribution."""
        return self._drawn_by in vars(type(self))

    @abstractmethod
    def var(self) -> float:
        """The variance."""

    @abstractmethod
    def mean_abs(self) -> float:
        """The mean absolute error that the noise adds."""

    def std(self) -> float:
        """The standard deviation."""
        return math.sqrt(self.var())


def is_scalar(value: object) -> TypeIs[Noise | IntegerNoise]:
    """Whether a value is noise of one number."""
    return isinstance(value, ScalarNoise)


@dataclass(frozen=True)
class Noise(ScalarNoise):
    """A continuous distribution symmetric about 0, whose density does not rise with |t|.

    Arguments of all methods may be scalars or arrays of any shape; the result has the same
    shape. Values outside the domain give NaN, as in `scipy.stats`; what is no number is refused
    with a ValueError. A result beyond the largest double is infinite.

    Attributes
    ----------
    bound : float
        The largest |t| that can occur, infinite unless a family says otherwise.
    """

    whole: ClassVar[Literal[False]] = False
    title: ClassVar[str]  # in tables of mechanisms
    source: ClassVar[str]  # where it is published
    bound = math.inf  # no annotation: a family may make it a field
    _drawn_by = "exact_tail"

    # What a family may declare besides its distribution. The accounts of `dpnoise.privacy` read
    # these and need no list of families; without them they go by density and tail alone.

    def pieces(self) -> tuple[Piece, ...] | None:
        """-log density on [0, bound] as quadratics, or None if it is not made of any."""
        return None

    @property
    def has_closed_loss(self) -> bool:
        """Whether the transform of the privacy loss of a unit shift is known in closed form."""
        return self.log_concave and self.pieces() is not None

    def exact_pieces(self) -> list[Quadratic]:
        """The same pieces, up to a constant, in rational arithmetic; none if there are none."""
        pieces = self.pieces() or ()
        return [Quadratic(*map(Fraction, (p.left, p.slope, p.curvature))) for p in pieces]

    def largest_loss(self, sensitivity: float | Fraction) -> Fraction | float:
        """An upper bound on the privacy loss of one coordinate, without rounding.

        For log-concave noise the loss grows along the line to the sensitivity times the slope of
        the far tail of -log density.
        """
        last = self.exact_pieces()[-1:]
        straight = last and last[0].curvature == 0 and self.bound == math.inf
        return Fraction(sensitivity) * last[0].slope if straight else math.inf

    def mass_beyond(self, t: Fraction) -> Fraction | None:  # noqa: ARG002  (of a family)
        """P(T > t) rounded up by less than 1e-60 of its value, or None where that is not known."""
        return None

    def exact_tail(self, t: Fraction, ball: Ball) -> Any:  # noqa: ANN401
        """P(|T| > t) for t >= 0 in the numbers of `ball`, balls of Arb: by it noise is released.

        A second derivation, from the density. It is that of the class which states it and of no
        other: a class on it may have another density (`has_exact_draws`).
        """
        raise NotImplementedError

    def zcdp_pair(self, sensitivity: Fraction) -> tuple[Fraction, Fraction] | None:  # noqa: ARG002
        """The pair (xi, eta) of a proved bound on the Renyi divergence, or None."""
        return None

    def dispersion(self) -> tuple[tuple[Any, ...], tuple[float, ...]]:
        """The place of the noise in the dispersive order: its family and the parameters that vary.

        The family is the class and the fixed parameters; noise of equal families can be compared.
        With none of the other parameters, all positive, smaller, it is at least as dispersed
        (docs/vector-privacy.md, section 10). By default nothing varies: not comparable.
        """
        return (self,), ()

    @abstractmethod
    def _log_density(self, x: Array) -> Array:
        """The log density at x >= 0."""

    @abstractmethod
    def _log_tail(self, x: Array) -> Array:
        """Log P(T > x) at x >= 0."""

    @abstractmethod
    def _magnitude(self, level: Array) -> Array:
        """The x >= 0 with P(|T| > x) = exp(-level), for level in [0, inf]."""

    @abstractmethod
    def fisher_information(self) -> float:
        """The Fisher information about a shift, E[(d log g(T) / dT)^2]."""

    @abstractmethod
    def _scaled(self, factor: float) -> Self:
        """The distribution of factor * T."""

    def scaled(self, factor: float) -> Self:
        """The distribution of `factor` * T, e.g. unit noise for a sensitivity.

        Parameters
        ----------
        factor : float
            A positive number.

        Raises
        ------
        ValueError
            If `factor` is not a positive finite number.
        """
        check_factor(self, factor)
        return self._scaled(float(factor))

    def logpdf(self, t: ArrayLike) -> Array:
        """The log density at `t`."""
        # A log density below -1.8e308 has no double: -inf is its rounding.
        with np.errstate(over="ignore"):
            return self._log_density(np.abs(points(self, "t", t)))[()]

    def pdf(self, t: ArrayLike) -> Array:
        """The density at `t`."""
        with np.errstate(over="ignore"):
            return np.exp(self.logpdf(t))

    def logsf(self, t: ArrayLike) -> Array:
        """Log P(T > t), which does not underflow where `sf` does."""
        t = points(self, "t", t)
        with np.errstate(over="ignore"):
            tail = self._log_tail(np.abs(t))
        return np.where(t < 0, np.log1p(-np.exp(tail)), tail)[()]

    def sf(self, t: ArrayLike) -> Array:
        """P(T > t)."""
        t = points(self, "t", t)
        with np.errstate(over="ignore"):
            tail = np.exp(self._log_tail(np.abs(t)))
        return np.where(t < 0, 1.0 - tail, tail)[()]

    def cdf(self, t: ArrayLike) -> Array:
        """P(T <= t)."""
        return self.sf(-points(self, "t", t))

    def isf(self, p: ArrayLike) -> Array:
        """The t with P(T > t) = `p`; NaN outside [0, 1]."""
        p = points(self, "p", p)
        # 1 - p and 1 - 2 tail are exact where they are used.
        tail = np.where((p >= 0) & (p <= 1), np.minimum(p, 1.0 - p), math.nan)
        with np.errstate(divide="ignore"):  # tail 0 belongs to level inf
            level = np.where(tail < 0.25, -np.log(2.0 * tail), -np.log1p(2.0 * tail - 1.0))
        with np.errstate(over="ignore"):  # infinite, as the level, or beyond all doubles
            size = self._magnitude(level)
        return np.where(p > 0.5, -size, size)[()]

    def ppf(self, p: ArrayLike) -> Array:
        """The t with P(T <= t) = `p`; NaN outside [0, 1]."""
        return 0.0 - self.isf(p)  # not -isf: that would make the median -0.0

    def coupled(self, draws: ArrayLike) -> Array:
        """Values with the signs and tail probabilities of values of the unit Laplace distribution.

        Of draws of `Laplace(1.0)` it makes draws of T: for several distributions, draws that are
        paired as those of `rvs` from one seed are, which is how `rvs` makes them.

        Parameters
        ----------
        draws : array_like of float
            Values x; the result t has the sign of x and P(|T| > |t|) = exp(-|x|).
        """
        x = points(self, "draws", draws)
        with np.errstate(over="ignore"):
            return np.copysign(self._magnitude(np.abs(x)), x)[()]

    def rvs(
        self,
        size: int | tuple[int, ...] | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> Array:
        """Independent random values.

        One seed draws the same signs and levels for every family and parameter, so that
        comparisons between them are paired.

        Parameters
        ----------
        size : int or tuple of int, optional
            The shape; one number by default.
        random_state : int or numpy.random.Generator, optional
            A seed or a generator; by default a stream seeded by the operating system.
        """
        size, rng = draws(self, size, random_state)
        sign = 2.0 * rng.integers(0, 2, size=size) - 1.0
        return self.coupled(sign * rng.standard_exponential(size))


def largest_uniform(sides: Array) -> float:
    """E max |U_i| for independent U_i, uniform on [-sides_i, sides_i]: the sum over the pieces.

    Where n of the sides are above t, prod P(|U_i| <= t) is t^n over their product.
    """
    u = np.sort(sides[sides > 0.0])
    if u.size == 0:
        return 0.0
    longest = float(u[-1])
    u = u / longest
    n = np.arange(u.size, 0, -1)  # sides that are not below u_j
    above = np.cumsum(np.log(u)[::-1])[::-1]  # of their logarithms
    before = np.concatenate([[0.0], u[:-1] / u[1:]])
    most = np.exp(np.minimum(n * np.log(u) - above, 0.0))  # the probability at t = u_j
    # Up to u_1 all sides are above t, from u_(j-1) to u_j n_j of them.
    within = u * most * (1.0 - before ** (n + 1.0)) / (n + 1.0)
    return longest * float(1.0 - np.sum(within))


def mean_of_largest(tail: Callable[[Array], Array], scales: Array) -> float:
    """E max s_i |X_i| for independent X_i with P(|X_i| > t) = tail(t), by quadrature.

    To about 1e-6, and from some 10,000 different scales on to about 1e-4.
    """
    unit, count = np.unique(scales[scales > 0.0], return_counts=True)
    if unit.size == 0:
        return 0.0
    largest = float(unit[-1])
    unit = unit / largest
    end = 1.0
    # ends: grows until the tail is negligible
    while scales.size * float(tail(np.array(end))) > _NEGLIGIBLE:
        end *= 1.25
    panels = max(16, min(_PANELS, _MOST_VALUES // (_NODES * unit.size)))
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    width = end / panels
    t = (width * (np.arange(panels)[:, None] + 0.5 * (nodes + 1.0))).ravel()
    log_inside = np.zeros(t.size)
    with np.errstate(divide="ignore"):
        for scale, number in zip(unit.tolist(), count.tolist(), strict=True):
            log_inside += number * np.log1p(-np.minimum(tail(t / scale), 1.0))
    beyond = -np.expm1(log_inside)
    total = float(np.sum(beyond * np.tile(weights, panels)))
    return largest * 0.5 * width * total
