"""Warnings of uses of a private estimator that void or weaken its guarantee.

They depend on settings, public sizes and the kinds of the steps of a pipeline, never on data.
"""

from __future__ import annotations

import inspect
import traceback
import warnings


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
