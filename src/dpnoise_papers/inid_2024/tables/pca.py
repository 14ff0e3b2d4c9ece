"""Private principal components of random low-rank data: Table III of inid-2024 and its variants.

Section VI-B of Muthukrishnan & Kalyani (2024) sets the sensitivities of the upper triangle of
sum x x' to 1/sqrt K on the diagonal and 1/sqrt(2 K) off it, K = M (M + 1)/2, "since the
off-diagonal entries appear twice", and says that for i.n.i.d. mechanisms the entries of every x x'
are clipped. A variant is one way to make this definite:

    stated       those sensitivities, and for i.n.i.d. noise the entries clipped at them; i.i.d.
                 Gaussian noise has l2 sensitivity 1, as the text says of "Analyze Gauss", i.i.d.
                 Laplace noise their l1 norm, both with nothing clipped. The dominant eigenvectors
                 are those of the largest magnitudes, as a singular value decomposition finds them;
    unclipped    the same with nothing clipped, against the text;
    stated-largest, unclipped-largest
                 the same two with the largest eigenvalues, as in all that follow: without noise
                 none is negative;
    add-remove   what the sensitivities really are when a sample of norm 1 is added.

A row is private if a sample is added or removed ("yes") or provably not ("no"), by the greatest
loss over samples of norm 1; "open" is what neither a proof nor a violation settles. The functions
of losses bound what neighbouring data sets can lose, for independent noise with one scale on the
diagonal and one off it.

N samples of norm 1 in M dimensions lie in a subspace of dimension r, drawn by one of two models:
'product', the columns of a product of two Gaussian matrices, normalised; and 'union-of-subspaces',
the fully random model of Soltanolkotabi & Candes (Ann. Statist. 2012) that the paper names, here
with equally many samples in each of a few uniformly random subspaces whose dimensions add up to r.
The error is

    SRE = |(I - V V') U|_F / |U|_F

between the subspaces without noise (U) and with it (V); the explained variance is the share
tr(V' R V) / tr(R) of R = sum x x'. All mechanisms see the same data, signs and levels of noise.

The text names the model and prints M, N and r. How many subspaces there are, and of which
dimensions, it does not print; here they are as equal as possible, by default 5 of dimension 2 (in
one dimension the samples would be multiples of each other). It says that entries are clipped
for i.n.i.d. noise, and prints neither how nor where. `dp_pca_over_models` gives the range over
both. That of the variant 'stated', which clips each entry at its printed sensitivity, therefore
holds the printed noise with nothing clipped and noise that is private without clipping, each with
either choice of the dominant eigenvectors that was tried. A sample is added or removed in all of
them and Laplace noise has delta = 0, as the text says.

Unless entries are clipped at the printed sensitivities, as the text states and the printed errors
rule out, a sample x = e_1 has all its weight in one diagonal entry and moves that by 1, which the
noise does not cover: `dp_pca_sensitivities`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from numba import njit
from scipy import special
from threadpoolctl import threadpool_limits

from dpnoise.allocation.allocate import allocate
from dpnoise.learn.pca import dominant, maximum_loss, second_moment_scales, symmetric
from dpnoise.noise.exponential_power import Gaussian
from dpnoise.privacy.profile import epsilon_at
from dpnoise_papers.seeds import generator

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from dpnoise._types import Array
    from dpnoise_papers.inid_2024.settings import Pca, PcaSensitivities


VARIANTS = {  # variant -> noises
    "stated": ("gaussian", "laplace"),
    "stated-largest": ("gaussian",),
    "unclipped": ("gaussian", "laplace"),
    "unclipped-largest": ("gaussian",),
    "add-remove": ("gaussian", "laplace"),
}
STATED = ("stated", "stated-largest")  # i.n.i.d. noise on clipped entries
SCHEMES = ("iid", "inid")
_RELATION = "add-remove"
_DEVIATION = {"gaussian": 1.0, "laplace": math.sqrt(2.0)}  # over the scale


def printed_sensitivities(features: int) -> tuple[float, float]:
    """Sensitivities as the paper sets them: 1/sqrt K on the diagonal, 1/sqrt(2 K) off it."""
    entries = features * (features + 1) // 2
    return 1.0 / math.sqrt(entries), 1.0 / math.sqrt(2.0 * entries)


def _norm(noise: str, counts: tuple[float, float], ratios: tuple[float, float]) -> float:
    """Norm, l2 or l1, of so many diagonal and off-diagonal entries of these sizes."""
    if noise == "gaussian":
        return math.sqrt(counts[0] * ratios[0] ** 2 + counts[1] * ratios[1] ** 2)
    return counts[0] * ratios[0] + counts[1] * ratios[1]


def row_loss(features: int, scales: tuple[float, float], noise: str) -> tuple[float, float]:
    """Bounds of the greatest privacy loss of a sample of norm 1: one reached, one not exceeded.

    They are l2 norms in units of sigma for Gaussian noise, epsilon for Laplace noise; `scales` are
    those on the diagonal and off it.
    """
    exact = maximum_loss(features, *scales, noise=noise, neighbouring=_RELATION)
    return exact, exact


def clipped_loss(features: int, scales: tuple[float, float], noise: str) -> tuple[float, float]:
    """Bounds as of `row_loss` when entries are clipped at the printed sensitivities.

    A sample moves every entry by at most that; flat samples nearly do.
    """
    sizes = printed_sensitivities(features)
    counts = features, 0.5 * features * (features - 1)
    flat = tuple(min(1.0 / features, size) for size in sizes)
    reached, bound = (
        _norm(noise, counts, (moved[0] / scales[0], moved[1] / scales[1]))
        for moved in (flat, sizes)
    )
    return reached, bound


class Row(NamedTuple):
    """One mechanism of a variant at one epsilon.

    Attributes
    ----------
    epsilon, delta : float
        The guarantee that the variant claims.
    diagonal, off_diagonal : float
        Scales of the noise: sigma or beta.
    epsilon_add_remove : float
        The epsilon that is kept at this delta, an upper bound for clipped entries.
    private_add_remove : str
        Whether that is the claimed one: 'yes', 'no' or 'open'.
    """

    variant: str
    noise: str
    scheme: str
    epsilon: float
    delta: float
    diagonal: float
    off_diagonal: float
    epsilon_add_remove: float
    private_add_remove: str

    @property
    def clipped(self) -> bool:
        """Whether the entries of every x x' are clipped at the printed sensitivities."""
        return _clips(self.variant, self.scheme)

    @property
    def deviations(self) -> tuple[float, float]:
        """Standard deviations of the noise on the diagonal and off it."""
        factor = _DEVIATION[self.noise]
        return self.diagonal * factor, self.off_diagonal * factor


