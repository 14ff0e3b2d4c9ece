"""Input and result types of `calibrate`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from dpnoise._validation import MINIMUM_DELTA, is_integer
from dpnoise.privacy.odometer.ledger import Ledger, guaranteed, stated
from dpnoise.privacy.odometer.releases import integer_ledger
from dpnoise.privacy.vector import is_vouched

if TYPE_CHECKING:
    from dpnoise._validation import Problems
    from dpnoise.sensitivity.base import Sensitivity

# Closed-form profiles come with bounds this close, a margin included: noise that is searched
# for a delta less by so much passes certification.
_CLOSED_SLACK = 4e-11
_MAXIMUM_DIMENSION = 1e150
_WIDEST = 1e150  # K / epsilon, the scale of Laplace noise for sensitivity 1 and delta = 0


class Budget(NamedTuple):
    """A checked request for noise."""

    epsilon: float
    delta: float  # 0 or at least 1e-300
    sensitivity: float  # the largest difference between neighbouring answers in each coordinate
    dimension: int  # K, the number of coordinates, each with independent noise

    @property
    def unit(self) -> Budget:
        """The same budget for sensitivity 1."""
        return self._replace(sensitivity=1.0)

    @property
    def tight(self) -> Budget:
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
    budget : Budget, optional
        What was asked for.
    optimal_within : float, optional
        With a global certificate: no noise of the family keeps the budget with a variance below
        `variance` times 1 - optimal_within. None where it was not asked for.
    sensitivity : Sensitivity, optional
        The set that was asked for, with its relation; None where a number was.
    epsilon : float, optional
        That of the guarantee for the set.
    """

    noise: Any  # Noise, or IntegerNoise: of the family that was asked for
    delta: float
    variance: float
    method: str
    attained: bool
    infimum: float
    certified_by: tuple[str, ...] = ()
    budget: Budget | None = field(default=None, repr=False, compare=False)
    optimal_within: float | None = None
    sensitivity: Sensitivity | None = field(default=None, repr=False, compare=False)
    epsilon: float | None = field(default=None, repr=False, compare=False)

    @property
    def promise(self) -> str | None:
        """The guarantee in one sentence, for a set; None where a number was asked for."""
        if self.sensitivity is None or self.epsilon is None:
            return None
        return self.sensitivity.promise(self.epsilon, self.delta)

    def spending(self) -> Ledger:
        """What one release costs a `Budget`: all its coordinates, and the guarantee certified.

        A ValueError is raised if it is not known what was asked for.
        """
        ball = self.sensitivity
        if ball is not None and self.epsilon is not None:
            found = integer_ledger([self.noise] * ball.dimension, ball)
            found = found or guaranteed(self.epsilon, self.delta)
            one = stated(self.epsilon, self.delta)
            return replace(found, relation=ball.relation, stated=one)
        if self.budget is None:
            message = "budget: noise: expected the result of `calibrate`, got one without `budget`"
            raise ValueError(message)
        epsilon, _, sensitivity, dimension = self.budget
        share = self.noise, float(sensitivity)
        if not is_vouched({share: 1}):
            return guaranteed(epsilon, self.delta)
        return Ledger({share: dimension}, stated=stated(epsilon, self.delta))
