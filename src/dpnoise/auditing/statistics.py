"""Statistics of outputs by which two inputs are told apart.

Where densities are known, the log-likelihood ratio is the optimal one (Neyman & Pearson). Otherwise
they are the outputs themselves and one linear discriminant of them all, chosen on outputs
that do not judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array

_LARGEST = 1e300
_FARTHEST = 1e6  # log-likelihood ratio
_DIGITS = 9  # of a log-likelihood ratio: below, constant stretches differ by rounding


@dataclass(frozen=True)
class Statistics:
    """Statistics of outputs of shape (n, d), of shape (n, len(names)), without NaN."""

    names: tuple[str, ...]
    values: Callable[[Array], Array]


def discriminating(runs: tuple[Array, Array]) -> Statistics:
    """Statistics chosen by outputs of shape (n, d) on either input: 3 d + 2 of them.

    Missing or not (d), values (d), a linear discriminant (1), distances of the last d + 1 from
    their medians (d + 1).
    """
    together = np.vstack(runs)
    usual = np.nanmedian(np.where(np.isnan(together).all(axis=0), 0.0, together), axis=0)

    def filled(outputs: Array) -> Array:
        return np.clip(np.where(np.isnan(outputs), usual, outputs), -_LARGEST, _LARGEST)

    centre = filled(together).mean(axis=0)
    spread = np.abs(filled(together) - centre).max(axis=0)
    unit = np.where(spread > 0.0, spread, 1.0)
    scaled = [(filled(part) - centre) / unit for part in runs]
    within = sum(np.cov(part, rowvar=False, ddof=0).reshape(len(unit), -1) for part in scaled)
    apart = scaled[0].mean(axis=0) - scaled[1].mean(axis=0)
    direction = np.linalg.lstsq(within + 1e-9 * np.eye(len(unit)), apart)[0]
    score = ((filled(together) - centre) / unit) @ direction
    middle = np.append(np.median(filled(together), axis=0), np.median(score))

    def statistics(outputs: Array) -> Array:
        values = filled(outputs)
        values = np.column_stack([values, ((values - centre) / unit) @ direction])
        return np.column_stack([np.isnan(outputs), values, np.abs(values - middle)])

    numbers = [f"output {k}" for k in range(len(unit))]
    values = [*numbers, "linear discriminant"]
    far = [f"distance of {name} from its median" for name in values]
    return Statistics((*(f"{name} is missing" for name in numbers), *values, *far), statistics)


def likelihood(noise: Any, shift: Array) -> Statistics:  # noqa: ANN401  (of any family)
    """The log-likelihood ratio of noise around 0 and around `shift`, and the way along the shift.

    `noise` is that of a number (shift of shape (1,)), of vectors, or a sequence for coordinates.
    """
    size = float(np.abs(shift).max())
    way = shift / size / float(np.sum((shift / size) ** 2)) / size if size > 0.0 else shift

    def statistics(outputs: Array) -> Array:
        with np.errstate(invalid="ignore"):
            ratio = log_density(noise, outputs - shift) - log_density(noise, outputs)
        ratio = np.clip(np.where(np.isnan(ratio), 0.0, ratio), -_FARTHEST, _FARTHEST)
        along = np.clip(np.nan_to_num(outputs @ way), -_LARGEST, _LARGEST)
        return np.column_stack([np.round(ratio, _DIGITS), along])

    return Statistics(("log-likelihood ratio", "output along the shift"), statistics)


def log_density(noise: Any, x: Array) -> Array:  # noqa: ANN401  (of any family)
    """The log density, or log probability, of noise at vectors of shape (n, d)."""
    if isinstance(noise, list | tuple):
        each = [log_density(one, x[:, [k]]) for k, one in enumerate(noise)]
        return np.sum(each, axis=0)
    if hasattr(noise, "dimension"):
        return np.asarray(noise.logpdf(x))
    density = noise.logpdf if hasattr(noise, "logpdf") else noise.logpmf
    return np.asarray(density(x[:, 0]))


def of_callable(statistic: Callable[[Array], Any]) -> Statistics:
    """The statistic of a caller, shape (n,), as one column; ValueError if it is not that."""

    def values(outputs: Array) -> Array:
        found = np.asarray(statistic(outputs), dtype=float)
        if found.shape != (len(outputs),) or np.isnan(found).any():
            shape, missing = found.shape, int(np.isnan(found).sum())
            message = (
                f"audit: statistic: expected {len(outputs)} numbers, one for each output, "
                f"got shape {shape} with {missing} NaN"
            )
            raise ValueError(message)
        return found[:, None]

    return Statistics(("statistic",), values)
