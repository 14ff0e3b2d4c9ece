"""Private principal components of random low-rank data: Table III of inid-2024.

N samples of norm 1 in M dimensions lie in a subspace of dimension r, drawn by one of three
models: 'product', the columns of a product of two Gaussian matrices, normalised;
'single-subspace', uniform on the unit sphere of a uniformly random subspace; and
'union-of-subspaces', the fully random model of Soltanolkotabi & Candes (Ann. Statist. 2012) that
the paper names, here with equally many samples in each of a few subspaces whose dimensions add
up to r. The error is

    SRE = |(I - V V') U|_F / |U|_F

between the subspaces without noise (U) and with it (V); the explained variance is the share
tr(V' R V) / tr(R) of R = sum x x'. All mechanisms see the same data, signs and levels of noise.
`dpnoise_papers.inid_2024.tables.pca_variants` says which mechanisms there are.

The text names the model and prints M, N and r. How many subspaces there are, and of which
dimensions, it does not print; here they are as equal as possible. It says that entries are clipped
for i.n.i.d. noise, and prints neither how nor where. `dp_pca_over_models` gives the range over
both. That of the variant 'stated', which clips each entry at its printed sensitivity, therefore
holds the printed noise with nothing clipped and noise that is private without clipping, each with
either choice of the dominant eigenvectors that was tried. A sample is added or removed in all of
them and Laplace noise has delta = 0, as the text says.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numba import njit
from scipy import special
from threadpoolctl import threadpool_limits

from dpnoise.learn.pca import dominant, symmetric
from dpnoise_papers.inid_2024.tables.pca_variants import VARIANTS, Row, printed_sensitivities, rows
from dpnoise_papers.progress import counted
from dpnoise_papers.seeds import generator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise._types import Array
    from dpnoise_papers.inid_2024.learning_settings import Pca

MODELS = ("product", "single-subspace", "union-of-subspaces")
METRICS = ("sre", "ev")
_TOLERANCE = 1e-9  # of eigenvalues, of which only the eigenvectors count here
_BY_MAGNITUDE = ("stated", "unclipped")  # how the dominant eigenvectors are chosen
COLUMNS = (
    "model", "reading", "noise", "scheme", "epsilon", "delta", "diagonal", "off_diagonal",
    "epsilon_add_remove", "epsilon_replace_one", "private_add_remove", "private_replace_one",
    "sre", "sre_se", "ev", "ev_se", "sre_gain", "sre_gain_se", "ev_gain", "ev_gain_se",
    "sre_behind", "sre_behind_se", "ev_behind", "ev_behind_se",
)  # fmt: skip
_KEYS = ["reading", "noise", "scheme", "epsilon"]
_MEASURES = [f"{metric}{part}" for metric in METRICS for part in ("", "_gain", "_behind")]
_RANGED = [*_MEASURES, "epsilon_add_remove"]
# Other ways to clip that the text allows, whose values belong to the range of a variant.
_CLIPPING = {"stated": ("stated-largest", "unclipped", "unclipped-largest", "add-remove")}


def _draw_samples(
    model: str, rng: np.random.Generator, *, samples: int, features: int, rank: int, subspaces: int
) -> Array:
    """Random samples of norm 1 in a subspace, or in a union of some, shape (samples, features).

    The dimensions of the subspaces of the model 'union-of-subspaces' add up to the rank.
    """
    if model == "product":
        basis = rng.standard_normal((features, rank))
        X = rng.standard_normal((samples, rank)) @ basis.T
    else:
        parts = 1 if model == "single-subspace" else subspaces
        dimensions = [len(part) for part in np.array_split(np.arange(rank), parts)]
        sizes = [len(part) for part in np.array_split(np.arange(samples), parts)]
        X = np.vstack(
            [
                rng.standard_normal((size, dimension))
                @ np.linalg.qr(rng.standard_normal((features, dimension)))[0].T
                for size, dimension in zip(sizes, dimensions, strict=True)
            ]
        )
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def _clipped_moment(X: Array, diagonal: float, off_diagonal: float) -> Array:
    """Sum over samples of x x' with entries clipped, on and off the diagonal."""
    bounds = np.full((X.shape[1], X.shape[1]), off_diagonal)
    np.fill_diagonal(bounds, diagonal)
    return symmetric(_clipped_sums(np.ascontiguousarray(X.T), bounds))


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _clipped_sums(columns: Array, bounds: Array) -> Array:
    """Upper triangle of the sums of clipped products of the columns, shape (features, samples)."""
    features, samples = columns.shape
    sums = np.zeros((features, features))
    for i in range(features):
        for j in range(i, features):
            left, right, bound, total = columns[i], columns[j], bounds[i, j], 0.0
            for n in range(samples):
                total += min(max(left[n] * right[n], -bound), bound)
            sums[i, j] = total
    return sums


