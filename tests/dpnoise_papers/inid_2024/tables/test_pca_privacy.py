"""DP-PCA at single pairs of neighbours, and the attack on it."""

import math

import numpy as np
import pytest
from scipy import stats

from dpnoise.noise.exponential_power import Gaussian
from dpnoise.privacy.profile import privacy_profile
from dpnoise_papers.inid_2024.learning_settings import PcaAttack, PcaPrivacy, PcaSensitivities
from dpnoise_papers.inid_2024.tables.pca import rows
from dpnoise_papers.inid_2024.tables.pca_privacy import (
    ATTACK_COLUMNS,
    PRIVACY_COLUMNS,
    _binomial_bounds,
    _epsilon_bound,
    _neighbours,
    dp_pca_attack,
    dp_pca_privacy,
    dp_pca_sensitivities,
)

SETTINGS = PcaAttack(
    seed=4, features=100, epsilon=1.0, delta=1e-3, draws=200_000, confidence=0.999, thresholds=11
)


@pytest.fixture(scope="module")
def privacy():
    variants = ["unclipped", "add-remove", "replace-one"]
    return dp_pca_privacy(
        PcaPrivacy(variants=variants, features=10, epsilons=[0.5, 2.0], delta=1e-6)
    )


def test_neighbours_are_second_moments_of_samples_of_norm_1():
    for pair in _neighbours(9):
        (count, size), (others, other) = pair.diagonal, pair.off_diagonal
        frobenius = math.sqrt(count * size**2 + 2 * others * other**2)
        expected = 1.0 if pair.relation == "add-remove" else math.sqrt(2.0)
        assert frobenius == pytest.approx(expected)


def test_exact_violations(privacy):
    assert list(privacy.columns) == list(PRIVACY_COLUMNS)
    violated = privacy[privacy["violated"] == "yes"]
    keys = {tuple(row) for row in violated[["reading", "noise", "scheme", "relation"]].to_numpy()}
    assert ("unclipped", "gaussian", "inid", "add-remove") in keys
    assert not [key for key in keys if key[0] == "replace-one"]
    valid = privacy[(privacy["reading"] == "add-remove") & (privacy["relation"] == "add-remove")]
    assert (valid["violated"] == "no").all()
    # somewhere the budget is spent in full
    worst = valid[valid["noise"] == "gaussian"].groupby(["scheme", "epsilon"])["delta_lower"].max()
    assert worst.to_numpy() == pytest.approx(np.full(4, 1e-6), rel=1e-9)
    assert (privacy["delta_lower"] <= privacy["delta_upper"]).all()


def test_delta_of_one_axis_is_the_scalar_profile(privacy):
    row = privacy[(privacy["neighbour"] == "e_1 added") & (privacy["noise"] == "gaussian")].iloc[1]
    mechanism = list(rows("unclipped", features=10, epsilon=0.5, delta=1e-6))[1]
    assert (row["scheme"], mechanism.scheme) == ("inid", "inid")
    exact = privacy_profile(Gaussian(mechanism.diagonal), 1.0, 0.5)
    assert row["delta_lower"] == pytest.approx(exact, rel=1e-9)


def test_sensitivities_as_printed_and_as_they_are():
    table = dp_pca_sensitivities(PcaSensitivities(features=4)).set_index(["quantity", "relation"])
    exact = table["exact"]
    assert exact[("l2", "add-remove")] == pytest.approx(1.0)
    assert exact[("l2", "replace-one")] == pytest.approx(2**0.5)
    assert exact[("l1", "add-remove")] == pytest.approx(2.5)
    # entries off the diagonal appear twice: then the printed sizes are those of a sample of norm 1
    assert table.loc[("l2-twice", "add-remove"), "printed"] == pytest.approx(1.0)
    assert exact[("l2-twice", "replace-one")] == pytest.approx(2**0.5)
    assert exact[("diagonal", "add-remove")] == 1.0
    assert table.loc[("diagonal", "add-remove"), "printed"] == pytest.approx(0.1**0.5)
    assert (exact <= table["bound"] * (1 + 1e-12)).all()
    departure = table["departure"]
    assert departure[("l2-twice", "add-remove")] < 1e-12
    assert departure[("diagonal", "add-remove")] == pytest.approx(1.0 - 0.1**0.5)


def test_random_samples_move_entries_by_at_most_the_exact_sensitivities():
    exact = dp_pca_sensitivities(PcaSensitivities(features=4)).set_index(["quantity", "relation"])[
        "exact"
    ]
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 4000, 4)) * rng.choice([0.01, 1.0], size=(2, 4000, 4))
    x, y = (z / np.linalg.norm(z, axis=1, keepdims=True) for z in (x, y))
    added, swapped = x[:, :, None] * x[:, None, :], y[:, :, None] * y[:, None, :]
    for relation, D in (("add-remove", added), ("replace-one", added - swapped)):
        most = np.abs(D).max(axis=0)
        for name, found in (("diagonal", np.diag(most)), ("off-diagonal", most[0, 1:])):
            assert 0.95 * exact[(name, relation)] < found.max() <= exact[(name, relation)] + 1e-12


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
    assert list(table.columns) == list(ATTACK_COLUMNS)
