"""Noise of Table IV: closed forms of its schemes, and its two accountants.

Laplace noise of Table IV: what each variant guarantees and which the printed order excludes.
"""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpnoise import SampledLaplace
from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise_papers.claims.published import read_claims
from dpnoise_papers.inid_2024.deep import accounting
from dpnoise_papers.inid_2024.deep.accounting import upper_epsilon
from dpnoise_papers.inid_2024.learning_settings import DeepLearning
from dpnoise_papers.inid_2024.table_4.noise import (
    ACCOUNTING_COLUMNS,
    LAPLACE_COLUMNS,
    MEASURED_COLUMNS,
    NOISE_COLUMNS,
    PRINTED_AS,
    VARIANTS,
    _gaussian,
    _scales,
    excluded,
    largest_inversion,
    layer_sizes,
    multiplier_range,
    noise_over_gaussian,
    table_4,
    table_4_accounting,
    table_4_laplace_measured,
)
from table_4_toys import SIZES, variants

SETTINGS = DeepLearning(
    samples=1000,
    rate=0.1,
    epochs=2,
    layers=[[2, 3], [1, 10]],
    budgets=[
        {"noise": "gaussian", "delta": 1e-5, "epsilon": 2.0},
        {"noise": "laplace", "delta": 0.0, "epsilon": 8.0},
    ],
)
CLAIMS = Path(__file__).parents[4] / "published" / "inid-2024.csv"


def test_the_table_adds_up():
    table = table_4(SETTINGS, claims=read_claims(CLAIMS))
    assert list(table.columns) == list(NOISE_COLUMNS)
    assert (table["steps"] == 20).all()
    assert (table["batch"] == 100.0).all()
    assert (table["parameters"] == 16).all()
    assert (table["delta_of_samples"] == 1e-6).all()
    laplace = table[(table["noise"] == "laplace") & (table["scheme"] == "iid")].iloc[0]
    beta = 1.0 / math.log1p(math.expm1(0.4) / 0.1)
    assert laplace["noise_l2"] == pytest.approx(beta * math.sqrt(32.0) / 100.0, rel=1e-11)
    assert laplace["gradient_flat"] == 0.25
    # as printed for the second budget, which is the paper's; it has no epsilon of 2
    assert table["printed_accuracy"].tolist()[4:] == [67.46, 46.08, 46.08, 63.46]
    assert table["printed_accuracy"][:4].isna().all()
    for _, rows in table.groupby("noise"):
        noise = rows.set_index("scheme")["noise_l2"]
        assert noise["optimal"] <= noise.min() * (1 + 1e-12)
        assert noise["spr-group"] == pytest.approx(noise["iid"], rel=1e-12)
    # layers of 3 and of 10 parameters at one threshold
    ratio = table.set_index(["noise", "scheme"])["scale_ratio"]
    assert ratio["gaussian", "optimal"] == pytest.approx((10 / 3) ** (1 / 4))
    assert ratio["laplace", "optimal"] == pytest.approx((10 / 3) ** (1 / 3))
    assert ratio["gaussian", "iid"] == ratio["gaussian", "spr-group"] == 1.0


def test_noise_of_spr_by_closed_forms():
    table = table_4(SETTINGS, claims=read_claims(CLAIMS)).set_index(["noise", "scheme"])
    assert set(PRINTED_AS) == set(table.loc["gaussian"].index)
    sizes = layer_sizes(SETTINGS)
    assert sizes.tolist() == [3.0, 3.0, 10.0]
    # Gaussian: K_m sigma_m^2 is the same for all layers and adds up to unit^2 K, as for i.i.d.
    gaussian = table.loc["gaussian"]["noise_l2"]
    assert gaussian["spr"] == pytest.approx(gaussian["iid"], rel=1e-12)
    # Laplace: beta_m = unit K / (M K_m), so the variance is 2 unit^2 K^2 sum 1/K_m / M^2
    unit = table.loc["laplace"]["multiplier"].iloc[0]
    variance = 2.0 * (unit * 16.0 / 3.0) ** 2 * float(np.sum(1.0 / sizes))
    found = table.loc[("laplace", "spr"), "noise_l2"]
    assert found == pytest.approx(math.sqrt(variance) / 100.0, rel=1e-11)


