"""Figures 5 and 6 of inid-2024 in other orders of the columns.

The paper minimises sum_i sigma_i^2. An error t_i in parameter i raises a smooth objective by
about M_i t_i^2 / 2, so coordinate descent pays sum_i M_i sigma_i^2 instead. Under the budget
sum_i (lambda_i / sigma_i)^2 <= mu^2 that is smallest at sigma_i^2 proportional to
lambda_i / sqrt(M_i) (Cauchy-Schwarz). With C_i proportional to sqrt(M_i) and lambda_i to
C_i / M_i this is sigma_i proportional to lambda_i: SPR, the usual DP-CD.

For C_i proportional to M_i^c the loss of SPR is K sum M^(2c-1), that of the paper's optimal
noise (sum M^c) (sum M^(c-1)). By Chebyshev's inequality for sums SPR loses less exactly if
M^c and M^(c-1) are ordered oppositely, that is for 0 < c < 1.

Cyclic coordinate descent visits the columns in the order of the table that was read, and the
distributions of one data set differ in that order. On raw features, whose M_i lie orders of
magnitude apart, the last coordinates of a pass undo the noise of those before them, so that the
order moves the error of every scheme. The paper does not print its order. Each order gets a search
of its own, on the same trials with the same draws. The first is searched on the whole coarse grid.
The others start from its points whose mean error in the first order is at most `keep` times the
smallest; the last `audit` orders start from all of it again, and say whether a point that was left
out would have won.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from dpnoise._validation import Problems
from dpnoise_papers.descent.harness import gain_and_error, in_threads, mean_and_error
from dpnoise_papers.inid_2024.learning_settings import searched_in
from dpnoise_papers.inid_2024.tables.improved_descent import (
    Tuning,
    choose,
    draw,
    errors_at,
    make_task,
    noise_ratios,
)
from dpnoise_papers.seeds import generator

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dpnoise._types import Array
    from dpnoise_papers.data.sets import Dataset
    from dpnoise_papers.inid_2024.learning_settings import (
        DescentOrders,
        ImprovedDescent,
    )
    from dpnoise_papers.inid_2024.tables.improved_descent import Flags

SCHEMES = {"spr": ("spr", 1.0), "spr-half": ("spr", 0.5), "optimal": ("optimal", 1.0)}
ORDERS_COLUMNS = [
    "dataset", "features", "order", "columns", "scheme", "protocol", "passes", "repetitions",
    "error", "error_se", "gain", "gain_se", "step", "clip", "edge", "audited", "missed",
]  # fmt: skip
SPREAD_COLUMNS = [
    "dataset", "features", "scheme", "protocol", "passes", "order", "orders", "repetitions",
    "error", "error_se", "error_least", "error_greatest",
    "gain", "gain_se", "gain_least", "gain_greatest",
]  # fmt: skip


class _Done(NamedTuple):
    """The search of one order and scheme, and its errors by passes, shape (trials,)."""

    found: Tuning
    errors: dict[int, Array]
    audited: bool
    missed: bool


def orders_of(
    dataset: Dataset, named: Mapping[str, Sequence[str]], count: int, seed: int
) -> dict[str, tuple[int, ...]]:
    """Return the orders of the columns that are tried, by name, as coordinates.

    ValueError naming every documented order that does not hold each column once.

    Parameters
    ----------
    named : mapping
        Documented orders, each a sequence of all column names.
    count : int
        How many random permutations follow, 'random-1' and so on.
    """
    names = list(dataset.feature_names)
    problems = Problems(f"orders of {dataset.name}")
    for key, columns in named.items():
        ok = sorted(columns) == sorted(names)
        problems.require(ok, key, f"each of {', '.join(names)} once", list(columns))
    problems.raise_if_any()
    orders = {key: tuple(names.index(name) for name in named[key]) for key in named}
    for place in range(1, count + 1):
        drawn = generator(seed, "descent-orders", dataset.name, place).permutation(len(names))
        orders[f"random-{place}"] = tuple(int(i) for i in drawn)
    return orders


@threadpool_limits.wrap(limits=1)  # BLAS on several threads rounds otherwise than on one
def descent_orders(
    settings: ImprovedDescent, more: DescentOrders, dataset: Dataset | None, *, threads: int = 1
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Run SPR, SPR with half its noise and the optimal noise on raw features in many orders.

    Parameters
    ----------
    settings : ImprovedDescent
        The longest run is made.
    threads : int
        Does not change the result.

    Returns
    -------
    orders : DataFrame
        Columns `ORDERS_COLUMNS`: `columns` are those of the data in the order of the pass,
        `protocol` is 'printed' (on the trials of the search) or 'fresh', `gain` the mean paired
        difference of SPR's error less the scheme's, in the same order of columns. `audited` is 1
        for an order that was searched on the whole grid again, `missed` 1 if the best was not
        among the points that the other orders start from.
    spread : DataFrame
        Columns `SPREAD_COLUMNS`: `error` and `gain` in the first order, which is the first
        documented one, with the smallest and the largest mean over all orders in `_least` and
        `_greatest`. Their standard errors are medians over the orders, since five trials of one say
        little of their own scatter; `repetitions` has the degrees of freedom of all, plus 1.
    """
    if dataset is None:
        return pd.DataFrame(columns=ORDERS_COLUMNS), pd.DataFrame(columns=SPREAD_COLUMNS)
    one = make_task(dataset, settings, "raw")
    finer, seed = searched_in(settings, more), settings.seed
    passes, trials = max(settings.passes), settings.trials
    documented = more.documented.get(dataset.name, {})
    orders = orders_of(dataset, documented, more.random, seed)
    ratios = {
        name: factor * noise_ratios(one, scheme, epsilon=settings.epsilon, passes=passes)
        for name, (scheme, factor) in SCHEMES.items()
    }
    ends = sorted({*(end for end in more.seen if end < passes), passes})

    first, audited = next(iter(orders)), list(orders)[max(1, len(orders) - more.audit) :]
    kept: dict[str, Flags] = {}

    def work(job: tuple[str, str]) -> _Done:
        order, scheme = orders[job[0]], ratios[job[1]]
        pilot, whole = job[0] == first, job[0] in audited
        entered = None if pilot or whole else kept[job[1]]
        slack = more.keep if pilot else 1.0
        found = choose(one, scheme, finer, passes=passes, order=order, entered=entered, slack=slack)
        draws = draw(one, passes, order, range(trials + settings.evaluate), seed)
        missed = whole and not kept[job[1]].flat[np.argmin(found.coarse)]
        return _Done(found, errors_at(one, scheme, found, draws, ends), whole, missed)

    pilots = [(first, scheme) for scheme in SCHEMES]
    later = [(order, scheme) for order in orders if order != first for scheme in SCHEMES]
    done = dict(zip(pilots, in_threads(work, pilots, threads, "searches"), strict=True))
    for (_, scheme), (found, *_) in done.items():
        kept[scheme] = found.coarse <= more.keep * found.coarse.min()
    done |= zip(later, in_threads(work, later, threads, "searches"), strict=True)
    parts = {"printed": slice(trials), "fresh": slice(trials, None)}
    rows = []
    for (order, scheme), (found, errors, whole, missed) in done.items():
        columns = " ".join(dataset.feature_names[place] for place in orders[order])
        for protocol, part in parts.items():
            for end in ends:
                spr = done[order, "spr"].errors[end][part]
                rows.append(
                    [
                        one.name, "raw", order, columns, scheme, protocol, end,
                        len(spr), *mean_and_error(errors[end][part]),
                        *gain_and_error(spr, errors[end][part]),
                        found.step, found.clip, int(found.edge), int(whole), int(missed),
                    ]
                )  # fmt: skip
    table = pd.DataFrame(rows, columns=ORDERS_COLUMNS)
    return table, spread(table)


def spread(table: pd.DataFrame) -> pd.DataFrame:
    """Return error and gain in the first order, with their range over all orders.

    Columns `SPREAD_COLUMNS`, one row per scheme, protocol and number of passes.

    Parameters
    ----------
    table : DataFrame
        The first table of `descent_orders`.
    """
    rows = []
    for key, group in table.groupby(SPREAD_COLUMNS[:5], sort=False):
        first, freedom = group.iloc[0], int((group["repetitions"] - 1).sum())
        row = [*key, first["order"], len(group), freedom + 1]
        for name in ("error", "gain"):
            error = group[f"{name}_se"].median()
            row += [first[name], error, group[name].min(), group[name].max()]
        rows.append(row)
    return pd.DataFrame(rows, columns=SPREAD_COLUMNS)