def _unit_noise(rng: np.random.Generator, features: int) -> dict[str, Array]:
    """Noise of unit scale by family, with shared signs and levels; upper triangles are used."""
    normal = rng.standard_normal((features, features))
    level = -special.log_ndtr(-np.abs(normal)) - np.log(2.0)
    return {"gaussian": normal, "laplace": np.copysign(level, normal)}


def _subspaces(matrix: Array, rank: int, ways: set[bool]) -> dict[bool, Array]:
    """Dominant eigenvectors by magnitude (True) or by value (False), whichever are asked for.

    Those of largest magnitude are those of the largest eigenvalues of the square. One whole
    decomposition is less work than two partial ones.
    """
    if len(ways) == 1:
        (way,) = ways
        return {way: _leading(matrix @ matrix if way else matrix, rank)}
    values, vectors = np.linalg.eigh(matrix)
    order = {True: np.argsort(-np.abs(values), kind="stable"), False: np.argsort(-values)}
    return {way: vectors[:, places[:rank]] for way, places in order.items()}


def _leading(matrix: Array, rank: int) -> Array:
    """Eigenvectors of the largest eigenvalues, in an array that BLAS takes without a copy."""
    return np.ascontiguousarray(dominant(matrix, rank, _TOLERANCE)[1])


def _trial(X: Array, rank: int, mechanisms: Sequence[Row], unit: dict[str, Array]) -> Array:
    """SRE and explained variance of each mechanism, shape (mechanisms, 2)."""
    moment = X.T @ X
    basis = _leading(moment, rank)
    clipped = moment
    if any(row.clipped for row in mechanisms):
        clipped = _clipped_moment(X, *printed_sensitivities(len(moment)))
    results = np.empty((len(mechanisms), 2))
    mirrored = {family: symmetric(noise) for family, noise in unit.items()}
    alike: defaultdict[tuple[str, float, float, bool], dict[bool, list[int]]]
    alike = defaultdict(lambda: defaultdict(list))  # two variants can have the same noise
    for place, row in enumerate(mechanisms):
        same = row.noise, row.diagonal, row.off_diagonal, row.clipped
        alike[same][row.variant in _BY_MAGNITUDE].append(place)
    for (family, diagonal, off_diagonal, clips), places in alike.items():
        noisy = mirrored[family] * off_diagonal
        np.fill_diagonal(noisy, unit[family].diagonal() * diagonal)
        noisy += clipped if clips else moment
        for way, found in _subspaces(noisy, rank, set(places)).items():
            # |(I - V V') U|^2 = r - |V' U|^2, without the cancellation where V is close to U
            missed = basis - found @ (found.T @ basis)
            explained = np.sum(found * (moment @ found)) / np.trace(moment)
            results[places[way]] = np.linalg.norm(missed) / np.sqrt(rank), explained
    return results


