"""Noise for vectors by coordinate and by block, and a mechanism: noise and what is known of it.

Moments have shape (K,). A coordinate that cannot change gets no noise.

**Errors.** Half-widths of joint noise are estimated from a sample with a fixed seed, for each kind
of coordinate: to about 0.5 %. So are largest errors of blocks, of noise on the integers and in the
norms of other sets than boxes, l1 and l2 balls, ellipsoids and 'at most m counts', and norms of
noise that was made for another norm. All else has closed forms, or is one integral.

**Privacy of blocks** (`bounds_in`). All Gaussian blocks are one quadratic form of the difference,
whose largest value over the set gives their delta_G exactly; the pure losses of the others add up
to at most epsilon_1. All of them have delta >= delta_G(epsilon), by leaving the others out, and
delta <= p delta_G(epsilon - epsilon_1) + (1 - p) delta_G(epsilon + epsilon_1), p = 1 / (1 +
exp(-epsilon_1)), by randomized response (docs/certificates.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from dpnoise._results import EqualByValue, data_frame, html_table
from dpnoise._validation import draws, points
from dpnoise.joint.base import RealVectorNoise, level_of_each
from dpnoise.joint.vectors import CorrelatedGaussian
from dpnoise.noise.base import mean_of_largest
from dpnoise.noise.exact import as_double_above
from dpnoise.noise.exponential_power import Gaussian, Laplace
from dpnoise.privacy.accounts import (
    ERROR,
    GAUSSIAN,
    RESPONSE,
    Bounds,
    Independent,
    gaussian_delta,
    loss_in,
)
from dpnoise.privacy.integer_sets import PURE
from dpnoise.privacy.odometer.ledger import Ledger
from dpnoise.privacy.odometer.releases import independent_ledger, ledger_in, spending_of
from dpnoise.privacy.profile import response_delta

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike

    from dpnoise._types import Array, IntArray
    from dpnoise.joint.base import Seed, Size, VectorNoise
    from dpnoise.mechanisms.request import Request
    from dpnoise.noise.base import Noise
    from dpnoise.sensitivity.base import Sensitivity


@dataclass(frozen=True, eq=False)
class IndependentNoise(RealVectorNoise, EqualByValue):
    """Independent noise of one shape, by coordinate as wide as `scales`.

    Parameters
    ----------
    unit : Noise
        The noise of a coordinate of scale 1.
    scales : numpy.ndarray, shape (K,)
        The scales; 0 for no noise.
    """

    unit: Noise
    scales: Array

    def __repr__(self) -> str:
        """The noise and the range of its scales."""
        low, high = float(np.min(self.scales)), float(np.max(self.scales))
        scales = f"{low:.6g}" if low == high else f"{low:.6g} to {high:.6g}"
        return f"IndependentNoise({self.unit!r}, scales={scales}, dimension={self.dimension})"

    @cached_property
    def dimension(self) -> int:
        """The number K of coordinates."""
        return self.scales.size

    def scaled(self, factor: float) -> Self:
        """The distribution of `factor` X, for a positive factor."""
        return replace(self, scales=factor * self.scales)

    def parts(self) -> Iterator[tuple[IntArray, Any, Array]]:
        """All coordinates, by noise of one number."""
        return iter([(np.arange(self.dimension), self.unit, self.scales)])

    def spending_in(self, ball: Sensitivity) -> Ledger | None:
        """What one release costs a `Budget`, for a set; None if that is not known."""
        return independent_ledger(self.unit, self.scales, ball)

    def in_set(self, ball: Sensitivity) -> Independent:
        """The account of the coordinates for a set."""
        return Independent(self.unit, ball, self.scales)

    def loss_in(self, ball: Sensitivity) -> Fraction | float:
        """An upper bound on the privacy loss for a set, infinite where none is known."""
        return self.in_set(ball).loss

    def bounds_in(self, ball: Sensitivity, epsilon: float) -> Bounds:
        """Bounds on delta(epsilon) for a set (`dpnoise.privacy.accounts`)."""
        return self.in_set(ball).bounds(epsilon)

    def rvs(self, size: Size = None, random_state: Seed = None) -> Array:
        """Independent random vectors, shape (*size, K); arguments as for `Noise.rvs`."""
        lead, rng = draws(self, size, random_state)
        return self.scales * self.unit.rvs((*lead, self.dimension), rng)

    def logpdf(self, x: ArrayLike) -> Array:
        """The log density at vectors `x`, shape (..., K), of shape (...)."""
        x = points(self, "x", x)
        some = self.scales > 0.0
        outside = np.any(x[..., ~some] != 0.0, axis=-1)
        each = self.unit.logpdf(x[..., some] / self.scales[some]) - np.log(self.scales[some])
        return np.where(outside, -np.inf, np.sum(each, axis=-1))[()]

    def var(self) -> Array:
        """The variance of each coordinate, shape (K,)."""
        with np.errstate(over="ignore"):  # infinite beyond all doubles
            return self.scales * (self.scales * self.unit.var())

    def mean_abs(self) -> Array:
        """E|X_i|, shape (K,)."""
        return self.scales * self.unit.mean_abs()

    def mean_largest(self, weights: Array) -> float:
        """E max w_i |X_i|."""
        scales = weights * self.scales
        if np.count_nonzero(scales) == 1:
            return float(np.max(scales)) * self.unit.mean_abs()
        return mean_of_largest(lambda t: 2.0 * self.unit.sf(t), scales)

    def half_width(self, level: float = 0.95) -> Array:
        """The h_i with P(|X_i| <= h_i) = level, shape (K,)."""
        return self.scales * float(self.unit.isf(0.5 * (1.0 - level)))


RESPONSE_AND_GAUSSIAN = "randomized response and Gaussian profile"
_SCALES: dict[type, str] = {Gaussian: "sigma", Laplace: "beta"}  # of blocks that one form describes


class _Sums(NamedTuple):
    """What blocks add up to: the squared mu of all Gaussian ones, the loss of all others."""

    square: Fraction
    loss: Fraction | float
    attained: bool  # whether one difference has this mu


def _is_factor(ball: Sensitivity, at: IntArray) -> bool:
    """Whether coordinates are those of a factor of a product, which moves by itself."""
    spans = [(first, first + factor.dimension) for first, factor in ball.factors()]
    return (int(at[0]), int(at[-1]) + 1) in spans and bool(np.all(np.diff(at) == 1))


def beside_response(below: Array, above: Array, spent: Array) -> Array:
    """Upper bound on delta beside randomized response of loss `spent`, rounding included.

    `below` and `above` are upper bounds on delta of the other noise at epsilon less and plus it.
    """
    p = 1.0 / (1.0 + np.exp(-spent))
    return (p * below + (1.0 - p) * above) * (1.0 + ERROR)


@dataclass(frozen=True, eq=False)
class BlockNoise(RealVectorNoise, EqualByValue):
    """Independent noise for blocks of coordinates, each with a joint distribution of its own.

    Parameters
    ----------
    blocks : tuple of (numpy.ndarray, VectorNoise)
        Which coordinates a block has, and its noise.
    dimension : int
        The number K of all coordinates; those in no block get no noise.
    """

    blocks: tuple[tuple[IntArray, RealVectorNoise], ...]
    dimension: int = field()

    def __repr__(self) -> str:
        """The sizes of the blocks."""
        sizes = [indices.size for indices, _ in self.blocks]
        return f"BlockNoise(sizes={sizes}, dimension={self.dimension})"

    def scaled(self, factor: float) -> Self:
        """The distribution of `factor` X, for a positive factor."""
        return replace(self, blocks=tuple((at, noise.scaled(factor)) for at, noise in self.blocks))

    def parts(self) -> Iterator[tuple[IntArray, Any, Array]]:
        """Those of the blocks."""
        return (
            (indices[at], noise, scales)
            for indices, block in self.blocks
            for at, noise, scales in block.parts()
        )

    def spending_in(self, ball: Sensitivity) -> Ledger | None:
        """What one release costs a `Budget`, for a set: all blocks together; None if not known."""
        covered = np.zeros(self.dimension, dtype=bool)
        for indices, _ in self.blocks:
            covered[indices] = True
        if ball.dimension != self.dimension or bool(np.any(ball.active & ~covered)):
            message = f"budget: noise: expected some for each coordinate of {ball!r}, got {self!r}"
            raise ValueError(message)
        total, more = Ledger(), set()
        for indices, noise in self.blocks:
            part = ledger_in(noise, ball.restricted(indices.tolist()))
            if part is None:
                return None
            total = total.plus(part, 1)
            more |= {part.counted_as} - {""}
        return replace(total, counted_as=" and ".join(sorted(more)))

    def rvs(self, size: Size = None, random_state: Seed = None) -> Array:
        """Independent random vectors, shape (*size, K); arguments as for `Noise.rvs`."""
        lead, rng = draws(self, size, random_state)
        x = np.zeros((*lead, self.dimension))
        for indices, noise in self.blocks:
            x[..., indices] = noise.rvs(lead, rng)
        return x

    def logpdf(self, x: ArrayLike) -> Array:
        """The log density at vectors `x`, shape (..., K), of shape (...)."""
        x = points(self, "x", x)
        rest = np.setdiff1d(np.arange(self.dimension), np.concatenate([i for i, _ in self.blocks]))
        total = np.where(np.any(x[..., rest] != 0.0, axis=-1), -np.inf, 0.0)
        for indices, noise in self.blocks:
            total = total + noise.logpdf(x[..., indices])
        return total[()]

    def _sums_in(self, ball: Sensitivity) -> _Sums:
        """The sums over blocks; ValueError if a coordinate that can change is in none."""
        active = ball.active
        bare = active.copy()
        for at, _ in self.blocks:
            bare[at] = False
        if bare.any():
            expected = "expected some for each coordinate that can change"
            message = f"noise: {expected}, got none for coordinate {int(np.argmax(bare))}"
            raise ValueError(message)
        loss: Fraction | float = Fraction(0)
        correlated, attained = Fraction(0), True
        weights = {name: [Fraction(0)] * ball.dimension for name in _SCALES.values()}
        for at, part in self.blocks:
            if not active[at].any():
                continue
            inner = ball.restricted(at.tolist())
            if isinstance(part, CorrelatedGaussian):
                correlated += part.squared_mu_in(inner)
                attained &= _is_factor(ball, at) and part.ball.is_exact_for(inner)
                continue
            name = _SCALES.get(type(getattr(part, "unit", None)))
            if name is not None and isinstance(part, IndependentNoise):
                each = part.in_set(inner).each_weight(name)
                for k, weight in zip(at.tolist(), each, strict=True):
                    weights[name][k] = weight
            else:
                more = loss_in(part, inner)
                loss = math.inf if math.inf in (loss, more) else Fraction(loss) + Fraction(more)
        square = ball.largest_power_sum(weights["sigma"], 2) + correlated
        loss += ball.largest_power_sum(weights["beta"], 1)
        return _Sums(square, loss, attained and ball.attains)

    def bounds_in(self, ball: Sensitivity, epsilon: float) -> Bounds:
        """Bounds on delta(epsilon) for a set (`dpnoise.privacy.accounts`)."""
        square, loss, attained = self._sums_in(ball)
        if square == 0:
            return Bounds(0.0, response_delta(loss, epsilon), PURE if loss <= epsilon else RESPONSE)
        lower, upper = gaussian_delta(square, epsilon)
        lower = lower if attained else 0.0
        if loss == 0:
            return Bounds(lower, upper, GAUSSIAN)
        if loss == math.inf:
            return Bounds(lower, 1.0, RESPONSE_AND_GAUSSIAN)
        spent = as_double_above(loss)
        below = -as_double_above(-(Fraction(epsilon) - Fraction(spent)))
        above = -as_double_above(-(Fraction(epsilon) + Fraction(spent)))
        first, second = (np.asarray(gaussian_delta(square, x)[1]) for x in (below, above))
        upper = min(float(beside_response(first, second, np.asarray(spent))), 1.0)
        return Bounds(min(lower, upper), upper, RESPONSE_AND_GAUSSIAN)

    def per_coordinate(self, moment: Callable[[RealVectorNoise], Array]) -> Array:
        """A moment of each coordinate, shape (K,), from those of the blocks."""
        values = np.zeros(self.dimension)
        for indices, noise in self.blocks:
            values[indices] = moment(noise)
        return values

    def var(self) -> Array:
        """The variance of each coordinate, shape (K,)."""
        return self.per_coordinate(lambda noise: noise.var())

    def mean_abs(self) -> Array:
        """E|X_i|, shape (K,)."""
        return self.per_coordinate(lambda noise: noise.mean_abs())

    def half_width(self, level: float = 0.95) -> Array:
        """The h_i with P(|X_i| <= h_i) = level, shape (K,)."""
        return self.per_coordinate(lambda noise: noise.half_width(level))

    def upper_half_width(self, level: float) -> Array:
        """Upper bounds on the half-widths, shape (K,)."""
        return self.per_coordinate(lambda noise: noise.upper_half_width(level))


LEVEL = 0.95
OPTIMAL = 1e-4  # relative, of an error over its floor: what counts as equal
_HEADER = ("mechanism", "std", "mean |error|", "95 % within", "variance", "/ floor", "delta", "by")

_COLUMNS = ("std", "mean_abs", "half_width", "variance", "floor", "ratio", "delta", "reference")
# What each error is called as an attribute and in tables, the last two only where asked for.
_ATTRIBUTES = {
    "variance": "variance",
    "mean-abs": "mean_abs",
    "half-width": "half_width",
    "max": "mean_largest",
    "norm": "mean_norm",
}
_ASKED = {"max": "largest", "norm": "norm"}


def header_of(request: Request) -> tuple[str, ...]:
    """The names of the columns, with the error that was asked for."""
    asked = (_ASKED[request.error],) if request.error in _ASKED else ()
    return (_HEADER[0], *asked, *_HEADER[1:])


def frame_of(rows: tuple[Mechanism, ...]) -> Any:  # noqa: ANN401  (of pandas)
    """Mechanisms as a data frame."""
    error = rows[0].request.error
    asked = (_ATTRIBUTES[error],) if error in _ASKED else ()
    columns = {name: [getattr(row, name) for row in rows] for name in (*asked, *_COLUMNS)}
    return data_frame(columns, [row.name for row in rows], "mechanism")


@dataclass(frozen=True, eq=False, repr=False)
class Mechanism(EqualByValue):
    """One mechanism for a sensitivity set at a budget, with what is known about its error.

    An error in the singular is a number, in the plural an array of shape (K,), one number for each
    coordinate. The number is the mean over all K coordinates with the weights of the request, as in
    the floor; `std` is the root of the mean variance. Mechanisms are equal if they are of the same
    name for the same request with the same noise.

    Attributes
    ----------
    name : str
        Of the mechanism.
    noise : object
        The noise to add, with `rvs(size, random_state)` of shape (*size, K).
    delta : float
        Proved upper bound on its delta at the epsilon of the request, for the whole vector.
    reference : str
        Where the mechanism is published.
    request : Request
        The set, the budget and the error.
    left_out : dict of str
        From `best`: mechanisms that were not tried and may be better, with the reason.
    """

    name: str
    noise: VectorNoise
    delta: float
    reference: str
    request: Request
    left_out: dict[str, str] = field(default_factory=dict, compare=False)

    @property
    def sensitivity(self) -> Sensitivity:
        """The set of differences between neighbouring answers that was asked for."""
        return self.request.sensitivity

    @property
    def dimension(self) -> int:
        """The number K of coordinates."""
        return self.request.dimension

    @property
    def summary(self) -> str:
        """Noise and set in few words, as the entry of a budget has them."""
        many = f"{self.dimension} numbers" if self.dimension > 1 else "one number"
        noise = f"noise: {self.name}, standard deviation {self.std:.4g}"
        return f"{many}; {noise}; one person's change: {self.sensitivity.words}"

    @property
    def relation(self) -> str | None:
        """Which data sets are neighbours; None if the set does not state it."""
        return self.sensitivity.relation

    @property
    def epsilon(self) -> float:
        """The epsilon that was asked for."""
        return self.request.epsilon

    @property
    def times(self) -> int:
        """How many releases, each with fresh noise, the guarantee is for together."""
        return self.request.times

    @property
    def promise(self) -> str:
        """The guarantee in one sentence; it says so if the set states no relation."""
        return self.sensitivity.promise(self.epsilon, self.delta, self.times)

    def spending(self) -> Ledger:
        """What one release costs a `Budget`: by the account of the noise, and as certified.

        Of several releases that are certified together it is that of one, by the noise alone.
        """
        if self.times == 1:
            return spending_of(self.noise, self.sensitivity, self.epsilon, self.delta)
        found = ledger_in(self.noise, self.sensitivity)
        assert found is not None  # noqa: S101  (or it was not found)
        return replace(found, relation=self.relation)

    @cached_property
    def variances(self) -> Array:
        """The variance of each coordinate, shape (K,)."""
        return self.noise.var()

    @cached_property
    def variance(self) -> float:
        """The mean of the variances."""
        return self.request.mean(self.variances)

    @property
    def stds(self) -> Array:
        """The standard deviation of each coordinate, shape (K,)."""
        return np.sqrt(self.variances)

    @property
    def std(self) -> float:
        """The root of the mean variance."""
        return math.sqrt(self.variance)

    @property
    def mean_abs_values(self) -> Array:
        """E|X_i| of each coordinate, shape (K,)."""
        return self.noise.mean_abs()

    @property
    def mean_abs(self) -> float:
        """The mean of E|X_i|."""
        return self.request.mean(self.mean_abs_values)

    @cached_property
    def half_widths(self) -> Array:
        """The h_i with P(|X_i| <= h_i) = 0.95, coordinate by coordinate, shape (K,).

        For joint noise estimated to about 0.5 %. All K intervals together hold less often.
        """
        return self.noise.half_width(LEVEL)

    @property
    def half_width(self) -> float:
        """The mean of the half-widths."""
        return self.request.mean(self.half_widths)

    def interval(self, level: float = 0.95, *, simultaneous: bool = False) -> tuple[Array, Array]:
        """Two ends between which the noise lies; before a release, what its `interval` adds.

        Parameters
        ----------
        level : float
            The probability, from 0 to below 1.
        simultaneous : bool
            Whether the noise of all K coordinates lies between its ends together with this
            probability, by the union bound; else of each by itself.

        Returns
        -------
        tuple of numpy.ndarray, shape (K,)
            The ends -h and h. For joint noise estimated from a sample, to about 0.5 % at 95 %.

        Raises
        ------
        ValueError
            If the level is out of range.

        Examples
        --------
        >>> from dpnoise import Counts, best
        >>> found = best(Counts(1, of=3, relation="add-remove"), epsilon=1.0)
        >>> found.interval(0.95, simultaneous=True)[1].tolist()
        [4, 4, 4]
        """
        half = self.noise.half_width(level_of_each(level, self.dimension if simultaneous else 1))
        half = half.astype(np.int64) if self.whole else half
        return 0 - half, half + 0  # no -0.0

    @cached_property
    def mean_largest(self) -> float:
        """E max w_i |X_i|, the expected largest error; the largest weight counts as 1.

        Of blocks, of integers and in norms without a formula estimated to about 0.5 %.
        """
        return self.noise.mean_largest(self.request.weights)

    @cached_property
    def mean_norm(self) -> float:
        """The expected norm of the noise, the set being its unit ball.

        Of noise made for another norm estimated to about 0.5 %, where there is no formula.
        """
        return self.noise.mean_norm_of(self.sensitivity)

    @property
    def error(self) -> float:
        """The error that the request asks to be small."""
        return float(getattr(self, _ATTRIBUTES[self.request.error]))

    @property
    def floor(self) -> float:
        """Proved lower bound on the error of any additive noise for the same request.

        It is about the error that was asked for, and about the mean variance where that is the
        half-width. For integers it is one on the error of any noise on the integers.
        """
        return self.request.floor

    @property
    def ratio(self) -> float:
        """The error that the floor is about over the floor: 1 if no noise can do better."""
        error = float(getattr(self, _ATTRIBUTES[self.request.bounded]))
        return error / self.floor if self.floor > 0.0 else math.inf

    @property
    def optimal(self) -> bool:
        """Whether no additive noise has an error smaller by more than 1e-4 of it, proved."""
        return self.request.bounded == self.request.error and self.ratio <= 1.0 + OPTIMAL

    @property
    def whole(self) -> bool:
        """Whether the noise is on the integers."""
        return self.noise.whole

    def cells(self) -> tuple[str, ...]:
        """The row of a table."""
        numbers = (self.std, self.mean_abs, self.half_width, self.variance, self.ratio)
        asked = (self.error,) if self.request.error in _ASKED else ()
        shown = (f"{x:.4g}" for x in (*asked, *numbers))
        return (self.name, *shown, f"{self.delta:.3g}", self.reference)

    def __repr__(self) -> str:
        """The mechanism in one line."""
        name = f"{self.name}, optimal" if self.optimal else self.name
        name = f"{name}: standard deviation {self.std:.4g}"
        return f"<{name}, certified for {self.promise}; {self.noise!r}>"

    def _repr_html_(self) -> str:
        """The mechanism for notebooks."""
        numbers = zip(header_of(self.request)[1:], self.cells()[1:], strict=True)
        rows = [*numbers, ("noise", repr(self.noise)), ("promise", self.promise)]
        return html_table(self.name, (), rows)

    def to_frame(self) -> Any:  # noqa: ANN401  (of pandas)
        """Errors, floor, delta and reference as a row, of the same columns as a comparison's.

        Returns
        -------
        pandas.DataFrame
            With one row, whose index is the name of the mechanism.

        Raises
        ------
        ModuleNotFoundError
            Without pandas.

        Examples
        --------
        >>> from dpnoise import best
        >>> found = best([1.0, 0.5], epsilon=1.0)
        >>> bool(found.to_frame()["variance"].item() == found.variance)
        True
        """
        return frame_of((self,))
