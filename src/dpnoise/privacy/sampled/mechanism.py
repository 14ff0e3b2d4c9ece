"""Noise on samples as mechanisms: the public `SampledGaussian` and `SampledLaplace`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from dpnoise._validation import MINIMUM_DELTA, Problems, is_integer
from dpnoise.privacy.sampled.composition import Composition
from dpnoise.privacy.sampled.pairs import (
    ADDED,
    FIXED,
    GAUSSIAN,
    LAPLACE,
    POISSON,
    REMOVED,
    REPLACED,
    Kind,
)
from dpnoise.privacy.sampled.relations import PairComposition
from dpnoise.sensitivity.relation import ADD_REMOVE, RELATIONS, REPLACE_ONE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dpnoise.privacy.inversion.inversion import LogBounds
    from dpnoise.privacy.inversion.transform import LossTransform

SMALLEST, LARGEST = 1e-3, 1e6  # noise multipliers
MOST_STEPS, _MOST_DIFFERENT = 10**9, 1000
MOST_EPSILON = 1e6
DIRECTIONS = (REMOVED, ADDED)
SAMPLINGS = (POISSON, FIXED)
_UP, _TINY = 1.0 + 1e-12, 1e-323  # rounding of an exponential, of the smallest ones


class TwoSided(NamedTuple):
    """A lower and an upper bound of one number.

    Attributes
    ----------
    lower, upper : float
        The bounds, rounding included.
    """

    lower: float
    upper: float


class Sample:
    """What noise on samples has in common."""

    sampled_step: Any
    sampling: str
    rate: float

    def delta(
        self,
        epsilon: float,
        *,
        steps: int = 1,
        direction: str | None = None,
        relation: str | None = None,
    ) -> TwoSided:
        """Bounds on the delta of a number of steps.

        Parameters
        ----------
        epsilon : float
            From 0 to 1e6.
        steps : int
            From 1 to 1e9.
        direction : {"removed", "added"}, optional
            Whether the first data set of the pair has the record or lacks it; by default the worse
            of both. None beside "replace-one".
        relation : {"add-remove", "replace-one"}, optional
            Which data sets are neighbours: "add-remove" by default, "replace-one" where samples
            have a fixed size.

        Returns
        -------
        TwoSided
            The least delta for which all steps together are (epsilon, delta)-DP is between them.

        Raises
        ------
        ValueError
            If an argument is out of range; the message names every problem.
        """
        return sampled_delta(self, epsilon, steps=steps, direction=direction, relation=relation)

    def epsilon(
        self,
        delta: float,
        *,
        steps: int = 1,
        direction: str | None = None,
        relation: str | None = None,
    ) -> TwoSided:
        """Bounds on the epsilon of a number of steps.

        Parameters
        ----------
        delta : float
            From 1e-300 to 1, or 0, where epsilon is infinite for Gaussian noise on samples.
        steps : int
            From 1 to 1e9.
        direction : {"removed", "added"}, optional
            As for `delta`.
        relation : {"add-remove", "replace-one"}, optional
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
        return sampled_epsilon(self, delta, steps=steps, direction=direction, relation=relation)


def _check(one: Any, name: str, size: object) -> None:  # noqa: ANN401
    """Check of the size of the noise, of rate and sampling, which become floats."""
    problems = Problems(type(one).__name__)
    if size == 0 and not isinstance(size, bool):
        problems.add(f"{name}: expected a positive number, got 0: epsilon is infinite")
    else:
        problems.number(name, size, low=SMALLEST, high=LARGEST)
    problems.number("rate", one.rate, low=0.0, high=1.0)
    known = isinstance(one.sampling, str) and one.sampling in SAMPLINGS
    problems.require(known, "sampling", " or ".join(map(repr, SAMPLINGS)), one.sampling)
    problems.raise_if_any()
    object.__setattr__(one, name, float(size))  # type: ignore[arg-type]
    object.__setattr__(one, "rate", float(one.rate))