def _clips(variant: str, scheme: str) -> bool:
    return variant in STATED and scheme == "inid"


def rows(variant: str, *, features: int, epsilon: float, delta: float) -> Iterator[Row]:
    """Mechanisms of a variant, a key of `VARIANTS`; Laplace noise claims delta = 0."""
    for noise in VARIANTS[variant]:
        claimed = delta if noise == "gaussian" else 0.0
        for scheme in SCHEMES:
            scales = _scales(
                variant, noise, scheme, features=features, epsilon=epsilon, delta=claimed
            )
            loss = clipped_loss if _clips(variant, scheme) else row_loss
            reached, kept = loss(features, scales, noise)
            if noise == "gaussian":
                reached, kept = (
                    float(epsilon_at(Gaussian(1.0), x, delta)) for x in (reached, kept)
                )
            limit = epsilon * (1.0 + 1e-9)
            private = "yes" if kept <= limit else "no" if reached > limit else "open"
            yield Row(variant, noise, scheme, epsilon, claimed, *scales, kept, private)


@lru_cache(maxsize=256)
def _scales(
    variant: str, noise: str, scheme: str, *, features: int, epsilon: float, delta: float
) -> tuple[float, float]:
    """Scales on the diagonal and off it."""
    allocation = "iid" if scheme == "iid" else "optimal"
    if variant == _RELATION:
        return second_moment_scales(
            features, noise=noise, allocation=allocation, neighbouring=_RELATION,
            epsilon=epsilon, delta=delta,
        )  # fmt: skip
    if noise == "gaussian" and scheme == "iid":  # l2 sensitivity 1
        scale = float(allocate([1.0], noise=noise, epsilon=epsilon, delta=delta)[0])
        return scale, scale
    diagonal, off_diagonal = printed_sensitivities(features)
    lambdas = np.full(features * (features + 1) // 2, off_diagonal)
    lambdas[:features] = diagonal
    scales = allocate(lambdas, noise=noise, scheme=allocation, epsilon=epsilon, delta=delta)
    return float(scales[0]), float(scales[-1])


def dp_pca_sensitivities(settings: PcaSensitivities) -> pd.DataFrame:
    """Sensitivity of sum x x' as Section VI-B has it, beside the true one, if a sample is added.

    Columns quantity (diagonal, off-diagonal: of one entry; l1, l2: of the upper triangle; l2-twice:
    l2 of the whole matrix, where entries off the diagonal appear twice), printed (1/sqrt K,
    1/sqrt(2 K) and the norms that follow from these), exact and departure (how far printed is from
    exact, relative to it).
    """
    features = settings.features
    on, off = printed_sensitivities(features)
    above = features * (features - 1) // 2
    l1, l2 = (row_loss(features, (1.0, 1.0), noise)[0] for noise in ("laplace", "gaussian"))
    i = np.arange(1.0, features + 1.0)
    samples = (x / np.linalg.norm(x) for x in (1.0 * (i == 1), np.ones(features), i, np.exp(-i)))
    whole = max(float(np.linalg.norm(np.outer(x, x))) for x in samples)
    rows = [
        ("diagonal", on, 1.0),  # x_i^2
        ("off-diagonal", off, 0.5),  # |x_i x_j|, at equal entries
        ("l1", features * on + above * off, l1),
        ("l2", math.sqrt(features * on**2 + above * off**2), l2),
        ("l2-twice", math.sqrt(features * on**2 + 2.0 * above * off**2), whole),
    ]
    found = pd.DataFrame(rows, columns=["quantity", "printed", "exact"])
    return found.assign(departure=(found["printed"] / found["exact"] - 1.0).abs())


_UNION = "union-of-subspaces"
METRICS = ("sre", "ev")
_TOLERANCE = 1e-9  # of eigenvalues, of which only the eigenvectors count here
_BY_MAGNITUDE = ("stated", "unclipped")  # how the dominant eigenvectors are chosen
COLUMNS = (
    "model", "reading", "noise", "scheme", "epsilon", "delta", "diagonal", "off_diagonal",
    "epsilon_add_remove", "private_add_remove",
    "sre", "sre_se", "ev", "ev_se", "sre_gain", "sre_gain_se", "ev_gain", "ev_gain_se",
    "sre_behind", "sre_behind_se", "ev_behind", "ev_behind_se",
)  # fmt: skip
_KEYS = ["reading", "noise", "scheme", "epsilon"]
_MEASURES = [f"{metric}{part}" for metric in METRICS for part in ("", "_gain", "_behind")]
_RANGED = [*_MEASURES, "epsilon_add_remove"]
# Other ways to clip that the text allows, whose values belong to the range of a variant.
_CLIPPING = {"stated": ("stated-largest", "unclipped", "unclipped-largest", "add-remove")}


def draw_samples(
    model: str, rng: np.random.Generator, *, samples: int, features: int, rank: int, subspaces: int
) -> Array:
    """Random samples of norm 1 in a union of subspaces, shape (samples, features).

    Those of the model 'product' are in one. The dimensions of the others add up to the rank.
    """
    if model == "product":
        basis = rng.standard_normal((features, rank))
        X = rng.standard_normal((samples, rank)) @ basis.T
    else:
        dimensions, sizes = (
            [len(part) for part in np.array_split(np.arange(count), subspaces)]
            for count in (rank, samples)
        )
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


def unit_noise(
    rng: np.random.Generator, features: int, families: Container[str] = ("gaussian", "laplace")
) -> dict[str, Array]:
    """Noise of unit scale by family, with shared signs and levels; upper triangles are used."""
    normal = rng.standard_normal((features, features))
    if "laplace" not in families:
        return {"gaussian": normal}
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


def errors_of(
    X: Array, rank: int, mechanisms: Sequence[Row], units: Sequence[dict[str, Array]]
) -> Array:
    """SRE and explained variance on samples, shape (trials, mechanisms, 2), by unit noise."""
    moment = X.T @ X
    basis = _leading(moment, rank)
    clipped = moment
    if any(row.clipped for row in mechanisms):
        clipped = _clipped_moment(X, *printed_sensitivities(len(moment)))
    return np.array([_trial(moment, clipped, basis, mechanisms, unit) for unit in units])


def _trial(
    moment: Array,
    clipped: Array,
    basis: Array,
    mechanisms: Sequence[Row],
    unit: dict[str, Array],
) -> Array:
    """SRE and explained variance of each mechanism, shape (mechanisms, 2)."""
    rank = basis.shape[1]
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


def dp_pca_table(
    settings: Pca,
    model: str = "product",
    subspaces: int = 1,
    families: Container[str] = ("gaussian", "laplace"),
) -> pd.DataFrame:
    """Errors of private principal components under several variants of Table III.

    Columns `COLUMNS`, one row per variant, noise, scheme and epsilon. `diagonal` and `off_diagonal`
    are standard deviations of the noise. `epsilon_add_remove` is the epsilon that is really kept at
    `delta` for samples of norm 1, `private_add_remove` says 'yes', 'no' or 'open' (see above). sre
    and ev are means over trials; `*_gain` is how much better the row is than i.i.d. noise of the
    same variant and family (positive is better), `*_behind` how much worse than i.n.i.d. Gaussian
    noise of the same variant. Both are paired by trial, and each has its standard error beside it.
    The model 'union-of-subspaces' has so many `subspaces`. The families of noise are all or
    Gaussian alone.
    """
    features, trials = settings.features, settings.trials
    mechanisms = [
        row
        for variant in VARIANTS
        if variant in settings.variants
        for epsilon in settings.epsilons
        for row in rows(variant, features=features, epsilon=epsilon, delta=settings.delta)
        if row.noise in families
    ]
    results = np.empty((trials, len(mechanisms), 2))
    with threadpool_limits(1):
        for trial in range(trials):
            scope = settings.seed, "dp-pca", model, trial
            X = draw_samples(
                model, generator(*scope, "data"), samples=settings.samples, features=features,
                rank=settings.rank, subspaces=subspaces,
            )  # fmt: skip
            unit = unit_noise(generator(*scope, "noise"), features, families)
            results[trial] = errors_of(X, settings.rank, mechanisms, [unit])[0]
    table = pd.DataFrame(_summary(model, mechanisms, results), columns=list(COLUMNS))
    return _sorted(table)


def _sorted(table: pd.DataFrame) -> pd.DataFrame:
    """Rows by variant in the order of `VARIANTS`, noise, scheme and epsilon."""
    ranks = {name: place for place, name in enumerate(VARIANTS)}
    return table.sort_values(
        _KEYS,
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
        best = results[:, places[row.variant, "gaussian", "inid", row.epsilon]]
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
    """Table III on a union of random subspaces, with its range over other data models.

    Columns as of `dp_pca_table` for as many subspaces as the settings say. Beside each measure, and
    the epsilon that is kept if a sample is added or removed, its least and greatest over all data
    models, in `_least` and `_greatest`, and for the variant 'stated' also over the other ways to
    clip; `models` is how many data models there are: 1 for a variant that was tried on the first
    only. `rival` is 0 for i.n.i.d. Gaussian noise, which the text calls the best, else 1. Gaussian
    noise has all `trials`; Laplace noise, far from the printed errors, the first `coarse_trials`.
    """
    others = settings.model_copy(
        update={"variants": settings.others.variants, "trials": settings.others.trials}
    )
    counts = [count for count in settings.others.counts if count != settings.subspaces]
    tables = [dp_pca_table(others, _UNION, count) for count in counts]
    tables.append(dp_pca_table(others, "product"))
    trials = min(settings.coarse_trials or settings.trials, settings.trials)
    table = dp_pca_table(settings.model_copy(update={"trials": trials}), _UNION, settings.subspaces)
    if trials < settings.trials:
        fine = dp_pca_table(settings, _UNION, settings.subspaces, ("gaussian",))
        table = _sorted(pd.concat([fine, table]).drop_duplicates(_KEYS))
    return _over_models(table, tables)


def _over_models(table: pd.DataFrame, others: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Table with the ranges over it and the same rows of others."""
    together = pd.concat([table, *others])
    ends = _ends(together).join(together.groupby(_KEYS).size().rename("models"))
    for variant, ways in _CLIPPING.items():
        alike = together[together["reading"].isin([variant, *ways])].copy()
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
