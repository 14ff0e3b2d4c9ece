"""Choices of thresholds and weights: one budget for all, and a table that adds up."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from deep_toys import NETWORK, images  # noqa: E402
from dpnoise_papers.inid_2024.deep_settings import PrivateTraining  # noqa: E402
from dpnoise_papers.inid_2024.learning_settings import PublicWeights  # noqa: E402
from dpnoise_papers.inid_2024.table_4.weights import (  # noqa: E402
    CHOICES,
    COLUMNS,
    _noise,
    curvature_table,
    noise_losses,
    weights_table,
)

BUDGET = {"noise": "gaussian", "delta": 1e-5, "epsilon": 8.0}
SETTINGS = PrivateTraining(
    seed=1, network=NETWORK, groups="layer", clip=0.7, rate=0.25, epochs=1, budgets=[BUDGET],
    schemes=["iid"], learning_rates=[0.5], search=1, search_epochs=1, repetitions=2, chunk=64,
)  # fmt: skip
STUDY = PublicWeights(
    budget=BUDGET,
    learning_rates=[0.1, 0.5], search=1, repetitions=3, networks=1, images=4,
)  # fmt: skip


@pytest.mark.parametrize("name", CHOICES)
def test_all_choices_have_one_norm_and_one_budget(name):
    sizes, traces = np.array([4.0, 100.0, 9.0]), np.array([3.0, 1.0, 0.2])
    clips, scales = _noise(CHOICES[name], 0.7, sizes, traces, 1.3)
    assert np.linalg.norm(clips) == pytest.approx(0.7, rel=1e-12)
    assert 1.0 / np.linalg.norm(clips / scales) == pytest.approx(1.3, rel=1e-12)


def test_noise_is_the_optimum_for_its_weights():
    sizes, traces = np.array([4.0, 100.0, 9.0]), np.array([3.0, 1.0, 0.2])
    names = ("spr-group", "optimal", "spr", "inverse-size", "fisher-weights")
    scales = {name: _noise(CHOICES[name], 1.0, sizes, traces, 1.0)[1] for name in names}
    loss = {name: float(scales[name] ** 2 @ traces) for name in names}
    assert min(loss, key=loss.get) == "fisher-weights"
    # thresholds in the same proportion: equal noise is the optimum
    _, equal = _noise(CHOICES["fisher-thresholds"], 1.0, sizes, traces, 1.0)
    assert np.ptp(equal) <= 1e-12


def test_the_table_adds_up():
    table = weights_table(SETTINGS, STUDY, images())
    assert list(table.columns) == COLUMNS
    assert table["choice"].tolist() == list(CHOICES)
    assert (table["repetitions"] == 3).all()
    assert table["learning_rate"].isin([0.1, 0.5]).all()
    errors = table["accuracy_sd"] / math.sqrt(3)
    assert table["accuracy_se"].to_numpy() == pytest.approx(errors.to_numpy(), rel=1e-12)
    paper = table.set_index("choice").loc["optimal"]
    assert (paper["gain"], paper["gain_se"]) == (0.0, 0.0)
    assert (table["seeds_gain_5"] >= table["seeds_gain_8"]).all()


def test_slopes_of_curvature():
    table = curvature_table(SETTINGS, STUDY, (1, 6, 6), "toy")
    x, y = np.log(table["size"]), np.log(table["trace"])
    slope = np.cov(x, y)[0, 1] / np.var(x, ddof=1)
    assert table["size_exponent"].to_numpy() == pytest.approx(slope, rel=1e-9)
    assert table["noise_exponent"].to_numpy() == pytest.approx(slope / 4.0, rel=1e-9)


def test_loss_of_the_noise_is_least_for_its_weights_by_closed_form():
    table = curvature_table(SETTINGS, STUDY, (1, 6, 6), "toy")
    losses = dict(zip(CHOICES, noise_losses(table), strict=True))
    w, k = table["trace"].to_numpy(), table["size"].to_numpy()
    # thresholds C: (sum C sqrt(w))^2 is the minimum, sum w sum C^2 that of equal noise
    least = np.sqrt(w).sum() ** 2 / len(w)
    assert losses["fisher-weights"] == 1.0
    assert losses["iid"] == pytest.approx(w.sum() / least, rel=1e-9)
    assert losses["spr-group"] == pytest.approx(losses["iid"], rel=1e-9)
    assert losses["fisher-thresholds"] == pytest.approx(losses["iid"], rel=1e-9)
    assert losses["spr"] == pytest.approx((w / k).sum() * k.sum() / len(w) / least, rel=1e-9)
    equal = [losses[name] for name in ("spr-group", "optimal", "spr", "inverse-size")]
    assert min(equal) >= 1.0 - 1e-12
