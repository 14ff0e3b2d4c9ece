"""Every mechanism for a sensitivity set, and the best of them: the public `compare` and `best`.

A new mechanism is one more entry of the registry, `METHODS` of `dpnoise.mechanisms.methods`.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from dpnoise._results import EqualByValue, html_table
from dpnoise._validation import Problems
from dpnoise.joint.noise import RadialNoise
from dpnoise.joint.vectors import CorrelatedGaussian
from dpnoise.mechanisms.integers import (
    INTEGER_METHODS,
    SUMMED_METHODS,
    RoundedNoise,
)
from dpnoise.mechanisms.methods import METHOD_FAMILIES, METHODS
from dpnoise.mechanisms.noise import Mechanism, frame_of, header_of
from dpnoise.mechanisms.repeated import (
    LEVEL,
    Account,
    first_of,
    gaussian_rows,
    pure_rows,
    read_accuracy,
)
from dpnoise.mechanisms.request import SUBJECT, Request, read_request

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike

    from dpnoise.joint.base import RealVectorNoise
    from dpnoise.mechanisms.request import Method
    from dpnoise.privacy.odometer.budget import Budget
    from dpnoise.sensitivity.base import Sensitivity

_SLOW = "to save time, as it takes long or gains little; exhaustive=True includes it"
_TIE = 1e-4  # relative difference of errors that count as equal
_FAR = 1.25  # times the least variance
_WIDE, _NARROW = 100.0 / 12.0, 0.3  # variances that rounding changes by 1 %, and may lessen
_WHOLE = 1.01  # times the least error, for noise on the integers where answers are whole numbers
_ROUNDED = "{}, rounded"


def _compared(
    request: Request, exhaustive: bool, family: str | None, name: str | None = None
) -> Comparison:
    """Every mechanism that applies, of one family or one name if asked for.

    RuntimeError if there is none.
    """
    every = exhaustive or family is not None or name is not None

    def asked(methods: Iterable[Method]) -> list[Method]:
        some = [method for method in methods if family in (None, method.family)]
        return [one for one in some if name in (None, one.name, _ROUNDED.format(one.name))]

    rows, left_out = _found(request, asked(METHODS), every=every)
    if request.discrete:
        more = SUMMED_METHODS if request.sensitivity.preimage else INTEGER_METHODS
        rivals = [] if request.integer else rows
        discrete, others = _found(request, asked(more), every=every, rivals=rivals)
        if request.integer:
            left_out = {_ROUNDED.format(name): why for name, why in left_out.items()}
        some = rows if every or request.integer else _worth_rounding(rows, discrete)
        rounded = [_rounded(row) for row in some]
        left_out |= others
        rows = [*([] if request.integer else rows), *discrete, *rounded]
    if not rows:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        reasons = reasons or f"{family or 'none'} does not apply to this set and budget"
        message = (
            f"noise for {request.sensitivity!r}: no mechanism reaches epsilon="
            f"{request.epsilon!r}, delta={request.delta!r} ({reasons})"
        )
        raise RuntimeError(message)
    return Comparison(tuple(_ranked(rows)), left_out, request)


def _found(
    request: Request, methods: Iterable[Method], *, every: bool, rivals: Sequence[Mechanism] = ()
) -> tuple[list[Mechanism], dict[str, str]]:
    """What mechanisms find for a request, and why others find nothing.

    Unless `every` of them is tried, those are left out that are slow, or whose likes among the
    rivals and what is found before are far from the best of these.
    """
    rows: list[Mechanism] = []
    left_out = {}
    for method in methods:
        if not every and (_is_beaten(method, [*rivals, *rows]) or method.slow(request)):
            left_out[method.name] = _SLOW
            continue
        try:
            found = method.find(request)
        except (ValueError, RuntimeError, ArithmeticError) as error:
            left_out[method.name] = str(error)
            continue
        if found is None:
            continue
        row = Mechanism(method.name, found.noise, found.delta, method.reference, request)
        if found.delta <= request.delta and math.isfinite(row.variance):
            rows.append(row)
        else:
            left_out[method.name] = f"not certified: delta {found.delta:g}"
    return rows, left_out


def _is_beaten(method: Method, rivals: Sequence[Mechanism]) -> bool:
    """Whether mechanisms that a method is like need far more variance than the best one.

    Noise on the integers is like real noise, with a variance that is less by at most 1.
    """
    own = [row.variance for row in rivals if row.name in method.like]
    if not own:
        return False
    more = 1.0 if method in INTEGER_METHODS else 0.0
    return min(own) > _FAR * min(row.variance for row in rivals) + more


def _worth_rounding(rows: Sequence[Mechanism], discrete: Sequence[Mechanism]) -> list[Mechanism]:
    """The row of the least error, if its noise may be nearly as good or better when it is rounded.

    Rounding adds 1/12 to the variance of wide noise. It takes some away from narrow noise, and from
    noise whose density has steps at the right places.
    """
    if not rows:
        return []
    first = min(rows, key=lambda row: row.error)
    if any(row.error <= first.error for row in discrete):
        return []
    variance = min(x for x in first.variances.tolist() if x > 0.0)
    smooth = isinstance(first.noise, RadialNoise | CorrelatedGaussian)
    return [] if smooth and _NARROW < variance < _WIDE else [first]


def _rounded(row: Mechanism) -> Mechanism:
    """A mechanism with its noise rounded."""
    noise = RoundedNoise(cast("RealVectorNoise", row.noise))
    return replace(row, name=_ROUNDED.format(row.name), noise=noise)


def _ranked(rows: list[Mechanism]) -> list[Mechanism]:
    """Rows by their error, those that are within 1e-4 of the first of them by their delta.

    Beside the same delta discrete noise comes first and real noise last.
    """

    def place(row: Mechanism) -> tuple[float, bool, bool]:
        return row.delta, not row.whole, isinstance(row.noise, RoundedNoise)

    groups: list[list[Mechanism]] = []
    for row in sorted(rows, key=lambda row: row.error):
        if groups and row.error <= (1.0 + _TIE) * groups[-1][0].error:
            groups[-1].append(row)
        else:
            groups.append([row])
    return [row for group in groups for row in sorted(group, key=place)]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(EqualByValue):
    """Mechanisms for one request, best first; its `repr` is the table.

    Attributes
    ----------
    rows : tuple of Mechanism
        The mechanisms that apply.
    left_out : dict of str
        Why a mechanism that applies is not among them, by its name.
    request : Request
        What was asked.
    """

    rows: tuple[Mechanism, ...]
    left_out: dict[str, str] = field(compare=False)
    request: Request

    def __iter__(self) -> Iterator[Mechanism]:
        """The rows, best first."""
        return iter(self.rows)

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.rows)

    def __getitem__(self, key: int | str) -> Mechanism:
        """A row by its place or by the name of its mechanism."""
        if isinstance(key, str):
            found = [row for row in self.rows if row.name == key]
            if not found:
                names = ", ".join(row.name for row in self.rows)
                message = f"comparison: name: expected one of {names}, got {key!r}"
                raise KeyError(message)
            return found[0]
        return self.rows[key]

    def __repr__(self) -> str:
        """The table as plain text."""
        lines = [header_of(self.request), *(row.cells() for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = [self._title()]
        for cells in lines:
            first, *middle, last = cells
            inner = [cell.rjust(n) for cell, n in zip(middle, widths[1:-1], strict=True)]
            text.append("  ".join([first.ljust(widths[0]), *inner, last]))
        return "\n".join([*text, *self._notes()])

    def _repr_html_(self) -> str:
        """The table for notebooks."""
        rows = [row.cells() for row in self.rows]
        return html_table(self._title(), header_of(self.request), rows, self._notes())

    def _title(self) -> str:
        """What was asked, and what the numbers are."""
        request = self.request
        budget = f"epsilon = {request.epsilon:g}, delta = {request.delta:g}"
        budget += f" for {request.times} releases together" * (request.times > 1)
        return f"K = {request.dimension}, {budget}: best {request.error} first; errors are means"

    def _notes(self) -> list[str]:
        """What stands below the table."""
        best = ": the first row is optimal" if self.rows[0].optimal else ""
        floor = f"floor: {self.request.floor_words} {self.floor:.4g}{best}"
        notes = [floor, f"promise: {self.promise}"]
        for reason in dict.fromkeys(self.left_out.values()):
            names = ", ".join(name for name, why in self.left_out.items() if why == reason)
            notes.append(f"left out: {names} ({reason})")
        return notes

    @property
    def promise(self) -> str:
        """The budget that every row keeps, in one sentence, with the relation of the set."""
        request = self.request
        return request.sensitivity.promise(request.epsilon, request.delta, request.times)

    @property
    def floor(self) -> float:
        """Proved lower bound on the error of any additive noise, as of the rows."""
        return self.request.floor

    def to_frame(self) -> Any:  # noqa: ANN401  (of pandas)
        """Errors, floor, delta and reference by the name of the mechanism.

        Returns
        -------
        pandas.DataFrame
            A row for each mechanism, best first; the errors are means over the coordinates.

        Raises
        ------
        ModuleNotFoundError
            Without pandas.

        Examples
        --------
        >>> from dpnoise import compare
        >>> table = compare([1.0, 0.5], epsilon=1.0, exhaustive=False).to_frame()
        >>> bool(table.loc["Laplace", "std"] ** 2 >= table["floor"].iloc[0])
        True
        """
        return frame_of(self.rows)


def compare(
    sensitivity: float | ArrayLike | Sensitivity,
    *,
    epsilon: float,
    delta: float = 0.0,
    error: str = "variance",
    weights: ArrayLike | None = None,
    relation: str | None = None,
    family: str | None = None,
    integer: bool | None = None,
    exhaustive: bool = True,
    times: int = 1,
) -> Comparison:
    """Table of every mechanism for a sensitivity set, best first.

    Parameters
    ----------
    sensitivity : float, array_like of shape (K,), or Sensitivity
        What one person can change: a number for a query with one value, a vector for the box
        |d_i| <= lambda_i, or a set such as `L2(1.0, of=10)`; at most 1e6 coordinates.
    epsilon : float
        Non-negative, at most 1e4.
    delta : float
        0, or from 1e-300 to below 1; positive if epsilon is 0.
    error : {"variance", "mean-abs", "half-width", "max", "norm"}
        The order of the table: the mean over the coordinates of the variance, of E|X_i| (the
        summed absolute error over K), or of the half-width of the interval that holds 95 % of the
        noise of one coordinate; or the expected largest |X_i|, or the expected norm of X whose
        unit ball is the set. Gaussian and Laplace scales and staircases in the norm are chosen to
        make it small, all other noise is of minimum variance. Among errors within 1e-4 of each
        other the smaller delta comes first.
    weights : array_like of float, shape (K,), optional
        Of the coordinates in all means, from 1e-100 to 1e100; ones by default. Of the |X_i| in
        the largest, relative to the largest weight. None for the norm.
    relation : {"add-remove", "replace-one"}, optional
        Which data sets are neighbours, for a number or vector, or a set that does not state it: one
        person more or less, or one person replaced by another.
    family : str, optional
        Mechanisms of this family only, as for `best`.
    integer : bool, optional
        Whether the noise is to be on the integers: discrete noise of each coordinate, or real noise
        rounded. With True answers are integers, sizes of the set are whole numbers, and only its
        integers count. With False the noise is real. By default noise of either kind is in the
        table where all shares are whole numbers (`Counts`), else real noise.
    exhaustive : bool, default True
        Whether to include mechanisms that take a second or more, or gain next to nothing. Which
        these are depends on the request alone; those left out are named in `left_out`.
    times : int, default 1
        How many releases, each with fresh noise, the guarantee is for together, as for `best`.

    Returns
    -------
    Comparison
        Rows with `name`, `noise`, `variance`, `std`, `mean_abs`, `half_width`, `delta`, `floor`,
        `ratio`, `promise` and `reference`, best first; `repr` is the table as text, `to_frame()`
        as a data frame of pandas.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names every problem.
    RuntimeError
        If no mechanism reaches the budget; the message says why, for each.

    Notes
    -----
    Proved: each row keeps (epsilon, delta) for the set, in the model of real-valued noise, and
    its variance is exact. At delta = 0 a staircase in the norm of the set has the least norm of
    all additive noise, hence the least summed absolute error for an l1 ball and the least largest
    error for equal sensitivities (docs/floor.md); `optimal` says where that is so. Coordinates
    that cannot change are released without noise and count in the means with 0. With `integer` the
    noise is certified for the integer points of the set, or
    before it is rounded, which keeps every guarantee; the variance of rounded joint noise is that
    before rounding and 1/12, off by at most 1/6 (docs/integers.md).

    References
    ----------
    Hardt & Talwar, "On the geometry of differential privacy" (STOC 2010); the others are named in
    the rows.

    Examples
    --------
    >>> from dpnoise import compare
    >>> who = {"relation": "replace-one"}
    >>> table = compare([1.0, 0.5, 0.1], epsilon=1.0, exhaustive=False, **who)
    >>> table[0].error <= table["Laplace"].error
    True
    """
    asked = (sensitivity, epsilon, delta, error, weights, relation, family, integer, times)
    request = read_request(*asked, METHOD_FAMILIES)
    if request.times > 1:
        return _all_repeated(request, exhaustive, family)
    return _compared(request, exhaustive, family)


def best(
    sensitivity: float | ArrayLike | Sensitivity,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    error: str = "variance",
    weights: ArrayLike | None = None,
    relation: str | None = None,
    family: str | None = None,
    integer: bool | None = None,
    exhaustive: bool = False,
    times: int = 1,
    within: float | None = None,
    level: float = LEVEL,
    simultaneous: bool = False,
) -> Mechanism:
    """Noise of minimum error for a sensitivity set among all mechanisms of the package.

    Parameters
    ----------
    sensitivity : float, array_like of shape (K,), or Sensitivity
        What one person can change: a number for a query with one value, a vector for the box
        |d_i| <= lambda_i, or a set such as `L2(1.0, of=10)`; at most 1e6 coordinates.
    epsilon : float
        Non-negative, at most 1e4.
    delta : float
        0, or from 1e-300 to below 1; positive if epsilon is 0.
    error : {"variance", "mean-abs", "half-width", "max", "norm"}
        What is to be small, as for `compare`.
    weights : array_like of float, shape (K,), optional
        Of the coordinates in all means, from 1e-100 to 1e100; ones by default. None for "norm".
    relation : {"add-remove", "replace-one"}, optional
        Which data sets are neighbours, for a number or vector, or a set that does not state it: one
        person more or less, or one person replaced by another.
    family : str, optional
        Mechanisms of one family only, all of them: "k-norm", "norm-staircase" or
        "truncated-k-norm" (joint noise), "blocks" (joint noise by block),
        "correlated-gaussian" (for counts, ellipsoids and workloads), "cells" (for workloads), or
        "gaussian", "laplace", "staircase", "flipped-huber", "offset-symmetric-gaussian",
        "truncated-laplace", "subbotin" or "huber" (independent coordinates).
    integer : bool, optional
        Whether the noise is to be on the integers: discrete noise of each coordinate, or real noise
        rounded. With True answers are integers, sizes of the set are whole numbers, and only its
        integers count. With False the noise is real. By default it is on the integers where all
        shares are whole numbers (`Counts`) and that costs at most 1 % of the error, with
        `exhaustive` nothing; else real.
    exhaustive : bool, default False
        Whether to include mechanisms that take seconds, as `compare` does. Where both were
        measured the variance without them was larger by less than 1 % (docs/best.md).
    times : int, default 1
        How many releases of such answers, each with fresh noise of the distribution found, from 1
        to 1e6: the guarantee is for all of them together, and each is charged to a `Budget` as one
        of them. With delta this is mostly Gaussian noise, with a standard deviation that grows with
        the root of the number.
    within : float, optional
        In the place of `epsilon`: how far noise may move a number, positive. Among all mechanisms
        that are compared, the noise of the least epsilon, to 1e-6 of it, is found.
    level : float, default 0.95
        Beside `within`: the probability with which each number is within it, above 0, below 1.
    simultaneous : bool, default False
        Beside `within`: whether it is the probability for all numbers together, by the union bound.

    Returns
    -------
    Mechanism
        With attributes noise, variance (mean over the coordinates, with the weights), variances
        (of each, shape (K,)), the same of std, mean_abs and half_width, delta (certified), promise
        (what is guaranteed, in one sentence), floor (no additive noise has a smaller error for
        this set), ratio (of the error to the floor), optimal (whether that is 1), reference, name
        and left_out; `noise.rvs(size, random_state)` draws vectors, shape (*size, K).

    Raises
    ------
    ValueError
        If an argument is out of range; the message names every problem.
    RuntimeError
        If no mechanism reaches the budget; the message says why, for each.

    References
    ----------
    Hardt & Talwar, "On the geometry of differential privacy" (STOC 2010); `reference` names that
    of the mechanism found.

    Examples
    --------
    >>> import numpy as np
    >>> from dpnoise import best
    >>> found = best(np.ones(10), epsilon=1.0, relation="add-remove")
    >>> found.name, found.delta, round(found.variance, 9)
    ('K-norm', 0.0, 44.0)
    >>> found.promise.split(", ")[0]
    'one person more or less'
    >>> largest = best(np.ones(10), epsilon=1.0, error="max")
    >>> largest.optimal, round(largest.error, 3), f"{largest.ratio:.3f}"
    (True, 10.0, '1.000')
    >>> found.noise.rvs(random_state=1).shape
    (10,)
    >>> best([1.0, 0.5], epsilon=1.0, family="laplace").name
    'Laplace'
    >>> counts = best([1, 1, 4], epsilon=1.0, relation="add-remove", integer=True)
    >>> counts.noise.rvs(random_state=1).dtype
    dtype('int64')
    >>> weekly = best(np.ones(10), epsilon=1.0, delta=1e-6, relation="add-remove", times=52)
    >>> weekly.promise.split(", ")[3].split(":")[0]
    'released 52 times'
    >>> near = best(1.0, within=2.0, level=0.95, family="laplace", relation="add-remove")
    >>> round(near.epsilon, 5), round(float(near.interval(0.95)[1][0]), 5)
    (1.49787, 2.0)
    """
    problems = Problems(SUBJECT)
    accuracy = read_accuracy(problems, epsilon, within, level, simultaneous)
    asked = (sensitivity, 1.0 if epsilon is None else epsilon, delta, error, weights, relation)
    request = read_request(*asked, family, integer, times, METHOD_FAMILIES, problems)
    if accuracy:

        def rows(one: Request, name: str | None) -> Sequence[Mechanism]:
            if one.times > 1:
                return (noise_for_several(one, exhaustive, family),)
            table = _compared(one, exhaustive, family, name)
            return [replace(row, left_out=table.left_out) for row in table]

        return accuracy.find(request, rows)
    if request.times > 1:
        return noise_for_several(request, exhaustive, family)
    return _best(request, exhaustive, family)


def _best(request: Request, exhaustive: bool, family: str | None) -> Mechanism:
    """The first row of a table, or nearly as good noise on the integers."""
    table = _compared(request, exhaustive, family)
    bar = table[0].error * (1.0 if exhaustive else _WHOLE)
    whole = (row for row in table if row.whole and row.error <= bar)
    found = next(whole, table[0]) if request.discrete else table[0]
    return replace(found, left_out=table.left_out)


def noise_for_several(
    request: Request, exhaustive: bool, family: str | None, budget: Budget | None = None
) -> Mechanism:
    """Noise for several releases together, which fill a new budget or what is left of one."""
    account = Account.of_budget(budget, request.times) if budget else Account.of(request)

    def without_delta(one: Request) -> list[Mechanism]:
        try:
            first = _best(one, exhaustive, family)
            return [first, *_compared(one, exhaustive, family)]
        except RuntimeError:
            return []

    rows = gaussian_rows(request, account, family)
    found = first_of(request, [*rows, *pure_rows(request, account, rows, without_delta)])
    if budget is not None:
        found = replace(found, request=replace(request, epsilon=account.epsilon_of(found)))
    return account.certified(found)


def _all_repeated(request: Request, exhaustive: bool, family: str | None) -> Comparison:
    """The best noise of every mechanism for several releases together."""
    account = Account.of(request)
    rows = list(gaussian_rows(request, account, family))
    left_out: dict[str, str] = {}
    with suppress(RuntimeError):  # no noise without delta
        first = _compared(account.shared(request), exhaustive, family)
        for name in [row.name for row in first]:

            def named(one: Request, name: str = name) -> list[Mechanism]:
                with suppress(RuntimeError):
                    table = _compared(one, exhaustive, family, name)
                    return [row for row in table if row.name == name]
                return []

            found = pure_rows(request, account, (), named)
            rows += [min(found, key=lambda row: row.error)] if found else []
            if not found:
                left_out[name] = "no account of several releases is known for it"
        left_out |= first.left_out
    first_of(request, rows)
    return Comparison(tuple(_ranked([account.certified(row) for row in rows])), left_out, request)
