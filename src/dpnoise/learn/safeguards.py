"""Safeguards of every private fit: its price, values that never show, and uses that are warned of.

Conversion of data to numbers neither warns nor fails for the value of one record. A missing entry
of pandas (NA, NaT), an integer or fraction beyond all floats, a signalling NaN or a complex number
in a column of objects, or a number in extended precision beyond all doubles, would otherwise raise
or warn for one record and not for another: a release without noise. (Warnings are for the caller to
switch off, with `numpy.errstate`, as the fits do: under `numpy.seterr(all="raise")` an underflow
shows as well.)

Warnings of uses that void or weaken the guarantee depend on settings, public sizes and the kinds of
the steps of a pipeline, never on data.

A fit is charged to its `Budget` before its noise is drawn, a grid search as a whole.
"""

from __future__ import annotations

import inspect
import math
import traceback
import warnings
from dataclasses import dataclass, replace
from numbers import Complex, Real
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import numpy as np

from dpnoise._validation import Problems, is_integer
from dpnoise.privacy.odometer.budget import Budget
from dpnoise.privacy.odometer.ledger import Ledger, guaranteed
from dpnoise.sensitivity.relation import REPLACE_ONE

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array

_ODD = {"O", "c"}  # types that one entry can make of a whole column
_REFUSED = str, bytes, list, tuple, dict, set, np.ndarray  # text and nested data are no numbers
_MOST = 10**6  # candidates or folds of a grid search


class PrivacyLeakWarning(UserWarning):
    """Warning that something beside a private estimator reads the data without protection."""


class LargeDeltaWarning(UserWarning):
    """Warning of a delta above 1/N.

    Publishing whole records, each with probability delta, is (0, delta)-DP: with a delta above
    1/N one record is published on average.
    """


class RepeatedFitsWarning(UserWarning):
    """Warning that a private estimator is fitted by a search or cross-validation.

    Each fit spends its epsilon again, and scores and the choice among settings read the data
    without noise: no budget covers them (`grid_search_price`).
    """


_REPEATING = (
    "sklearn.model_selection",
    "sklearn.ensemble",
    "sklearn.multiclass",
    "sklearn.multioutput",
    "sklearn.calibration",
    "sklearn.feature_selection",
    "sklearn.semi_supervised",
)


def warn_of_repeated_fits(estimator: object, *, stacklevel: int) -> None:
    """Warning where a caller fits the estimator as one of many, as `GridSearchCV` does."""
    for frame, _ in traceback.walk_stack(inspect.currentframe()):
        module = str(frame.f_globals.get("__name__", ""))
        if module.startswith(_REPEATING):
            message = (
                f"{type(estimator).__name__}: fitted by {'.'.join(module.split('.')[:2])} as one "
                "of several: each fit spends its epsilon again, and scores and choices made from "
                "them read the data without noise. Give it a budget=, which every fit is charged "
                "to, and see dpnoise.learn.grid_search_price"
            )
            warnings.warn(message, RepeatedFitsWarning, stacklevel=stacklevel)
            return


def warn_of_large_delta(
    subject: str, delta: float, samples: int, name: str, *, stacklevel: int
) -> None:
    """Warning where delta is above one in a public number of samples, called `name`."""
    if delta * samples > 1.0:
        message = (
            f"{subject}: delta={delta:g} is above 1/{name} = {1.0 / samples:.3g}: publishing whole "
            "records, each with probability delta, would satisfy it. Choose a delta far below"
        )
        warnings.warn(message, LargeDeltaWarning, stacklevel=stacklevel + 1)


class SeededNoiseWarning(UserWarning):
    """Warning that a private release draws its noise from a seed or generator of the caller.

    Whoever knows the seed, or learns the state of the generator from other draws, can draw the
    noise again and subtract it. A generator seeded by the operating system cannot be told from
    another one, so that every `random_state` but None warns.
    """


