"""The attack on the printed DP-PCA: exact rates, valid bounds, and a control that holds."""

import math

import numpy as np
import pytest
from scipy import stats

from dpnoise.noise.exponential_power import Gaussian
from dpnoise.privacy.profile import privacy_profile
from dpnoise_papers.inid_2024.learning_settings import PcaAttack
from dpnoise_papers.inid_2024.tables.pca_attack import (
    COLUMNS,
    _binomial_bounds,
    _epsilon_bound,
    dp_pca_attack,
)

SETTINGS = PcaAttack(
    seed=4, features=100, epsilon=1.0, delta=1e-3, draws=200_000, confidence=0.999, thresholds=11
)


@pytest.fixture(scope="module")
def table():
    return dp_pca_attack(SETTINGS)


def test_drawn_rates_are_the_exact_ones(table):
    """Within 5 standard deviations, where 100 are expected: false-alarm rate below 1e-4."""
    for kind in ("false_alarm", "detection"):
        seen = table[table[f"{kind}_exact"] * SETTINGS.draws > 100]
        exact = seen[f"{kind}_exact"]
        error = np.abs(seen[kind] - exact) / np.sqrt(exact / SETTINGS.draws)
        assert len(seen) > 15
        assert error.max() < 5
    assert table["false_alarm"].nunique() > 10


def test_bounds_are_on_the_safe_side_of_the_truth(table):
    """At 99.9 % confidence; here for every row, by the fixed seed."""
    assert (table["false_alarm_upper"] > table["false_alarm_exact"]).all()
    assert (table["detection_lower"] < table["detection_exact"]).all()
    assert (table["epsilon_lower"] <= table["epsilon_exact"]).all()


def test_the_attack_refutes_the_printed_noise_and_not_the_private_one(table):
    chosen = table[table["chosen"] == 1].set_index(["scheme", "relation"])
    assert len(chosen) == 4
    assert chosen.loc[("iid", "add-remove"), "epsilon_exact"] == pytest.approx(1.0, abs=1e-9)
    assert chosen.loc[("iid", "add-remove"), "epsilon_lower"] < 1.0
    assert chosen.loc[("inid", "replace-one"), "epsilon_lower"] > 1.0
    for scheme in ("iid", "inid"):
        ratio = chosen.loc[(scheme, "replace-one")] / chosen.loc[(scheme, "add-remove")]
        assert ratio["separation"] == pytest.approx(2**0.5)


def test_exact_epsilon_is_that_of_the_gaussian_profile(table):
    for _, row in table[table["chosen"] == 1].iterrows():
        delta = privacy_profile(Gaussian(1.0), row["separation"], row["epsilon_exact"])
        assert delta == pytest.approx(1e-3, rel=1e-6)


@pytest.mark.parametrize("count", [0, 1, 37, 1000])
def test_binomial_bounds_are_those_of_clopper_and_pearson(count):
    low, high = _binomial_bounds(np.array([count]), 1000, 0.01)
    interval = stats.binomtest(count, 1000).proportion_ci(0.98, method="exact")
    assert (low[0], high[0]) == pytest.approx((interval.low, interval.high), rel=1e-9)


def test_epsilon_bound_inverts_the_constraint():
    assert _epsilon_bound(0.2718 + 1e-3, 0.1, 1e-3) == pytest.approx(math.log(2.718))
    assert _epsilon_bound(0.05, 0.1, 0.0) == 0.0
    assert _epsilon_bound(1e-9, 0.1, 1e-3) == 0.0


def test_streams_depend_on_the_seed_alone(table):
    assert table.equals(dp_pca_attack(SETTINGS))
    other = dp_pca_attack(SETTINGS.model_copy(update={"seed": 5}))
    assert not table["detection"].equals(other["detection"])
    assert list(table.columns) == list(COLUMNS)
