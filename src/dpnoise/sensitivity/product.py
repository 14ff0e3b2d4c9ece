"""Products: blocks of coordinates that one person can move at the same time.

**Sets for the other relation.** Let V be the set of what one person can contribute to the answer.
Adding or removing the person moves the answer by v or -v; replacing one person by another moves it
by v - v', both in V.

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
from bisect import bisect_right
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, Self

import numpy as np

from dpnoise._validation import Problems
from dpnoise.noise.exact import above
from dpnoise.sensitivity.at_most import AtMost
from dpnoise.sensitivity.balls import L1
from dpnoise.sensitivity.base import (
    Sensitivity,
    check_relation,
    is_set,
    joined,
    require_set,
)
from dpnoise.sensitivity.counts import Counts
from dpnoise.sensitivity.relation import ADD_REMOVE, REPLACE_ONE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dpnoise._types import Array
    from dpnoise.noise.exact import Weights
    from dpnoise.sensitivity.differences import Differences


@dataclass(frozen=True, init=False, repr=False)
class Product(Sensitivity):
    """Sensitivity of several blocks of coordinates, each with a set of its own.

    A difference is any combination of one from each block; its norm is the largest of the
    blocks' norms.

    Parameters
    ----------
    *blocks : Sensitivity
        One set per block, in the order of the coordinates; at least one.
    relation : {"add-remove", "replace-one"}, optional
        Which data sets are neighbours, for blocks that do not state it; by default that of the
        blocks, of which all or none state one.

    Raises
    ------
    ValueError
        If there is no block, one is not a sensitivity set or they state different relations; the
        message names every problem.

    Examples
    --------
    >>> from dpnoise import L2, AtMost, Product
    >>> both = Product(AtMost(1, of=3), L2(0.5, of=2), relation="add-remove")
    >>> both.dimension, float(both.norm([1.0, 0.0, 0.0, 0.0, 1.0]))
    (5, 2.0)
    """

    blocks: tuple[Sensitivity, ...]  # type: ignore[misc]  # none for other sets

    signed = True  # of some blocks

    def __init__(self, *blocks: Sensitivity, relation: str | None = None) -> None:
        """Check and storage of the blocks, each with the relation of all."""
        problems = Problems("product of sensitivities")
        problems.require(len(blocks) > 0, "blocks", "at least one", blocks)
        for i, block in enumerate(blocks):
            good = is_set(block)
            problems.require(good, f"blocks[{i}]", "a sensitivity set such as Box or L2", block)
        check_relation(problems, relation)
        problems.raise_if_any()
        common = relation
        for i, block in enumerate(blocks):
            common = joined(problems, common, block.relation, f"all blocks, up to blocks[{i}]")
        bare = [i for i, block in enumerate(blocks) if block.relation is None]
        if relation is None and common is not None and bare:
            got = f"none for blocks {bare} beside {common!r}"
            problems.add(f"relation: expected one for all blocks, or as relation=, got {got}")
        problems.raise_if_any()
        stated = tuple(block.stating(common) for block in blocks)
        vars(self).update(relation=common, blocks=stated)

    def __repr__(self) -> str:
        """The call that makes the set; the relation of all blocks comes last."""
        shown = (repr(block._related(None)) for block in self.blocks)  # noqa: SLF001
        many = [(one, len(list(same))) for one, same in groupby(shown)]
        parts = [one if n == 1 else f"*[{one}] * {n}" for one, n in many]
        parts += [f"relation={self.relation!r}"] * (self.relation is not None)
        return f"Product({', '.join(parts)})"

    def _related(self, relation: str | None) -> Self:
        """The product with another relation or none; as it is if the form of a block needs one."""
        blocks = tuple(block._related(relation) for block in self.blocks)  # noqa: SLF001
        if any(block.relation != relation for block in blocks):
            return self
        found = super()._related(relation)
        object.__setattr__(found, "blocks", blocks)
        return found

    @property
    def body(self) -> Product:
        """The product of the blocks' bodies."""
        bodies = [block.body for block in self.blocks]
        stated = next((body.relation for body in bodies if body.relation), None)
        return Product(*bodies, relation=stated)

    @property
    def cut(self) -> int:
        """That of a single block; K where all blocks are boxes."""
        cuts = [block.cut for block in self.blocks]
        boxes = all(block.cut == block.dimension for block in self.blocks)
        return self.dimension if boxes else cuts[0] if len(cuts) == 1 else 0

    @property
    def words(self) -> str:
        """What one person changes, in words."""
        if len(self.blocks) == 1:
            return self.blocks[0].words
        many = [(one, len(list(same))) for one, same in groupby(b.words for b in self.blocks)]
        parts = [f"({one})" if n == 1 else f"{n} times ({one})" for one, n in many]
        return f"at once {' and '.join(parts)}"

    @property
    def differences(self) -> Differences | None:
        """That of a single block; several blocks say theirs by themselves."""
        return self.blocks[0].differences if len(self.blocks) == 1 else None

    @property
    def convex(self) -> bool:
        """Whether every point of each block is a true difference."""
        return all(block.convex for block in self.blocks)

    @property
    def is_whole(self) -> bool:
        """Whether all true differences of each block are whole numbers."""
        return all(block.is_whole for block in self.blocks)

    @property
    def dimension(self) -> int:
        """The number K of coordinates of all blocks."""
        return sum(block.dimension for block in self.blocks)

    @property
    def box(self) -> Array:
        """The largest |d_i|, shape (K,)."""
        return np.concatenate([block.box for block in self.blocks])

    @property
    def l1(self) -> float:
        """The largest l1 norm, the sum over the blocks."""
        return math.fsum(block.l1 for block in self.blocks)

    @property
    def l2(self) -> float:
        """The largest l2 norm."""
        return math.hypot(*(block.l2 for block in self.blocks))

    @property
    def log_volume(self) -> float:
        """The logarithm of the volume, in the active coordinates."""
        return math.fsum(block.log_volume for block in self.blocks)

    @property
    def mean_square(self) -> Array:
        """E Z_i^2 for Z uniform in the set, shape (K,)."""
        return np.concatenate([block.mean_square for block in self.blocks])

    @property
    def mean_abs(self) -> Array:
        """E|Z_i| for Z uniform in the set, shape (K,)."""
        return np.concatenate([block.mean_abs for block in self.blocks])

    @property
    def extreme_point(self) -> Array:
        """An extreme point of each block, shape (K,)."""
        return np.concatenate([block.extreme_point for block in self.blocks])

    @property
    def attains(self) -> bool:  # type: ignore[override]  # constant for other sets
        """Whether the differences of every block attain their `largest_power_sum`."""
        return all(block.attains for block in self.blocks)

    @property
    def flat(self) -> str:  # type: ignore[override]  # empty for most sets
        """Why a block has no volume; empty if all have one."""
        return next((block.flat for block in self.blocks if block.flat), "")

    def largest_power_sum(self, weights: Weights, power: int) -> Fraction:
        """The sum of the blocks' largest sums, which are attained together."""
        total, start = Fraction(0), 0
        for block in self.blocks:
            end = start + block.dimension
            part = weights if isinstance(weights, Fraction) else weights[start:end]
            total += block.largest_power_sum(part, power)
            start = end
        return above(total)

    def restricted(self, coordinates: Sequence[int]) -> Sensitivity:
        """The product of the restricted blocks, in the order chosen."""
        ends = list(accumulate(block.dimension for block in self.blocks))
        parts = []
        for k, run in groupby(coordinates, lambda i: bisect_right(ends, i)):
            block = self.blocks[k]
            parts.append(block.restricted([i - ends[k] + block.dimension for i in run]))
        return parts[0] if len(parts) == 1 else Product(*parts)

    def _largest_norm_of(self, ball: Sensitivity) -> Fraction | float:
        """The largest of the blocks' norms."""
        spans = [range(at, at + block.dimension) for at, block in self._placed()]
        pairs = zip(self.blocks, spans, strict=True)
        some = [(block, at) for block, at in pairs if ball.box[at].any()]
        return max(block.largest_norm_of(ball.restricted(at)) for block, at in some)

    def _placed(self) -> Iterator[tuple[int, Sensitivity]]:
        """The blocks, each with its first coordinate."""
        sizes = [block.dimension for block in self.blocks]
        return zip(accumulate([0, *sizes[:-1]]), self.blocks, strict=True)

    def factors(self, first: int = 0) -> Iterator[tuple[int, Sensitivity]]:
        """The factors of all blocks."""
        for at, block in self._placed():
            yield from block.factors(first + at)

    @property
    def spread(self) -> float:  # type: ignore[override]  # 1 for most sets
        """The largest of the blocks."""
        return max(block.spread for block in self.blocks)

    def _norm(self, x: Array) -> Array:
        """The largest norm of a block."""
        return np.max([block.norm(part) for block, part in self.split(x)], axis=0)

    def _support(self, a: Array) -> Array:
        """The sum of the blocks' support functions."""
        return np.sum([block.support(part) for block, part in self.split(a)], axis=0)

    def _sample(self, size: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Uniform points, shape (*size, K)."""
        parts = [block._sample(size, rng) for block in self.blocks]  # noqa: SLF001
        return np.concatenate(parts, axis=-1)

    def _scaled(self, factor: float) -> Self:
        """The product of the scaled blocks."""
        return type(self)(*(block._scaled(factor) for block in self.blocks))  # noqa: SLF001


_KINDS = ("symmetric", "nonnegative")


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
    known = require_set(problems, "sensitivity", sensitivity)
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