def noise_generator(
    problems: Problems,
    random_state: int | np.random.Generator | None,
    epsilon: float,
    *,
    stacklevel: int = 4,
) -> np.random.Generator:
    """Random generator of the noise, once all settings have been checked.

    Raises a ValueError for what `problems` holds and for a bad `random_state`. None is a generator
    seeded by the operating system; anything else warns of `SeededNoiseWarning`, unless epsilon is
    infinite and there is no noise. `stacklevel` leads to the line that called the release.
    """
    try:
        rng = np.random.default_rng(random_state)
    except (TypeError, ValueError):
        rng = np.random.default_rng()  # never used: the problem is raised below
        expected = "None, a non-negative integer or a numpy.random.Generator"
        problems.require(False, "random_state", expected, random_state)
    problems.raise_if_any()
    if random_state is not None and epsilon != np.inf:
        message = (
            f"{problems.subject}: noise from a given random_state is not private: whoever knows "
            "the seed or the generator's state can subtract it. Leave random_state out except for "
            "tests and simulations on public data"
        )
        warnings.warn(message, SeededNoiseWarning, stacklevel=stacklevel)
    return rng


def convert_with_nan(convert: Callable[[object], Array], data: object) -> Array:
    """Numbers that `convert` makes of data, with NaN in place of the entries that have no float.

    `convert` raises where it meets such an entry. Whatever else it cannot read, such as text or an
    array of complex numbers, is left to the error that it raises. A masked array is refused,
    ValueError.
    """
    refuse_mask(data)
    if _kinds(data) & _ODD:
        return convert(_numbers(data))
    try:
        return convert(data)
    except (TypeError, OverflowError):  # missing entries of nullable columns
        if isinstance(data, np.ndarray):
            raise
        return convert(_numbers(data))


def real_numbers(data: object) -> Array:
    """An array of doubles; TypeError for an array of complex numbers."""
    found = np.asarray(data)
    if found.dtype.kind == "c":
        raise TypeError("complex numbers")
    return found.astype(np.float64)


def as_target(data: Any) -> Any:  # noqa: ANN401
    """A target as it is; as objects where one entry made NumPy or pandas take all for complex."""
    array = isinstance(data, np.ndarray)
    return data if array or np.asarray(data).dtype.kind != "c" else np.array(list(data), object)


def _kinds(data: Any) -> set[str]:  # noqa: ANN401
    """The kinds of the types of an array, of a list as an array, or of the columns of pandas."""
    if isinstance(data, np.ndarray):
        return {data.dtype.kind} - {"c"}  # not of one entry
    types = getattr(data, "dtypes", getattr(data, "dtype", None))
    if types is None:
        try:
            return {np.asarray(data).dtype.kind}
        except ValueError:  # rows of different lengths
            return set()
    return {getattr(one, "kind", "O") for one in np.atleast_1d(np.asarray(types, dtype=object))}


def _numbers(data: Any) -> Any:  # noqa: ANN401
    """The data with NaN for entries that have no float; as it is where it is no table."""
    if hasattr(data, "map"):  # of pandas
        return data.map(_number)
    entries = np.asarray(data, dtype=object)
    return np.frompyfunc(_number, 1, 1)(entries) if entries.ndim in {1, 2} else data


def refuse_mask(data: object) -> None:
    """A ValueError that shows no value if data have a mask, below which values would be used."""
    problems = Problems("fit")
    problems.unmasked("data", data)
    problems.raise_if_any()


def _number(entry: object) -> object:
    """A float, NaN for whatever has none; text and nested data as they are."""
    if isinstance(entry, _REFUSED):
        return entry
    if isinstance(entry, Complex) and not isinstance(entry, Real):
        entry = entry.real if entry.imag == 0 else math.nan
    try:
        return float(entry)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan


class _Charged(Protocol):
    """An estimator that knows what its fit costs."""

    budget: Budget | None

    def spending(self) -> Ledger:
        """What the fit costs."""


def check_budget_setting(problems: Problems, budget: object, epsilon: float) -> None:
    """Record of what is wrong with the setting `budget`."""
    good = budget is None or isinstance(budget, Budget)
    problems.require(good, "budget", "a dpnoise.Budget or None", budget)
    free = budget is not None and np.ndim(epsilon) == 0 and epsilon == math.inf
    problems.require(not free, "epsilon", "a finite number beside a budget", epsilon)


def charge(estimator: _Charged) -> None:
    """Charge a fit whose noise is known to the estimator's budget, if it has one."""
    if estimator.budget is not None:
        estimator.budget.spend(estimator)


