"""Values with exact noise: the public `release`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpnoise._results import labelled_like
from dpnoise._validation import Problems
from dpnoise.mechanisms.compare import Comparison
from dpnoise.noise.exact import Entropy
from dpnoise.releases.aggregates import count, histogram, quantile, total
from dpnoise.releases.answers import ReleaseRequest
from dpnoise.releases.groups import Grouping, grouped_count, grouped_sum
from dpnoise.releases.linear import linear
from dpnoise.releases.released import release_found
from dpnoise.releases.sums import prepared
from dpnoise.releases.unknown import unknown_histogram

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from dpnoise.mechanisms.noise import Mechanism
    from dpnoise.privacy.odometer.budget import Budget
    from dpnoise.releases.linear import ReleasedWorkload
    from dpnoise.releases.released import Released


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
        if hasattr(noise, "spending") or isinstance(noise, Comparison):
            return release_found(
                values, noise, grid=grid, budget=budget, label=label, entropy=self._entropy
            )
        problems = Problems("release")
        expected = "none beside noise alone, which states no sensitivity (pass what best found)"
        problems.require(budget is None, "budget", expected, budget)
        problems.require(label == "", "label", expected, label)
        drawn = prepared(problems, values, noise, grid)(self._entropy)
        return labelled_like(values, drawn)

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
        return linear(
            x, found, non_negative=non_negative, budget=budget, label=label, entropy=self._entropy
        )

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
        of the person's own (`dpnoise.releases.unknown`).

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
