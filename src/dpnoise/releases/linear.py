"""Answers to a workload from its table of cells: one release, and all that follows from it.

With noise for the cells (`SummedNoise`) the table x + N is what is released, on a grid; the answers
are W (x + N), by post-processing, so that they agree with each other. From other noise of the
answers the table of least squares is made, and the answers that agree with it; answers that are
rounded to whole numbers stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise._validation import Problems
from dpnoise.mechanisms.noise import Mechanism
from dpnoise.mechanisms.summed import SummedNoise
from dpnoise.privacy.odometer.budget import Budget
from dpnoise.privacy.odometer.ledger import check_label
from dpnoise.releases.answers import Entry
from dpnoise.releases.released import Released
from dpnoise.releases.sums import grid_of, prepared, read_values
from dpnoise.sensitivity.base import IN_SET, joined, require_relation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.noise.exact import Entropy

_MOST_STEPS = 2.0**50  # of the grid in a cell
_RANK = 1e-11  # eigenvalue of W'W over the largest that counts as 0


@dataclass(frozen=True, eq=False, repr=False)
class ReleasedWorkload(Released):
    """Private answers to a workload, with a table of cells that they are the answers to.

    The ends of its intervals are for answers as they are drawn: `value` has these, or with
    `non_negative=True` those of the fitted table, which `interval` is then around.

    Attributes
    ----------
    cells : numpy.ndarray, shape (n,)
        The table of least squares, the shortest one where W leaves it open: `value` is W `cells`
        but for rounding. Without negative entries if that was asked for.
    """

    cells: Array | None = None


def linear(
    x: ArrayLike,
    found: Any,  # noqa: ANN401
    *,
    non_negative: bool,
    budget: Budget | None,
    label: str,
    entropy: Entropy,
) -> ReleasedWorkload:
    """Private answers to the workload of a mechanism for a table, as `release.workload`."""
    problems = Problems("release of a workload")
    ball = found.sensitivity if isinstance(found, Mechanism) else None
    pair = None if ball is None else ball.preimage
    problems.require(pair is not None, "found", "what best found for a Workload", found)
    problems.require(isinstance(non_negative, bool), "non_negative", "True or False", non_negative)
    known = budget is None or isinstance(budget, Budget)
    problems.require(known, "budget", "a Budget", budget)
    check_label(problems, label)
    table = read_values(problems, x)
    problems.raise_if_any()
    assert ball is not None  # noqa: S101  (or refused)
    assert pair is not None  # noqa: S101
    W = pair[1]
    relation = ball.relation
    if require_relation(problems, relation, IN_SET) and budget is not None:
        joined(problems, budget.relation, relation, "the budget and the set")
    good = problems.require(table.shape == W.shape[1:], "shape of x", f"{W.shape[1:]}", table.shape)
    problems.raise_if_any()
    summed, whole = isinstance(found.noise, SummedNoise), found.noise.whole
    step = grid_of(found.noise)
    if summed:
        fine = 1.0 if whole else float(np.min(step))
        fits = good and bool(np.all(np.abs(table) <= fine * _MOST_STEPS))
        problems.require(fits, "x", f"at most {fine * _MOST_STEPS:g} in every cell", "larger ones")
        draw = prepared(problems, table, found.noise.inner, None if whole else fine)
        step = step if whole else 0.5 * fine * np.asarray(abs(W).sum(axis=1)).ravel()
    else:
        draw = prepared(problems, W @ table, found.noise, None)
    problems.raise_if_any()
    entry = Entry(found, relation=relation)
    if budget is not None:
        entry.spend(budget, label=label)
    drawn = np.asarray(draw(entropy), dtype=float)
    value = found.noise.answers(drawn) if summed else drawn
    fitted = _fitted(ball.gram, W.T @ value, non_negative)  # type: ignore[attr-defined]
    if non_negative or not (summed or whole):
        value = W @ fitted
    elif whole:
        value = np.rint(value).astype(np.int64)
    return ReleasedWorkload(
        value, found.noise, entry, found.promise, step, label=label, cells=fitted
    )


def _fitted(gram: Array, moments: Array, non_negative: bool) -> Array:
    """The table z with the least |W z - y|^2, by W'W and W'y; the shortest one if it is open."""
    values, vectors = np.linalg.eigh(gram)
    some = values > _RANK * values[-1]
    root = np.sqrt(values[some])[:, None] * vectors[:, some].T
    image = (vectors[:, some].T @ moments) / np.sqrt(values[some])
    if not non_negative:
        found: Array = root.T @ (image / values[some])
        return found
    from scipy.optimize import nnls  # noqa: PLC0415 - rarely needed

    return np.asarray(nnls(root, image)[0])
