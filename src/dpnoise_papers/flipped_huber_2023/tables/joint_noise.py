"""Joint noise beside the mechanisms of flipped-huber-2023, which the paper does not consider.

The paper adds independent noise to K coordinates, each of which may change by 1 between neighbours
(a box). Noise with a joint density is private for the same box; `dpnoise.optimality.floor` bounds
what any additive noise needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from dpnoise_papers.best_joint import COLUMNS, best_joint, with_ratios
from dpnoise_papers.progress import counted

if TYPE_CHECKING:
    from dpnoise_papers.flipped_huber_2023.settings import JointNoise

INDEPENDENT = {"gaussian": "gaussian", "laplace": "laplace", "flipped-huber": "flipped_huber"}
_BUDGET = ["dimension", "epsilon", "delta"]
_PRINTED = ["mechanism", "method", "variance"]


def joint_noise(settings: JointNoise, gain: pd.DataFrame) -> pd.DataFrame:
    """Variance per coordinate of each mechanism over the dimension.

    Columns dimension, epsilon, delta, mechanism (those of `gain`, and 'joint'), noise (which joint
    noise), variance, floor (a lower bound for any additive noise) and over_floor (their ratio).
    Any k of K coordinates are noise for k coordinates, so the floor for K is at least those for
    fewer; the largest up to K counts.
    """
    rows = []
    cases = [
        case
        for case in gain.to_dict("records")
        if (case["epsilon"], case["delta"]) in settings.budgets
    ]
    for case in counted(cases, "budgets"):
        found = best_joint((1.0,) * case["dimension"], case["epsilon"], case["delta"])
        variances = {name: case[column] for name, column in INDEPENDENT.items()}
        for name, variance in (variances | {"joint": found.error}).items():
            kind = found.name if name == "joint" else ""
            budget = [case[column] for column in _BUDGET]
            rows.append((*budget, name, kind, variance, found.floor))
    table = pd.DataFrame(rows, columns=[*_BUDGET, "mechanism", "noise", "variance", "floor"])
    table["floor"] = table.sort_values("dimension").groupby(["epsilon", "delta"])["floor"].cummax()
    return table.assign(over_floor=table["variance"] / table["floor"])


def joint_rows(
    figure_4a: pd.DataFrame, figure_4b: pd.DataFrame, table_2: pd.DataFrame
) -> pd.DataFrame:
    """Joint noise and the floor beside each variance of Figure 4 and Table II.

    Columns item, dimension, epsilon, delta, mechanism, method, variance (all of that item's
    table), joint (which noise), joint_delta (certified), joint_error (its variance per coordinate),
    floor, over_joint (variance over that of joint noise) and joint_over_floor.
    """
    items = {"figure-4a": figure_4a, "figure-4b": figure_4b, "table-2": table_2}
    parts = [table[[*_BUDGET, *_PRINTED]].assign(item=name) for name, table in items.items()]
    table = pd.concat(parts, ignore_index=True)
    budgets = table[_BUDGET].drop_duplicates()
    found = {
        (K, epsilon, delta): best_joint((1.0,) * K, epsilon, delta)
        for K, epsilon, delta in counted(list(budgets.itertuples(index=False)), "budgets")
    }
    beside = [
        (one.name, one.delta, one.error, one.floor)
        for one in (found[budget] for budget in table[_BUDGET].itertuples(index=False, name=None))
    ]
    table = table.join(pd.DataFrame(beside, columns=list(COLUMNS)))
    return with_ratios(table[["item", *_BUDGET, *_PRINTED, *COLUMNS]], "variance")
