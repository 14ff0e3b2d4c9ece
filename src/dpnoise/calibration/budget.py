"""A request for noise, what is found, and how that is certified, enlarged if need be.

The searches of this subpackage solve equations in floating point, some of them by formulas of
their own. What they propose counts only once the account of `dpnoise.privacy.accounts` says
that an upper bound on its delta is within the budget, and a second account
(`dpnoise.privacy.second`) does not contradict it. Larger noise is more private: dividing
a query by c > 1 is a shorter shift, and for each family here the longest shift is the worst.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from dpnoise._validation import MINIMUM_DELTA, is_integer
from dpnoise.privacy.accounts import VECTOR, first_account, half_line_log_delta
from dpnoise.privacy.integer_sets import PURE
from dpnoise.privacy.odometer.ledger import Ledger, guaranteed, stated
from dpnoise.privacy.second import require_agreement, second_account
from dpnoise.privacy.vector import is_vouched

if TYPE_CHECKING:
    from dpnoise._validation import Problems
    from dpnoise.noise.base import Noise
    from dpnoise.noise.integers import IntegerNoise

# Closed-form profiles come with bounds this close, a margin included: noise that is searched
# for a delta less by so much passes certification.
_CLOSED_SLACK = 4e-11
_MAXIMUM_DIMENSION = 1e150
_WIDEST = 1e150  # K / epsilon, the scale of Laplace noise for sensitivity 1 and delta = 0


class Target(NamedTuple):
    """A checked request for noise."""

    epsilon: float
    delta: float  # 0 or at least 1e-300
    sensitivity: float  # the largest difference between neighbouring answers in each coordinate
    dimension: int  # K, the number of coordinates, each with independent noise

    @property
    def unit(self) -> Target:
        """The same budget for sensitivity 1."""
        return self._replace(sensitivity=1.0)

    @property
    def tight(self) -> Target:
        """The same budget with a delta that leaves room for certification, K = 1."""
        return self._replace(delta=max(self.delta * (1.0 - _CLOSED_SLACK), MINIMUM_DELTA))

    @property
    def allows_pure(self) -> bool:
        """Whether (epsilon, 0)-DP noise has a variance below the largest double."""
        return self.epsilon * _WIDEST > self.dimension


def check_budget(
    problems: Problems, epsilon: float, delta: float, sensitivity: float, dimension: int
) -> None:
    """Record what is wrong with the parts of a budget."""
    problems.budget(epsilon, delta)
    problems.number("sensitivity", sensitivity, low=1e-100, high=1e100)
    good = is_integer(dimension) and 1 <= int(dimension) <= _MAXIMUM_DIMENSION
    expected = f"a whole number of at least 1, at most {_MAXIMUM_DIMENSION:g}"
    problems.require(good, "dimension", expected, dimension)


@dataclass(frozen=True)
class Calibration:
    """Noise that keeps a privacy budget.

    Attributes
    ----------
    noise : Noise or IntegerNoise
        The noise to add to each coordinate, independently.
    delta : float
        A certified upper bound on the delta of the noise at the budget's epsilon, at most the
        budget's delta.
    variance : float
        The variance of the noise per coordinate.
    method : str
        "exact", "grid" or "sufficient".
    attained : bool
        Whether the family has noise of the minimum variance. It has none where the variance
        falls towards a limit outside the family, such as a Laplace distribution, and no member
        undercuts that limit as far as double precision can tell. Then `noise` is a member
        close to the limit.
    infimum : float
        The minimum variance if it is attained, else the variance of the limit. For the method
        "grid" both describe the grid alone.
    certified_by : tuple of str
        The accounts that vouch for `delta`: first the one whose upper bound it is, then, if it
        is cheap enough, one by another method whose bounds do not contradict it
        (`dpnoise.privacy.second`).
    budget : Target, optional
        What was asked for.
    """

    noise: Any  # Noise, or IntegerNoise: of the family that was asked for
    delta: float
    variance: float
    method: str
    attained: bool
    infimum: float
    certified_by: tuple[str, ...] = ()
    budget: Target | None = field(default=None, repr=False, compare=False)

    # `release` states the promise of a number by `budget`, and results for a set by these.
    sensitivity = epsilon = promise = None

    @property
    def dimension(self) -> int | None:
        """The number of coordinates that the guarantee is for; None if it is not known."""
        return None if self.budget is None else int(self.budget.dimension)

    def spending(self) -> Ledger:
        """What one release costs a `Budget`: all its coordinates, and the guarantee certified.

        A ValueError is raised if it is not known what was asked for.
        """
        if self.budget is None:
            message = "budget: noise: expected the result of `calibrate`, got one without `budget`"
            raise ValueError(message)
        epsilon, _, sensitivity, dimension = self.budget
        share = self.noise, float(sensitivity)
        if not is_vouched({share: 1}):
            return guaranteed(epsilon, self.delta)
        return Ledger({share: dimension}, stated=stated(epsilon, self.delta))


_ROUNDING = 1e-9  # of a logarithm of delta
# Relative enlargements to try: against rounding at a kink, and against looser bounds.
_FIRST, _GUESS, _LAST = 2.0**-46, 1e-9, 0.1
# An enlargement above the first and a log delta below the budget's by more are improved on.
_WORTH, _SLACK, _IMPROVEMENTS = 1e-10, 1e-6, 4
# A log delta below the budget's by more than the first is spent, with a slope seen over the second.
_UNUSED, _PROBE, _MAX_UNUSED, _CAREFUL = 1e-8, 1e-6, 1e-3, 0.95


def certified(noise: Noise | IntegerNoise, budget: Target) -> tuple[float, str]:
    """Upper bound on the delta of `noise` at the budget's epsilon, and by which account."""
    epsilon, delta, unit, dimension = budget
    return first_account(noise, unit, dimension, epsilon, delta)


