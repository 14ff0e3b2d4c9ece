"""Variants of DP-PCA: their scales, greatest losses and what is private.

Private principal components of Table III, and their range over data models and clipping.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dpnoise.learn.pca import dominant, symmetric
from dpnoise.noise.exponential_power import Laplace
from dpnoise.privacy.gaussian import gaussian_log_delta, gaussian_sigma
from dpnoise_papers.inid_2024.settings import Pca, PcaSensitivities
from dpnoise_papers.inid_2024.tables.pca import (
    COLUMNS,
    VARIANTS,
    _clipped_moment,
    _subspaces,
    clipped_loss,
    dp_pca_over_models,
    dp_pca_sensitivities,
    dp_pca_table,
    draw_samples,
    printed_sensitivities,
    row_loss,
    rows,
    unit_noise,
)
from dpnoise_papers.seeds import generator

BUDGET = {"features": 10, "epsilon": 1.5, "delta": 1e-6}


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
@pytest.mark.parametrize("features", [2, 5, 8])
def test_losses_of_random_samples_are_at_most_the_bounds(noise, features):
    rng = np.random.default_rng(features)
    x = np.vstack([rng.standard_normal((200, features)), np.eye(features), np.ones(features)])
    moments = np.einsum("ni,nj->nij", *(x / np.linalg.norm(x, axis=1, keepdims=True),) * 2)
    upper = np.triu_indices(features)
    on = upper[0] == upper[1]
    caps = np.where(on, *printed_sensitivities(features))
    for scales in ((1.0, 1.0), (1.0, 0.6), (0.5, 2.0)):
        scale = np.where(on, *scales)
        order = 2 if noise == "gaussian" else 1
        moved = np.abs(moments[:, *upper])
        for loss, sizes in ((row_loss, moved), (clipped_loss, np.minimum(moved, caps))):
            reached, most = loss(features, scales, noise)
            found = np.linalg.norm(sizes / scale, order, axis=1).max()
            assert reached <= most * (1 + 1e-12)
            assert found <= most * (1 + 1e-12)
            assert found >= reached * (1 - 0.02)


def of(variant, noise, scheme, **changes):
    (row,) = (
        r for r in rows(variant, **BUDGET | changes) if (r.noise, r.scheme) == (noise, scheme)
    )
    return row


def test_printed_scales_are_those_of_theorems_4_and_5():
    a, b = printed_sensitivities(10)
    assert (a, b) == (55**-0.5, 110**-0.5)
    total, unit = 10 * a + 45 * b, gaussian_sigma(1.5, 1e-6)
    row = of("unclipped", "gaussian", "inid")
    expected = math.sqrt(a * total) * unit, math.sqrt(b * total) * unit
    assert (row.diagonal, row.off_diagonal) == pytest.approx(expected, rel=1e-12)
    row = of("unclipped", "gaussian", "iid")
    assert (row.diagonal, row.off_diagonal) == pytest.approx((unit, unit), rel=1e-12)
    for noise in ("gaussian", "laplace"):
        for scheme in ("iid", "inid"):
            stated, unclipped = (of(variant, noise, scheme) for variant in ("stated", "unclipped"))
            assert stated[3:7] == unclipped[3:7]
            assert (stated.clipped, unclipped.clipped) == (scheme == "inid", False)
    cubes = 10 * a ** (2 / 3) + 45 * b ** (2 / 3)
    row = of("unclipped", "laplace", "inid")
    expected = a ** (1 / 3) * cubes / 1.5, b ** (1 / 3) * cubes / 1.5
    assert (row.diagonal, row.off_diagonal) == pytest.approx(expected, rel=1e-12)
    assert row.delta == 0.0
    row = of("unclipped", "laplace", "iid")
    assert row.diagonal == pytest.approx(total / 1.5, rel=1e-12)
    assert row.deviations == pytest.approx((2**0.5 * total / 1.5,) * 2, rel=1e-12)


def test_what_is_private():
    for variant in VARIANTS:
        for row in rows(variant, **BUDGET):
            refuted = variant in {"unclipped", "unclipped-largest"} and (row.noise, row.scheme) == (
                "gaussian", "inid",
            )  # fmt: skip
            assert row.private_add_remove == ("no" if refuted else "yes")
            assert (row.epsilon_add_remove <= 1.5 * (1 + 1e-9)) != refuted


def test_epsilon_kept_by_the_printed_gaussian_noise_is_that_of_one_axis():
    row = of("unclipped", "gaussian", "inid", features=100, epsilon=1.0)
    assert gaussian_log_delta(1 / row.diagonal, row.epsilon_add_remove) == pytest.approx(
        math.log(1e-6), abs=1e-6
    )
    assert 1.19 < row.epsilon_add_remove < 1.21
    # flat samples alone would be protected
    flat = (0.01 * row.diagonal**-2 + 0.99 * 0.5 * row.off_diagonal**-2) ** 0.5
    assert gaussian_log_delta(flat, 1.0) < math.log(1e-6)


def test_rows_are_in_a_fixed_order():
    names = [(row.noise, row.scheme) for row in rows("unclipped", **BUDGET)]
    assert names == [(n, s) for n in ("gaussian", "laplace") for s in ("iid", "inid")]
    assert len({tuple(row) for row in rows("unclipped", **BUDGET)}) == 4
    assert np.isfinite([row.diagonal for row in rows("unclipped", **BUDGET)]).all()


ALL_VARIANTS = ["stated", "stated-largest", "unclipped", "unclipped-largest", "add-remove"]
OTHERS = {"counts": [1], "variants": ["stated"], "trials": 2}
SETTINGS = Pca(
    seed=1, variants=ALL_VARIANTS, samples=200, features=8, rank=2, subspaces=1,
    epsilons=[1.0, 8.0], delta=1e-5, trials=25, others=OTHERS,
)  # fmt: skip
MODELS_SETTINGS = Pca(
    seed=1, samples=120, features=8, rank=4, subspaces=2, epsilons=[2.0], delta=1e-5, trials=6,
    variants=["stated", "add-remove"],
    others={"counts": [1, 2, 3], "variants": ["stated"], "trials": 4},
)  # fmt: skip


@pytest.fixture(scope="module")
def table():
    return dp_pca_table(SETTINGS)


@pytest.mark.parametrize("model", ["product", "union-of-subspaces"])
def test_samples_have_norm_1_and_span_a_subspace_of_the_rank(model):
    sizes = {"samples": 300, "features": 20, "rank": 6, "subspaces": 3}
    X = draw_samples(model, generator(0, model), **sizes)
    assert X.shape == (300, 20)
    assert np.linalg.norm(X, axis=1) == pytest.approx(np.ones(300), rel=1e-12)
    assert np.linalg.matrix_rank(X) == 6
    own = [np.linalg.matrix_rank(part) for part in np.split(X, 3)]
    assert own == ([2, 2, 2] if model == "union-of-subspaces" else [6, 6, 6])


def test_samples_of_one_subspace_are_uniform_on_its_sphere():
    """Second moment N/r on the subspace; largest eigenvalue within 5 deviations of it."""
    sizes = {"samples": 20_000, "features": 6, "rank": 3, "subspaces": 1}
    X = draw_samples("union-of-subspaces", generator(0, "u"), **sizes)
    values = np.linalg.eigvalsh(X.T @ X)[-3:] / 20_000
    assert values == pytest.approx(np.full(3, 1 / 3), abs=5 * 20_000**-0.5)


def test_clipping_of_entries_is_entry_by_entry():
    X = np.random.default_rng(0).normal(size=(50, 5))
    cap = np.full((5, 5), 0.3)
    np.fill_diagonal(cap, 0.5)
    expected = sum(np.clip(np.outer(x, x), -cap, cap) for x in X)
    assert _clipped_moment(X, 0.5, 0.3) == pytest.approx(expected, rel=1e-12)
    assert _clipped_moment(X, 100.0, 100.0) == pytest.approx(X.T @ X, rel=1e-12)


def testunit_noise_has_both_distributions_and_shared_signs_and_levels():
    """Kolmogorov-Smirnov on 10^4 entries, false-alarm rate 1e-4."""
    unit = unit_noise(generator(2, "unit"), 100)
    normal, laplace = (unit[name].ravel() for name in ("gaussian", "laplace"))
    assert stats.kstest(normal, stats.norm.cdf).pvalue > 1e-4
    assert stats.kstest(laplace, Laplace(1.0).cdf).pvalue > 1e-4
    assert np.array_equal(np.argsort(normal), np.argsort(laplace))


def test_one_row_against_the_formulas_of_the_paper(table):
    """SRE = |(I - V V') U| / |U| and tr(V' R V) / tr(R), from the same data and noise."""
    values = []
    sizes = {"samples": 200, "features": 8, "rank": 2, "subspaces": 1}
    for trial in range(25):
        scope = 1, "dp-pca", "product", trial
        X = draw_samples("product", generator(*scope, "data"), **sizes)
        row = table[(table["reading"] == "stated") & (table["noise"] == "laplace")]
        row = row[(row["scheme"] == "inid") & (row["epsilon"] == 8.0)].iloc[0]
        unit = unit_noise(generator(*scope, "noise"), 8)["laplace"] / 2**0.5
        Z = np.where(np.eye(8, dtype=bool), row["diagonal"], row["off_diagonal"]) * unit
        noisy = _clipped_moment(X, *printed_sensitivities(8)) + symmetric(Z)
        values_noisy, vectors = np.linalg.eigh(noisy)
        U, V = dominant(X.T @ X, 2)[1], vectors[:, np.argsort(-np.abs(values_noisy))[:2]]
        sre = np.linalg.norm((np.eye(8) - V @ V.T) @ U) / np.linalg.norm(U)
        values.append([sre, np.trace(V.T @ X.T @ X @ V) / np.sum(X**2)])
    mean, deviation = np.mean(values, axis=0), np.std(values, axis=0, ddof=1) / 5
    assert row[["sre", "ev"]].tolist() == pytest.approx(mean.tolist(), rel=1e-9)
    assert row[["sre_se", "ev_se"]].tolist() == pytest.approx(deviation.tolist(), rel=1e-9)


def test_columns_rows_and_their_order(table):
    assert list(table.columns) == list(COLUMNS)
    assert len(table) == 2 * (4 + 2 + 4 + 2 + 4)
    assert list(dict.fromkeys(table["reading"])) == ALL_VARIANTS
    assert not table.isna().to_numpy().any()
    assert table["sre"].between(0, 1).all()
    assert table["ev"].between(0, 1).all()


def test_gains_are_paired_differences(table):
    keys = ["reading", "noise", "scheme", "epsilon"]
    known = table.set_index(keys)
    for _, row in table.iterrows():
        iid = known.loc[(row["reading"], row["noise"], "iid", row["epsilon"])]
        best = known.loc[(row["reading"], "gaussian", "inid", row["epsilon"])]
        assert row["sre_gain"] == pytest.approx(iid["sre"] - row["sre"], abs=1e-12)
        assert row["ev_gain"] == pytest.approx(row["ev"] - iid["ev"], abs=1e-12)
        assert row["sre_behind"] == pytest.approx(row["sre"] - best["sre"], abs=1e-12)
        assert row["ev_behind"] == pytest.approx(best["ev"] - row["ev"], abs=1e-12)
    assert (table.loc[table["scheme"] == "iid", ["sre_gain", "sre_gain_se"]] == 0).all(axis=None)


def test_more_noise_is_worse(table):
    gaussian = table[(table["noise"] == "gaussian") & ~table["reading"].str.startswith("stated")]
    ordered = gaussian.sort_values("off_diagonal")
    assert stats.spearmanr(ordered["off_diagonal"], ordered["sre"]).statistic > 0.95
    assert stats.spearmanr(ordered["off_diagonal"], ordered["ev"]).statistic < -0.95


def test_largest_eigenvalues_are_no_worse_than_largest_magnitudes():
    """Where noise has negative eigenvalues of great magnitude these are picked in vain."""
    variants = ["unclipped", "unclipped-largest"]
    noisy = SETTINGS.model_copy(update={"epsilons": (0.1, 1.0), "variants": variants})
    keys = ["noise", "scheme", "epsilon"]
    chosen = dp_pca_table(noisy).query("noise == 'gaussian'").set_index(keys)
    magnitude = chosen.loc[chosen["reading"] == "unclipped", "sre"]
    largest = chosen.loc[chosen["reading"] == "unclipped-largest", "sre"]
    assert (largest <= magnitude).all()
    assert (largest < magnitude).any()


def test_subspaces_are_those_of_a_full_decomposition():
    matrix = symmetric(np.random.default_rng(3).standard_normal((40, 40)))
    both = _subspaces(matrix, 7, {True, False})
    values, vectors = np.linalg.eigh(matrix)
    for magnitude, chosen in {True: np.abs(values), False: values}.items():
        expected = vectors[:, np.argsort(chosen)[-7:]]
        for basis in (both[magnitude], _subspaces(matrix, 7, {magnitude})[magnitude]):
            assert np.allclose(basis @ basis.T, expected @ expected.T, rtol=0.0, atol=1e-11)


def test_a_row_does_not_depend_on_the_other_variants_and_epsilons(table):
    alone = dp_pca_table(
        SETTINGS.model_copy(update={"variants": ("add-remove",), "epsilons": (8.0,)})
    )
    part = table[(table["reading"] == "add-remove") & (table["epsilon"] == 8.0)]
    assert alone.equals(part.reset_index(drop=True))
    other = dp_pca_table(SETTINGS.model_copy(update={"variants": ("add-remove",), "seed": 2}))
    assert not np.isin(other["sre"], table["sre"]).any()


@pytest.fixture(scope="module")
def range_table():
    return dp_pca_over_models(MODELS_SETTINGS)


def test_the_range_is_over_the_product_and_every_union(range_table):
    own = dp_pca_table(MODELS_SETTINGS, "union-of-subspaces", 2)
    pd.testing.assert_frame_equal(range_table[own.columns], own)
    others = MODELS_SETTINGS.model_copy(update={"variants": ("stated",), "trials": 4})
    unions = [dp_pca_table(others, "union-of-subspaces", n) for n in (1, 3)]
    unions.append(dp_pca_table(others, "product"))
    for row in range_table[range_table["reading"] == "stated"].itertuples():
        assert row.models == 4
        one = f"noise == {row.noise!r} and scheme == {row.scheme!r}"
        for name in ("sre", "ev", "sre_gain", "ev_behind"):
            ours = getattr(row, name)
            values = [ours, *(float(union.query(one)[name].iloc[0]) for union in unions)]
            # noise that is private without clipping belongs to what the text leaves open
            values.append(float(own.query(f"reading == 'add-remove' and {one}")[name].iloc[0]))
            assert getattr(row, f"{name}_least") == min(values)
            assert getattr(row, f"{name}_greatest") == max(values)


def test_gaussian_noise_near_the_printed_errors_has_all_trials_the_rest_the_first_of_them():
    variants = {"variants": ("stated", "add-remove")}
    whole = MODELS_SETTINGS.model_copy(update=variants)
    few = whole.model_copy(update={"trials": 3})
    made = dp_pca_over_models(whole.model_copy(update={"coarse_trials": 3}))
    exact, rough = (dp_pca_table(one, "union-of-subspaces", 2) for one in (whole, few))
    near = exact["noise"] == "gaussian"
    assert near.sum() == 4
    assert not np.isin(rough["sre"], exact["sre"]).any()
    own = made[exact.columns]
    pd.testing.assert_frame_equal(own[near], exact[near])
    pd.testing.assert_frame_equal(own[~near], rough[~near])
    more = whole.model_copy(update={"coarse_trials": 100})
    pd.testing.assert_frame_equal(dp_pca_over_models(more)[exact.columns], exact)


def test_whether_the_stated_gaussian_noise_is_private_hangs_on_clipping():
    readings = ("stated", "unclipped")
    both = MODELS_SETTINGS.model_copy(update={"variants": readings, "delta": 1e-6})
    table = dp_pca_over_models(both).query("noise == 'gaussian'")
    kept = table.set_index(["reading", "scheme", "epsilon"])
    for epsilon in both.epsilons:
        stated, unclipped = (kept.loc[(reading, "inid", epsilon)] for reading in readings)
        assert stated["epsilon_add_remove_least"] == stated["epsilon_add_remove"]
        assert stated["epsilon_add_remove"] == pytest.approx(epsilon, rel=1e-9)
        assert stated["epsilon_add_remove_greatest"] == unclipped["epsilon_add_remove"]
        assert unclipped["epsilon_add_remove"] > 1.01 * epsilon
        iid = kept.loc[("stated", "iid", epsilon)]
        assert iid["epsilon_add_remove_greatest"] == iid["epsilon_add_remove_least"]


def test_only_the_gaussian_noise_that_the_text_calls_best_is_no_rival(range_table):
    best = range_table[range_table["rival"] == 0]
    assert set(zip(best["noise"], best["scheme"], strict=True)) == {("gaussian", "inid")}
    assert len(best) == 2
    assert (best["sre_behind"] == 0.0).all()


def test_a_variant_on_one_model_only_has_no_range(range_table):
    alone = range_table[range_table["reading"] == "add-remove"]
    assert len(alone) == 4
    assert (alone["models"] == 1).all()
    for name in ("sre", "ev_gain"):
        assert np.array_equal(alone[f"{name}_least"], alone[name])
        assert np.array_equal(alone[f"{name}_greatest"], alone[name])


def test_sensitivities_as_printed_and_as_they_are():
    table = dp_pca_sensitivities(PcaSensitivities(features=4)).set_index("quantity")
    exact, printed, departure = table["exact"], table["printed"], table["departure"]
    # entries off the diagonal appear twice: then the printed sizes are those of a sample of norm 1
    assert printed["l2-twice"] == pytest.approx(1.0)
    assert departure["l2-twice"] < 1e-12
    assert printed["diagonal"] == pytest.approx(0.1**0.5)
    assert departure["diagonal"] == pytest.approx(1.0 - 0.1**0.5)
    x = np.random.default_rng(0).normal(size=(4000, 4))
    x = np.vstack([x / np.linalg.norm(x, axis=1, keepdims=True), np.eye(4), np.full(4, 0.5)])
    moments = np.abs(x[:, :, None] * x[:, None, :])
    upper = moments[:, *np.triu_indices(4)]
    found = {
        "diagonal": np.max([np.diag(moment) for moment in moments]),
        "off-diagonal": moments[:, 0, 1:].max(),
        "l1": upper.sum(axis=1).max(),
        "l2": np.linalg.norm(upper, axis=1).max(),
        "l2-twice": np.linalg.norm(moments, axis=(1, 2)).max(),
    }
    for name, most in found.items():
        assert 0.98 * exact[name] < most <= exact[name] * (1 + 1e-12)
