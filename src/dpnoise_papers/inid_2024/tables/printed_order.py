"""What printed accuracies say about the noise behind one of them.

Less noise is taken to have the higher accuracy, unless two accuracies differ by no more than some
`slack`. Runs of Table IV of inid-2024 break this order by `largest_inversion` at least; how far
apart two runs with equal noise may be, the paper does not say.
"""

from __future__ import annotations

import math

_TIE = 1e-9  # the same noise, but for rounding


def largest_inversion(accuracies: dict[str, dict[float, float]]) -> float:
    """Most by which an accuracy exceeds one with less noise in the same column, or 0.

    `accuracies` holds those of each column by the multiplier of their noise; NaN is none.
    """
    gaps = [
        much - little
        for column in accuracies.values()
        for more, much in column.items()
        for less, little in column.items()
        if more > less
    ]
    return max([0.0, *(gap for gap in gaps if math.isfinite(gap))])


def multiplier_range(
    accuracy: float, gaussian: dict[float, float], slack: float
) -> tuple[float, float]:
    """Gaussian multipliers between which an accuracy places noise.

    Above those of accuracies that are higher by more than `slack`, below those of accuracies that
    are lower by more. `gaussian` holds accuracies by multiplier. NaN where there is none.
    """
    if not any(math.isfinite(accuracy - other) for other in gaussian.values()):
        return math.nan, math.nan
    above = [noise for noise, other in gaussian.items() if other > accuracy + slack]
    below = [noise for noise, other in gaussian.items() if other < accuracy - slack]
    return max(above, default=0.0), min(below, default=math.inf)


def excluded(ends: tuple[float, float], bounds: tuple[float, float]) -> float:
    """1.0 if noise between two multipliers is outside of a `multiplier_range`, else 0.0.

    NaN if there is no such range. The ends belong to both.
    """
    low, high = bounds
    if math.isnan(low):
        return math.nan
    return float(ends[1] < low * (1.0 - _TIE) or ends[0] > high * (1.0 + _TIE))
