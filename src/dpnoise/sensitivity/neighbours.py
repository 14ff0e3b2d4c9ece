"""Two relations between neighbouring data sets, one in terms of the other.

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

from dpnoise._validation import Problems
from dpnoise.sensitivity.at_most import AtMost
from dpnoise.sensitivity.balls import L1, LInf
from dpnoise.sensitivity.base import Sensitivity
from dpnoise.sensitivity.box import Box
from dpnoise.sensitivity.counts import AddRemoveCounts, Counts, ReplaceOneCounts
from dpnoise.sensitivity.product import Product
from dpnoise.sensitivity.relation import ADD_REMOVE, REPLACE_ONE

_KINDS = ("symmetric", "nonnegative")


def _check(subject: str, sensitivity: object, contributions: object, relation: str) -> None:
    """Refusal of what is no set, one with another relation than `relation`, or no contribution."""
    problems = Problems(subject)
    known = isinstance(sensitivity, Sensitivity)
    problems.require(known, "sensitivity", "a sensitivity set such as Box or L2", sensitivity)
    stated = sensitivity.relation if isinstance(sensitivity, Sensitivity) else None
    right = stated in (None, relation)
    problems.require(
        right, "sensitivity", f"a set for {relation!r}, or for no relation", sensitivity
    )
    expected = " or ".join(map(repr, _KINDS))
    problems.require(contributions in _KINDS, "contributions", expected, contributions)
    problems.raise_if_any()


def _of_nonnegative(added: Sensitivity) -> Sensitivity:
    """A set around the differences of two vectors of a set that have no negative entries."""
    if isinstance(added, Box | LInf) or added.dimension == 1:
        return added
    if added.is_round:
        return added.scaled(math.nextafter(math.sqrt(2.0), 2.0))
    if isinstance(added, L1):
        added = AtMost(1, added.of, added.radius, relation=added.relation)
    if isinstance(added, AtMost):
        return replace(added, m=min(2 * added.m, added.of))
    return added.scaled(2.0)


def _replaced(added: Sensitivity, contributions: str) -> Sensitivity:
    """A set around the differences of two contributions, by the set of contributions and 0."""
    if isinstance(added, Product):
        return Product(*(_replaced(block, contributions) for block in added.blocks))
    if isinstance(added, Counts):  # which say what the contributions are
        return ReplaceOneCounts(added.m, added.of, added.stating(ADD_REMOVE).each)
    return added.scaled(2.0) if contributions == "symmetric" else _of_nonnegative(added)


def _added(replaced: Sensitivity, contributions: str) -> Sensitivity:
    """A set around contributions and 0, by the set of their differences."""
    if isinstance(replaced, Product):
        return Product(*(_added(block, contributions) for block in replaced.blocks))
    if isinstance(replaced, Counts):
        return AddRemoveCounts(replaced.m, replaced.of, replaced.stating(REPLACE_ONE).each)
    return replaced.scaled(0.5) if contributions == "symmetric" else replaced


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
    AtMost(m=3, of=12, each=2.0, relation='replace-one')
    """
    _check("replace-one sensitivity", sensitivity, contributions, ADD_REMOVE)
    return _replaced(sensitivity.geometry, contributions).stating(REPLACE_ONE)


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
    _check("add/remove sensitivity", sensitivity, contributions, REPLACE_ONE)
    return _added(sensitivity.geometry, contributions).stating(ADD_REMOVE)