def dp_pca_table(settings: Pca, model: str = "product", subspaces: int = 1) -> pd.DataFrame:
    """Errors of private principal components under several variants of Table III.

    Columns `COLUMNS`, one row per variant, noise, scheme and epsilon. `diagonal` and `off_diagonal`
    are standard deviations of the noise. `epsilon_*` is the epsilon that is really kept at `delta`
    for samples of norm 1, `private_*` says 'yes', 'no' or 'open' (see `pca_variants`). sre and ev
    are means over trials; `*_gain` is how much better the row is than i.i.d. noise of the same
    variant and family (positive is better), `*_behind` how much worse than i.n.i.d. Gaussian noise
    of the same variant ('unclipped' for 'approximate'). Both are paired by trial, and each has its
    standard error beside it. The model 'union-of-subspaces' has so many `subspaces`.
    """
    features, trials = settings.features, settings.trials
    needed = {*settings.variants, *(["unclipped"] if "approximate" in settings.variants else [])}
    mechanisms = [
        row
        for variant in VARIANTS
        if variant in needed
        for epsilon in settings.epsilons
        for row in rows(variant, features=features, epsilon=epsilon, delta=settings.delta)
    ]
    results = np.empty((trials, len(mechanisms), 2))
    with threadpool_limits(1):
        for trial in counted(range(trials), "trials"):
            scope = settings.seed, "dp-pca", model, trial
            X = _draw_samples(
                model, generator(*scope, "data"), samples=settings.samples, features=features,
                rank=settings.rank, subspaces=subspaces,
            )  # fmt: skip
            unit = _unit_noise(generator(*scope, "noise"), features)
            results[trial] = _trial(X, settings.rank, mechanisms, unit)
    table = pd.DataFrame(_summary(model, mechanisms, results), columns=list(COLUMNS))
    table = table[table["reading"].isin(settings.variants)]
    keys = ["reading", "noise", "scheme", "epsilon"]
    ranks = {name: place for place, name in enumerate(VARIANTS)}
    return table.sort_values(
        keys,
        key=lambda column: column.map(ranks) if column.name == "reading" else column,
        ignore_index=True,
    )


def _summary(model: str, mechanisms: Sequence[Row], results: Array) -> list[list[object]]:
    """Rows of the table."""
    better = np.array([-1.0, 1.0])  # a small SRE is good, and a large explained variance
    places = {row[:4]: place for place, row in enumerate(mechanisms)}
    table = []
    for place, row in enumerate(mechanisms):
        own = results[:, place]
        iid = results[:, places[row.variant, row.noise, "iid", row.epsilon]]
        variant = "unclipped" if row.variant == "approximate" else row.variant
        best = results[:, places[variant, "gaussian", "inid", row.epsilon]]
        gain, behind = better * (own - iid), better * (best - own)
        pairs = [
            cell
            for values in (own, gain, behind)
            for k in range(len(METRICS))
            for cell in (values[:, k].mean(), values[:, k].std(ddof=1) / np.sqrt(len(own)))
        ]
        table.append([model, *row[:5], *row.deviations, *row[7:], *pairs])
    return table


def dp_pca_over_models(settings: Pca) -> pd.DataFrame:
    """Table III on the data model 'product', with its range over unions of subspaces.

    Columns as of `dp_pca_table` for 'product'. Beside each measure, and the epsilon that is kept if
    a sample is added or removed, its least and greatest over all data models, in `_least` and
    `_greatest`, and for the variant 'stated' also over the other ways to clip; `models` is how many
    data models there are: 1 for a variant that was tried on 'product' only. `rival` is 0 for
    i.n.i.d. Gaussian noise, which the text calls the best, else 1.
    """
    others = settings.model_copy(
        update={"variants": settings.others.variants, "trials": settings.others.trials}
    )
    unions = [dp_pca_table(others, "union-of-subspaces", count) for count in settings.others.counts]
    return _over_models(dp_pca_table(settings), unions)


def _over_models(table: pd.DataFrame, unions: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Table with the ranges over it and the same rows of others."""
    together = pd.concat([table, *unions])
    ends = _ends(together).join(together.groupby(_KEYS).size().rename("models"))
    for variant, others in _CLIPPING.items():
        alike = together[together["reading"].isin([variant, *others])].copy()
        alike["reading"] = variant
        wider = _ends(alike)
        ends.loc[ends.index.get_level_values("reading") == variant, wider.columns] = wider
    table = table.merge(ends.reset_index(), on=_KEYS, how="left")
    best = (table["noise"] == "gaussian") & (table["scheme"] == "inid")
    return table.assign(rival=(~best).astype(int))


def _ends(rows: pd.DataFrame) -> pd.DataFrame:
    """Least and greatest among rows of one variant, noise, scheme and epsilon."""
    groups = rows.groupby(_KEYS)[_RANGED]
    return groups.min().add_suffix("_least").join(groups.max().add_suffix("_greatest"))
