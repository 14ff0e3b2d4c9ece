"""Noise of Table IV: closed forms of its schemes, and its two accountants."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise_papers.claims.published import read_claims
from dpnoise_papers.inid_2024.deep import accounting
from dpnoise_papers.inid_2024.learning_settings import DeepLearning
from dpnoise_papers.inid_2024.table_4.noise import (
    ACCOUNTING_COLUMNS,
    NOISE_COLUMNS,
    PRINTED_AS,
    layer_sizes,
    table_4,
    table_4_accounting,
)

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
