"""What one release costs, read from what a user hands to `Budget.spend`.

A result, an estimator or an adapter says itself what it costs, by `spending()`; noise of vectors
does so for a set, by `spending_in(set)`; joint noise also for a number in its norm, by
`dominating(number)`. Noise of one number is for a number, for a vector of numbers, or independent
for each coordinate of a set.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise.noise.base import Noise
from dpnoise.noise.exponential_power import Gaussian, Laplace
from dpnoise.noise.integers import IntegerNoise
from dpnoise.noise.vectors import Spherical
from dpnoise.privacy.coordinates import read_shares
from dpnoise.privacy.odometer.in_set import independent_ledger, integer_ledger
from dpnoise.privacy.odometer.ledger import (
    BOX,
    LAPLACE,
    RESPONSE,
    Given,
    Ledger,
    Sampled,
    guaranteed,
    pure_share,
    stated,
)
from dpnoise.privacy.spherical import spherical_loss
from dpnoise.sensitivity.base import Sensitivity
from dpnoise.sensitivity.relation import ADD_REMOVE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise._validation import Problems

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


def _in_set(problems: Problems, noise: Any, ball: Sensitivity) -> Ledger:  # noqa: ANN401
    """One release of noise for a set."""
    try:
        if isinstance(noise, Noise | IntegerNoise):
            found = independent_ledger(noise, np.ones(ball.dimension), ball)
        else:
            found = noise.spending_in(ball)
    except ValueError as error:
        problems.add(str(error).removeprefix("budget: "))
        return Ledger()
    problems.require(found is not None, "noise", _JOINT, noise)
    return found or Ledger()


def _numbers_of(sensitivity: Any) -> Any:  # noqa: ANN401
    """The largest changes of a set that is a box, as independent noise is accounted for.

    To that noise, symmetric about 0, a set is as its hull with all signs.
    """
    if not isinstance(sensitivity, Sensitivity):
        return sensitivity
    hull = sensitivity.unconditional_hull
    if hull.norm(hull.box) > 1.0:
        return sensitivity
    sides = sensitivity.box.tolist()
    return sides if len(sides) > 1 else sides[0]


def _independent(problems: Problems, noise: Any, sensitivity: Any) -> Ledger:  # noqa: ANN401
    """One release of noise of one number, or of some for each coordinate."""
    if isinstance(noise, list | tuple) and isinstance(sensitivity, Sensitivity):
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
    hull = ball.unconditional_hull
    shares = read_shares(problems, noise, ball.box.tolist(), 1)
    return Ledger(shares, counted_as="" if hull.norm(hull.box) <= 1.0 else BOX)


def read_release(problems: Problems, noise: Any, sensitivity: Any) -> Ledger:  # noqa: ANN401, PLR0911
    """One release, by noise and sensitivity or by a result that knows both."""
    if hasattr(noise, "spending") and not isinstance(noise, type):
        expected = "none beside a result that states it"
        problems.require(sensitivity is None, "sensitivity", expected, sensitivity)
        return Ledger() if problems.found else noise.spending()
    if hasattr(noise, "sampled_step"):
        expected = "none beside a mechanism that states it"
        problems.require(sensitivity is None, "sensitivity", expected, sensitivity)
        sigma, rate = noise.sampled_step
        parts: dict[Sampled | Given, int] = {Sampled(sigma, rate): 1} if rate > 0.0 else {}
        return Ledger(sampled=parts, relation=ADD_REMOVE)
    for one in noise if isinstance(noise, list | tuple) else (noise,):
        if hasattr(one, "one_of"):
            expected = "the result or estimator that it is of, budget.spend(model), as it is one "
            problems.add(f"noise: expected {expected}of {one.one_of} releases, got {one!r} alone")
            return Ledger()
    if sensitivity is None:
        problems.require(False, "noise", _ALONE, noise)
        return Ledger()
    known = isinstance(noise, Noise | IntegerNoise) or hasattr(noise, "spending_in")
    if isinstance(sensitivity, Sensitivity) and known and not isinstance(noise, type):
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
    found = noise.spending_in(ball)
    if found is None:
        found = guaranteed(epsilon, delta)
    return replace(found, relation=ball.relation, stated=stated(epsilon, delta))
