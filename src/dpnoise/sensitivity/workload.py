"""Workloads: linear questions W x about one table of cells x, of which a person is in few.

The answers on neighbouring data sets differ by W e, where e is what one person changes in the
cells: the set `Counts`. So the true differences are finitely many: the columns of W, their
differences under replace-one, and sums of up to m columns where a person is in up to m cells. They
are listed as the columns of a sparse matrix.

Noise for the cells is noise for the answers: W N hides the differences W e as N hides the e, by
post-processing. The other way round, all that is asked of noise for the answers depends on the Gram
matrix W'W alone (`dpnoise.optimality.factorisation`), however many questions there are.

The convex hull of the columns is not measured: no volume and no uniform points are given. Noise in
its norm is that of single cells, summed, where the columns are independent.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np
from scipy import sparse

from dpnoise._frames import libraries
from dpnoise._validation import Problems, floats, is_integer
from dpnoise.noise.exact import Fraction, above
from dpnoise.sensitivity.balls import Box
from dpnoise.sensitivity.base import LARGEST, SMALLEST, Sensitivity, check_size
from dpnoise.sensitivity.counts import Counts
from dpnoise.sensitivity.differences import ListedDifferences
from dpnoise.sensitivity.relation import ADD_REMOVE

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from dpnoise._types import Array, IntArray
    from dpnoise.noise.exact import Weights

_SUBJECT = "workload"
MOST_CELLS, _MOST_QUESTIONS = 4096, 10**6
_BYTES, _SHARE = 16, 0.5  # of an entry of a sparse matrix; of the memory there is
_CHUNK = 2**22  # entries of a dense part of W
_FAR = 10**18  # bytes, where the system does not say what memory there is


def _check_memory(problems: Problems, entries: int, cells: int) -> None:
    """Record of a problem if a sparse W and its Gram matrix take more memory than there is."""
    free = _FAR
    if hasattr(os, "sysconf") and "SC_AVPHYS_PAGES" in os.sysconf_names:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    needed = _BYTES * entries + 8 * 6 * cells**2
    expected = f"one that fits half of the free memory, {_SHARE * free / 2**30:.3g} GiB"
    got = f"{needed / 2**30:.3g} GiB for {entries} entries of W and {cells} cells"
    if needed > _SHARE * free:
        problems.add(f"W: expected {expected}, got {got}")


def _is_table(values: object) -> bool:
    """Whether it is a data frame of pandas, which is not imported for the question."""
    return "pandas" in libraries(values) and hasattr(values, "columns")


def _check_cells(problems: Problems, name: str, value: object) -> bool:
    """Record of a problem unless a value can be a number of cells."""
    good = is_integer(value) and 1 <= value <= MOST_CELLS
    return problems.require(good, name, f"an integer from 1 to {MOST_CELLS}", value)


def _read(problems: Problems, W: Any) -> Any:  # noqa: ANN401  (dense or sparse)
    """W as a sparse matrix by rows, its entries in order; problems recorded."""
    if _is_table(W):
        W = W.to_numpy()
    matrix: Any = W
    by_rows: bool = sparse.issparse(W)
    if by_rows:
        if problems.require(matrix.ndim == 2, "shape of W", "two axes", matrix.shape):
            if not problems.require(matrix.dtype.kind in "iufb", "W", "real numbers", matrix.dtype):
                return None
            floats(problems, "W", matrix.data.astype(float), low=-LARGEST, high=LARGEST)
    else:
        W = floats(problems, "W", W, low=-LARGEST, high=LARGEST)
    good = W.ndim == 2 and min(W.shape) > 0
    expected = "(K, n), K questions about n cells, both at least 1"
    if not problems.require(good, "shape of W", expected, W.shape) or problems.found:
        return None
    K, n = W.shape
    problems.require(K <= _MOST_QUESTIONS, "K", f"at most {_MOST_QUESTIONS:g} questions", K)
    _check_cells(problems, "n", n)
    found = sparse.csr_array(W, dtype=float, copy=True)
    found.sum_duplicates()
    found.eliminate_zeros()
    tiny = np.abs(found.data) < SMALLEST
    problems.require(not tiny.any(), "W", f"entries of 0 or from {SMALLEST:g}", "smaller ones")
    for axis, what, why in (
        (1, "questions (rows)", "leave out what no cell counts in"),
        (0, "cells (columns)", "leave out cells that no question asks about"),
    ):
        empty = np.flatnonzero(np.asarray(abs(found).sum(axis=axis)).ravel() == 0.0)
        shown = f"zeros alone in {empty.size} of them, the first is number {empty[:1].tolist()}"
        problems.require(empty.size == 0, f"{what} of W", f"an entry that is not 0 ({why})", shown)
    return found


@dataclass(frozen=True, repr=False, eq=False)
class Workload(Sensitivity):
    """Linear questions W x about one table of cells, in few of which each person counts.

    Parameters
    ----------
    W : array_like or sparse array of float, shape (K, n)
        A row for each question, a column for each cell: the answer is the sum of the W_ij x_j, x_j
        the number of persons in cell j. n is at most 4,096, K at most 1e6.
    relation : {"add-remove", "replace-one"}
        Which data sets are neighbours: one person more or less, or one person replaced by another.
        There is no default.
    at_most : int, default 1
        The number of cells that a person can be in, at most once in each.
    exactly : bool, default False
        Whether everybody is in exactly `at_most` cells, as in a histogram; needs "replace-one".

    Raises
    ------
    ValueError
        If an argument is out of range, or the differences are more than are listed (4,096); the
        message names every problem.

    Notes
    -----
    The true differences are listed: the n columns of W for "add-remove" with `at_most=1`, the
    columns and their n (n - 1) / 2 differences for "replace-one" (with `exactly` the differences
    alone), and sums of up to `at_most` columns beyond. So replace-one is for up to 90 cells.

    References
    ----------
    Li, Miklau, Hay, McGregor & Rastogi, "The matrix mechanism" (VLDB Journal 2015).

    Examples
    --------
    >>> from dpnoise import Workload
    >>> weeks = Workload.prefix_sums(4, relation="add-remove")
    >>> weeks.questions.toarray().astype(int).tolist()
    [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]
    >>> weeks.l2, weeks.differences.holds([[1, 1, 1, 1], [1, 1, 0, 0]]).tolist()
    (2.0, [True, False])
    """

    W: Any
    at_most: int = field(default=1, kw_only=True)
    exactly: bool = field(default=False, kw_only=True)

    signed = True
    attains = False  # its sums are rounded up

    def __post_init__(self) -> None:
        """Check of the parameters; W is stored as a sparse matrix."""
        problems = Problems(_SUBJECT)
        W = _read(problems, self.W)
        if W is not None:
            try:
                Counts(self.at_most, W.shape[1], exactly=self.exactly, relation=self.relation)
            except ValueError as wrong:
                text = str(wrong).partition(": ")[2].replace("m: ", "at_most: ", 1)
                problems.add(text)
            _check_memory(problems, W.nnz, W.shape[1])
        problems.raise_if_any()
        vars(self).update(W=W, at_most=int(self.at_most))
        expected = "few enough cells that their differences can be listed (4096 at most)"
        problems.require(self.cells.vertices() is not None, "n and at_most", expected, self)
        problems.raise_if_any()
        expected = "questions of which one person changes an answer"
        problems.require(bool(np.any(self.box)), "W", expected, "none, as cells count alike")
        problems.raise_if_any()

    @classmethod
    def prefix_sums(cls, n: int, **people: Any) -> Self:  # noqa: ANN401  (arguments of the class)
        """Cumulative counts: the sums of the first 1, 2, ..., n cells.

        Parameters
        ----------
        n : int
            The number of cells, at most 4,096.
        **people
            `at_most`, `exactly` and `relation`, as for `Workload`.

        Returns
        -------
        Workload
            n questions about n cells.

        Raises
        ------
        ValueError
            If an argument is out of range or the memory does not suffice.

        Examples
        --------
        >>> from dpnoise import Workload
        >>> Workload.prefix_sums(52, relation="add-remove").dimension
        52
        """
        problems = Problems(_SUBJECT)
        if _check_cells(problems, "n", n):
            _check_memory(problems, n * (n + 1) // 2, n)
        problems.raise_if_any()
        starts = np.cumsum(np.arange(n + 1))
        columns = np.arange(starts[-1]) - np.repeat(starts[:-1], np.arange(1, n + 1))
        return cls(_ones(starts, columns, n), **people)

    @classmethod
    def ranges(cls, n: int, **people: Any) -> Self:  # noqa: ANN401
        """All ranges of an axis: the sums of the cells i to j, for all i <= j.

        Parameters
        ----------
        n : int
            The number of cells.
        **people
            `at_most`, `exactly` and `relation`, as for `Workload`.

        Returns
        -------
        Workload
            n (n + 1) / 2 questions about n cells, by their first cell, then by their last.

        Raises
        ------
        ValueError
            If an argument is out of range or the memory does not suffice.

        Examples
        --------
        >>> from dpnoise import Workload
        >>> Workload.ranges(3, relation="add-remove").questions.toarray().astype(int).tolist()
        [[1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, 0], [0, 1, 1], [0, 0, 1]]
        """
        problems = Problems(_SUBJECT)
        if _check_cells(problems, "n", n):
            number = n * (n + 1) // 2
            few, expected = number <= _MOST_QUESTIONS, f"at most {_MOST_QUESTIONS:g} ranges"
            problems.require(few, "n", expected, number)
            _check_memory(problems, n * (n + 1) * (n + 2) // 6, n)
        problems.raise_if_any()
        first, last = np.triu_indices(n)
        sizes = last - first + 1
        starts = np.concatenate([[0], np.cumsum(sizes)])
        columns = np.arange(starts[-1]) - np.repeat(starts[:-1] - first, sizes)
        return cls(_ones(starts, columns, n), **people)

    @classmethod
    def marginals(cls, shape: Sequence[int], ways: Any, **people: Any) -> Self:  # noqa: ANN401
        """All marginal tables of some attributes: counts by their values, summed over all others.

        Parameters
        ----------
        shape : sequence of int
            The number of values of each attribute; the cells are in the order of `numpy.ravel`.
        ways : int or sequence of int
            How many attributes a table has, or several such numbers; 0 is the total.
        **people
            `at_most`, `exactly` and `relation`, as for `Workload`.

        Returns
        -------
        Workload
            The tables one after the other, each in the order of `numpy.ravel`; tables in the order
            of `itertools.combinations` of the attributes.

        Raises
        ------
        ValueError
            If an argument is out of range or the memory does not suffice.

        Examples
        --------
        >>> from dpnoise import Workload
        >>> Workload.marginals((2, 3), 1, relation="add-remove").questions.toarray().sum(axis=1)
        array([3., 3., 2., 2., 2.])
        """
        problems = Problems(_SUBJECT)
        sizes: list[Any] = list(shape) if isinstance(shape, list | tuple) else [shape]
        good = bool(sizes) and all(is_integer(k) and k >= 1 for k in sizes)
        problems.require(good, "shape", "positive integers, one for each attribute", shape)
        numbers: list[Any] = list(ways) if isinstance(ways, list | tuple) else [ways]
        known = bool(numbers) and all(is_integer(w) and 0 <= w <= len(sizes) for w in numbers)
        problems.require(known, "ways", f"integers from 0 to {len(sizes)}, the attributes", ways)
        good = good and _check_cells(problems, "cells, the product of shape", math.prod(sizes))
        if good and known:
            tables = sum(math.comb(len(sizes), int(w)) for w in set(numbers))
            _check_memory(problems, tables * math.prod(sizes), math.prod(sizes))
        problems.raise_if_any()
        places = np.indices(tuple(sizes)).reshape(len(sizes), -1)
        parts, n = [], places.shape[1]
        every = [combinations(range(len(sizes)), w) for w in dict.fromkeys(numbers)]
        for axes in chain.from_iterable(every):
            row = np.zeros(n, dtype=np.intp)
            for axis in axes:
                row = row * sizes[axis] + places[axis]
            rows = math.prod(sizes[axis] for axis in axes)
            parts.append(sparse.csr_array((np.ones(n), (row, np.arange(n))), shape=(rows, n)))
        return cls(sparse.vstack(parts), **people)

    @classmethod
    def of(
        cls,
        frame: Any,  # noqa: ANN401  (of pandas)
        *,
        by: Sequence[Hashable],
        ways: int | Sequence[int] = 2,
        **people: Any,  # noqa: ANN401
    ) -> Self:
        """The marginals of some columns of a data frame, whose values are public categories.

        Parameters
        ----------
        frame : pandas.DataFrame
            Its rows are not read, only the categories of its columns: these are published.
        by : sequence of hashable
            The columns, each of the type "category".
        ways : int or sequence of int, default 2
            How many columns a table has, as for `marginals`.
        **people
            `at_most`, `exactly` and `relation`, as for `Workload`.

        Returns
        -------
        Workload
            For the cells `frame.groupby(by, observed=False).size()`.

        Raises
        ------
        ValueError
            If a column is missing or has no stated categories; the message names every problem.

        Examples
        --------
        >>> import pandas as pd
        >>> from dpnoise import Workload
        >>> people = pd.DataFrame({"sex": pd.Categorical(["f", "m", "f"]),
        ...                        "age": pd.Categorical(["old", "old", "young"])})
        >>> Workload.of(people, by=["sex", "age"], ways=1, relation="add-remove").dimension
        4
        """
        problems = Problems(_SUBJECT)
        shape = []
        if problems.require(_is_table(frame), "frame", "a data frame of pandas", type(frame)):
            good = isinstance(by, list | tuple) and len(by) > 0
            problems.require(good, "by", "a list of columns", by)
            for name in by if good else ():
                if problems.require(name in frame.columns, "by", "columns of the frame", name):
                    known: Any = getattr(frame[name].dtype, "categories", None)
                    stated, kind = known is not None, frame[name].dtype
                    words = "public categories, as pandas.Categorical(..., categories=...) states"
                    problems.require(stated, f"column {name!r}", words, kind)
                    shape.append(len(known) if stated else 1)
        problems.raise_if_any()
        return cls.marginals(shape, ways, **people)

    def __eq__(self, other: object) -> bool:
        """Whether the other asks the same questions about people as free."""
        if type(other) is not Workload:
            return NotImplemented
        mine, its = ((x.at_most, x.exactly, x.relation, x.W.shape) for x in (self, other))
        same = mine == its and np.array_equal(self.W.indptr, other.W.indptr)
        same = same and np.array_equal(self.W.indices, other.W.indices)
        return bool(same and np.array_equal(self.W.data, other.W.data))

    def __hash__(self) -> int:
        """A hash of the numbers, of the matrix that of its shape and first entries."""
        first = self.W.indices[:64].tobytes(), self.W.data[:64].tobytes()
        return hash((self.at_most, self.exactly, self.relation, self.W.shape, self.W.nnz, *first))

    def __repr__(self) -> str:
        """The call that makes the set, of W only the shape."""
        more = f", at_most={self.at_most}" * (self.at_most != 1) + ", exactly=True" * self.exactly
        shape = f"<matrix of shape {self.W.shape}>" if hasattr(self.W, "shape") else repr(self.W)
        return f"Workload({shape}{more}, relation={self.relation!r})"

    @property
    def questions(self) -> Any:  # noqa: ANN401  (of SciPy)
        """W as a sparse array, shape (K, n)."""
        return self.W

    @cached_property
    def cells(self) -> Counts:
        """What one person changes in the cells."""
        relation = self.relation
        return Counts(self.at_most, self.W.shape[1], exactly=self.exactly, relation=relation)

    @property
    def preimage(self) -> tuple[Sensitivity, Any]:
        """The set of the cells, and W."""
        return self.cells, self.W

    def _related(self, relation: str | None) -> Self:  # noqa: ARG002  (any but its own is refused)
        """The set itself: its form depends on the relation."""
        return self

    @cached_property
    def changes(self) -> Any:  # noqa: ANN401  (of SciPy)
        """What one person changes in the cells, one column for each difference, shape (n, N)."""
        each: Any = np.asarray(self.cells.vertices())
        if self.cells.relation != ADD_REMOVE:  # of d and -d the one whose first entry is positive
            first = each[np.arange(len(each)), np.argmax(each != 0.0, axis=1)]
            each = np.unique(each * np.sign(first)[:, None], axis=0)
        return sparse.csc_array(each.T)

    @cached_property
    def _columns(self) -> Any:  # noqa: ANN401  (of SciPy)
        """The differences as columns, one of each pair, shape (K, N)."""
        return sparse.csc_array(self.W @ self.changes)

    @cached_property
    def _sizes(self) -> Any:  # noqa: ANN401  (of SciPy)
        """The |d_i| from above, of the columns: what sums of several entries may have lost."""
        found = abs(self._columns)
        if not self._loses:
            return found
        return found + self._loses * self._added

    @cached_property
    def _added(self) -> Any:  # noqa: ANN401  (of SciPy)
        """The columns with all entries of W and all changes taken without a sign."""
        return sparse.csc_array(abs(self.W) @ abs(self.changes))

    @cached_property
    def _loses(self) -> float:
        """The rounding of a sum of entries over their sum; 0 for that of two, as of its result."""
        terms = int(np.max(np.diff(self.changes.indptr)))
        return 2.0**-52 * terms if terms > 2 and not self._is_whole else 0.0

    @cached_property
    def gram(self) -> Array:
        """W'W, shape (n, n)."""
        return self._gram_of(np.ones(self.dimension))

    def weighted_gram(self, weights: Array) -> Array:
        """W' diag(w) W, shape (n, n)."""
        if np.all(weights == weights[0]):
            return self.gram * float(weights[0])
        return self._gram_of(np.sqrt(weights))

    def dense_rows(self) -> Iterator[tuple[slice, Array]]:
        """Some rows of W at a time, and which these are."""
        K, n = self.W.shape
        rows = max(1, _CHUNK // n)
        for k in range(0, K, rows):
            yield slice(k, k + rows), self.W[k : k + rows].toarray()

    def _gram_of(self, factors: Array) -> Array:
        """The Gram matrix of the rows of W times factors."""
        total = np.zeros((self.W.shape[1],) * 2)
        for at, some in self.dense_rows():
            scaled = some * factors[at, None]
            total += scaled.T @ scaled
        return total

    @property
    def _is_whole(self) -> bool:
        """Whether all entries of W are whole numbers of moderate size."""
        data = self.W.data
        return bool(np.all(data == np.rint(data)) and np.max(np.abs(data)) <= 2.0**20)

    @property
    def differences(self) -> ListedDifferences:
        """The columns, their differences or sums."""
        moved = int(np.max(np.diff(self._sizes.indptr)))
        size = float(np.max(self.box))
        K = self.dimension
        return ListedDifferences(K, moved, moved, moved, size, self._is_whole, True, self._columns)

    @property
    def words(self) -> str:
        """What one person changes, in words."""
        K, n = self.W.shape
        return f"{self.cells.words}, the counts being the {n} cells of {K} linear questions"

    @property
    def dimension(self) -> int:
        """The number K of questions."""
        return int(self.W.shape[0])

    @cached_property
    def box(self) -> Array:
        """The largest change of each answer, shape (K,)."""
        if self._loses:
            return self._sizes.max(axis=1).toarray().ravel() * self._up
        parts = [self.cells.support(some) for _, some in self.dense_rows()]
        return np.concatenate(parts) * (1.0 if self._is_whole else self._up)

    @property
    def _up(self) -> float:
        """A factor above the rounding of a sum over all answers."""
        return 1.0 + 2.0**-51 * (self.dimension + 16.0)

    def _sums(self, power: int) -> float:
        """The largest sum of |d_i|^power over the differences, rounded up."""
        total = float(np.max(np.asarray((self._sizes**power).sum(axis=0))))
        return total if self._is_whole and total < 2.0**53 else total * self._up

    @cached_property
    def l1(self) -> float:
        """The largest l1 norm, rounded up."""
        return self._sums(1)

    @cached_property
    def l2(self) -> float:
        """The largest l2 norm, rounded up."""
        root = math.sqrt(self._sums(2))
        return root if root * root == self._sums(2) else root * self._up

    @cached_property
    def extreme_point(self) -> Array:
        """The difference of the largest l2 norm, or a little less of it, shape (K,)."""
        sizes = np.asarray((self._columns**2).sum(axis=0)).ravel()
        at = [int(np.argmax(sizes))]
        found: Array = self._columns[:, at].toarray().ravel()
        lost = self._sizes[:, at].toarray().ravel() - np.abs(found)
        return np.sign(found) * np.maximum(np.abs(found) - 2.0 * lost, 0.0)

    def largest_power_sum(self, weights: Weights, power: int) -> Fraction:
        """The largest sum over the differences, rounded up."""
        if isinstance(weights, Fraction):
            return above(Fraction(self._sums(power)) * weights**power)
        unit = max(weights)
        if unit == 0:
            return Fraction(0)
        each = np.array([float(w / unit) for w in weights])
        terms = sparse.diags_array(each) @ self._sizes
        total = float(np.max(np.asarray((terms**power).sum(axis=0)))) * self._up
        return above(Fraction(total) * unit**power)

    def vertices(self) -> Array | None:
        """The differences, one of each pair, shape (N, K), if they are exact and few."""
        if self._loses or math.prod(self._columns.shape) > _CHUNK:
            return None
        found: Array = self._columns.T.toarray()
        return found

    def restricted(self, coordinates: Sequence[int]) -> Sensitivity:
        """The set itself for all answers in their order, else the box around it."""
        if list(coordinates) == list(range(self.dimension)):
            return self
        return Box(tuple(self.box[list(coordinates)].tolist()), relation=self.relation)

    def _largest_norm_of(self, ball: Sensitivity) -> float:  # noqa: ARG002
        """Infinity: the norms of other sets are not known."""
        return math.inf

    @property
    def flat(self) -> str:  # type: ignore[override]  # empty for most sets
        """Why volumes are not known."""
        return (
            "the hull of the columns of W is not measured; where these are independent, Laplace "
            "noise in its norm is that of 'cells, summed'"
        )

    def _refuse(self) -> NoReturn:
        """Refusal of what needs a volume."""
        self._require_volume()
        raise AssertionError

    log_volume = mean_square = mean_abs = property(_refuse)

    def _sample(self, size: tuple[int, ...], rng: np.random.Generator) -> Array:  # noqa: ARG002
        """Refused: the hull is not measured."""
        self._refuse()

    def _norm(self, x: Array) -> Array:
        """The smallest sum of |u_j| with x = the differences times u, by linear programs."""
        from scipy.optimize import linprog  # noqa: PLC0415 - heavy and rarely needed

        columns = sparse.hstack([self._columns, -self._columns])
        ones = np.ones(columns.shape[1])
        found = np.full(x.shape[:-1], math.inf)
        for place in np.ndindex(found.shape):
            if np.all(np.isfinite(x[place])):
                # ends: what is not solved counts as infinitely far, which is on the safe side
                solved = linprog(ones, A_eq=columns, b_eq=x[place], method="highs")
                found[place] = solved.fun if solved.status == 0 else math.inf
        return found

    def _support(self, a: Array) -> Array:
        """The support function of the cells at W'a."""
        flat = a.reshape(-1, self.dimension)
        found = np.asarray(self.cells.support(flat @ self.W))
        if self._loses:
            share = self._loses + 2.0**-52 * self.dimension
            found = found + share * (np.abs(flat) @ self._added.max(axis=1).toarray().ravel())
        return found.reshape(a.shape[:-1])

    def _scaled(self, factor: float) -> Self:
        """The set of `factor` W."""
        problems = Problems(_SUBJECT)
        check_size(problems, "factor", factor)
        problems.raise_if_any()
        more: Any = {"at_most": self.at_most, "exactly": self.exactly, "relation": self.relation}
        return type(self)(self.W * factor, **more)


def _ones(starts: IntArray, columns: IntArray, n: int) -> Any:  # noqa: ANN401  (of SciPy)
    """The sparse matrix of ones at the given columns, row by row."""
    return sparse.csr_array((np.ones(columns.size), columns, starts), shape=(starts.size - 1, n))