def certified_delta(noise: Noise, budget: Target) -> float:
    """Upper bound on the delta that `noise` achieves at the budget's epsilon."""
    return certified(noise, budget)[0]


def delta_to_compare(noise: Noise, budget: Target) -> float:
    """`certified_delta`, or a lower bound on delta where that is above the positive budget's.

    In several coordinates the lower bound takes far less time, and settles that the budget is not
    kept.
    """
    unit, epsilon, dimension = budget.sensitivity, budget.epsilon, budget.dimension
    lower = half_line_log_delta(noise, unit, epsilon, dimension)
    if lower > math.log(budget.delta) + _ROUNDING:
        return math.exp(lower)
    return certified_delta(noise, budget)


def certified_calibration(
    noise: Noise, budget: Target, *, method: str = "exact", infimum: float | None = None
) -> Calibration:
    """Noise on the private side up to rounding, enlarged as little as it takes to be certified.

    `infimum` is the variance of the limit, where the minimum variance is not attained;
    RuntimeError where no certified noise is found nearby.
    """
    delta, account = certified(noise, budget)
    if delta > budget.delta:
        noise, delta, account = _enlarged(noise, budget, delta)
    elif budget.dimension > 1 and account == VECTOR:
        noise, delta, account = _reduced(noise, budget, delta)
    variance = noise.var()
    limit = variance if infimum is None else min(infimum, variance)
    return Calibration(noise, delta, variance, method, infimum is None, limit, (account,))


def _reduced(noise: Noise, budget: Target, delta: float) -> tuple[Noise, float, str]:
    """Noise that is smaller by what it leaves unused of delta, if that is certified."""
    unused = math.log(budget.delta / delta) if delta > 0.0 else math.inf
    if _UNUSED < unused < _MAX_UNUSED:
        probe = certified_delta(noise.scaled(1.0 - _PROBE), budget)
        slope = math.log(probe / delta) / _PROBE
        if slope > 0.0 and unused < _MAX_UNUSED * slope:
            less = noise.scaled(1.0 - _CAREFUL * unused / slope)
            found, account = certified(less, budget)
            if found <= budget.delta:
                return less, found, account
    return noise, delta, VECTOR


def _enlarged(noise: Noise, budget: Target, delta: float) -> tuple[Noise, float, str]:
    """Noise that is larger by little and certified, its delta, and by which account."""
    account = ""

    def excess(step: float) -> float:
        nonlocal delta, account
        delta, account = certified(noise.scaled(1.0 + step), budget)
        if budget.delta == 0.0:
            return math.inf if delta > 0.0 else 0.0
        return math.log(delta / budget.delta) if delta > 0.0 else -math.inf

    low, above = 0.0, math.log(delta / budget.delta) if budget.delta > 0.0 else math.inf
    high = _FIRST
    # ends: raises at the largest enlargement
    while (below := excess(high)) > 0.0:
        low, above = high, below
        high = 8.0 * high if budget.dimension == 1 else max(8.0 * high, _GUESS)
        if high > _LAST:
            message = f"calibration: {noise!r} could not be verified for {budget!r}"
            raise RuntimeError(message)
    best = high, delta, account
    # ends: the first noise that was verified is kept
    for _ in range(_IMPROVEMENTS):
        if high < _WORTH or below > -_SLACK:
            break
        middle = low + (high - low) * max(above / (above - max(below, -above)), 0.05)
        value = excess(middle)
        if value > 0.0:
            low, above = middle, value
        else:
            high, below, best = middle, value, (middle, delta, account)
    return noise.scaled(1.0 + best[0]), *best[1:]


def cross_checked(found: Calibration, budget: Target) -> Calibration:
    """A calibration with its budget and a second account that does not contradict it.

    RuntimeError if the second account contradicts the first.
    """
    (first,) = found.certified_by
    shares = [(found.noise, budget.sensitivity, budget.dimension)]
    second = second_account(shares, budget.epsilon, pure=first == PURE)
    require_agreement(f"calibration: {found.noise!r} for {budget!r}", first, found.delta, second)
    names = (first,) if second is None else (first, second.name)
    return replace(found, certified_by=names, budget=budget)
