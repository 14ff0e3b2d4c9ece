"""Joint noise and the floor beside the mechanisms of the papers, and all mechanisms by budget.

*Joint noise*. The papers add independent noise to the coordinates, each of which may change by its
sensitivity at once (a box), or a staircase that knows the sum of the sensitivities alone. Noise
with a joint density is private for the same box; `dpnoise.optimality.floor` bounds what any
additive noise needs. `best_joint` is what `dpnoise.mechanisms` finds among mechanisms whose
coordinates depend on each other, for the same sensitivities and budget; mechanisms that take long
and hardly gain are left out, so it is the best found.

*Which noise*: the variance of every mechanism over a grid of K, epsilon and delta, for two
sensitivity sets. One person changes all K numbers by at most 1 each ('all'), or at most three of
them ('three'; up to K = 3 that is the same, and left out). Mechanisms are those that
`dpnoise.compare` tries without its slow searches, as `dpnoise.best` does by default. Bounds are
rounded to the safe side, as the shortest decimals that stand for them: 1e-6 is 1e-6.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from dpnoise.mechanisms.compare import compare
from dpnoise.mechanisms.noise import IndependentNoise
from dpnoise.sensitivity.at_most import AtMost
from dpnoise.sensitivity.balls import LInf
from dpnoise_papers.inid_2024.tables.profiles import profile
from dpnoise_papers.progress import counted

if TYPE_CHECKING:
    from dpnoise.sensitivity.base import Sensitivity
    from dpnoise_papers.flipped_huber_2023.settings import JointNoise, WhichNoise
    from dpnoise_papers.inid_2024.settings import Errors, JointRows

COLUMNS = ("joint", "joint_delta", "joint_error", "floor")

# ---- flipped-huber-2023
INDEPENDENT = {"gaussian": "gaussian", "laplace": "laplace", "flipped-huber": "flipped_huber"}
_BUDGET = ["dimension", "epsilon", "delta"]
_PRINTED = ["mechanism", "method", "variance"]

# ---- inid-2024
_SETTING = ["item", "profile", "dimension", "epsilon", "delta"]
_OF_PAPER = ("staircase", "laplace-iid", "laplace-optimal")  # the rows of Table II
_JOINT, _FLOOR = "box-staircase", "lower-bound"
GRID = ["set", "dimension", "epsilon", "delta", "mechanism", "variance", "certified", "floor"]
DIGITS = 8  # of the bounds, fewer than a result table keeps: not rounded again
FEW = 3  # numbers that one person changes in the set 'three'


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


def flipped_huber_rows(
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


def inid_rows(  # noqa: PLR0917  (settings of one item each)
    settings: JointRows,
    figure_1a: Errors,
    figure_1b: Errors,
    figure_3a: Errors,
    figure_3b: Errors,
    figure_4: Errors,
    *tables: pd.DataFrame,
) -> pd.DataFrame:
    """Joint noise and the floor beside errors of Figures 1, 3 and 4 and Table II.

    Columns item, profile ('-' in Table II), dimension, epsilon, delta, mechanism, measure ('mse' or
    'mae'), error, joint (which noise), joint_delta (certified), joint_error (in the same measure),
    floor (for any additive noise), over_joint (error over that of joint noise) and
    joint_over_floor. `tables` are those of the items, Table II last. Errors are those of the paper,
    sums over the coordinates: mean squared in the figures, mean absolute in Table II.
    """
    figures = {
        "figure-1a": figure_1a, "figure-1b": figure_1b, "figure-3a": figure_3a,
        "figure-3b": figure_3b, "figure-4": figure_4,
    }  # fmt: skip
    parts = [
        _of_figure(table, settings.points).assign(item=name, norm=section.norm)
        for (name, section), table in zip(figures.items(), tables, strict=False)
    ]
    rows = pd.concat(parts, ignore_index=True)
    beside = []
    for row in counted(rows.to_dict("records"), "rows"):
        K = row["dimension"]
        lambdas = profile(row["profile"], K, row["norm"])
        found = best_joint(tuple(lambdas.tolist()), row["epsilon"], row["delta"])
        beside.append((found.name, found.delta, K * found.error, K * found.floor))
    rows = rows.join(pd.DataFrame(beside, columns=list(COLUMNS)))
    table = pd.concat([rows, _of_table_2(tables[-1])], ignore_index=True)
    return with_ratios(table[[*_SETTING, "mechanism", "measure", "error", *COLUMNS]], "error")


def _of_figure(table: pd.DataFrame, points: int) -> pd.DataFrame:
    """Rows of a figure at some points along its axis, evenly spread from the first to the last."""
    along = "epsilon" if len(set(table["dimension"])) == 1 else "dimension"
    grid = np.unique(table[along])
    places = np.round(np.linspace(0, len(grid) - 1, min(points, len(grid)))).astype(int)
    rows = table[table[along].isin(grid[places])].reset_index(drop=True)
    return rows.assign(
        mechanism=rows["noise"] + "-" + rows["scheme"], measure="mse", error=rows["mse"]
    )


def _of_table_2(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of Table II, which has the best joint noise for its error and the floor itself."""
    known = table.set_index(["mechanism", "epsilon"])["mae"]
    rows = []
    for row in table[table["mechanism"].isin(_OF_PAPER)].to_dict("records"):
        epsilon = row["epsilon"]
        budget = ("table-2", "-", 2, epsilon, 0.0)
        beside = ("staircase in the norm", 0.0, known[_JOINT, epsilon], known[_FLOOR, epsilon])
        rows.append((*budget, row["mechanism"], "mae", row["mae"], *beside))
    return pd.DataFrame(rows, columns=[*_SETTING, "mechanism", "measure", "error", *COLUMNS])


def sensitivity_of(name: str, dimension: int) -> Sensitivity:
    """The sensitivity set called 'all' or 'three', of K coordinates."""
    return LInf(1.0, of=dimension) if name == "all" else AtMost(FEW, of=dimension)


def which_noise(settings: WhichNoise) -> pd.DataFrame:
    """Mechanisms of each point of the grid, best first.

    Columns set, dimension, epsilon, delta, mechanism, variance (per coordinate), certified (a
    proved upper bound on the mechanism's delta, rounded up) and floor (no additive noise has less
    variance; rounded down).
    """
    cases = [
        (name, K, epsilon, delta)
        for name in ("all", "three")
        for K in sorted(settings.dimensions)
        if name == "all" or K > FEW
        for epsilon in sorted(settings.epsilons)
        for delta in sorted(settings.deltas)
    ]
    rows = []
    for name, K, epsilon, delta in counted(cases, "budgets"):
        sensitivity = sensitivity_of(name, K)
        for row in compare(sensitivity, epsilon=epsilon, delta=delta, exhaustive=False):
            bounds = upper(row.delta, DIGITS), lower(row.floor, DIGITS)
            rows.append((name, K, epsilon, delta, row.name, row.variance, *bounds))
    return pd.DataFrame(rows, columns=GRID)


def upper(x: float, digits: int) -> float:
    """A number in some significant digits, rounded up."""
    return _rounded(x, digits, ROUND_CEILING)


def lower(x: float, digits: int) -> float:
    """A number in some significant digits, rounded down."""
    return _rounded(x, digits, ROUND_FLOOR)


def _rounded(x: float, digits: int, rounding: str) -> float:
    return float(Context(prec=digits, rounding=rounding).create_decimal(Decimal(repr(float(x)))))