@cache
def budgets(*, rate, epochs):
    settings = DeepLearning(
        samples=1000,
        rate=rate,
        epochs=epochs,
        layers=[[1, 10]],
        budgets=[
            {"noise": "gaussian", "delta": 1e-5, "epsilon": 2.0},
            {"noise": "laplace", "delta": 0.0, "epsilon": 2.0},
        ],
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accounting, "_INTERVAL", 1e-3)
        table = table_4_accounting(settings)
    assert list(table.columns) == list(ACCOUNTING_COLUMNS)
    return table.set_index("accountant")


def test_each_accountant_keeps_its_budget_and_the_sharper_one_saves_noise():
    table = budgets(rate=0.1, epochs=3)
    rdp, pld, pure = table.loc["rdp"], table.loc["pld"], table.loc["pure"]
    assert rdp["epsilon_rdp"] == pytest.approx(2.0, rel=1e-6)
    assert pld["epsilon_pld"] == pytest.approx(2.0, rel=1e-4)
    assert max(rdp["epsilon_rdp"], pld["epsilon_pld"]) <= 2.0
    assert rdp["epsilon_pld"] < 2.0 < pld["epsilon_rdp"]
    assert pld["multiplier"] < rdp["multiplier"]
    assert pure["epsilon_pure"] == 2.0
    # a replacement is a removal and an addition, and costs more than one of them
    for row, epsilon in ((rdp, rdp["epsilon_pld"]), (pld, pld["epsilon_pld"]), (pure, 2.0)):
        assert epsilon < row["epsilon_replace_one"] < 2.2 * epsilon


def test_both_ends_are_close_and_below_the_bounds_of_the_other_accountants():
    table = budgets(rate=0.1, epochs=3)
    for name in ("rdp", "pld"):
        row = table.loc[name]
        for ends, above in (("epsilon", "epsilon_pld"), ("epsilon_replace_one",) * 2):
            low, high = row[f"{ends}_lower"], row[f"{ends}_upper"]
            assert 0.0 <= high - low <= 1e-6 * low
            assert low <= row[above]
            assert high == pytest.approx(row[above], rel=1e-3)
        assert row["epsilon_lower"] < row["epsilon_rdp"]
    pure = table.loc["pure"]  # closed forms of other code
    assert pure["epsilon_lower"] <= 2.0 * (1.0 + 1e-11)
    assert pure["epsilon_upper"] == pytest.approx(2.0, rel=1e-9)
    assert pure["epsilon_replace_one_lower"] == pytest.approx(pure["epsilon_replace_one"], rel=1e-9)


def test_almost_without_sampling_one_step_is_the_gaussian_mechanism():
    table = budgets(rate=1.0 - 1e-12, epochs=1)
    sigma = float(gaussian_sigma(2.0, 1e-5))
    assert table.loc["pld", "multiplier"] == pytest.approx(sigma, rel=1e-4)
    assert table.loc["pure", "multiplier"] == pytest.approx(0.5, rel=1e-9)
    assert table.loc["pure", "epsilon_replace_one"] == pytest.approx(4.0, rel=1e-9)


PRINTED = {1.1: 68.0, 1.4: 60.0, 1.5: 63.0, 2.0: 59.0}
NONE = {1.1: math.nan, 2.0: math.nan}


