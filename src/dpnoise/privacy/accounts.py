"""How private noise is for a sensitivity set: the one door to the accounts.

`bounds(noise, set, epsilon)` encloses delta, whatever the noise of the package and whatever the
set; `supports(noise, set)` says whether there is an account. Noise for a vector answers itself, by
`bounds_in(set, epsilon)` and `loss_in(set)`; noise of one number, independent on the coordinates,
is answered for here.

A coordinate counts by its noise and by the largest change in units of its scale. Of Gaussian noise
only the largest l2 norm of the scaled differences counts. Where the loss is at most proportional to
the change, the set itself gives the largest loss. All other noise is accounted for at the true
differences (`Sensitivity.differences`): it is symmetric about 0 and falls with |t|, so that of
differences with at most n entries of at most c the worst one has n entries of c, where the scales
are smallest. Where every point of a set is a difference the box around it is taken, which is no
smaller, and one difference for the lower bound. Answers with noise on the integers are integers: of
their differences only the integers count, exactly (`dpnoise.privacy.integer_sets`).

`first_account(noise, size, copies, epsilon)` is the door for equal coordinates, which a search asks
thousands of times: by the largest loss, by basic composition or by the exact profile. What comes
out is checked by other methods (`dpnoise.privacy.second`).

**Cheap bounds**, from the tail and the profile of each coordinate, decide at once what is far from
a budget, and hold where delta is too small for the inversion of transforms to see it.

*Above*: by basic composition. Noise that is (epsilon_i, delta_i)-DP on coordinate i is
(sum epsilon_i, sum delta_i)-DP on all (Dwork & Roth 2014, Theorem 3.16, for independent
mechanisms). Close to pure Laplace noise little is lost.

*Below*: by one event. For every t the K noise values all exceed t with probability SF(t)^K, and
SF(t + d)^K beside the neighbour, so that delta >= SF(t)^K - e^epsilon SF(t + d)^K. And delta is
at least the probability that some value leaves the support of the neighbour's.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpnoise._validation import Problems
from dpnoise.noise.exact import as_double_above, root_above
from dpnoise.noise.exponential_power import Gaussian, Laplace
from dpnoise.noise.integers import DiscreteLaplace, IntegerNoise
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise.privacy.integer_sets import PURE, integer_bounds, read_parts
from dpnoise.privacy.profile import response_delta
from dpnoise.privacy.vector import known_profile
from dpnoise.sensitivity.base import MOST_UNEQUAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dpnoise._types import Array
    from dpnoise.noise.base import Noise
    from dpnoise.noise.exact import Weights
    from dpnoise.sensitivity.base import Sensitivity

    AnyNoise = Noise | IntegerNoise
    Shares = dict[tuple[AnyNoise, Fraction], int]
    Listed = Sequence[tuple[Any, float, int]]  # noise, size, copies

# Names of accounts.
SCALAR, VECTOR, COMPOSED = "scalar profile", "vector profile", "basic composition"
GAUSSIAN, DOMINATED, RESPONSE = "Gaussian profile", "dominating Laplace noise", "largest loss"
ERROR = 1e-11  # relative, of the Gaussian profile and of closed forms
_MIN_MU, _MAX_MU = 1e-300, 1e150
# Where half-lines start, in units of E|T|; and in units of the shift.
_STARTS = np.concatenate([[0.0], np.geomspace(0.01, 100.0, 25)])
_SHIFTS = np.array([-0.5, -0.25, 0.5, 1.0])
_LEVELS = np.concatenate([[0.0], np.geomspace(0.03, 30.0, 13)])  # for different noise, of E|T|
_RELATIVE_ROUNDING = 1e-12
_LOG_ROUNDING = 1e-9  # of a logarithm of delta
_MAX_GROUPS = 32  # beyond, composition of different noise has little to offer
_MOST_COMBINATIONS = 64  # of coordinates with different noise that change at once


class Bounds(NamedTuple):
    """Proved bounds lower <= delta <= upper, and the account that gave the upper one."""

    lower: float
    upper: float
    account: str


NOTHING = Bounds(0.0, 0.0, PURE)  # delta is 0


def smallest(lower: float, found: list[tuple[float, str]]) -> Bounds:
    """A lower bound, and the smallest of several upper bounds with its account."""
    best, account = min(found, key=lambda pair: pair[0])
    return Bounds(min(lower, best), best, account)


def dimension_of(noise: Any) -> int | None:  # noqa: ANN401
    """The number of coordinates; None for noise of one number, which any number may have."""
    return len(noise) if isinstance(noise, tuple) else getattr(noise, "dimension", None)


def supports(noise: Any, ball: Sensitivity) -> bool:  # noqa: ANN401
    """Whether `bounds` has an account of noise for a set."""
    return dimension_of(noise) in (None, ball.dimension)


def bounds(noise: Any, ball: Sensitivity, epsilon: float) -> Bounds:  # noqa: ANN401
    """Bounds on delta(epsilon) of any noise for any set that fits it.

    Parameters
    ----------
    noise : object
        Noise of one number, independent on each coordinate; a tuple of these, one for each; noise
        for a vector.
    ball : Sensitivity
        The set of differences.
    epsilon : float
        From 0 to 1e4.

    Returns
    -------
    Bounds
        `lower`, `upper` and the name of the account that gave the upper one.

    Raises
    ------
    ValueError
        If a coordinate that can change has no noise.

    Examples
    --------
    >>> from dpnoise import AtMost, Laplace
    >>> from dpnoise.privacy.accounts import bounds
    >>> bounds(Laplace(2.0), AtMost(2, of=5), 1.0)
    Bounds(lower=0.0, upper=0.0, account='greatest loss')
    """
    own = getattr(noise, "bounds_in", None)
    return own(ball, epsilon) if own else Independent(noise, ball).bounds(epsilon)


def loss_in(noise: Any, ball: Sensitivity) -> Fraction | float:  # noqa: ANN401
    """An upper bound on the privacy loss of noise for a set, infinite where none is known."""
    own = getattr(noise, "loss_in", None)
    return own(ball) if own else Independent(noise, ball).loss


def gaussian_delta(square: Fraction, epsilon: float) -> tuple[float, float]:
    """Bounds on delta of Gaussian noise by its squared mu, for any real epsilon."""
    mu = min(max(as_double_above(root_above(square)), _MIN_MU), _MAX_MU)
    log_delta = float(gaussian_log_delta(mu, abs(epsilon)))
    error = ERROR + 2.0**-50 * (10.0 - 3.0 * log_delta)
    low, high = math.exp(log_delta - error), min(math.exp(log_delta + error), 1.0)
    if mu in (_MIN_MU, _MAX_MU):
        low = 0.0
    if epsilon < 0.0:  # delta(-x) = 1 - e^-x + e^-x delta(x): a sum, of which nothing cancels
        rest, fall = -math.expm1(epsilon), math.exp(epsilon)
        low, high = (rest + fall * x for x in (low, high))
        low, high = low * (1.0 - ERROR), min(high * (1.0 + ERROR), 1.0)
    return low, max(high, 5e-324)


def dominated_delta(loss: Fraction | float, epsilon: float) -> float:
    """Upper bound on delta where Laplace noise with a largest loss dominates."""
    if loss <= epsilon:
        return 0.0
    if loss == math.inf:
        return 1.0
    gap = as_double_above(Fraction(loss) - Fraction(epsilon))
    return min(-math.expm1(-0.5 * gap) * (1.0 + ERROR), 1.0)


@dataclass(frozen=True)
class Independent:
    """Independent noise on the coordinates of a set: of one distribution, or of some each.

    `scales`, shape (K,), are those of one distribution on each coordinate, 0 for no noise.
    """

    noise: Any  # Noise, IntegerNoise or a tuple of them
    ball: Sensitivity
    scales: Array | None = None

    @property
    def kinds(self) -> set[type]:
        """The classes of the coordinates' noise."""
        noise = self.noise
        return {type(one) for one in noise} if isinstance(noise, tuple) else {type(noise)}

    @property
    def _equal(self) -> bool:
        """Whether all coordinates have the same noise."""
        return self.scales is None and not isinstance(self.noise, tuple)

    def _changes(self, factor: Sensitivity) -> list[Fraction]:
        """The largest change of each coordinate of a factor."""
        changes, K = factor.sides(), factor.dimension
        return [changes] * K if isinstance(changes, Fraction) else list(changes)

    def coordinates(
        self, first: int = 0, factor: Sensitivity | None = None
    ) -> Iterator[tuple[AnyNoise, Fraction]]:
        """The noise of each coordinate that can change and its largest change over the scale.

        Those of a factor, whose first coordinate is `first`, or all.
        """
        for k, change in enumerate(self._changes(factor or self.ball), first):
            if change == 0:
                continue
            if self.scales is None:
                yield (self.noise[k] if isinstance(self.noise, tuple) else self.noise), change
                continue
            scale = Fraction(float(self.scales[k]))
            if scale == 0:
                message = f"noise: expected some for coordinate {k}, which can change, got none"
                raise ValueError(message)
            yield self.noise, change / scale

    @cached_property
    def worst(self) -> list[Shares]:
        """Changes of which one is the worst: how many coordinates of each noise and ratio.

        Several only where noise of different distributions has coordinates of which few change at
        once, and these are few combinations; of many combinations all changes together are taken.
        """
        found: list[Shares] = [{}]
        for first, factor in self.ball.factors():
            some = self._worst_of(first, factor)
            if len(found) * len(some) > _MOST_COMBINATIONS:
                some = [_counted(self.coordinates(first, factor))]
            found = [_together(one, more) for one in found for more in some]
        return found

    def _worst_of(self, first: int, factor: Sensitivity) -> list[Shares]:
        """The same of one factor."""
        true, changes = factor.differences, factor.sides()
        most = factor.dimension if true is None else true.moved
        if self._equal and isinstance(changes, Fraction):
            return [{(self.noise, changes): most}]
        ratios: dict[AnyNoise, list[Fraction]] = {}
        for noise, ratio in self.coordinates(first, factor):
            ratios.setdefault(noise, []).append(ratio)
        for some in ratios.values():
            some.sort(reverse=True)
        sizes = [len(some) for some in ratios.values()]
        splits = list(islice(_splits(min(most, sum(sizes)), sizes), _MOST_COMBINATIONS + 1))
        if len(splits) > _MOST_COMBINATIONS:
            splits = [tuple(sizes)]
        pairs = [list(zip(ratios.items(), split, strict=True)) for split in splits]
        return [_counted((one, x) for (one, some), n in row for x in some[:n]) for row in pairs]

    def weights(self, name: str) -> Weights:
        """One over the scale `name` of each coordinate, 0 of those that cannot change."""
        if self._equal:
            return 1 / Fraction(getattr(self.noise, name))
        shares = self.coordinates()
        found = []
        for change in self._changes(self.ball):
            one, ratio = next(shares) if change else (None, Fraction(0))
            found.append(ratio / (change * Fraction(getattr(one, name))) if change else Fraction(0))
        return found

    def each_weight(self, name: str) -> list[Fraction]:
        """The same as a list, shape (K,)."""
        found = self.weights(name)
        return [found] * self.ball.dimension if isinstance(found, Fraction) else list(found)

    @property
    def squared_mu(self) -> Fraction:
        """The largest squared l2 norm of a difference in units of Gaussian noise, rounded up."""
        return self.ball.largest_power_sum(self.weights("sigma"), 2)

    @property
    def loss(self) -> Fraction | float:
        """The largest privacy loss of all coordinates together, rounded up."""
        if len(self.kinds) == 1 and self.kinds <= {Laplace, DiscreteLaplace}:
            # Proportional to the change.
            return self.ball.largest_power_sum(self.weights("beta"), 1)
        return max(_loss_of(shares) for shares in self.worst)

    def bounds(self, epsilon: float) -> Bounds:
        """Bounds for any set and epsilon >= 0."""
        if self.kinds == {Gaussian}:
            return self._gaussian_bounds(epsilon)
        return self._bounds(epsilon)

    def _gaussian_bounds(self, epsilon: float) -> Bounds:
        """Bounds by the largest mu, and below by that of one difference."""
        low, high = gaussian_delta(self.squared_mu, epsilon)
        if not self.ball.attains:
            pairs = zip(self.each_weight("sigma"), self.ball.extreme_point.tolist(), strict=True)
            square = sum(((w * Fraction(x)) ** 2 for w, x in pairs), Fraction(0))
            low = gaussian_delta(square, epsilon)[0]
        return Bounds(low, high, GAUSSIAN)

    def _bounds(self, epsilon: float) -> Bounds:
        """Bounds for noise that is not all Gaussian."""
        whole = self._on_integer_points(epsilon)
        if whole is not None:
            return whole
        loss = self.loss
        if loss <= epsilon:
            return NOTHING
        lower, upper = self._profile(epsilon)
        one = all(sum(shares.values()) == 1 for shares in self.worst)
        found = [(upper, SCALAR if one else VECTOR), (response_delta(loss, epsilon), RESPONSE)]
        if self.kinds == {Laplace}:
            found.append((dominated_delta(loss, epsilon), DOMINATED))
        if not one:
            found.append((self._composed(epsilon), COMPOSED))
        return smallest(lower, found)

    def _on_integer_points(self, epsilon: float) -> Bounds | None:
        """Bounds of noise on the integers for the integer points of a set.

        None for other noise, and where coordinates that share one bound have different noise.
        """
        if not all(issubclass(kind, IntegerNoise) for kind in self.kinds):
            return None
        problems = Problems("certificate")
        parts = read_parts(problems, self.ball)
        noises: list[IntegerNoise] = []
        for part in parts:
            listed = isinstance(self.noise, tuple)
            each = {self.noise[k] for k in part.at} if listed else {self.noise}
            if len(each) > 1:
                return None
            noises += each
        if problems.found:
            return None
        found = integer_bounds(noises, parts, epsilon)
        return Bounds(found.lower, found.upper, found.account)

    def _profile(self, epsilon: float) -> tuple[float, float]:
        """Lower and upper bounds by the exact profile of differences."""
        shares, ball = self.worst, self.ball
        upper = max(float(known_profile(_doubles(x, up=True), epsilon).upper) for x in shares)
        each = [(x.differences, x.moves_apart) for _, x in ball.factors()]
        known = [alone or (true is not None and not true.listed) for true, alone in each]
        if not all(known) and ball.dimension <= MOST_UNEQUAL:
            shares = [self._inner()]
        elif not all(known) or sum(shares[0].values()) > self._most_at_once:
            return 0.0, upper
        return max(
            float(known_profile(_doubles(x, up=False), epsilon).lower) for x in shares
        ), upper

    @property
    def _most_at_once(self) -> int:
        """How many coordinates can change at once, where the factors say so."""
        most = 0
        for _, factor in self.ball.factors():
            true, active = factor.differences, factor.active_dimension
            most += active if true is None else min(true.moved, active)
        return most

    def _inner(self) -> Shares:
        """The changes of one difference: an extreme point of the convex set."""
        box, point = self.ball.box, np.abs(self.ball.extreme_point)
        ratios = zip(self.coordinates(), np.flatnonzero(box > 0.0), strict=True)
        return _counted(
            (one, ratio * Fraction(float(point[k])) / Fraction(float(box[k])))
            for (one, ratio), k in ratios
            if point[k] > 0.0
        )

    def _composed(self, epsilon: float) -> float:
        """Upper bound by basic composition; 1 for noise that it is not made for."""
        largest = 0.0
        for worst in self.worst:
            for noise, exact in worst:
                if noise.whole and exact.denominator != 1:
                    expected = "expected integers for noise on the integers"
                    message = f"sensitivity: {expected}, got {exact}"
                    raise ValueError(message)
            shares = _doubles(worst, up=True)
            if not all(one.log_concave and not one.whole for one, _, _ in shares):
                return 1.0
            largest = max(largest, _as_delta(shared_log_delta(shares, epsilon)))
        return largest


