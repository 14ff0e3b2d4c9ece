"""Figures 5 and 6 of inid-2024 with other noise by coordinate and in other orders of the columns.

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
from dpnoise.calibration.coordinate_noise import coordinate_noise
from dpnoise.noise import Gaussian
from dpnoise.privacy.profile import epsilon_at
from dpnoise_papers import grids
from dpnoise_papers.descent.harness import Task, gain_and_error, in_threads, mean_and_error
from dpnoise_papers.inid_2024.learning_settings import searched_in
from dpnoise_papers.inid_2024.tables.improved_descent import (
    Tuning,
    choose,
    draw,
    errors_at,
    make_task,
    noise_ratios,
    same,
)
from dpnoise_papers.seeds import generator

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dpnoise._types import Array
    from dpnoise_papers.data.sets import Dataset
    from dpnoise_papers.inid_2024.learning_settings import (
        DescentOrders,
        DescentVariants,
        ImprovedDescent,
    )
    from dpnoise_papers.inid_2024.tables.improved_descent import Flags

LOSS_COLUMNS = ["dataset", "part", "scheme", "exponent", "ratio"]
_MEASURED = ["error", "error_se", "gain", "gain_se", "step", "clip", "edge"]
WEIGHTS_COLUMNS = [*LOSS_COLUMNS, *_MEASURED]
VARIANTS_COLUMNS = [
    "dataset", "reading", *_MEASURED, "flattered", "luckiest", "loss", "epsilon", "private",
]  # fmt: skip
_ACCOUNT = 1e-9  # relative accuracy of the epsilon that a variant spends
SCHEMES = {"spr": ("spr", 1.0), "spr-half": ("spr", 0.5), "optimal": ("optimal", 1.0)}
ORDERS_COLUMNS = [
    "dataset", "features", "order", "columns", "scheme", "protocol", "passes", "repetitions",
    "error", "error_se", "gain", "gain_se", "step", "clip", "edge", "audited", "missed",
]  # fmt: skip
SPREAD_COLUMNS = [
    "dataset", "features", "scheme", "protocol", "passes", "orders", "repetitions", "error",
    "error_se", "error_least", "error_greatest", "gain", "gain_se", "gain_least", "gain_greatest",
]  # fmt: skip


class Variant(NamedTuple):
    """Noise by one variant of the paper: unit noise times ratios times step^power."""

    ratios: Array
    power: float = 0.0


def variants(task: Task, epsilon: float, passes: int) -> dict[str, Variant]:
    """Return the variants of 'noise by coordinate', private and not, for L passes.

    Three keep (epsilon, delta) whatever the data; the others have a mistake that would make the
    noise smaller or put it elsewhere.
    """
    problem = task.problem
    smoothness, coordinates = problem.smoothness, problem.coordinates
    spr = noise_ratios(task, "spr", epsilon=epsilon, passes=passes)
    optimal = noise_ratios(task, "optimal", epsilon=epsilon, passes=passes)
    # the smallest sum of squares on the gradient, whose sensitivity 2 C_i / N lacks the step
    # tau / M_i: after the step that is the optimum for weights M_i^2
    gradient = noise_ratios(task, "optimal", epsilon=epsilon, passes=passes, exponent=2.0)
    concentrated = coordinate_noise(
        "gaussian", epsilon=epsilon, delta=task.delta, coordinates=coordinates, passes=passes
    )
    return {
        "spr": Variant(spr),
        "optimal": Variant(optimal),
        "optimal-on-gradient": Variant(gradient),
        "spr-concentrated": Variant(np.full(coordinates, concentrated.unit.std())),
        "spr-half": Variant(spr / 2.0),
        "optimal-half": Variant(optimal / 2.0),
        "spr-each-alone": Variant(spr / np.sqrt(coordinates)),
        "optimal-one-pass": Variant(optimal / np.sqrt(passes)),
        # sigma_i for tau_i C_i, but on the gradient: the step scales it again
        "optimal-step-twice": Variant(optimal / smoothness, 1.0),
        # sigma_i for C_i alone, but after the step
        "optimal-step-never": Variant(gradient * smoothness, -1.0),
    }


def spent(variant: Variant, step: float, passes: int, delta: float) -> float:
    """Return the smallest epsilon at which the noise of a variant is (epsilon, delta)-DP."""
    releases = passes * np.sum((variant.ratios * step**variant.power) ** -2.0)
    return float(epsilon_at(Gaussian(float(releases**-0.5)), 1.0, delta))


def losses(task: Task, settings: DescentVariants) -> pd.DataFrame:
    """Return what each scheme loses in theory, as a ratio to the smallest loss.

    Columns dataset, part, scheme, exponent and ratio. `part` is "error" (sum M^a sigma^2 of a
    scheme over its minimum for that a) or "clips" (sum M sigma^2 of a scheme over that of SPR, for
    clipping levels proportional to M^c).
    """
    M = task.problem.smoothness
    size = len(M)
    rows = []
    lambdas = M**-0.5
    for a in grids.values(settings.exponents):
        loss = {
            "iid": np.sum(M**a) * np.sum(lambdas**2),
            "spr": size * np.sum(M**a * lambdas**2),
            "optimal": np.sum(M**a * lambdas) * np.sum(lambdas),
        }
        smallest = np.sum(lambdas * M ** (a / 2.0)) ** 2
        rows += [
            [task.name, "error", scheme, a, value / smallest] for scheme, value in loss.items()
        ]
    for c in grids.values(settings.clip_exponents):
        lambdas = M ** (c - 1.0)
        loss = {
            "iid": np.sum(M) * np.sum(lambdas**2),
            "spr": size * np.sum(M * lambdas**2),
            "optimal": np.sum(M * lambdas) * np.sum(lambdas),
            "weighted": np.sum(lambdas * np.sqrt(M)) ** 2,
        }
        rows += [
            [task.name, "clips", scheme, c, value / loss["spr"]] for scheme, value in loss.items()
        ]
    return pd.DataFrame(rows, columns=LOSS_COLUMNS)


@threadpool_limits.wrap(limits=1)  # BLAS on several threads rounds otherwise than on one
def weights_and_variants(
    settings: ImprovedDescent, more: DescentVariants, dataset: Dataset | None, *, threads: int = 1
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Measure the error after the longest run on raw features, by weights and by variant.

    Parameters
    ----------
    threads : int
        Does not change the result.

    Returns
    -------
    weights : DataFrame
        Columns `WEIGHTS_COLUMNS`: the rows of `losses`, and those with `part` "measured", where
        `exponent` is a, `ratio` the loss sum M sigma^2 over SPR's, and `error` the mean over
        fresh trials with `gain`, the paired difference of SPR's error less this one's.
    variants : DataFrame
        Columns `VARIANTS_COLUMNS`, one row per variant: `error` and `gain` as above,
        `flattered` the mean over the trials of the search themselves, `luckiest` the mean
        over them of each one's best configuration, `loss` is sum M sigma^2 over SPR's at the
        chosen step, `epsilon` what the noise really spends and `private` 1 if that is within
        the budget.
    """
    if dataset is None:
        return pd.DataFrame(columns=WEIGHTS_COLUMNS), pd.DataFrame(columns=VARIANTS_COLUMNS)
    one = make_task(dataset, settings, "raw")
    passes, epsilon = max(settings.passes), settings.epsilon
    named = variants(one, epsilon, passes)
    weighted = {
        a: Variant(noise_ratios(one, "optimal", epsilon=epsilon, passes=passes, exponent=a))
        for a in more.measured
    }
    distinct: list[Variant] = []
    for variant in [*named.values(), *weighted.values()]:
        if not any(_same(variant, other) for other in distinct):
            distinct.append(variant)

    def work(variant: Variant) -> tuple[Tuning, Array]:
        ratios, power = variant
        found = choose(
            one, ratios, settings, passes=passes, order="cyclic", power=power, luckiest=True
        )
        fresh = range(settings.trials, settings.trials + settings.evaluate)
        draws = draw(one, passes, "cyclic", fresh, settings.seed)
        return found, errors_at(one, ratios, found, draws, [passes], power=power)[passes]

    results = in_threads(work, distinct, threads, "searches")

    def result(variant: Variant) -> tuple[Tuning, Array]:
        return next(r for other, r in zip(distinct, results, strict=True) if _same(variant, other))

    def measured(variant: Variant) -> list[object]:
        found, errors = result(variant)
        gain = gain_and_error(result(named["spr"])[1], errors)
        return [*mean_and_error(errors), *gain, found.step, found.clip, int(found.edge)]

    def loss(variant: Variant) -> float:
        noise = variant.ratios * result(variant)[0].step ** variant.power
        return float(np.sum(noise**2) / np.sum(named["spr"].ratios ** 2))

    weights = [
        [one.name, "measured", "weighted", a, loss(variant), *measured(variant)]
        for a, variant in weighted.items()
    ]
    table = []
    for name, variant in named.items():
        found, _ = result(variant)
        used = spent(variant, found.step, passes, one.delta)
        table.append(
            [
                one.name, name, *measured(variant), mean_and_error(found.errors)[0],
                found.luckiest, loss(variant), used, int(used <= epsilon * (1.0 + _ACCOUNT)),
            ]
        )  # fmt: skip
    theory = losses(one, more).reindex(columns=WEIGHTS_COLUMNS)
    both = [*theory.astype(object).to_numpy().tolist(), *weights]
    return (
        pd.DataFrame(both, columns=WEIGHTS_COLUMNS),
        pd.DataFrame(table, columns=VARIANTS_COLUMNS),
    )


def _same(variant: Variant, other: Variant) -> bool:
    return variant.power == other.power and same(variant.ratios, other.ratios)


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
        Columns `SPREAD_COLUMNS`: over all orders the median of `error` and `gain` and of their
        standard errors in one order, with the smallest and the largest mean in `_least` and
        `_greatest`. `repetitions` has the degrees of freedom of such a standard error, those of
        the trials of all orders, plus 1.
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
    """Return median and range over the orders of each scheme, protocol and number of passes.

    Columns `SPREAD_COLUMNS`.

    Parameters
    ----------
    table : DataFrame
        The first table of `descent_orders`.
    """
    rows = []
    for key, group in table.groupby(SPREAD_COLUMNS[:5], sort=False):
        middle = group.median(numeric_only=True)
        values = [
            float(figure)
            for name in ("error", "gain")
            for figure in (middle[name], middle[f"{name}_se"], group[name].min(), group[name].max())
        ]
        freedom = int((group["repetitions"] - 1).sum())
        rows.append([*key, len(group), freedom + 1, *values])
    return pd.DataFrame(rows, columns=SPREAD_COLUMNS)
