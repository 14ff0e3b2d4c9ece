"""Safeguards of every private fit: its price, values that never show, and uses that are warned of.

Conversion of data to numbers neither warns nor fails for the value of one record. A missing entry
of pandas (NA, NaT), an integer or fraction beyond all floats, a signalling NaN or a complex number
in a column of objects, or a number in extended precision beyond all doubles, would otherwise raise
or warn for one record and not for another: a release without noise. (Warnings are for the caller to
switch off, with `numpy.errstate`, as the fits do: under `numpy.seterr(all="raise")` an underflow
shows as well.)

Warnings of uses that void or weaken the guarantee depend on settings, public sizes and the kinds of
the steps of a pipeline, never on data.

A fit is charged to its `Budget` before its noise is drawn.
"""

from __future__ import annotations

import inspect
import math
import traceback
import warnings
from numbers import Complex, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise._validation import Problems
from dpnoise.privacy.odometer.budget import Budget

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array
    from dpnoise.privacy.odometer.ledger import Ledger

_ODD = {"O", "c"}  # types that one entry can make of a whole column
_REFUSED = str, bytes, list, tuple, dict, set, np.ndarray  # text and nested data are no numbers


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
    without noise: no budget covers them.
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
                "them read the data without noise, which no budget covers. Give it a budget=, "
                "which every fit is charged to, and choose on public data"
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


class SmallBudgetWarning(UserWarning):
    """Warning that a budget is too small for its number of records and of coefficients."""


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


def check_budget_setting(problems: Problems, budget: object, epsilon: float) -> None:
    """What is wrong with the setting `budget` is recorded."""
    good = budget is None or isinstance(budget, Budget)
    problems.require(good, "budget", "a dpnoise.Budget or None", budget)
    free = budget is not None and np.ndim(epsilon) == 0 and epsilon == math.inf
    problems.require(not free, "epsilon", "a finite number beside a budget", epsilon)


class PrivateFit:
    """An estimator with the setting `budget`, which knows what its fit costs."""

    budget: Budget | None
    privacy_preserving = True
    _cost: Ledger | None = None

    def spending(self) -> Ledger:
        """What the fit costs a `Budget`, by `budget.spend(model)`.

        Raises
        ------
        ValueError
            If the estimator is not fitted, or has an infinite epsilon.
        """
        if self._cost is None:
            message = (
                f"budget: noise: expected a fitted estimator with finite epsilon, got {self!r}, "
                "which is not fitted or has no noise"
            )
            raise ValueError(message)
        return self._cost

    def _charge(self, cost: Ledger) -> None:
        """A fit whose noise is known is charged to the budget, if there is one."""
        self._cost = cost
        if self.budget is not None:
            self.budget.spend(self)
