"""Sensitivity sets from numbers and vectors, and from sets for the other relation.

Let V be the set of what one person can contribute to the answer. Adding or removing the person
moves the answer by v or -v; replacing one person by another moves it by v - v', both in V.

- V symmetric and convex (sums of clipped vectors): the differences v - v' fill 2 V.
- V of vectors without negative entries, 0 among them (counts, histograms): v - v' lies in 2 V too,
  but no coordinate moves by more than it does when somebody is added. With D = conv(V, -V):
  box and l-infinity ball remain as they are; from the l2 ball of radius r it is that of
  sqrt(2) r, since |v - v'|^2 = |v|^2 + |v'|^2 - 2 v'v, and so for ellipsoids; from at most m of K
  counts (the l1 ball being m = 1) it is at most min(2 m, K) of K, since |v - v'|_1 <= 2 m c and
  |v - v'|_inf <= c.
  Conversely v = v - 0 is among the differences, so that nothing is gained by adding or removing.
- `Counts` know their V, and become the `Counts` of the other relation, smaller than `AtMost`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dpnoise._validation import Problems
from dpnoise.sensitivity.at_most import AtMost
from dpnoise.sensitivity.balls import L1, Box, LInf
from dpnoise.sensitivity.base import (
    Sensitivity,
    check_dimension,
    check_relation,
    check_size,
    joined,
)
from dpnoise.sensitivity.counts import Counts
from dpnoise.sensitivity.product import Product
from dpnoise.sensitivity.relation import ADD_REMOVE, REPLACE_ONE

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


_KINDS = ("symmetric", "nonnegative")


def as_sensitivity(
    sensitivity: float | ArrayLike | Sensitivity,
    dimension: int | None = None,
    *,
    relation: str | None = None,
) -> Sensitivity:
    """A sensitivity set from a number, a vector or a set.

    Parameters
    ----------
    sensitivity : float, array_like of shape (K,), or Sensitivity
        A number bounds the change of every coordinate (`LInf`), a vector that of each (`Box`);
        a set is returned as it is.
    dimension : int, optional
        The number K of coordinates. With a number it is 1 by default; otherwise it must be that
        of the vector or set.
    relation : {"add-remove", "replace-one"}, optional
        Which data sets are neighbours; with a set that states its relation it must be that one.

    Returns
    -------
    Sensitivity
        The set.

    Raises
    ------
    ValueError
        If an argument is out of range or the two do not fit; the message names every problem.

    Examples
    --------
    >>> from dpnoise import as_sensitivity
    >>> as_sensitivity(1.0, 3)
    LInf(radius=1.0, of=3)
    >>> as_sensitivity([1.0, 0.5], relation="add-remove")
    Box(lambdas=(1.0, 0.5), relation='add-remove')
    """
    problems = Problems("sensitivity")
    if dimension is not None:
        check_dimension(problems, "dimension", dimension)
    check_relation(problems, relation)
    array = isinstance(sensitivity, list | tuple) or getattr(sensitivity, "ndim", 0) > 0
    if not array and not isinstance(sensitivity, Sensitivity):
        value = sensitivity.item() if isinstance(sensitivity, np.ndarray) else sensitivity
        check_size(problems, "sensitivity", value)
        problems.raise_if_any()
        count = 1 if dimension is None else int(dimension)
        return LInf(float(value), count, relation=relation)  # type: ignore[arg-type]  # checked
    problems.raise_if_any()
    found = sensitivity if isinstance(sensitivity, Sensitivity) else Box(sensitivity)  # type: ignore[arg-type]
    fits = dimension in (None, found.dimension)
    problems.require(fits, "dimension", f"that of the sensitivity, {found.dimension}", dimension)
    joined(problems, found.relation, relation, "the set and relation=")
    problems.raise_if_any()
    return found.stating(relation)


def _doubled(ball: Sensitivity) -> Sensitivity:
    """A set around the differences of two vectors of a set.

    Two people in m numbers each differ in up to 2 m: twice `AtMost` has too few entries.
    """
    if not isinstance(ball, AtMost) or ball.m == ball.of:
        return ball.scaled(2.0)
    if ball.m == 1:
        return L1(2.0 * ball.each, ball.of, relation=ball.relation)
    return replace(ball, m=min(2 * ball.m, ball.of), each=2.0 * ball.each)


def _other(ball: Sensitivity, relation: str, contributions: str) -> Sensitivity:
    """The set around the differences for the other relation, by that for one of them."""
    if ball.blocks:
        blocks = (_other(block, relation, contributions) for block in ball.blocks)
        return Product(*blocks, relation=relation)
    if isinstance(ball, Counts):  # which say what the contributions are
        return replace(ball, relation=relation, exactly=False)
    ball = replace(ball, relation=relation)
    if contributions == "symmetric":
        return _doubled(ball) if relation == REPLACE_ONE else ball.scaled(0.5)
    if relation == ADD_REMOVE or ball.moves_apart:
        return ball
    if ball.is_round:
        return ball.scaled(math.nextafter(math.sqrt(2.0), 2.0))
    return (
        replace(ball, m=min(2 * ball.m, ball.of)) if isinstance(ball, AtMost) else ball.scaled(2.0)
    )


def _converted(sensitivity: Sensitivity, relation: str, contributions: str) -> Sensitivity:
    """The set for a relation from that for the other one, or for none; other input is refused."""
    before = ADD_REMOVE if relation == REPLACE_ONE else REPLACE_ONE
    subject = "replace-one sensitivity" if relation == REPLACE_ONE else "add/remove sensitivity"
    problems = Problems(subject)
    known = isinstance(sensitivity, Sensitivity)
    problems.require(known, "sensitivity", "a sensitivity set such as Box or L2", sensitivity)
    if known and sensitivity.relation not in (None, before):
        problems.add(
            f"sensitivity: expected a set for {before!r}, or for no relation, got {sensitivity!r}"
        )
    expected = " or ".join(map(repr, _KINDS))
    problems.require(contributions in _KINDS, "contributions", expected, contributions)
    problems.raise_if_any()
    return _other(sensitivity, relation, contributions)


def replace_one(sensitivity: Sensitivity, *, contributions: str = "symmetric") -> Sensitivity:
    """Sensitivity set for replacing a person, from that for adding or removing one.

    Parameters
    ----------
    sensitivity : Sensitivity
        The differences between data sets of which one has one person more; its relation is
        "add-remove" or not stated.
    contributions : {"symmetric", "nonnegative"}
        What a person can add to the answer: "symmetric" if with v also -v, "nonnegative" if only
        vectors without negative entries, as with counts. `Counts` say it themselves.

    Returns
    -------
    Sensitivity
        A set that holds all differences between data sets of which one person is replaced, with
        the relation "replace-one".

    Raises
    ------
    ValueError
        If an argument is of another kind or the set is for "replace-one" already; the message
        names every problem.

    Examples
    --------
    >>> from dpnoise import AtMost, replace_one
    >>> visits = AtMost(3, of=12, relation="add-remove")
    >>> replace_one(visits, contributions="nonnegative")
    AtMost(m=6, of=12, each=1.0, relation='replace-one')
    >>> replace_one(visits)
    AtMost(m=6, of=12, each=2.0, relation='replace-one')
    """
    return _converted(sensitivity, REPLACE_ONE, contributions)


def add_remove(sensitivity: Sensitivity, *, contributions: str = "symmetric") -> Sensitivity:
    """Sensitivity set for adding or removing a person, from that for replacing one.

    Parameters
    ----------
    sensitivity : Sensitivity
        A set that holds all differences between data sets of which one person is replaced; its
        relation is "replace-one" or not stated.
    contributions : {"symmetric", "nonnegative"}
        What a person can add to the answer: "symmetric" if with v also -v, "nonnegative" if only
        vectors without negative entries, 0 among them. `Counts` say it themselves.

    Returns
    -------
    Sensitivity
        A set that holds all differences between data sets of which one has one person more, with
        the relation "add-remove".

    Raises
    ------
    ValueError
        If an argument is of another kind or the set is for "add-remove" already; the message
        names every problem.

    Notes
    -----
    Without 0 or -v among the contributions nothing follows: ages between 40 and 41 differ by at
    most 1, but a person more changes their sum by 41.

    Examples
    --------
    >>> from dpnoise import L2, add_remove
    >>> add_remove(L2(1.0, of=3, relation="replace-one"))
    L2(radius=0.5, of=3, relation='add-remove')
    """
    return _converted(sensitivity, ADD_REMOVE, contributions)