def _counted(shares: Iterable[tuple[AnyNoise, Fraction]]) -> Shares:
    """Coordinates by noise and ratio, and how many there are of each."""
    return dict(Counter(shares))


def _together(one: Shares, more: Shares) -> Shares:
    """The coordinates of two factors."""
    found = dict(one)
    for share, count in more.items():
        found[share] = found.get(share, 0) + count
    return found


def _splits(total: int, sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every way to take `total` things from heaps of the given sizes, by how many of each."""
    if not sizes:
        yield ()
        return
    rest = sum(sizes[1:])
    for n in range(max(total - rest, 0), min(sizes[0], total) + 1):
        for more in _splits(total - n, sizes[1:]):
            yield (n, *more)


def _loss_of(shares: Shares) -> Fraction | float:
    """The largest privacy loss of all coordinates together."""
    total: Fraction | float = Fraction(0)
    for (one, size), count in shares.items():
        loss = one.largest_loss(size)
        total = math.inf if loss == math.inf else total + count * Fraction(loss)
    return total


def _doubles(shares: Shares, *, up: bool) -> list[tuple[AnyNoise, float, int]]:
    """Noise, size as a double on one side, and how many."""
    found = []
    for (noise, size), count in shares.items():
        above = as_double_above(size)
        below = above if above == size else math.nextafter(above, 0.0)
        found.append((noise, above if up else below, count))
    return found


def _as_delta(log_upper: float) -> float:
    """An upper bound by its logarithm, at least the smallest double unless it is 0."""
    return max(float(np.exp(log_upper)), 5e-324) if log_upper > -math.inf else 0.0


def first_account(
    noise: AnyNoise, size: float, copies: int, epsilon: float, enough: float | None = None
) -> tuple[float, str]:
    """Upper bound on delta of noise on equal coordinates, and by which account.

    Basic composition is asked first where its bound may be at most `enough`, and then taken: next
    to pure Laplace noise the inversion of transforms may see nothing. Beyond the range of the
    accounts the bound is 1.
    """
    if copies * noise.largest_loss(size) <= Fraction(epsilon):
        return 0.0, PURE
    if enough is not None and copies > 1 and noise.log_concave:
        # Composition cannot be enough where its lower bound is above.
        low = -math.inf
        if not noise.whole and enough > 0.0:
            low = composed_lower_bound(noise, size, epsilon, copies)
        if low == -math.inf or low <= math.log(enough) + _LOG_ROUNDING:
            upper = _as_delta(composed_log_delta(noise, size, epsilon, copies))
            if upper <= enough:
                return upper, COMPOSED
    upper = float(known_profile([(noise, size, copies)], epsilon).upper)
    return upper, SCALAR if copies == 1 else VECTOR


def equal_share(epsilon: float, dimension: int) -> float:
    """Share of epsilon, rounded down: all coordinates together spend at most epsilon."""
    share = epsilon / dimension
    return math.nextafter(share, 0.0) if dimension * Fraction(share) > Fraction(epsilon) else share


def _log_upper(noise: AnyNoise, shift: float, epsilon: float) -> float:
    """Upper bound on log delta of one coordinate, 0 beyond the profile's range."""
    return float(known_profile([(noise, shift, 1)], epsilon).log_upper)


def composed_log_delta(noise: AnyNoise, shift: float, epsilon: float, dimension: int) -> float:
    """Upper bound on log delta by basic composition, rounding included.

    0 beyond the range of the profile.
    """
    one = _log_upper(noise, shift, equal_share(epsilon, dimension))
    if one == -math.inf:
        return one
    return min((one + math.log(dimension)) + 2.0**-50 * (1.0 + abs(one)), 0.0)


def composed_lower_bound(noise: Noise, shift: float, epsilon: float, dimension: int) -> float:
    """Lower bound on `composed_log_delta`, up to rounding, that takes a tenth of its time."""
    one = half_line_log_delta(noise, shift, equal_share(epsilon, dimension), 1)
    return min(one + math.log(dimension), 0.0)


def shared_log_delta(shares: Listed, epsilon: float) -> float:
    """Upper bound on log delta by basic composition of any noise, rounding included.

    Of different noise each coordinate gets a part of epsilon that is proportional to its loss at
    the mean size of its noise. The bound is 0 where composition does not help.
    """
    if len(shares) == 1:
        ((noise, size, count),) = shares
        return composed_log_delta(noise, size, epsilon, count)
    if len(shares) > _MAX_GROUPS:
        return 0.0
    loss = [
        float(noise.logpdf(0.5 * noise.mean_abs()) - noise.logpdf(0.5 * noise.mean_abs() + size))
        for noise, size, _ in shares
    ]
    copies = [count for _, _, count in shares]
    total = math.fsum(n * x for n, x in zip(copies, loss, strict=True))
    if not 0.0 < total < math.inf:
        return 0.0
    parts = [epsilon * (x / total) for x in loss]
    # ends: a few doubles down
    while sum(n * Fraction(x) for n, x in zip(copies, parts, strict=True)) > Fraction(epsilon):
        parts = [math.nextafter(x, 0.0) for x in parts]
    terms = []
    for (noise, size, count), part in zip(shares, parts, strict=True):
        terms.append(_log_upper(noise, size, part) + math.log(count))
    bound = float(np.logaddexp.reduce(terms))
    return min(bound + 2.0**-48 * (1.0 + abs(bound)), 0.0) if bound > -math.inf else bound


def _log_maximum_difference(inside: Array, outside: Array) -> float:
    """Log max(e^inside - e^outside) where rounding leaves it positive, else -inf."""
    with np.errstate(invalid="ignore"):  # infinity less itself, beyond a support
        gap = inside - outside - _RELATIVE_ROUNDING * (1.0 + np.abs(inside) + np.abs(outside))
    seen = gap > 0.0
    if not seen.any():
        return -math.inf
    return float(np.max(inside[seen] + np.log(-np.expm1(-gap[seen]))))


def half_line_log_delta(noise: Noise, shift: float, epsilon: float, dimension: int) -> float:
    """Lower bound on log delta, up to rounding.

    The largest log(P(A) - e^epsilon Q(A)) over events A that all noise exceeds t, and that some
    noise leaves the support of its neighbour's.
    """
    t = np.concatenate([noise.mean_abs() * _STARTS, shift * _SHIFTS])
    inside = dimension * noise.logsf(t)
    best = _log_maximum_difference(inside, epsilon + dimension * noise.logsf(t + shift))
    if noise.bound < math.inf:
        leaves = float(noise.logsf(max(noise.bound - shift, -noise.bound)))
        if leaves > -math.inf:
            survives = dimension * math.log1p(-min(math.exp(leaves), 1.0 - 2.0**-53))
            if survives > -1e-9:
                best = max(best, leaves + math.log(dimension) - 1e-9)
            else:
                best = max(best, math.log(-math.expm1(survives)))
    return min(best, 0.0)


def event_log_delta(shares: Listed, epsilon: float) -> float:
    """Lower bound on log delta of different noise, up to rounding.

    The largest log(P(A) - e^epsilon Q(A)) over events A that all noise exceeds the same multiple
    of its mean size.
    """
    inside, outside = np.zeros(_LEVELS.size), np.full(_LEVELS.size, epsilon)
    for noise, size, copies in shares:
        t = noise.mean_abs() * _LEVELS
        inside += copies * noise.logsf(t)
        outside += copies * noise.logsf(t + size)
    return _log_maximum_difference(inside, outside)