def test_the_largest_inversion_is_that_of_any_two_rows_of_a_column():
    assert largest_inversion({"iid": PRINTED}) == 3.0
    assert largest_inversion({"iid": PRINTED, "spr": {1.0: 40.0, 2.0: 44.0}}) == 4.0
    assert largest_inversion({"a": {2.0: 44.0}, "b": {1.0: 40.0}}) == 0.0  # not one column
    assert largest_inversion({"iid": {1.0: 9.0, 2.0: 9.0}}) == 0.0
    assert largest_inversion({"iid": NONE}) == 0.0
    assert largest_inversion({"iid": {1.0: 1.0, 2.0: math.nan, 3.0: 2.0}}) == 1.0


def test_only_differences_above_the_slack_bound_the_noise():
    assert multiplier_range(67.0, PRINTED, 3.0) == (0.0, 1.4)
    assert multiplier_range(64.0, PRINTED, 3.0) == (1.1, 1.4)
    assert multiplier_range(63.0, PRINTED, 3.0) == (1.1, 2.0)  # 60 and 63 say nothing
    assert multiplier_range(30.0, PRINTED, 3.0) == (2.0, math.inf)
    assert multiplier_range(67.0, PRINTED, 90.0) == (0.0, math.inf)
    assert all(map(math.isnan, multiplier_range(70.0, NONE, 0.0)))
    assert all(map(math.isnan, multiplier_range(math.nan, PRINTED, 0.0)))


@pytest.mark.parametrize("accuracy", [58.0, 60.0, 61.5, 63.0, 64.0, 67.0, 69.0])
def test_a_slack_of_the_largest_inversion_leaves_a_range(accuracy):
    low, high = multiplier_range(accuracy, PRINTED, largest_inversion({"iid": PRINTED}))
    assert low < high


def test_ranges_that_meet_in_a_point_do_not_exclude():
    assert excluded((1.0, 2.0), (2.0, 3.0)) == 0.0
    assert excluded((3.0, 4.0), (2.0, 3.0)) == 0.0
    assert excluded((1.0, 9.0), (2.0, 3.0)) == 0.0
    assert excluded((1.0, 1.9), (2.0, 3.0)) == 1.0
    assert excluded((3.1, 4.0), (2.0, 3.0)) == 1.0
    assert excluded((3.1, 4.0), (0.0, math.inf)) == 0.0
    assert math.isnan(excluded((1.0, 2.0), (math.nan, math.nan)))


ACCOUNTED = (
    "stated", "renyi", "one-step", "by-parameter", "l2-clipped-box", "l2-clipped",
    "l2-clipped-gaussian-multiplier",
)  # fmt: skip


@pytest.fixture(scope="module")
def table():
    table = variants()
    assert list(table.columns) == list(LAPLACE_COLUMNS)
    assert set(table["epsilon"]) == {8.0}
    assert len(table) == len(PRINTED_AS) * (len(VARIANTS) - 1) + 1
    return table.set_index(["variant", "scheme"])


@pytest.fixture(scope="module")
def accounted():
    """Variants of every clipping and way to count, with what they guarantee."""
    return variants(*ACCOUNTED).set_index(["variant", "scheme"])


def test_what_is_accounted_is_clipped_and_counted_in_every_way():
    ways = {name: (one.clipping, one.counted) for name, one in VARIANTS.items()}
    assert {ways[name] for name in ACCOUNTED} == set(ways.values())


@pytest.mark.slow
def test_pure_noise_keeps_what_it_states(accounted):
    table = accounted
    for variant in ("stated", "l2-clipped-box"):
        assert table.loc[variant, "epsilon_pure"].to_numpy() == pytest.approx(8.0, rel=1e-9)
    assert (table["epsilon_lower"] <= table["epsilon_upper"] * (1 + 1e-6)).all()
    assert (table["epsilon_upper"] <= table["epsilon_pure"]).all()
    # Both keep (8, 1e-5) by Renyi divergences; what l1 clipping leaves is accounted exactly.
    kept = table.loc["l2-clipped-gaussian-multiplier", "epsilon_upper"].to_numpy()
    assert kept == pytest.approx(8.0, rel=0.02)
    assert (table.loc["renyi", "epsilon_upper"] < 7.9).all()
    unit = table.loc[("renyi", "iid"), "unit"]
    assert upper_epsilon(1.0 / unit, 1e-5, 5000, 0.1) == pytest.approx(8.0, rel=1e-6)