@dataclass(frozen=True)
class SampledGaussian(Sample):
    """Gaussian noise on a sum over a sample of the records.

    Each record in the sample adds a vector of norm at most 1 to a sum, to which noise N(0, sigma^2)
    is added in each coordinate. Neighbouring data sets differ by one record more or less, or by one
    record replaced by another, as `relation` says.

    Parameters
    ----------
    sigma : float
        The noise multiplier: standard deviation over the largest norm of a record's contribution,
        from 1e-3 to 1e6.
    rate : float
        The chance of each record to be in the sample, in [0, 1].
    sampling : {"poisson", "without replacement"}
        Whether each record is in the sample independently, or the sample has a fixed number m of
        the n records, rate = m / n, all such samples being equally likely. The latter has bounds
        for "replace-one" only.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names every problem.

    Notes
    -----
    Proved (docs/sampling.md): all bounds hold in the model of real-valued noise. Tested: that the
    allowances for rounding suffice. For Poisson samples the bounds are those of the worst pair. For
    several samples of fixed size the upper one is that of a pair that dominates each step, which
    need not be attained, so that the ends may differ by much.

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
    >>> low, high = training.epsilon(delta=1e-5, steps=2250, relation="replace-one")
    >>> round(low, 5), round(high, 5)
    (13.48847, 13.48847)
    """

    sigma: float
    rate: float
    sampling: str = POISSON

    def __post_init__(self) -> None:
        """Check of the arguments."""
        _check(self, "sigma", self.sigma)

    @property
    def sampled_step(self) -> Kind:
        """Noise, its size, rate and sampling, by which `Budget.spend` counts it."""
        return Kind(self.sigma, self.rate, GAUSSIAN, self.sampling)


@dataclass(frozen=True)
class SampledLaplace(Sample):
    """Laplace noise on a sum over a sample of the records.

    Each record in the sample adds a vector of l1 norm at most 1 to a sum, to which independent
    Laplace noise is added in each coordinate. Neighbouring data sets differ by one record more or
    less, or by one record replaced by another, as `relation` says.

    Parameters
    ----------
    scale : float
        The scale of the noise over the largest l1 norm of a record's contribution, from 1e-3 to
        1e6; the standard deviation is sqrt(2) times as large.
    rate : float
        The chance of each record to be in the sample, in [0, 1].
    sampling : {"poisson", "without replacement"}
        Whether each record is in the sample independently, or the sample has a fixed number m of
        the n records, rate = m / n, all such samples being equally likely. The latter has bounds
        for "replace-one" only.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names every problem.

    Notes
    -----
    As for `SampledGaussian`. The loss is bounded, so that epsilon is finite where delta is 0.

    References
    ----------
    Zhu, Dong & Wang, "Optimal accounting of differential privacy via characteristic function"
    (AISTATS 2022).

    Examples
    --------
    >>> from dpnoise import SampledLaplace
    >>> low, high = SampledLaplace(scale=2.0, rate=0.04).epsilon(delta=1e-5, steps=1000)
    >>> round(low, 5), round(high, 5)
    (2.44461, 2.44461)
    >>> round(SampledLaplace(scale=1.0, rate=0.5).epsilon(delta=0.0).upper, 5)
    0.62011
    """

    scale: float
    rate: float
    sampling: str = POISSON

    def __post_init__(self) -> None:
        """Check of the arguments."""
        _check(self, "scale", self.scale)

    @property
    def sampled_step(self) -> Kind:
        """Noise, its size, rate and sampling, by which `Budget.spend` counts it."""
        return Kind(self.scale, self.rate, LAPLACE, self.sampling)


