"""Warnings of uses of a private estimator that void or weaken its guarantee.

They depend on settings, public sizes and the kinds of the steps of a pipeline, never on data.
"""

from __future__ import annotations

import warnings


class PrivacyLeakWarning(UserWarning):
    """Warning that something beside a private estimator reads the data without protection."""


class LargeDeltaWarning(UserWarning):
    """Warning of a delta above 1/N.

    Publishing whole records, each with probability delta, is (0, delta)-DP: with a delta above
    1/N one record is published on average.
    """


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
