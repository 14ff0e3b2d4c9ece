"""Values with exact noise: the public `release`.

Answers to a workload come from its table of cells: one release, and all that follows from it. With
noise for the cells (`SummedNoise`) the table x + N is what is released, on a grid; the answers are
W (x + N), by post-processing, so that they agree with each other. From other noise of the
answers the table of least squares is made, and the answers that agree with it; answers that are
rounded to whole numbers stay as they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise._results import labelled_like, shortened
from dpnoise._validation import Problems
from dpnoise.mechanisms.compare import Comparison
from dpnoise.mechanisms.noise import Mechanism
from dpnoise.noise.exact import Entropy
from dpnoise.privacy.odometer.budget import Budget
from dpnoise.privacy.odometer.ledger import check_label
from dpnoise.releases.aggregates import count, histogram, quantile, total, unknown_histogram
from dpnoise.releases.groups import Grouping, grouped_count, grouped_sum
from dpnoise.releases.released import Entry, Released, ReleaseRequest
from dpnoise.releases.sums import grid_of, prepared, read_values
from dpnoise.sensitivity.relation import each_words, promise

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from dpnoise._types import Array

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


class Release:
    """Values plus noise, drawn exactly and from the operating system's entropy.

    Call it as `release(values, found)` with what `best`, `compare` or `calibrate_joint` found. It
    returns value + noise rounded to a grid that is chosen before the draw, for an exact draw of the
    noise: so the account of real-valued noise holds for the released doubles, with no allowance for
    floating point. There is no seed. Noise alone may be given in the place of what was found, and
    the answer is then an array: it promises nothing, as a guarantee is for noise and a set.

    Parameters
    ----------
    values : array_like
        Finite numbers; for vector noise of shape (..., K), for noise of one number of any
        shape, with independent noise for each. For noise on the integers, and for noise that
        `best` with `integer=True` found, integers. Beside a result, as many as its set has.
    noise : Mechanism, Comparison, JointCalibration, Calibration, or noise
        What `best`, `compare` (whose first row counts), `calibrate_joint` or `calibrate` found. Or
        noise alone: a family of `dpnoise.noise`, a list of one for each coordinate, or `.noise` of
        a result.
    grid : float, optional
        A power of two, for noise with a density; never choose it from the data. By default,
        for each coordinate, 2^-10 times the largest power of two that is at most E|noise|. With 1.0
        everything released is a whole number.
    budget : Budget, optional
        Charged for one release before the draw; beside a result only.
    label : str
        What the release is called in the budget and in its statement; public.

    Returns
    -------
    Released
        The noisy values with noise, interval, promise and entry; it goes for its `value` in
        arithmetic and in functions of NumPy. Beside noise alone the value as it is. The value has
        the shape and the container of `values`: multiples of the grid, or integers. Coordinates
        without noise are returned as they are. A Series or data frame keeps index and name, or
        columns, which are published as they are: they must be public.

    Raises
    ------
    ValueError
        If an argument is out of range or the noise has no exact sampler; the message names
        every problem. There is no fallback to `rvs`.
    BudgetExceededError
        If the budget does not allow it; nothing is drawn.

    Notes
    -----
    Proved (docs/release.md): the released numbers are a rounding of value + noise, the value
    being the exact rational that its double is. Assumed: the operating system's random bits are
    independent and fair; the sensitivity holds for the values as doubles; nobody measures times.

    References
    ----------
    Mironov, "On significance of the least significant bits for differential privacy" (CCS 2012).
    Haney et al., "Precision-based attacks and interval refining" (2022).
    Canonne, Kamath & Steinke, "The discrete Gaussian for differential privacy" (NeurIPS 2020).

    Examples
    --------
    >>> from dpnoise import Laplace, best, release
    >>> noisy = release([12.0, 7.5], Laplace(2.0))
    >>> bool((noisy * 2**9 == (noisy * 2**9).round()).all())       # multiples of the grid 2^-9
    True
    >>> found = best([1, 1, 1], epsilon=1.0, relation="replace-one")
    >>> released = release([3, 1, 4], found, label="week 7")
    >>> released.value.shape, released.promise == found.promise
    ((3,), True)
    >>> adults = release.count([True, False, True], epsilon=1.0, relation="add-remove")
    >>> adults.noise, adults.interval95[0] < adults.value
    (DiscreteLaplace(beta=1.0), True)
    >>> adults.promise
    'one person more or less, in one count, by at most 1: epsilon = 1, delta = 0'
    """

    def __init__(self, entropy: Entropy | None = None) -> None:
        self._entropy = entropy or Entropy()

    def __repr__(self) -> str:
        """Its name."""
        return "release"

    def __call__(
        self,
        values: ArrayLike,
        noise: Any,  # noqa: ANN401
        *,
        grid: float | None = None,
        budget: Budget | None = None,
        label: str = "",
    ) -> Any:  # noqa: ANN401
        """Values plus noise, rounded to a grid: arguments as above."""
        problems = Problems("release")
        if not hasattr(noise, "spending") and not isinstance(noise, Comparison):
            expected = "none beside noise alone, which states no sensitivity (pass what best found)"
            problems.require(budget is None, "budget", expected, budget)
            problems.require(label == "", "label", expected, label)
            return labelled_like(values, prepared(problems, values, noise, grid)(self._entropy))
        one: Any = noise[0] if isinstance(noise, Comparison) else noise
        known = budget is None or isinstance(budget, Budget)
        problems.require(known, "budget", "a Budget", budget)
        check_label(problems, label)
        if not all(hasattr(one, name) for name in ("noise", "dimension", "promise")):
            expected = "what best, compare, calibrate_joint or calibrate found, or noise"
            problems.require(False, "noise", expected, shortened(one))
            problems.raise_if_any()
        shape = np.shape(values)
        many = one.dimension
        fits = math.prod(shape) == many and (not shape or many in (shape[0], shape[-1]))
        expected = f"{many}, as many numbers as one release of this noise is for"
        problems.require(fits, "shape of values", expected, shape)
        if not fits:
            problems.raise_if_any()
        draw = prepared(problems, values, one.noise, grid)
        budget_relation = None if budget is None else budget.relation
        ball = one.sensitivity
        relation = budget_relation if ball is None or ball.relation is None else ball.relation
        entry = Entry(one, relation=relation)
        step = 0.0 if one.noise.whole else grid_of(one.noise) if grid is None else grid
        sentence, epsilon = one.promise, one.epsilon
        if sentence is None:
            epsilon, _, size, dimension = one.budget
            sentence = promise(relation, each_words(dimension, size), epsilon, one.delta)
        if budget is not None:
            entry.spend(budget, label=label)
        value = labelled_like(values, draw(self._entropy))
        pair = float(epsilon), float(one.delta)
        return Released(value, one.noise, entry, sentence, step, label=label, guarantee=pair)

    def workload(
        self,
        x: ArrayLike,
        found: Mechanism,
        *,
        non_negative: bool = False,
        budget: Budget | None = None,
        label: str = "",
    ) -> ReleasedWorkload:
        """Private answers to all questions of a workload, and a table that agrees with them.

        Parameters
        ----------
        x : array_like, shape (n,)
            The table: the number of persons in each cell.
        found : Mechanism
            What `best` or a row of `compare` found for a `Workload`.
        non_negative : bool, default False
            Whether to fit a table without negative entries, by least squares, and to answer by it.
        budget : Budget, optional
            Charged for one release before the draw.
        label : str
            What the release is called in the budget and in its statement; public.

        Returns
        -------
        ReleasedWorkload
            `value`, shape (K,), are the answers, and `cells`, shape (n,), the table of least
            squares. Both follow from one release, which is charged once.

        Raises
        ------
        ValueError
            If an argument is out of range; the message names every problem.
        BudgetExceededError
            If the budget does not allow it; nothing is drawn.

        Examples
        --------
        >>> import numpy as np
        >>> from dpnoise import Workload, best, release
        >>> weeks = Workload.prefix_sums(4, relation="add-remove")
        >>> found = best(weeks, epsilon=1.0, delta=1e-6)
        >>> released = release.workload([12, 0, 5, 31], found, non_negative=True)
        >>> bool(np.all(np.diff(released.value) >= 0.0)), released.cells.shape
        (True, (4,))
        """
        problems = Problems("release of a workload")
        ball: Any = found.sensitivity if isinstance(found, Mechanism) else None
        pair: Any = None if ball is None else ball.preimage
        problems.require(pair is not None, "found", "what best found for a Workload", found)
        known = isinstance(non_negative, bool)
        problems.require(known, "non_negative", "True or False", non_negative)
        known = budget is None or isinstance(budget, Budget)
        problems.require(known, "budget", "a Budget", budget)
        check_label(problems, label)
        table = read_values(problems, x)
        problems.raise_if_any()
        W = pair[1]
        fits = table.shape == W.shape[1:]
        problems.require(fits, "shape of x", f"{W.shape[1:]}", table.shape)
        problems.raise_if_any()
        noise: Any = found.noise
        summed, whole, step = hasattr(noise, "answers"), noise.whole, grid_of(noise)
        if summed:
            fine = 1.0 if whole else float(np.min(step))
            most = fine * _MOST_STEPS
            fits = bool(np.all(np.abs(table) <= most))
            problems.require(fits, "x", f"at most {most:g} in every cell", "larger ones")
            draw = prepared(problems, table, noise.inner, None if whole else fine)
            step = step if whole else 0.5 * fine * np.asarray(abs(W).sum(axis=1)).ravel()
        else:
            draw = prepared(problems, W @ table, noise, None)
        problems.raise_if_any()
        entry = Entry(found, relation=ball.relation)
        if budget is not None:
            entry.spend(budget, label=label)
        drawn = np.asarray(draw(self._entropy), dtype=float)
        value = noise.answers(drawn) if summed else drawn
        fitted = _fitted(ball.gram, W.T @ value, non_negative)
        if non_negative or not (summed or whole):
            value = W @ fitted
        elif whole:
            value = np.rint(value).astype(np.int64)
        pair = float(found.epsilon), float(found.delta)
        parts = value, noise, entry, found.promise, step
        return ReleasedWorkload(*parts, cells=fitted, label=label, guarantee=pair)

    def count(
        self,
        records: ArrayLike | None = None,
        *,
        epsilon: float,
        delta: float = 0.0,
        relation: str | None = None,
        contribution: int = 1,
        by: ArrayLike | None = None,
        groups: Iterable[Any] | None = None,
        person: ArrayLike | None = None,
        at_most: int = 1,
        budget: Budget | None = None,
        label: str = "",
    ) -> Released:
        """A private number of records, with the noise on the integers of minimum variance.

        Parameters
        ----------
        records : int or array_like of bool
            Their number, clamped to [0, 2^62], or which of all records count: those that are True,
            or 1 in a list. Any other record of a list does not count. Beside `by` an array, or
            None if all records count.
        epsilon, delta : float
            The budget of this release.
        relation : {"add-remove", "replace-one"}, optional
            Which data sets are neighbours: one person more or less, or one person replaced by
            another. Needed unless the budget states it.
        contribution : int
            The most records that one person has; 1 beside `by`.
        by : array_like, shape (n,), optional
            The group of each record, for one number in each of `groups`. One entry of the budget
            pays for all: each person is in at most `at_most` of them.
        groups : iterable, optional
            The public groups, in the order of the answer; those without a record have 0. By default
            the labels of the type of `by`, if this is categorical.
        person : array_like, shape (n,), optional
            Whose record it is. Records without a person are left out; without it each record is
            of another person.
        at_most : int
            In how many groups a person counts, once in each: the first ones of the person's own
            records.
        budget : Budget, optional
            Charged before the draw.
        label : str
            What the release is called in the budget and in its statement; public.

        Returns
        -------
        Released
            An integer, which may be negative, with its noise, interval, entry and promise; beside
            `by` the number of persons in each group, shape (G,).

        Raises
        ------
        ValueError
            If an argument is out of range; the message names every problem.
        BudgetExceededError
            If the budget does not allow it; nothing is drawn.
        """
        asked = ReleaseRequest(epsilon, delta, relation, budget, self._entropy, label)
        grouping = Grouping(by, groups, person, at_most)
        if by is None:
            return count(records, contribution, grouping, asked)
        return grouped_count(records, contribution, grouping, asked)

    def histogram(
        self,
        values: ArrayLike,
        *,
        edges: ArrayLike | None = None,
        categories: Iterable[Any] | None = None,
        person: ArrayLike | None = None,
        at_most: int = 1,
        epsilon: float,
        delta: float = 0.0,
        relation: str | None = None,
        budget: Budget | None = None,
        label: str = "",
    ) -> Released:
        """Private numbers of records by cell; each person has one record.

        With neither edges nor categories and with delta above 0 the categories are those of the
        data, and only counts above a threshold are named, which hides that a person has a category
        of the person's own (`dpnoise.releases.aggregates`).

        Parameters
        ----------
        values : array_like, shape (n,)
            The records; those in no cell are left out, and so is what is no number beside edges.
        edges : array_like of float, shape (K + 1,), optional
            Public ends of the cells, rising; the last cell has both of its ends.
        categories : iterable, optional
            Public labels, in the place of edges.
        person : array_like, shape (n,), optional
            For unknown categories: whose record it is; without it each is of another person.
            (For known ones `release.count(by=values, groups=categories, person=...)`.)
        at_most : int
            For unknown categories: in how many a person counts, once in each, in the order of the
            person's own records.
        epsilon, delta : float
            The budget of this release.
        relation : {"add-remove", "replace-one"}, optional
            Which data sets are neighbours: one person more or less, or one person replaced by
            another. Needed unless the budget states it.
        budget : Budget, optional
            Charged before the draw.
        label : str
            What the release is called in the budget and in its statement; public.

        Returns
        -------
        Released
            Integers, shape (K,), with their noise, intervals, entry and promise, and with edges or
            categories. For a Series, the integers are a Series of its name, by category or by
            interval (of which the last has its right end too). For unknown categories those that
            are named, sorted, with their `threshold`; intervals are for the noise before this
            choice.

        Raises
        ------
        ValueError
            If an argument is out of range; the message names every problem.
        BudgetExceededError
            If the budget does not allow it; nothing is drawn.
        """
        asked = ReleaseRequest(epsilon, delta, relation, budget, self._entropy, label)
        if edges is None and categories is None and delta != 0.0:
            return unknown_histogram(values, person, at_most, asked)
        return histogram(values, edges, categories, Grouping(None, None, person, at_most), asked)

    def sum(
        self,
        values: ArrayLike,
        *,
        bounds: tuple[float, float],
        by: ArrayLike | None = None,
        groups: Iterable[Any] | None = None,
        person: ArrayLike | None = None,
        at_most: int = 1,
        epsilon: float,
        delta: float = 0.0,
        relation: str | None = None,
        budget: Budget | None = None,
        label: str = "",
    ) -> Released:
        """A private sum of bounded values, exact but for the noise.

        Parameters
        ----------
        values : array_like of float, shape (n,)
            One of each person; clamped to the bounds, whatever its size. What is no number, such as
            NaN, None or a text, counts as the lower bound.
        bounds : tuple of float
            Public lower and upper bound, beside `by` of what a person's records in one group add
            up to.
        by : array_like, shape (n,), optional
            The group of each record, for one number in each of `groups`. One entry of the budget
            pays for all: each person is in at most `at_most` of them.
        groups : iterable, optional
            The public groups, in the order of the answer; those without a record have 0. By default
            the labels of the type of `by`, if this is categorical.
        person : array_like, shape (n,), optional
            Whose record it is. Records without a person are left out; without it each record is
            of another person.
        at_most : int
            In how many groups a person counts: the first ones of the person's own records, which
            are added up in each.
        epsilon, delta : float
            The budget of this release.
        relation : {"add-remove", "replace-one"}, optional
            Which data sets are neighbours: one person more or less, or one person replaced by
            another. Needed unless the budget states it.
        budget : Budget, optional
            Charged before the draw.
        label : str
            What the release is called in the budget and in its statement; public.

        Returns
        -------
        Released
            A float with its noise, interval, entry and promise; beside `by` a number for each
            group, shape (G,), integers if `values` have a type of integers and so have the bounds,
            which are then, with 0, at most 2^30 apart.

        Raises
        ------
        ValueError
            If an argument is out of range; the message names every problem.
        BudgetExceededError
            If the budget does not allow it; nothing is drawn.
        """
        asked = ReleaseRequest(epsilon, delta, relation, budget, self._entropy, label)
        grouping = Grouping(by, groups, person, at_most)
        if by is None:
            return total(values, bounds, grouping, asked, mean=False)
        return grouped_sum(values, bounds, grouping, asked, mean=False)

    def mean(
        self,
        values: ArrayLike,
        *,
        bounds: tuple[float, float],
        by: ArrayLike | None = None,
        groups: Iterable[Any] | None = None,
        person: ArrayLike | None = None,
        at_most: int = 1,
        epsilon: float,
        delta: float = 0.0,
        relation: str | None = None,
        budget: Budget | None = None,
        label: str = "",
    ) -> Released:
        """A private mean of bounded values, their number being public, or means of groups.

        Parameters
        ----------
        values : array_like of float, shape (n,)
            One of each person; clamped to the bounds, whatever its size. What is no number, such as
            NaN, None or a text, counts as the lower bound.
        bounds : tuple of float
            Public lower and upper bound, beside `by` of what a person's records in one group add
            up to.
        by : array_like, shape (n,), optional
            The group of each record, for one number in each of `groups`. One entry of the budget
            pays for all: each person is in at most `at_most` of them.
        groups : iterable, optional
            The public groups, in the order of the answer; those without a record have 0. By default
            the labels of the type of `by`, if this is categorical.
        person : array_like, shape (n,), optional
            Whose record it is. Records without a person are left out; without it each record is
            of another person.
        at_most : int
            In how many groups a person counts: the first ones of the person's own records, which
            are added up in each.
        epsilon, delta : float
            The budget of this release.
        relation : {"replace-one"}, optional
            Which data sets are neighbours: one person is replaced by another, which keeps the
            number. Needed unless the budget states it. Beside `by` either relation.
        budget : Budget, optional
            Charged before the draw.
        label : str
            What the release is called in the budget and in its statement; public.

        Returns
        -------
        Released
            A float with its noise, interval, entry and promise; beside `by` the mean over the
            persons of each group, shape (G,): a quotient of a noisy sum and a noisy count.

        Raises
        ------
        ValueError
            If an argument is out of range; the message names every problem.
        BudgetExceededError
            If the budget does not allow it; nothing is drawn.
        """
        asked = ReleaseRequest(epsilon, delta, relation, budget, self._entropy, label)
        grouping = Grouping(by, groups, person, at_most)
        if by is None:
            return total(values, bounds, grouping, asked, mean=True)
        return grouped_sum(values, bounds, grouping, asked, mean=True)

    def quantile(
        self,
        values: ArrayLike,
        q: float,
        *,
        bounds: tuple[float, float],
        epsilon: float,
        relation: str | None = None,
        budget: Budget | None = None,
        label: str = "",
    ) -> Released:
        """A private quantile by the exponential mechanism on 16,385 public points.

        Parameters
        ----------
        values : array_like of float, shape (n,)
            One of each person; clamped to the bounds, whatever its size. What is no number, such as
            NaN, None or a text, counts as the lower bound.
        q : float
            From 0 to 1; 0.5 for the median.
        bounds : tuple of float
            Public lower and upper bound.
        epsilon : float
            The budget of this release; delta is 0.
        relation : {"add-remove", "replace-one"}, optional
            Which data sets are neighbours: one person more or less, or one person replaced by
            another. Needed unless the budget states it.
        budget : Budget, optional
            Charged before the draw.
        label : str
            What the release is called in the budget and in its statement; public.

        Returns
        -------
        Released
            One of the points, with its entry and promise and without an interval: what errs is the
            rank.

        Raises
        ------
        ValueError
            If an argument is out of range; the message names every problem.
        BudgetExceededError
            If the budget does not allow it; nothing is drawn.
        """
        asked = ReleaseRequest(epsilon, 0.0, relation, budget, self._entropy, label)
        return quantile(values, q, bounds, asked)


release = Release()