def checked(
    problems: Problems,
    releases: Sample | Sequence[Sample],
    steps: int | Sequence[int],
    direction: str | None,
    relation: str | None,
) -> Composition | PairComposition:
    """The steps with their numbers; problems are recorded."""
    listed = [releases] if isinstance(releases, Sample) else list(_items(releases))
    known = 0 < len(listed) <= _MOST_DIFFERENT
    known = known and all(isinstance(part, Sample) for part in listed)
    expected = f"a SampledGaussian, a SampledLaplace or a list of 1 to {_MOST_DIFFERENT} of them"
    problems.require(known, "releases", expected, releases)
    counts = [steps] * len(listed) if is_integer(steps) else list(_items(steps))
    whole = all(is_integer(n) and 1 <= n <= MOST_STEPS for n in counts)
    expected = f"a whole number from 1 to {MOST_STEPS}, or a list of them"
    listable = isinstance(steps, list | tuple) or is_integer(steps)
    problems.require(whole and listable, "steps", expected, steps)
    if listable and listed:
        same = len(counts) == len(listed)
        problems.require(same, "steps", f"as many as releases, {len(listed)}", len(counts))
    fixed = known and any(part.sampling == FIXED for part in listed)
    stated = relation_of(problems, relation, fixed=fixed)
    if stated == REPLACE_ONE:
        expected = "None where one record is replaced, as the worst pair is symmetric"
        problems.require(direction is None, "direction", expected, direction)
    else:
        good = direction is None or (isinstance(direction, str) and direction in DIRECTIONS)
        problems.require(good, "direction", "'removed', 'added' or None", direction)
    problems.raise_if_any()
    found: dict[Kind, int] = {}
    for part, n in zip(listed, counts, strict=True):
        if part.rate > 0.0:
            found[part.sampled_step] = found.get(part.sampled_step, 0) + int(n)
    return composition_of(found, stated)


def relation_of(problems: Problems, relation: str | None, *, fixed: bool) -> str:
    """The relation as stated, or the one that samples of this kind have by default."""
    stated = (REPLACE_ONE if fixed else ADD_REMOVE) if relation is None else relation
    known = isinstance(stated, str) and stated in RELATIONS
    problems.require(known, "relation", " or ".join(map(repr, RELATIONS)), relation)
    if fixed and known and stated == ADD_REMOVE:
        expected = (
            "'replace-one' where samples have a fixed size, whose rate says the number of all"
        )
        problems.add(f"relation: expected {expected} records, got {relation!r}")
    return stated if known else ADD_REMOVE


def composition_of(
    kinds: Mapping[Kind, int],
    relation: str,
    other: LossTransform | None = None,
) -> Composition | PairComposition:
    """The steps as one account, beside the transform of the losses of other releases."""
    plain = all(kind[2:] == (GAUSSIAN, POISSON) for kind in kinds)
    if plain and relation == ADD_REMOVE:
        return Composition(kinds, other)
    return PairComposition(kinds, relation, other)


def bounds_of(
    composition: Composition | PairComposition,
    epsilon: float,
    guess: float | None = None,
    direction: str | None = None,
    *,
    upper: bool = False,
) -> LogBounds:
    """Bounds on log delta, of the worse direction where none is given.

    With `upper` the lower one is that of the pair that dominates, which may not be attained.
    """
    if isinstance(composition, PairComposition) and composition.relation == REPLACE_ONE:
        if upper:
            return composition.log_delta(epsilon, REPLACED, guess)
        return composition.bounds(epsilon, guess)
    return composition.worst_log_delta(epsilon, sides_of(direction), guess)


def epsilons_of(
    composition: Composition | PairComposition,
    log_delta: float,
    direction: str | None = None,
    *,
    upper: bool = False,
) -> tuple[float, float]:
    """Bounds on epsilon, of the worse direction where none is given; `upper` as above."""
    if isinstance(composition, PairComposition) and composition.relation == REPLACE_ONE:
        if upper:
            return composition.epsilon(log_delta, REPLACED)
        return composition.epsilons(log_delta)
    return composition.worst_epsilon(log_delta, sides_of(direction))


def _items(values: object) -> list[Any] | tuple[Any, ...]:
    return values if isinstance(values, list | tuple) else []


def sides_of(direction: str | None) -> tuple[str, ...]:
    """Both directions where none is given."""
    return DIRECTIONS if direction is None else (direction,)


