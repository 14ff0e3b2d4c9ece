"""Kinds of error of the bounds on steps on samples: the public `sampled_errors`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from dpnoise._validation import Problems
from dpnoise.privacy.sampled.mechanism import (
    MOST_EPSILON,
    Sample,
    bounds_of,
    checked,
    deltas_of,
    sides_of,
)
from dpnoise.privacy.sampled.pairs import REPLACED
from dpnoise.sensitivity.relation import ADD_REMOVE, REPLACE_ONE

if TYPE_CHECKING:
    from collections.abc import Sequence


class SampledErrors(NamedTuple):
    """The gap between two bounds of delta by kinds of error.

    Attributes
    ----------
    lower, upper : float
        The bounds.
    cut : float
        By outputs far out that count on one side only.
    aliases : float
        By the step of the inversion.
    tail : float
        By what lies beyond its last point.
    blur : float
        By a Gaussian loss that is added where the transform does not fade.
    rounding : float
        By floating-point numbers.
    pair : float
        The rest: between pairs of distributions that are attained and one that dominates all, or
        where the bounds are not those of the inversion.
    """

    lower: float
    upper: float
    cut: float
    aliases: float
    tail: float
    blur: float
    rounding: float
    pair: float


def sampled_errors(
    releases: Sample | Sequence[Sample],
    epsilon: float,
    *,
    steps: int | Sequence[int] = 1,
    direction: str | None = None,
    relation: str | None = None,
) -> SampledErrors:
    """Bounds on the delta of steps on samples, and by which kinds of error they differ.

    Parameters
    ----------
    releases : SampledGaussian, SampledLaplace or list of them
        One kind of step, or several.
    epsilon : float
        From 0 to 1e6.
    steps : int or list of int
        How many of each, from 1 to 1e9.
    direction : {"removed", "added"}, optional
        As for `sampled_delta`.
    relation : {"add-remove", "replace-one"}, optional
        As for `sampled_delta`.

    Returns
    -------
    SampledErrors
        The bounds, and the share of each kind of error in upper - lower: they add up to it.

    Raises
    ------
    ValueError
        As for `sampled_delta`.

    Examples
    --------
    >>> from dpnoise import SampledGaussian, sampled_errors
    >>> found = sampled_errors(SampledGaussian(1.5, 0.04), 8.0, steps=2250)
    >>> bool(found.upper - found.lower < 1e-6 * found.lower)
    True
    >>> max(found._asdict(), key=lambda kind: found._asdict()[kind] * (kind not in "lower upper"))
    'rounding'
    """
    problems = Problems("sampled_errors")
    problems.number("epsilon", epsilon, low=0.0, high=MOST_EPSILON)
    composition = checked(problems, releases, steps, direction, relation, fast=False)
    replaced = getattr(composition, "relation", ADD_REMOVE) == REPLACE_ONE
    sides = (REPLACED,) if replaced else sides_of(direction)
    lowest, highest, made = -math.inf, None, None
    for side in sides:
        one = bounds_of(composition, float(epsilon), None, side)
        lowest = max(lowest, one.lower)
        if highest is None or one.upper > highest:
            highest, made = one.upper, (composition.shares, composition.log_cut)
    assert highest is not None  # noqa: S101  (there is a side)
    assert made is not None  # noqa: S101
    low, high = deltas_of(lowest, highest)
    parts = (2.0 * math.exp(made[1]), *made[0])
    most = high - low
    known = math.fsum(parts)
    shrink = min(most / known, 1.0) if known > 0.0 else 0.0
    shares = [part * shrink for part in parts]
    closed = not any(made[0]) and most <= 1e-9 * high
    rest = max(most - math.fsum(shares), 0.0)
    if closed:  # one step, in closed form
        shares[-1], rest = rest, 0.0
    cut, aliases, tail, blur, rounding = shares
    return SampledErrors(low, high, cut, aliases, tail, blur, rounding, rest)
