"""What one release costs, read from what a user hands to `Budget.spend`.

A result, an estimator or an adapter says itself what it costs, by `spending()`; noise of vectors
does so for a set, by `spending_in(set)`; joint noise for a number in its norm, by
`dominating(number)`, and for a set by the largest number that it has, `size_of(set)`. Noise of one
number is for a number, for a vector of numbers, or independent for each coordinate of a set.

**Independent noise for a sensitivity set** is counted as coordinates that dominate it among other
releases. A pair of distributions that dominates all differences of a set is known

- for noise that falls with |t| and any set: the corner of the box around it; where true differences
  have few entries (`Sensitivity.differences`), as many of the largest change, where scales are
  smallest, or of the largest ratios of change and scale, where these differ;
- for log-concave noise of one distribution and a set whose extreme points are one of them with
  coordinates permuted and signs changed: that extreme point, as 1 - delta is a log-concave
  function of the difference (docs/joint-noise.md, section 2), of every block of a product;
- for Gaussian noise: one of the largest norm in units of its scales;
- for Laplace noise, which is K-norm noise in a weighted l1 norm: one number with the largest norm;
- for noise on the integers: the integer point of the set that dominates all others, if one does
  (`dpnoise.privacy.integer_sets`), else randomized response with the largest loss of all of them.

**Events of dp_accounting (TF-privacy, JAX Privacy) as releases, read as data by their names.**
dp_accounting is not needed. Its noise multipliers are for the largest norm of one record's
contribution, so that an event says the same for both relations, as a sample of everything does.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise._validation import Problems, is_integer
from dpnoise.noise.base import Noise, is_scalar
from dpnoise.noise.exact import as_double_above, root_above
from dpnoise.noise.exponential_power import Gaussian, Laplace
from dpnoise.noise.integers import IntegerNoise
from dpnoise.noise.stepwise import MAX_EPSILON
from dpnoise.privacy.integer_sets import (
    concentrated_loss,
    concentration,
    largest_loss,
    listed_points,
    read_parts,
    shares_of_point,
)
from dpnoise.privacy.odometer.ledger import (
    BOX,
    CONCENTRATED,
    LAPLACE,
    RESPONSE,
    Ledger,
    guaranteed,
    pure_share,
    read_sample,
    read_times,
    stated,
)
from dpnoise.privacy.sampled.pairs import FIXED, GAUSSIAN, POISSON, Kind
from dpnoise.privacy.sampled.pairs import LAPLACE as LAPLACE_NOISE
from dpnoise.privacy.spherical import Spherical, spherical_loss
from dpnoise.privacy.vector import is_vouched, read_shares
from dpnoise.sensitivity.base import Sensitivity, is_set
from dpnoise.sensitivity.relation import REPLACE_ONE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dpnoise._types import Array, IntArray
    from dpnoise.privacy.vector import Shares

    AnyNoise = Noise | IntegerNoise

_SUFFIX = "DpEvent"
_NOISE = {"GaussianDpEvent": GAUSSIAN, "LaplaceDpEvent": LAPLACE_NOISE}
_DEEPEST = 20  # events within events


def is_event(value: object) -> bool:
    """Whether something is an event of dp_accounting, by its name."""
    return type(value).__name__.endswith(_SUFFIX) and not isinstance(value, type)


def read_event(problems: Problems, event: Any, depth: int = 0) -> Ledger:  # noqa: ANN401
    """One release that an event stands for; an event that is not proved here is refused by name."""
    name = type(event).__name__
    known = READERS.get(name) if depth <= _DEEPEST else None
    expected = f"one of {', '.join(READERS)}, at most {_DEEPEST} deep"
    if not problems.require(known is not None, "event", expected, f"{name}: {event!r}"[:200]):
        return Ledger()
    assert known is not None  # noqa: S101  (or refused)
    try:
        return known(problems, event, depth)
    except AttributeError as error:
        problems.add(f"event: expected the attributes of dp_accounting's {name}, got none: {error}")
        return Ledger()


def _sample(problems: Problems, event: Any, rate: float, sampling: str) -> Ledger:  # noqa: ANN401
    """Noise on a sample."""
    name = type(event).__name__
    expected = f"{' or '.join(_NOISE)} within a sample"
    if not problems.require(name in _NOISE, "event", expected, name):
        return Ledger()
    kind = _NOISE[name], sampling
    part = read_sample(problems, f"event {name}", event.noise_multiplier, rate, kind)
    return Ledger(sampled={part: 1}) if part is not None else Ledger()


def _poisson(problems: Problems, event: Any, _: int) -> Ledger:  # noqa: ANN401
    return _sample(problems, event.event, event.sampling_probability, POISSON)


def _fixed(problems: Problems, event: Any, _: int) -> Ledger:  # noqa: ANN401
    n, m = event.source_dataset_size, event.sample_size
    whole = is_integer(n) and is_integer(m) and 1 <= m <= n <= 2**53
    if not problems.require(whole, "event", "1 <= sample_size <= source_dataset_size", (m, n)):
        return Ledger()
    rate = 1.0 if m == n else min(math.nextafter(m / n, 1.0), 1.0)
    return _sample(problems, event.event, rate, FIXED)


def _response(problems: Problems, event: Any, _: int) -> Ledger:  # noqa: ANN401
    """Any of some values, or the true one with probability 1 - p; a record is replaced."""
    p, k = event.noise_parameter, event.num_buckets
    good = problems.number("event noise_parameter", p, low=1e-9, high=1.0)
    good &= problems.require(is_integer(k) and 1 <= k <= 2**53, "event num_buckets", "from 1", k)
    if not good or p == 1 or k == 1:
        return Ledger()
    epsilon = math.log1p(k * (1.0 - p) / p) * (1.0 + 1e-12)
    return Ledger(
        {pure_share(epsilon): 1}, relation=REPLACE_ONE, counted_as=RESPONSE if k > 2 else ""
    )


def _repeated(problems: Problems, event: Any, depth: int) -> Ledger:  # noqa: ANN401
    one, count = read_event(problems, event.event, depth + 1), read_times(problems, event.count)
    return Ledger().plus(one, count)


def _composed(problems: Problems, event: Any, depth: int) -> Ledger:  # noqa: ANN401
    found, relation = Ledger(), None
    for part in event.events:
        one = read_event(problems, part, depth + 1)
        found, relation = found.plus(one, 1), relation or one.relation
    return replace(found, relation=relation)


READERS: dict[str, Callable[[Problems, Any, int], Ledger]] = {
    "NoOpDpEvent": lambda *_: Ledger(),
    "GaussianDpEvent": lambda problems, event, _: _sample(problems, event, 1.0, POISSON),
    "LaplaceDpEvent": lambda problems, event, _: _sample(problems, event, 1.0, POISSON),
    "RandomizedResponseDpEvent": _response,
    "PoissonSampledDpEvent": _poisson,
    "SampledWithoutReplacementDpEvent": _fixed,
    "SelfComposedDpEvent": _repeated,
    "ComposedDpEvent": _composed,
}


_JOINT = "K-norm or staircase noise (else `spend_dp` with its epsilon and delta)"
_ALONE = "noise with a sensitivity, or what `best`, `compare`, `calibrate` or a fit returns"


def dominated_ledger(noise: Any, size: Fraction) -> Ledger | None:  # noqa: ANN401
    """One release of joint noise at a size in its norm; None if nothing is known of it."""
    found = noise.dominating(size)
    if isinstance(found, Fraction):
        return Ledger({pure_share(found): 1}, counted_as=RESPONSE)
    if isinstance(found, Spherical):
        return Ledger({(spherical_loss(*found), 1.0): 1})
    more = LAPLACE if getattr(noise, "less_than_dominating", False) else ""
    return None if found is None else Ledger({found: 1}, counted_as=more)


def ledger_in(noise: Any, ball: Sensitivity) -> Ledger | None:  # noqa: ANN401
    """One release of noise of vectors for a set; None if nothing is known of it.

    A ValueError is raised if the noise is for other sets.
    """
    if hasattr(noise, "spending_in"):
        found: Ledger | None = noise.spending_in(ball)
        return found
    return dominated_ledger(noise, noise.size_of(ball))


def _in_set(problems: Problems, noise: Any, ball: Sensitivity) -> Ledger:  # noqa: ANN401
    """One release of noise for a set."""
    try:
        if is_scalar(noise):
            found = independent_ledger(noise, np.ones(ball.dimension), ball)
        else:
            found = ledger_in(noise, ball)
    except ValueError as error:
        problems.add(str(error).removeprefix("budget: "))
        return Ledger()
    problems.require(found is not None, "noise", _JOINT, noise)
    return found or Ledger()


def _numbers_of(sensitivity: Any) -> Any:  # noqa: ANN401
    """The largest changes of a set that is a box, as independent noise is accounted for.

    To that noise, symmetric about 0, signs do not matter.
    """
    if not is_set(sensitivity) or not _reaches_corner(sensitivity):
        return sensitivity
    sides = sensitivity.box.tolist()
    return sides if len(sides) > 1 else sides[0]


def _reaches_corner(ball: Sensitivity) -> bool:
    """Whether one difference moves all coordinates as far as they can, up to signs."""
    for _, factor in ball.factors():
        true = factor.differences
        if factor.norm(factor.box) > 1.0 if true is None else true.moved < true.of:
            return False
    return True


def _independent(problems: Problems, noise: Any, sensitivity: Any) -> Ledger:  # noqa: ANN401
    """One release of noise of one number, or of some for each coordinate."""
    if isinstance(noise, list | tuple) and is_set(sensitivity):
        return _listed(problems, noise, sensitivity)
    return Ledger(read_shares(problems, noise, _numbers_of(sensitivity), 1))


def _listed(problems: Problems, noise: Sequence[Any], ball: Sensitivity) -> Ledger:
    """One release of some noise for each coordinate, for a set.

    Gaussian noises together count by the largest norm of a difference in units of their scales, and
    so does Laplace noise; what is known for no set counts for the box around it.
    """
    if len(noise) == ball.dimension:
        kinds, found = {type(one) for one in noise}, None
        if kinds == {Gaussian}:
            scales = np.array([one.sigma for one in noise])
            found = independent_ledger(Gaussian(1.0), scales, ball)
        elif kinds == {Laplace}:
            scales = np.array([one.beta for one in noise])
            found = independent_ledger(Laplace(1.0), scales, ball)
        elif all(isinstance(one, IntegerNoise) for one in noise):
            found = integer_ledger(noise, ball)
        if found is not None:
            return found
    shares = read_shares(problems, noise, ball.box.tolist(), 1)
    return Ledger(shares, counted_as="" if _reaches_corner(ball) else BOX)


def read_release(problems: Problems, noise: Any, sensitivity: Any) -> Ledger:  # noqa: ANN401, PLR0911
    """One release, by noise and sensitivity or by a result that knows both."""
    if hasattr(noise, "spending") and not isinstance(noise, type):
        expected = "none beside a result that states it"
        problems.require(sensitivity is None, "sensitivity", expected, sensitivity)
        return Ledger() if problems.found else noise.spending()
    if hasattr(noise, "sampled_step"):
        expected = "none beside a mechanism that states it"
        problems.require(sensitivity is None, "sensitivity", expected, sensitivity)
        step: Kind = noise.sampled_step
        parts = {step: 1} if step.rate > 0.0 else {}
        # Samples of a fixed size have bounds for one relation only.
        return Ledger(sampled=parts, relation=REPLACE_ONE if step.sampling == FIXED else None)
    if is_event(noise):
        problems.require(sensitivity is None, "sensitivity", "None beside an event", sensitivity)
        return read_event(problems, noise)
    for one in noise if isinstance(noise, list | tuple) else (noise,):
        if hasattr(one, "one_of"):
            expected = "the result or estimator that it is of, budget.spend(model), as it is one "
            problems.add(f"noise: expected {expected}of {one.one_of} releases, got {one!r} alone")
            return Ledger()
    if sensitivity is None:
        problems.require(False, "noise", _ALONE, noise)
        return Ledger()
    known = is_scalar(noise) or hasattr(noise, "spending_in")
    known = known or hasattr(noise, "size_of")
    if is_set(sensitivity) and known and not isinstance(noise, type):
        return _in_set(problems, noise, sensitivity)
    if isinstance(noise, type) or not hasattr(noise, "dominating"):
        return _independent(problems, noise, sensitivity)
    if not problems.number("sensitivity", sensitivity, low=0.0) or sensitivity == 0:
        return Ledger()
    found = dominated_ledger(noise, Fraction(float(sensitivity)))
    problems.require(found is not None, "noise", _JOINT, noise)
    return found or Ledger()


def spending_of(noise: Any, ball: Sensitivity, epsilon: float, delta: float) -> Ledger:  # noqa: ANN401
    """One release of noise that was certified to be (epsilon, delta)-DP for a set."""
    found = ledger_in(noise, ball)
    if found is None:
        found = guaranteed(epsilon, delta)
    return replace(found, relation=ball.relation, stated=stated(epsilon, delta))


def _corner(noise: AnyNoise, scales: Array, ball: Sensitivity) -> Array | None:
    """An extreme point, with non-negative entries, that is the worst one; None if none is known."""
    if not (ball.cut or ball.active_dimension == 1):  # `alike` extreme points
        return None
    corner = ball.extreme_point
    if np.array_equal(corner, ball.box):
        return corner
    # Differences of integers are no extreme points, unless these have entries of 1.
    whole = noise.whole and float(np.max(corner)) > 1.0
    used = scales[ball.active]
    return corner if noise.log_concave and not whole and float(np.ptp(used)) == 0.0 else None


def _add(shares: Shares, noise: AnyNoise, changes: Array, scales: Array) -> None:
    """Shares of coordinates, added to others; those without a change are none."""
    some = changes > 0.0
    pairs, counts = np.unique(np.stack([changes[some], scales[some]]), axis=1, return_counts=True)
    for change, scale, count in zip(*pairs.tolist(), counts.tolist(), strict=True):
        share = noise, as_double_above(Fraction(change) / Fraction(scale))
        shares[share] = shares.get(share, 0) + count


def _widest(box: Array, scales: Array) -> IntArray:
    """Coordinates in falling order of the largest change over the scale, exactly."""
    if float(np.ptp(box)) == 0.0:
        return np.argsort(scales, kind="stable")
    pairs = zip(box.tolist(), scales.tolist(), strict=True)
    ratios = [Fraction(x) / Fraction(s) if x else Fraction(0) for x, s in pairs]
    return np.array(sorted(range(len(ratios)), key=ratios.__getitem__, reverse=True))


def _weights(scales: Array, box: Array, unit: float = 1.0) -> list[Fraction]:
    """One over each scale, 0 where nothing changes."""
    pairs = zip(scales.tolist(), (box > 0.0).tolist(), strict=True)
    return [1 / (Fraction(s) * Fraction(unit)) if some else Fraction(0) for s, some in pairs]


def integer_ledger(noises: Sequence[IntegerNoise], ball: Sensitivity) -> Ledger | None:
    """One release of independent noise on the integers, for the integer points of a set.

    `noises` has that of each coordinate. Where several integer points may be the worst, noise of
    bounded loss counts by the largest one, discrete Gaussian noise by its largest concentrated
    bound, and other noise for the box around the set, as does different noise within one part. None
    for a set without whole-number sizes.

    ValueError if numbers of coordinates differ.
    """
    if len(noises) != ball.dimension:
        message = f"budget: noise: expected one for each coordinate of {ball!r}, got {len(noises)}"
        raise ValueError(message)
    parts = read_parts(Problems("budget"), ball)
    each = [{noises[k] for k in part.at.tolist()} for part in parts]
    if not parts or any(len(some) > 1 for some in each):
        return _in_box(noises, ball)
    chosen = [some.pop() for some in each]
    points = listed_points(parts)
    if points is not None and len(points) == 1:
        shares: Shares = {}
        for noise, size, count in shares_of_point(chosen, points[0]):
            shares[noise, float(size)] = shares.get((noise, float(size)), 0) + count
        return Ledger(shares) if is_vouched(shares) else None
    loss = largest_loss(chosen, parts)
    if loss <= MAX_EPSILON:
        return Ledger({pure_share(loss): 1}, counted_as=RESPONSE)
    rho = concentration(chosen, parts)
    pair = None if rho is None else concentrated_loss(rho)
    if pair is not None:
        return Ledger({(pair, 1.0): 1}, counted_as=CONCENTRATED)
    return _in_box(noises, ball)


def _in_box(noises: Sequence[IntegerNoise], ball: Sensitivity) -> Ledger | None:
    """One release of noise on the integers for the corner of the box, which dominates all points.

    None where the sides of the box are no whole numbers that the accounts vouch for.
    """
    shares: Shares = {}
    for noise, size in zip(noises, ball.box.tolist(), strict=True):
        if size > 0.0:
            shares[noise, size] = shares.get((noise, size), 0) + 1
    more = "" if _reaches_corner(ball) else BOX
    return Ledger(shares, counted_as=more) if is_vouched(shares) else None


def independent_ledger(noise: AnyNoise, scales: Array, ball: Sensitivity) -> Ledger | None:
    """One release of `scales` times independent noise on the coordinates; None if not known.

    Parameters
    ----------
    noise : Noise or IntegerNoise
        The noise of scale 1.
    scales : numpy.ndarray, shape (K,)
        The scales, 0 for no noise.
    ball : Sensitivity
        The set of differences.

    Raises
    ------
    ValueError
        If a coordinate that can change has no noise, or numbers of coordinates differ.
    """
    if scales.shape != (ball.dimension,) or bool(np.any(ball.active & ~(scales > 0.0))):
        message = (
            f"budget: noise: expected some for each coordinate that can change in {ball!r}, "
            f"got scales of shape {scales.shape}, {int(np.count_nonzero(scales))} of them positive"
        )
        raise ValueError(message)
    found = integer_ledger([noise] * scales.size, ball) if noise.whole else None
    if found is not None:
        return found
    shares: Shares = {}
    more = ""
    if isinstance(noise, Gaussian):
        square = ball.largest_power_sum(_weights(scales, ball.box, noise.sigma), 2)
        shares[Gaussian(1.0), as_double_above(root_above(square))] = 1
        return Ledger(shares) if is_vouched(shares) else None
    for first, factor in ball.factors():
        here = scales[first : first + factor.dimension]
        if factor.differences is not None:
            at = _widest(factor.box, here)[: factor.differences.moved]
            _add(shares, noise, factor.box[at], here[at])
            if factor.differences.listed:  # these may not change together
                losses = zip(factor.box[at].tolist(), here[at].tolist(), strict=True)
                total = sum((Fraction(x) / Fraction(s) for x, s in losses if x), Fraction(0))
                alone = factor.largest_power_sum(_weights(here, factor.box), 1)
                more = BOX if alone < total else more
            continue
        corner = _corner(noise, here, factor)
        if corner is None and isinstance(noise, Laplace):
            size = factor.largest_power_sum(_weights(here, factor.box, noise.beta), 1)
            share = Laplace(1.0), as_double_above(size)
            shares[share] = shares.get(share, 0) + 1
        else:
            more = BOX if corner is None and factor.norm(factor.box) > 1.0 else more
            _add(shares, noise, factor.box if corner is None else corner, here)
    return Ledger(shares, counted_as=more) if is_vouched(shares) else None
