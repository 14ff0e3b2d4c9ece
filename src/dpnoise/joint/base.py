"""What noise of vectors answers, and noise whose density falls with the norm of a set.

Every density that falls with the norm of a set D is a mixture of uniform ones on the multiples t D:
X = T Z with Z uniform in D and the *layer* T independent of it. Moments and samples follow from
those of T.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy import special

from dpnoise._validation import Problems, draws
from dpnoise.noise.base import largest_uniform, mean_of_largest
from dpnoise.privacy.accounts import NOTHING, RESPONSE, Bounds, smallest
from dpnoise.privacy.profile import response_delta
from dpnoise.sensitivity.at_most import AtMost
from dpnoise.sensitivity.base import Sensitivity, require_set

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike

    from dpnoise._types import Array, IntArray, WordArray
    from dpnoise.noise.base import Noise
    from dpnoise.privacy.spherical import Spherical

    Seed = int | np.random.Generator | None
    Size = int | tuple[int, ...] | None


def check_ball(problems: Problems, ball: Any) -> None:  # noqa: ANN401  (what is no set is refused)
    """A problem is recorded unless `ball` is a sensitivity set with a volume."""
    if require_set(problems, "ball", ball):
        problems.require(not ball.flat, "ball", f"a set with a volume ({ball.flat})", ball)


DRAWS = 2**18
_SURELY = math.log(1e9)  # less the log of the probability that a sample is far off
_SEED = 20231
_MOST_ENTRIES = 2**23  # of one sample
MANY_ABOVE = 100  # draws, of which the quantile is known to a few percent
_LIGHT, _HALVINGS = 1e-24, 60  # weight of a layer that counts as beyond; of a search
ROUNDED_UP = 1.0 + 2.0**-40  # times a quantile, for its rounding


def _sampled(draw: Callable[..., Any], K: int, number: Callable[[Array], Array]) -> float:
    """The mean of a number of each vector, from a sample with a fixed seed."""
    rows = min(DRAWS, max(_MOST_ENTRIES // K, 2**8))
    total = 0.0
    step = max(1, _MOST_ENTRIES // K)
    for first in range(0, rows, step):
        some = min(step, rows - first)
        total += float(np.sum(number(np.asarray(draw(some, _SEED + first), dtype=float))))
    return total / rows


def level_of_each(level: float, many: int = 1) -> float:
    """The level of each of `many` intervals that hold together by the union bound; ValueError."""
    problems = Problems("interval")
    problems.number("level", level, low=0.0, high=1.0, open_high=True)
    problems.raise_if_any()
    each = math.nextafter(1.0 - (1.0 - math.nextafter(level, 1.0)) / max(many, 1), 1.0)
    expected = f"one of which more than 2^-52 is left for each of {many}"
    problems.require(each < 1.0, "level", expected, level)
    problems.raise_if_any()
    return each


def estimated_quantile(draws: Array, level: float) -> float:
    """Quantile of draws of some |X_i|, beyond them from the last one that many are above.

    Of log-concave noise the logarithm of P(|X_i| > h) is concave in h, and 0 at h = 0, so that h
    grows at most like the logarithm of this probability.
    """
    seen = 1.0 - MANY_ABOVE / draws.size
    if level <= seen:
        return float(np.quantile(draws, level))
    return float(np.quantile(draws, seen)) * (math.log1p(-level) / math.log1p(-seen))


def mixed_quantile(
    draws: Array, level: float, radii: Array, weights: Array, largest: float
) -> float:
    """Quantile of some T |Z_i|, T one of `radii`, from draws of |Z_i|, which is log-concave.

    P(|Z_i| > u) beyond the draws is at most what a concave logarithm allows, and 0 at the largest.
    """
    draws = np.sort(draws, axis=None)
    last = 1.0 - MANY_ABOVE / draws.size
    seen, rare = float(np.quantile(draws, last)), math.log1p(-last)
    some = weights > _LIGHT
    radii, weights, lost = radii[some], weights[some], float(np.sum(weights[~some]))

    def above(h: float) -> float:
        u = h / radii
        share = 1.0 - np.searchsorted(draws, u, side="right") / draws.size
        beyond = np.where(u < largest, np.exp(rare * np.maximum(u / seen, 1.0)), 0.0)
        return float(weights @ np.where(u < seen, share, beyond)) + lost

    low, high = 0.0, largest * float(radii[-1])
    # ends: each try doubles it, and all is above 0
    while above(high) > 1.0 - level:
        low, high = high, 2.0 * high
    # ends: the larger one is returned
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if above(middle) > 1.0 - level else (low, middle)
    return high


def upper_quantile(draws: Array, level: float, rows: int) -> float:
    """Upper bound on the quantile of draws in `rows` independent rows, but with probability 1e-9.

    By Bernstein's inequality for the share of the draws that are below the quantile: the entries of
    a row may depend on each other. Infinite where there are too few rows for the level.
    """
    more = math.sqrt(2.0 * level * (1.0 - level) * _SURELY / rows) + 2.0 * _SURELY / (3.0 * rows)
    return (
        float(np.quantile(draws, level + more, method="higher")) if level + more < 1 else math.inf
    )


class VectorNoise(ABC):
    """Distribution of vectors of K coordinates, real numbers or integers."""

    whole: ClassVar[bool] = False  # on the integers

    @cached_property  # no property: a family may have it as a field
    def dimension(self) -> int:
        """The number K of coordinates."""
        raise NotImplementedError

    def parts(self) -> Iterator[tuple[IntArray, Any, Array]]:
        """Coordinates drawn in one way, by what noise, and its scales: here all, by this noise."""
        return iter([(np.arange(self.dimension), self, np.ones(self.dimension))])

    @abstractmethod
    def rvs(self, size: Size = None, random_state: Seed = None) -> Array | WordArray:
        """Independent random vectors, shape (*size, K)."""

    @abstractmethod
    def var(self) -> Array:
        """The variance of each coordinate, shape (K,)."""

    @abstractmethod
    def mean_abs(self) -> Array:
        """E|X_i| for each coordinate, shape (K,)."""

    @abstractmethod
    def half_width(self, level: float = 0.95) -> Array:
        """The h_i with P(|X_i| <= h_i) = level, shape (K,)."""

    def upper_half_width(self, level: float) -> Array:
        """Upper bounds on the half-widths, shape (K,); of noise on the integers exact."""
        return self.half_width(level) * (1.0 if self.whole else ROUNDED_UP)

    def _sampled(self, norm: Callable[[Array], Array]) -> float:
        """The mean of a norm of X from a sample, to about 0.5 %."""
        return _sampled(self.rvs, self.dimension, norm)

    def mean_largest(self, weights: Array) -> float:
        """E max w_i |X_i|, from a sample where no formula is known."""
        return self._sampled(lambda x: np.asarray(np.max(weights * np.abs(x), axis=-1)))

    def mean_norm_of(self, ball: Sensitivity) -> float:
        """The mean of the norm whose unit ball is a set, from a sample without a formula."""
        form, box = ball.body.cut, ball.box
        weights = np.divide(1.0, box, out=np.zeros(box.shape), where=box > 0.0)
        if form == 1:  # the sum of the |x_i| / box_i
            return float(np.sum(weights * self.mean_abs()))
        if form == ball.dimension:  # the largest of these
            return self.mean_largest(weights)
        return self._sampled(ball.norm)


class RealVectorNoise(VectorNoise):
    """Distribution of vectors of K real numbers."""

    @abstractmethod
    def rvs(self, size: Size = None, random_state: Seed = None) -> Array:
        """Independent random vectors, shape (*size, K)."""

    @abstractmethod
    def logpdf(self, x: ArrayLike) -> Array:
        """The log density in the coordinates with noise."""

    @abstractmethod
    def scaled(self, factor: float) -> Self:
        """The distribution of `factor` X, for a positive factor."""


class JointNoise(RealVectorNoise):
    """Noise for K coordinates with a density that falls with a norm.

    Attributes
    ----------
    ball : Sensitivity
        The unit ball of the norm. Coordinates that cannot change get no noise.
    """

    ball: Sensitivity

    @abstractmethod
    def _log_radial(self, r: Array) -> Array:
        """The log density, in the active coordinates, at points of norm `r`."""

    @abstractmethod
    def _layer(self, size: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Draws of T."""

    @abstractmethod
    def layer_moment(self, order: int) -> float:
        """E T^order."""

    def dominating(
        self,
        size: Fraction,  # noqa: ARG002
    ) -> tuple[Noise, float] | Spherical | Fraction | None:
        """What dominates this noise for the set `size` times its ball, None if that is not known.

        Noise of one number with its sensitivity, K-norm noise in an l2 norm, or a pure epsilon.
        """
        return None

    def loss_at(self, size: Fraction) -> Fraction | float:  # noqa: ARG002
        """The largest privacy loss for the set `size` times its ball, infinite if not known."""
        return math.inf

    def loss_in(self, ball: Sensitivity) -> Fraction | float:
        """An upper bound on the privacy loss for a set, infinite where none is known.

        With c the largest norm of a difference, the noise protects c times its own set.
        """
        size = self.ball.largest_norm_of(ball)
        return math.inf if size == math.inf else self.loss_at(Fraction(size))

    def bounds_in(self, ball: Sensitivity, epsilon: float) -> Bounds:
        """Bounds on delta(epsilon) for a set (`dpnoise.privacy.accounts`)."""
        loss = self.loss_in(ball)
        if loss <= epsilon:
            return NOTHING
        return smallest(0.0, [(response_delta(loss, epsilon), RESPONSE)])

    def size_of(self, ball: Sensitivity) -> Fraction:
        """The largest norm of a difference of a set, at which the noise is `dominating`.

        A ValueError is raised if the noise protects no multiple of the set, or has other
        coordinates.
        """
        fits = ball.dimension == self.dimension
        size = self.ball.largest_norm_of(ball) if fits else math.inf
        if size == math.inf:
            message = f"budget: noise: expected some for each coordinate of {ball!r}, got {self!r}"
            raise ValueError(message)
        return Fraction(size)

    @cached_property
    def dimension(self) -> int:
        """The number K of coordinates."""
        return self.ball.dimension

    def logpdf(self, x: ArrayLike) -> Array:
        """The log density at vectors `x`, shape (..., K), of shape (...)."""
        r = np.asarray(self.ball.norm(x))
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            return np.where(np.isinf(r), -np.inf, self._log_radial(r))[()]

    def pdf(self, x: ArrayLike) -> Array:
        """The density at vectors `x`, shape (..., K); the result has shape (...)."""
        with np.errstate(over="ignore"):
            return np.exp(self.logpdf(x))

    def rvs(self, size: Size = None, random_state: Seed = None) -> Array:
        """Independent random vectors, shape (*size, K); arguments as for `Noise.rvs`."""
        lead, rng = draws(self, size, random_state)
        with np.errstate(over="ignore"):  # infinite beyond all doubles
            layer = np.asarray(self._layer(lead, rng))
            return layer[..., None] * self.ball.sample(lead, rng)

    def var(self) -> Array:
        """The variance of each coordinate, shape (K,)."""
        return self.layer_moment(2) * self.ball.mean_square

    def mean_abs(self) -> Array:
        """E|X_i| for each coordinate, shape (K,)."""
        return self.layer_moment(1) * self.ball.mean_abs

    @property
    def kinds(self) -> IntArray:
        """For each coordinate its kind, -1 if it never changes.

        In units of their standard deviations, coordinates of boxes are distributed alike, and those
        of any other factor among themselves.
        """
        found = np.full(self.ball.dimension, -1)
        for first, factor in self.ball.factors():
            if factor.moves_apart:
                found[first + np.flatnonzero(factor.active)] = 0
            else:
                found[first : first + factor.dimension] = first + 1
        return found

    def half_width(self, level: float = 0.95) -> Array:
        """The h_i with P(|X_i| <= h_i) = level, from a sample, to about 0.5 %; shape (K,)."""
        return self._widths(self._rows, lambda x, _: estimated_quantile(x, level))

    @property
    def _rows(self) -> int:
        """How many rows have `DRAWS` numbers of each kind."""
        kinds = self.kinds[self.var() > 0.0].tolist()
        return -(-DRAWS // min(map(kinds.count, set(kinds) - {-1})))

    def upper_half_width(self, level: float) -> Array:
        """Upper bounds on the half-widths, from a sample of more rows, shape (K,)."""
        return self._widths(DRAWS // 4, lambda x, rows: upper_quantile(x, level, rows))

    def _widths(
        self,
        most: int,
        quantile: Callable[[Array, int], float],
        draw: Callable[..., Array] | None = None,
    ) -> Array:
        """A quantile of |X_i| by kind, from a sample of at most `most` rows, shape (K,).

        `draw` is another sample than that of X, in the units of X.
        """
        sigma = np.sqrt(self.var())
        kinds = np.where(sigma > 0.0, self.kinds, -1)
        width = np.zeros(sigma.size)
        rows = min(most, max(_MOST_ENTRIES // self.dimension, 2**8))
        x = np.abs((draw or self.rvs)(rows, _SEED))
        for kind in set(kinds.tolist()) - {-1}:
            some = np.flatnonzero(kinds == kind)
            width[some] = sigma[some] * quantile(x[:, some] / sigma[some], rows)
        return width

    def _sampled(self, norm: Callable[[Array], Array]) -> float:
        """The mean of a norm of X from a sample: one factor for all noise in the same norm."""
        return self.layer_moment(1) * _sampled(self.ball.sample, self.dimension, norm)

    def mean_largest(self, weights: Array) -> float:
        """E max w_i |X_i|, from a sample where no formula is known."""
        unit = mean_largest(self.ball, weights)
        return super().mean_largest(weights) if unit is None else self.layer_moment(1) * unit

    def mean_norm_of(self, ball: Sensitivity) -> float:
        """The mean of the norm whose unit ball is a set, from a sample without a formula."""
        own = self.ball == ball.body
        return self.mean_norm() if own else super().mean_norm_of(ball)

    def mean_norm(self) -> float:
        """The mean of the norm of X whose unit ball is the set: that of Z is K / (K + 1)."""
        K = self.ball.active_dimension
        return self.layer_moment(1) * (K / (K + 1.0))

    def std(self) -> Array:
        """The standard deviation of each coordinate, shape (K,)."""
        return np.sqrt(self.var())


def mean_largest(ball: Sensitivity, weights: Array) -> float | None:
    """E max w_i |Z_i| for Z uniform in a set; None where no formula is known.

    In an l1 ball (1 + ... + 1/K) / (K + 1), of K of K + 1 shares of an exponential sum; in an
    ellipsoid that of a Gaussian vector, by the mean norms of both. Of at most m entries by the
    volumes of the parts within cubes: that with all |z_i| <= t has, for each = 1, the volume
    (2^K / K!) sum over k of (-1)^k C(K, k) (m - k t)_+^K, whose integral over t is a ratio of
    integers.
    """
    ball = ball.body
    if len(ball.blocks) == 1:
        return mean_largest(ball.blocks[0], weights)
    K, reach = ball.dimension, ball.box * weights
    if ball.cut == K > 1 or (K == 1 and not ball.is_round):
        return largest_uniform(reach)
    if ball.is_round and ball.smallest_ellipsoid is None:
        some = reach[ball.active]
        length = math.exp(math.lgamma(0.5 * some.size + 0.5) - math.lgamma(0.5 * some.size))
        share = some.size / (some.size + 1.0) / (math.sqrt(2.0) * length)
        return share * mean_of_largest(special.erfc, math.sqrt(2.0) * some)
    if not ball.cut or not np.all(weights == weights[0]):
        return None
    if ball.cut == 1:
        harmonic = float(special.digamma(K + 1.0)) - float(special.digamma(1.0))
        return float(reach[0]) * harmonic / (K + 1.0)
    m = ball.cut
    volume, _, _ = AtMost(m, of=K).irwin_hall
    total = sum((Fraction(1, k) for k in range(1, K + 1)), Fraction(0))
    within = m**K - Fraction(m ** (K + 1), K + 1) * total
    chosen = K  # C(K, k) with the sign of (-1)^(k + 1)
    for k in range(1, m):
        within += Fraction(chosen * (m - k) ** (K + 1), k * (K + 1))
        chosen = -chosen * (K - k) // (k + 1)
    return float(reach[0]) * float(1 - within / volume)