@pytest.mark.slow
def test_ends_with_delta_meet_where_one_group_has_all_of_the_gradient(accounted):
    ends = ["epsilon_lower", "epsilon_upper"]
    for variant in ("stated", "renyi"):
        one = accounted.loc[(variant, "iid")]
        account = SampledLaplace(one["unit"], 0.1).epsilon(1e-5, steps=5000)
        assert one[ends].tolist() == pytest.approx(list(account), rel=1e-8)
        for scheme in set(PRINTED_AS) - {"iid"}:  # one group may lose less than all together
            some = accounted.loc[(variant, scheme)]
            assert some["epsilon_lower"] < one["epsilon_lower"]
            assert some["epsilon_upper"] == pytest.approx(one["epsilon_upper"], rel=1e-6)


def test_noise_and_signal_by_closed_forms(table):
    iid = table.xs("iid", level="scheme")
    unit = iid.loc["stated", "unit"]
    assert unit == pytest.approx(1.0 / math.log1p(math.expm1(8.0 / 5000.0) / 0.1), rel=1e-9)
    size = math.sqrt(2.0 * SIZES.sum())
    assert iid.loc["stated", "noise_l2"] == pytest.approx(unit * size / 100.0, rel=1e-9)
    assert iid.loc["stated", "signal_flat"] == pytest.approx(SIZES.sum() ** -0.5, rel=1e-12)
    box = iid.loc["l2-clipped-box"]
    assert box["noise_l2"] == pytest.approx(unit * SIZES.sum() * math.sqrt(2.0) / 100.0, rel=1e-9)
    # what is clipped in l1 and what is counted so in l2 have one ratio of noise to a flat gradient
    stated = iid.loc["stated", "noise_over_gaussian"]
    assert box["noise_over_gaussian"] == pytest.approx(stated, rel=1e-9)
    single = iid.loc["by-parameter", "noise_over_gaussian"]
    assert single == pytest.approx(stated / SIZES.sum(), rel=1e-9)


@pytest.mark.slow
def test_gaussian_noise_is_the_unit_of_comparison(table, accounted):
    same = table.loc["l2-clipped-gaussian-variance", "noise_over_gaussian"].to_numpy()
    assert same == pytest.approx(1.0, rel=1e-9)
    more = table.loc["l2-clipped-gaussian-multiplier", "noise_over_gaussian"].to_numpy()
    assert more == pytest.approx(math.sqrt(2.0), rel=1e-9)
    # by group every scheme of the Gaussian account guarantees the same
    bounds = accounted.loc["l2-clipped-gaussian-multiplier", "epsilon_upper"].to_numpy()
    assert bounds == pytest.approx(bounds[0], rel=1e-8)


def test_what_is_outside_of_the_printed_accuracies_for_every_shape_is_excluded(table):
    least = table["multiplier"] * table["noise_over_gaussian_minimum"] * (1 + 1e-9)
    most = table["multiplier"] * table["noise_over_gaussian_maximum"] * (1 + 1e-9)
    outside = (least > table["multiplier_to"] * (1 + 2e-9)) | (most < table["multiplier_from"])
    assert (table["excluded"] == outside.astype(float)).all()
    iid = table.xs("iid", level="scheme")
    assert set(table["slack"]) == {0.0}  # two Gaussian rows, in order in all columns
    assert set(iid["printed_accuracy"]) == {67.46}  # between 63.26 and 68.55
    assert iid.loc["stated", "excluded"] == 1.0
    same = iid.loc["l2-clipped-gaussian-variance"]
    assert same["multiplier_from"] == same["multiplier"] < same["multiplier_to"]
    assert same["excluded"] == 0.0