def sampled_delta(
    releases: Sample | Sequence[Sample],
    epsilon: float,
    *,
    steps: int | Sequence[int] = 1,
    direction: str | None = None,
    relation: str | None = None,
) -> TwoSided:
    """Bounds on the delta of steps on Poisson samples.

    Parameters
    ----------
    releases : SampledGaussian, SampledLaplace or list of them
        One kind of step, or several.
    epsilon : float
        From 0 to 1e6.
    steps : int or list of int
        How many of each, from 1 to 1e9.
    direction : {"removed", "added"}, optional
        Whether the first data set of the pair has the record or lacks it; by default the worse of
        both. None beside "replace-one".
    relation : {"add-remove", "replace-one"}, optional
        Which data sets are neighbours: "add-remove" by default, "replace-one" where a sample has a
        fixed size.

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
    problems.number("epsilon", epsilon, low=0.0, high=MOST_EPSILON)
    composition = checked(problems, releases, steps, direction, relation)
    low, _, high = bounds_of(composition, float(epsilon), None, direction)
    return deltas_of(low, high)


def deltas_of(low: float, high: float) -> TwoSided:
    """Bounds on delta by bounds on its logarithm, rounding included."""
    upper = math.exp(high) * _UP + _TINY if high > -math.inf else 0.0
    return TwoSided(max(math.exp(low) / _UP - _TINY, 0.0), min(upper, 1.0))


def sampled_epsilon(
    releases: Sample | Sequence[Sample],
    delta: float,
    *,
    steps: int | Sequence[int] = 1,
    direction: str | None = None,
    relation: str | None = None,
) -> TwoSided:
    """Bounds on the epsilon of steps on Poisson samples.

    Parameters
    ----------
    releases : SampledGaussian, SampledLaplace or list of them
        One kind of step, or several.
    delta : float
        From 1e-300 to 1, or 0, where epsilon is infinite beside Gaussian noise.
    steps : int or list of int
        How many of each, from 1 to 1e9.
    direction : {"removed", "added"}, optional
        Whether the first data set of the pair has the record or lacks it; by default the worse of
        both. None beside "replace-one".
    relation : {"add-remove", "replace-one"}, optional
        Which data sets are neighbours: "add-remove" by default, "replace-one" where a sample has a
        fixed size.

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
        good = delta == 0 or delta >= MINIMUM_DELTA
        problems.require(good, "delta", f"0 or at least {MINIMUM_DELTA:g}", delta)
    composition = checked(problems, releases, steps, direction, relation)
    if delta == 1 or not composition.every:
        return TwoSided(0.0, 0.0)
    if delta == 0:
        most = _largest(composition, direction)
        return TwoSided(most / _UP, most * _UP)
    low, high = epsilons_of(composition, math.log(delta), direction)
    if high == math.inf:
        step = max(composition.every, key=lambda step: step.rate / step.sigma)
        message = (
            f"sampled_epsilon: out of reach: expected a larger sigma than {step.sigma:g}, fewer "
            f"steps than {sum(composition.every.values())}, another rate than {step.rate:g} or a "
            f"larger delta than {delta:g}; all that is known is that epsilon is at least {low:.6g}"
        )
        raise ValueError(message)
    return TwoSided(float(low), float(high))


def _largest(composition: Composition | PairComposition, direction: str | None) -> float:
    """The largest loss of all steps, which is epsilon where delta is 0.

    With samples of fixed size it is attained by a record removed in each step.
    """
    if isinstance(composition, PairComposition):
        if composition.relation == REPLACE_ONE:
            return composition.largest(REPLACED)
        return max(composition.largest(side) for side in sides_of(direction))
    # With the record added, steps of rates below 1 have a largest loss.
    if direction != ADDED or any(step.rate == 1.0 for step in composition.every):
        return math.inf
    return math.fsum(-n * math.log1p(-step.rate) for step, n in composition.every.items())
