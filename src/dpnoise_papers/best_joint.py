"""Best joint noise for a box of neighbours, and the floor under any noise: rows beside a paper's.

The papers add independent noise to the coordinates. `best_joint` is what `dpnoise.mechanisms`
finds among mechanisms whose coordinates depend on each other, for the same sensitivities and
budget; mechanisms that take long and hardly gain are left out, so it is the best found.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise.mechanisms.compare import compare
from dpnoise.mechanisms.noise import IndependentNoise

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("joint", "joint_delta", "joint_error", "floor")


class BestJoint(NamedTuple):
    """Best joint noise found, in means over the coordinates.

    `error` is the variance; `floor` bounds that of any additive noise from below, 0 where no bound
    is known.
    """

    name: str
    delta: float
    error: float
    floor: float


@cache
def best_joint(sensitivities: tuple[float, ...], epsilon: float, delta: float) -> BestJoint:
    """Best joint noise for the box |d_i| <= sensitivities_i at (epsilon, delta)."""
    table = compare(np.array(sensitivities), epsilon=epsilon, delta=delta, exhaustive=False)
    row = next(row for row in table if not isinstance(row.noise, IndependentNoise))
    return BestJoint(row.name, row.delta, row.error, row.floor)


def with_ratios(table: pd.DataFrame, error: str) -> pd.DataFrame:
    """Table with over_joint (column `error` over joint_error) and joint_over_floor."""
    over = table[error] / table["joint_error"]
    return table.assign(over_joint=over, joint_over_floor=table["joint_error"] / table["floor"])
