"""Two accountants: each keeps its own budget, the sharper one needs less noise."""

import pytest

from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise_papers.inid_2024.learning_settings import DeepLearning
from dpnoise_papers.inid_2024.table_4.accounting import COLUMNS, table_4_accounting


def budgets(*, rate, epochs):
    table = table_4_accounting(
        DeepLearning(
            samples=1000,
            rate=rate,
            epochs=epochs,
            layers=[[1, 10]],
            budgets=[
                {"noise": "gaussian", "delta": 1e-5, "epsilon": 2.0},
                {"noise": "laplace", "delta": 0.0, "epsilon": 2.0},
            ],
        )
    )
    assert list(table.columns) == list(COLUMNS)
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


def test_almost_without_sampling_one_step_is_the_gaussian_mechanism():
    table = budgets(rate=1.0 - 1e-12, epochs=1)
    sigma = float(gaussian_sigma(2.0, 1e-5))
    assert table.loc["pld", "multiplier"] == pytest.approx(sigma, rel=1e-4)
    assert table.loc["pure", "multiplier"] == pytest.approx(0.5, rel=1e-9)
    assert table.loc["pure", "epsilon_replace_one"] == pytest.approx(4.0, rel=1e-9)