@pytest.mark.parametrize("scheme", list(PRINTED_AS))
def test_ends_over_all_shapes_by_gradients_clipped_both_ways(scheme):
    """Random, flat and single-entry gradients lie between; both ends are reached."""
    sizes = SIZES.astype(int)
    gaussian = _gaussian(scheme, SIZES, 1.3)
    laplace = _scales(VARIANTS["stated"], scheme, SIZES, 2.0)
    parts = [sum(sizes)] if scheme == "iid" else sizes.tolist()
    rng = np.random.default_rng(0)
    gradients = [[rng.standard_cauchy(k) * 10.0**e for k in parts] for e in range(-4, 4)]
    gradients += [[np.full(k, 10.0 * (k == most)) for k in parts] for most in parts]
    gradients += [[np.eye(1, k)[0] * 1e-6 for k in parts]]
    ratios = []
    for gradient in gradients:
        left = {}
        for groups, order in ((laplace, 1), (gaussian, 2)):
            clipped = [
                g * min(1.0, clip / np.linalg.norm(g, order)) if g.any() else g
                for g, clip in zip(gradient, groups.clips, strict=True)
            ]
            left[order] = np.linalg.norm(np.concatenate(clipped))
        noise = laplace.noise_l2(2.0) / gaussian.noise_l2(1.0)
        ratios.append(noise * left[2] / left[1])
    found = noise_over_gaussian(laplace, gaussian, "l1")
    assert min(ratios) == pytest.approx(found.minimum, rel=1e-12)
    assert max(ratios) == pytest.approx(found.maximum, rel=1e-12)
    assert found.minimum < found.flat <= found.maximum * (1 + 1e-12)


@pytest.fixture
def laplace():
    return variants().copy()


def shapes(**ratios):
    """One state for each ratio of the norms that clipping in l2 and in l1 leaves."""
    rows = [
        {"clipping": clipping, "signal_l1": 0.1, "signal_l2": 0.1 * ratio, "data_note": "toy"}
        for clipping, values in ratios.items()
        for ratio in values
    ]
    return pd.DataFrame(rows)


def test_flat_gradients_give_the_column_for_flat_gradients(laplace):
    whole = table_4_laplace_measured(laplace, shapes(whole=[SIZES.sum() ** 0.5], group=[1.0]))
    assert list(whole.columns) == MEASURED_COLUMNS
    iid = laplace["scheme"] == "iid"
    expected = laplace[iid]["noise_over_gaussian"].to_numpy()
    assert whole[iid]["noise_over_gaussian_minimum"].to_numpy() == pytest.approx(expected, rel=1e-9)
    assert whole[iid]["noise_over_gaussian_maximum"].to_numpy() == pytest.approx(expected, rel=1e-9)
    least = laplace[~iid]["noise_over_gaussian_minimum"].to_numpy()
    assert whole[~iid]["noise_over_gaussian_maximum"].to_numpy() == pytest.approx(least, rel=1e-12)


def test_the_ends_are_those_over_the_states(laplace):
    found = table_4_laplace_measured(laplace, shapes(whole=[3.0, 7.0, 5.0], group=[2.0] * 3))
    assert set(found["gradients"]) == {3}
    assert set(found["data_note"]) == {"toy"}
    ratio = found["noise_over_gaussian_maximum"] / found["noise_over_gaussian_minimum"]
    l1 = (laplace["clipping"] == "l1") & (laplace["scheme"] == "iid")
    assert ratio[l1].to_numpy() == pytest.approx(7.0 / 3.0, rel=1e-12)
    assert ratio[~l1].to_numpy() == pytest.approx(1.0, rel=1e-12)


def test_without_gradients_there_are_no_rows(laplace):
    found = table_4_laplace_measured(laplace, shapes(whole=[1.0]).iloc[:0])
    assert found.empty
    assert list(found.columns) == MEASURED_COLUMNS
