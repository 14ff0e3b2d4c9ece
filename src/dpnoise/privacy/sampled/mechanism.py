"""Gaussian noise on a Poisson sample as a mechanism: the public `SampledGaussian`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from scipy import optimize

from dpnoise._validation import Problems, is_integer
from dpnoise.privacy.sampled.composition import ADDED, REMOVED, Composition, Step

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dpnoise.privacy.inversion.inversion import LogBounds

SMALLEST, LARGEST = 1e-3, 1e6  # noise multipliers
_MOST_STEPS, _MOST_DIFFERENT = 10**9, 1000
_MOST_EPSILON, _MINIMUM_DELTA = 1e6, 1e-300
DIRECTIONS = (REMOVED, ADDED)
_MOVES, _POLISH = 50, 6
_STRIDE = 1e-3  # of the logarithm of a multiplier, for a slope
_UP = 1.0 + 1e-12  # rounding of an exponential


class TwoSided(NamedTuple):
    """A lower and an upper bound of one number.

    Attributes
    ----------
    lower, upper : float
        The bounds, rounding included.
    """

    lower: float
    upper: float


@dataclass(frozen=True)
class SampledGaussian:
    """Gaussian noise on a sum over a Poisson sample of the records.

    Each record is in the sample with chance `rate`, independently, and adds a vector of norm at
    most 1 to a sum, to which noise N(0, sigma^2) is added in each coordinate. Neighbouring data
    sets differ by one record more or less.

    Parameters
    ----------
    sigma : float
        The noise multiplier: standard deviation over the largest norm of a record's contribution,
        from 1e-3 to 1e6.
    rate : float
        The chance of each record to be in the sample, in [0, 1].

    Raises
    ------
    ValueError
        If an argument is out of range; the message names every problem.

    Notes
    -----
    Proved (docs/sampling.md): all bounds hold in the model of real-valued noise. Tested: that the
    allowances for rounding suffice. With another record in place of one (replace-one) the worst
    pair is not proved here, and no bound is given.

    References
    ----------
    Abadi et al., "Deep Learning with Differential Privacy" (CCS 2016); Zhu, Dong & Wang, "Optimal
    accounting of differential privacy via characteristic function" (AISTATS 2022).

    Examples
    --------
    >>> from dpnoise import SampledGaussian
    >>> training = SampledGaussian(sigma=1.5, rate=0.04)
    >>> low, high = training.epsilon(delta=1e-5, steps=2250)
    >>> round(low, 5), round(high, 5)
    (6.76878, 6.76878)
    """

    sigma: float
    rate: float

    def __post_init__(self) -> None:
        """Check of the arguments."""
        problems = Problems("SampledGaussian")
        if self.sigma == 0 and not isinstance(self.sigma, bool):
            problems.add("sigma: expected a positive number, got 0: epsilon is infinite")
        else:
            problems.number("sigma", self.sigma, low=SMALLEST, high=LARGEST)
        problems.number("rate", self.rate, low=0.0, high=1.0)
        problems.raise_if_any()
        object.__setattr__(self, "sigma", float(self.sigma))
        object.__setattr__(self, "rate", float(self.rate))

    @property
    def sampled_step(self) -> Step:
        """Noise multiplier and rate, by which `Budget.spend` counts it."""
        return Step(self.sigma, self.rate)

    def delta(self, epsilon: float, *, steps: int = 1, direction: str | None = None) -> TwoSided:
        """Bounds on the delta of a number of steps.

        Parameters
        ----------
        epsilon : float
            From 0 to 1e6.
        steps : int
            From 1 to 1e9.
        direction : {"removed", "added"}, optional
            Whether the first data set of the pair has the record or lacks it; by default the worse
            of both.

        Returns
        -------
        TwoSided
            The least delta for which all steps together are (epsilon, delta)-DP is between them.

        Raises
        ------
        ValueError
            If an argument is out of range; the message names every problem.
        """
        return sampled_delta(self, epsilon, steps=steps, direction=direction)

    def epsilon(self, delta: float, *, steps: int = 1, direction: str | None = None) -> TwoSided:
        """Bounds on the epsilon of a number of steps.

        Parameters
        ----------
        delta : float
            From 1e-300 to 1, or 0, where epsilon is infinite unless the rate is 0.
        steps : int
            From 1 to 1e9.
        direction : {"removed", "added"}, optional
            As for `delta`.

        Returns
        -------
        TwoSided
            The least epsilon for which all steps together are (epsilon, delta)-DP is between them.

        Raises
        ------
        ValueError
            If an argument is out of range; the message names every problem.
        """
        return sampled_epsilon(self, delta, steps=steps, direction=direction)


def _checked(
    problems: Problems,
    releases: SampledGaussian | Sequence[SampledGaussian],
    steps: int | Sequence[int],
    direction: str | None,
) -> dict[Step, int]:
    """The steps with their numbers; problems are recorded."""
    listed = [releases] if isinstance(releases, SampledGaussian) else list(_items(releases))
    known = 0 < len(listed) <= _MOST_DIFFERENT
    known = known and all(isinstance(part, SampledGaussian) for part in listed)
    expected = f"a SampledGaussian or a list of 1 to {_MOST_DIFFERENT} of them"
    problems.require(known, "releases", expected, releases)
    counts = [steps] * len(listed) if is_integer(steps) else list(_items(steps))
    whole = all(is_integer(n) and 1 <= n <= _MOST_STEPS for n in counts)
    expected = f"a whole number from 1 to {_MOST_STEPS}, or a list of them"
    listable = isinstance(steps, list | tuple) or is_integer(steps)
    if problems.require(whole and listable, "steps", expected, steps) and known:
        same = len(counts) == len(listed)
        problems.require(same, "steps", f"as many as releases, {len(listed)}", len(counts))
    good = direction is None or (isinstance(direction, str) and direction in DIRECTIONS)
    problems.require(good, "direction", "'removed', 'added' or None", direction)
    problems.raise_if_any()
    found: dict[Step, int] = {}
    for part, n in zip(listed, counts, strict=True):
        if part.rate > 0.0:
            key = Step(part.sigma, part.rate)
            found[key] = found.get(key, 0) + int(n)
    return found


def _items(values: object) -> list[Any] | tuple[Any, ...]:
    return values if isinstance(values, list | tuple) else []


def _sides(direction: str | None) -> tuple[str, ...]:
    return DIRECTIONS if direction is None else (direction,)


def sampled_delta(
    releases: SampledGaussian | Sequence[SampledGaussian],
    epsilon: float,
    *,
    steps: int | Sequence[int] = 1,
    direction: str | None = None,
) -> TwoSided:
    """Bounds on the delta of steps on Poisson samples.

    Parameters
    ----------
    releases : SampledGaussian or list of SampledGaussian
        One kind of step, or several.
    epsilon : float
        From 0 to 1e6.
    steps : int or list of int
        How many of each, from 1 to 1e9.
    direction : {"removed", "added"}, optional
        Whether the first data set of the pair has the record or lacks it; by default the worse of
        both.

    Returns
    -------
    TwoSided
        The least delta for which everything together is (epsilon, delta)-DP is between them.

    Raises
    ------
    ValueError
        If an argument is out of range or lengths differ; the message names every problem.

    Examples
    --------
    >>> from dpnoise import SampledGaussian, sampled_delta
    >>> both = [SampledGaussian(1.0, 0.01), SampledGaussian(2.0, 0.05)]
    >>> low, high = sampled_delta(both, 2.0, steps=[1000, 200])
    >>> bool(low <= high <= low * (1 + 1e-6))
    True
    """
    problems = Problems("sampled_delta")
    problems.number("epsilon", epsilon, low=0.0, high=_MOST_EPSILON)
    composition = Composition(_checked(problems, releases, steps, direction))
    low, _, high = composition.worst_log_delta(float(epsilon), _sides(direction))
    # A bound too small for a double.
    upper = max(math.exp(high) * _UP, 5e-324) if high > -math.inf else 0.0
    return TwoSided(math.exp(low) / _UP, min(upper, 1.0))


def sampled_epsilon(
    releases: SampledGaussian | Sequence[SampledGaussian],
    delta: float,
    *,
    steps: int | Sequence[int] = 1,
    direction: str | None = None,
) -> TwoSided:
    """Bounds on the epsilon of steps on Poisson samples.

    Parameters
    ----------
    releases : SampledGaussian or list of SampledGaussian
        One kind of step, or several.
    delta : float
        From 1e-300 to 1, or 0, where epsilon is infinite unless all rates are 0.
    steps : int or list of int
        How many of each, from 1 to 1e9.
    direction : {"removed", "added"}, optional
        Whether the first data set of the pair has the record or lacks it; by default the worse of
        both.

    Returns
    -------
    TwoSided
        The least epsilon for which everything together is (epsilon, delta)-DP is between them.

    Raises
    ------
    ValueError
        If an argument is out of range or lengths differ; the message names every problem. Or if no
        upper bound is found (docs/sampling.md says where); the message has the lower one.

    Examples
    --------
    >>> from dpnoise import SampledGaussian, sampled_epsilon
    >>> both = [SampledGaussian(1.0, 0.01), SampledGaussian(1.2, 0.02)]
    >>> low, high = sampled_epsilon(both, 1e-5, steps=[10_000, 1000])
    >>> round(low, 6), round(high, 6)
    (6.978678, 6.978678)
    """
    problems = Problems("sampled_epsilon")
    if problems.number("delta", delta, low=0.0, high=1.0):
        good = delta == 0 or delta >= _MINIMUM_DELTA
        problems.require(good, "delta", f"0 or at least {_MINIMUM_DELTA:g}", delta)
    composition = Composition(_checked(problems, releases, steps, direction))
    if delta == 1 or not composition.every:
        return TwoSided(0.0, 0.0)
    if delta == 0:
        # With the record added, steps of rates below 1 have a largest loss.
        bounded = direction == ADDED and all(step.rate < 1.0 for step in composition.every)
        most = (
            math.fsum(-n * math.log1p(-step.rate) for step, n in composition.every.items())
            if bounded
            else math.inf
        )
        return TwoSided(most / _UP, most * _UP)
    low, high = composition.worst_epsilon(math.log(delta), _sides(direction))
    if high == math.inf:
        step = max(composition.every, key=lambda step: step.rate / step.sigma)
        message = (
            f"sampled_epsilon: out of reach: expected a larger sigma than {step.sigma:g}, fewer "
            f"steps than {sum(composition.every.values())}, another rate than {step.rate:g} or a "
            f"larger delta than {delta:g}; all that is known is that epsilon is at least {low:.6g}"
        )
        raise ValueError(message)
    return TwoSided(float(low), float(high))


def noise_multiplier(
    epsilon: float, delta: float, rate: float, steps: int, *, rtol: float = 1e-6
) -> float:
    """Least noise multiplier with which training on Poisson samples keeps a budget.

    Parameters
    ----------
    epsilon : float
        From 1e-6 to 1e4.
    delta : float
        From 1e-300 to below 1; with 0 no multiplier will do.
    rate : float
        The chance of each record to be in the sample of a step, in (0, 1].
    steps : int
        From 1 to 1e9.
    rtol : float
        By how much the answer may exceed the least one, relatively, from 1e-8 to 0.1.

    Returns
    -------
    float
        The multiplier for neighbouring data sets that differ by one record more or less, rounded
        up: the upper bound on delta with it is at most `delta`.

    Raises
    ------
    ValueError
        If an argument is out of range, naming every problem, or no multiplier from 1e-3 to 1e6 is
        known to do.

    Examples
    --------
    >>> from dpnoise import noise_multiplier
    >>> round(noise_multiplier(epsilon=8.0, delta=1e-5, rate=0.04, steps=2250), 4)
    1.3459
    """
    problems = Problems("noise_multiplier")
    problems.number("epsilon", epsilon, low=1e-6, high=1e4)
    if not isinstance(delta, bool) and delta == 0:
        problems.add("delta: expected a positive number, got 0: epsilon is infinite for any noise")
    else:
        problems.number("delta", delta, low=_MINIMUM_DELTA, high=1.0, open_high=True)
    problems.number("rate", rate, low=0.0, high=1.0, open_low=True)
    whole = is_integer(steps) and 1 <= steps <= _MOST_STEPS
    problems.require(whole, "steps", f"a whole number from 1 to {_MOST_STEPS}", steps)
    problems.number("rtol", rtol, low=1e-8, high=0.1)
    problems.raise_if_any()
    return _minimum_multiplier(float(epsilon), float(delta), float(rate), int(steps), float(rtol))


def _minimum_multiplier(
    epsilon: float, delta: float, rate: float, steps: int, rtol: float
) -> float:
    log_delta = math.log(delta)

    def clipped(found: float) -> float:
        return min(max(found - log_delta, -700.0), 700.0)

    def rough(log_sigma: float) -> float:
        one = Composition({Step(math.exp(log_sigma), rate): steps})
        return clipped(one.rough_log_delta(epsilon, REMOVED, log_delta))

    def exact(log_sigma: float) -> LogBounds:
        one = Composition({Step(math.exp(log_sigma), rate): steps})
        return one.worst_log_delta(epsilon, DIRECTIONS, log_delta)

    root, slope = _root(rough)
    for _ in range(_POLISH):
        step = clipped(exact(root).estimate) / slope
        root = min(max(root + min(max(step, -0.1), 0.1), math.log(SMALLEST)), math.log(LARGEST))
        if abs(step) <= 0.1 * rtol:
            break
    move = 0.2 * rtol
    for _ in range(_MOVES):
        at = min(root + move, math.log(LARGEST))
        if exact(at).upper <= log_delta:
            return math.exp(at)
        move *= 2.0
    message = (
        f"noise_multiplier: expected a budget that a multiplier up to {LARGEST:g} is known to "
        f"keep, got epsilon = {epsilon!r}, delta = {delta!r}"
    )
    raise ValueError(message)


def _root(excess: Callable[[float], float]) -> tuple[float, float]:
    """About the logarithm of a multiplier at which what falls with it is 0, and its fall there."""
    smallest, most = math.log(SMALLEST), math.log(LARGEST)
    low, high, stride = 0.0, 0.0, 0.5
    rises = excess(0.0) > 0.0
    for _ in range(_MOVES):
        if rises:
            low, high = high, min(high + stride, most)
            done = excess(high) <= 0.0 or high == most
        else:
            low, high = max(low - stride, smallest), low
            done = excess(low) > 0.0 or low == smallest
        if done:
            break
        stride *= 2.0
    root = low if excess(low) <= 0.0 else high
    if excess(low) > 0.0 >= excess(high):
        root = float(optimize.brentq(excess, low, high, xtol=1e-4, rtol=1e-12))
    fall = (excess(root - _STRIDE) - excess(root + _STRIDE)) / (2.0 * _STRIDE)
    return root, max(fall, 1e-3)
