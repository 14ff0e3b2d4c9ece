"""How private noise is for a sensitivity set: the one door to the accounts.

`bounds(noise, set, epsilon)` encloses delta, whatever the noise of the package and whatever the
set; `supports(noise, set)` says whether there is an account. Noise for a vector answers itself, by
`bounds_in(set, epsilon)` and `loss_in(set)`; noise of one number, independent on the coordinates,
is answered for here.

A coordinate counts by its noise and by the largest change in units of its scale. Of Gaussian noise
only the largest l2 norm of the scaled differences counts. For other noise the box around the set is
taken, which is no smaller, and one difference of the set for the lower bound. Where the loss is at
most proportional to the change, the set itself gives the largest loss. Answers with noise on the
integers are integers: of their differences only the integer points of the set count, exactly
(`dpnoise.privacy.integer_sets`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpnoise._validation import Problems
from dpnoise.noise.exact import as_double_above, root_above
from dpnoise.noise.exponential_power import Gaussian, Laplace
from dpnoise.noise.integers import DiscreteLaplace, IntegerNoise
from dpnoise.privacy.composition import composed_log_delta, shared_log_delta
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise.privacy.integer_sets import PURE, integer_bounds
from dpnoise.privacy.profile import response_delta
from dpnoise.privacy.vector import profile_of_counted
from dpnoise.sensitivity.base import MOST_UNEQUAL
from dpnoise.sensitivity.integer_points import read_parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dpnoise._types import Array
    from dpnoise.noise.base import Noise
    from dpnoise.noise.exact import Weights
    from dpnoise.sensitivity.base import Sensitivity

    AnyNoise = Noise | IntegerNoise
    Shares = dict[tuple[AnyNoise, Fraction], int]

# Names of accounts.
SCALAR, VECTOR, COMPOSED = "scalar profile", "vector profile", "basic composition"
GAUSSIAN, DOMINATED, RESPONSE = "Gaussian profile", "dominating Laplace noise", "largest loss"
ERROR = 1e-11  # relative, of the Gaussian profile and of closed forms
_MIN_MU, _MAX_MU = 1e-300, 1e150


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
    if epsilon < 0.0:  # 1 - delta(-x) = e^-x (1 - delta(x))
        fall = math.exp(epsilon)
        low, high = (1.0 - fall * (1.0 - x) for x in (low, high))
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

    @property
    def _changes(self) -> list[Fraction]:
        """The largest change of each coordinate."""
        changes, K = self.ball.sides(), self.ball.dimension
        return [changes] * K if isinstance(changes, Fraction) else list(changes)

    def coordinates(self) -> Iterator[tuple[AnyNoise, Fraction]]:
        """The noise of each coordinate that can change and its largest change over the scale."""
        for k, change in enumerate(self._changes):
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

    @property
    def shares(self) -> Shares:
        """How many coordinates there are of each noise and largest change."""
        changes = self.ball.sides()
        if self._equal and isinstance(changes, Fraction):
            return {(self.noise, changes): self.ball.dimension}
        found: Shares = {}
        for share in self.coordinates():
            found[share] = found.get(share, 0) + 1
        return found

    def weights(self, name: str) -> Weights:
        """One over the scale `name` of each coordinate, 0 of those that cannot change."""
        if self._equal:
            return 1 / Fraction(getattr(self.noise, name))
        shares = self.coordinates()
        found = []
        for change in self._changes:
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
        total: Fraction | float = Fraction(0)
        for (one, size), count in self.shares.items():
            loss = one.largest_loss(size)
            total = math.inf if loss == math.inf else total + count * Fraction(loss)
        return total

    def bounds(self, epsilon: float) -> Bounds:
        """Bounds for any set and epsilon >= 0.

        All noise is symmetric about 0, so that delta of a difference depends on the |d_i| alone,
        and the hull of a set with all signs has the same largest one.
        """
        hull = Independent(self.noise, self.ball.unconditional_hull, self.scales)
        if hull.kinds == {Gaussian}:
            return hull._gaussian_bounds(epsilon)
        return hull._bounds(epsilon)

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
        one = self.ball.active_dimension == 1
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
        """Lower and upper bounds by the exact profile of a difference and of the box."""
        shares, ball = self.shares, self.ball
        upper = _upper(shares, epsilon)
        if ball.moves_apart:
            return _lower(shares, epsilon), upper
        if ball.dimension > MOST_UNEQUAL:
            return 0.0, upper
        box, point = ball.box, ball.extreme_point
        inner: Shares = {}
        every = self.coordinates()
        for k in np.flatnonzero(box > 0.0):
            one, ratio = next(every)
            if point[k] > 0.0:
                key = one, ratio * Fraction(float(point[k])) / Fraction(float(box[k]))
                inner[key] = inner.get(key, 0) + 1
        return _lower(inner, epsilon), upper

    def _composed(self, epsilon: float) -> float:
        """Upper bound by basic composition; 1 for noise that it is not made for."""
        shares = _doubles(self.shares, up=True)
        if not all(one.log_concave and not isinstance(one, IntegerNoise) for one, _, _ in shares):
            return 1.0
        if len(shares) == 1:
            ((one, size, count),) = shares
            log_delta = composed_log_delta(one, size, epsilon, count)
        else:
            log_delta = shared_log_delta(shares, epsilon)
        return max(math.exp(log_delta), 5e-324) if log_delta > -math.inf else 0.0


def _doubles(shares: Shares, *, up: bool) -> list[tuple]:
    """Noise, size as a double on one side, and how many."""
    found = []
    for (noise, size), count in shares.items():
        above = as_double_above(size)
        below = above if above == size else math.nextafter(above, 0.0)
        if isinstance(noise, IntegerNoise) and size.denominator != 1:
            message = f"sensitivity: expected integers for noise on the integers, got {size}"
            raise ValueError(message)
        found.append((noise, above if up else below, count))
    return found


def _lower(shares: Shares, epsilon: float) -> float:
    try:
        return float(profile_of_counted(_doubles(shares, up=False), epsilon).lower)
    except ValueError:  # beyond the range of the profile
        return 0.0


def _upper(shares: Shares, epsilon: float) -> float:
    try:
        return float(profile_of_counted(_doubles(shares, up=True), epsilon).upper)
    except ValueError:
        return 1.0
