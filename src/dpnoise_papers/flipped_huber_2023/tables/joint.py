"""Joint noise and the floor beside the independent noise of the paper, over the dimension.

The paper adds independent noise to coordinates each of which may change by 1 at once (a box). Noise
with a joint density is private for the same box, and a floor bounds what any additive noise needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from dpnoise.mechanisms.compare import compare
from dpnoise.mechanisms.noise import IndependentNoise
from dpnoise.sensitivity.balls import LInf
from dpnoise_papers.progress import counted

if TYPE_CHECKING:
    from dpnoise.mechanisms.noise import Mechanism
    from dpnoise_papers.flipped_huber_2023.settings import JointNoise

INDEPENDENT = {"gaussian": "gaussian", "laplace": "laplace", "flipped-huber": "flipped_huber"}
_BUDGET = ["dimension", "epsilon", "delta"]


def best_joint(K: int, epsilon: float, delta: float) -> Mechanism:
    """Best joint noise found without slow searches if each of K coordinates may change by 1."""
    table = compare(LInf(1.0, of=K), epsilon=epsilon, delta=delta, exhaustive=False)
    return next(row for row in table if not isinstance(row.noise, IndependentNoise))


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
        found = best_joint(*(case[column] for column in _BUDGET))
        variances = {name: case[column] for name, column in INDEPENDENT.items()}
        for name, variance in (variances | {"joint": found.variance}).items():
            kind = found.name if name == "joint" else ""
            budget = [case[column] for column in _BUDGET]
            rows.append((*budget, name, kind, variance, found.floor))
    table = pd.DataFrame(rows, columns=[*_BUDGET, "mechanism", "noise", "variance", "floor"])
    table["floor"] = table.sort_values("dimension").groupby(["epsilon", "delta"])["floor"].cummax()
    return table.assign(over_floor=table["variance"] / table["floor"])