def refuse_unfitted(estimator: object) -> NoReturn:
    """ValueError for an estimator without noise of its own."""
    message = (
        f"budget: noise: expected a fitted estimator with finite epsilon, got {estimator!r}, "
        "which is not fitted or has no noise"
    )
    raise ValueError(message)


@dataclass(frozen=True)
class GridSearchPrice:
    """What a grid search with cross-validation spends, for each record.

    Attributes
    ----------
    fits : int
        Fits whose training set holds a given record.
    scores : int
        Scores that a given record enters.
    epsilon, delta : float
        Of one fit.
    score_epsilon : float or None
        Of one score, if scores are released with noise; None if they are not.
    """

    fits: int
    scores: int
    epsilon: float
    delta: float
    score_epsilon: float | None

    @property
    def covers_the_choice(self) -> bool:
        """Whether the best candidate may be published: only if scores are noisy."""
        return self.score_epsilon is not None

    def charge(self, budget: Budget) -> None:
        """Spend everything, or nothing and raise `BudgetExceededError`.

        Parameters
        ----------
        budget : dpnoise.Budget
            With the relation "replace-one" or none yet.

        Raises
        ------
        ValueError
            If the budget has another relation.
        BudgetExceededError
            If the budget does not allow it; nothing is recorded.
        """
        budget.spend(self)

    def spending(self) -> Ledger:
        """What all fits, and all noisy scores, cost a `Budget`."""
        total = Ledger().plus(guaranteed(self.epsilon, self.delta), self.fits)
        if self.score_epsilon is not None:
            total = total.plus(guaranteed(self.score_epsilon, 0.0), self.scores)
        return replace(total, relation=REPLACE_ONE)


def grid_search_price(
    *,
    candidates: int,
    folds: int,
    epsilon: float,
    delta: float,
    refit: bool = True,
    score_epsilon: float | None = None,
) -> GridSearchPrice:
    """Price of a grid search over private estimators, such as by `GridSearchCV`.

    Parameters
    ----------
    candidates : int
        Settings that are tried, from 1 to 1e6.
    folds : int
        Of the cross-validation, from 2 to 1e6; each record is in one test set.
    epsilon, delta : float
        Of one fit, the largest among the candidates.
    refit : bool
        Whether the best candidate is fitted to all records in the end.
    score_epsilon : float, optional
        Of each score, if the choice is made from scores with noise. `GridSearchCV` adds none: its
        choice, and `cv_results_`, are then not private at any price.

    Returns
    -------
    GridSearchPrice
        Which says how many fits and scores a record enters, and can be charged to a Budget, whose
        account is that of the composition.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Proved, for neighbouring data sets that differ by the replacement of one record and folds that
    do not depend on the values: the record is in the training sets of all folds but one, so that
    candidates x (folds - 1) fits depend on it, and one more by `refit`; the others are the same
    for both data sets. The scores of one fold, one for each candidate, read it directly. Settings
    may be chosen by earlier noisy results, the budgets of fits and scores may not.

    Examples
    --------
    >>> from dpnoise import Budget
    >>> from dpnoise.learn import grid_search_price
    >>> price = grid_search_price(candidates=6, folds=5, epsilon=0.1, delta=1e-8)
    >>> price.fits, price.scores, price.covers_the_choice
    (25, 6, False)
    >>> budget = Budget(epsilon=3.0, delta=1e-6, relation="replace-one")
    >>> price.charge(budget)
    >>> round(budget.epsilon_of(), 2)  # 25 times 0.1, and less by the account
    2.09
    """
    problems = Problems("grid search")
    for name, value, fewest in (("candidates", candidates, 1), ("folds", folds, 2)):
        good = is_integer(value) and fewest <= value <= _MOST
        problems.require(good, name, f"a whole number from {fewest} to {_MOST}", value)
    problems.number("epsilon", epsilon, low=0.0, high=700.0)
    problems.number("delta", delta, low=0.0, high=1.0, open_high=True)
    problems.require(isinstance(refit, bool), "refit", "True or False", refit)
    if score_epsilon is not None:
        problems.number("score_epsilon", score_epsilon, low=0.0, high=700.0)
    problems.raise_if_any()
    fits = int(candidates) * (int(folds) - 1) + int(refit)
    score = None if score_epsilon is None else float(score_epsilon)
    return GridSearchPrice(fits, int(candidates), float(epsilon), float(delta), score)
