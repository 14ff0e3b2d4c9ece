"""What DP-PCA needs at single neighbours, and the sensitivities that are true."""

import math

import numpy as np
import pytest

from dpnoise.noise.exponential_power import Gaussian
from dpnoise.privacy.profile import privacy_profile
from dpnoise_papers.inid_2024.learning_settings import PcaPrivacy, PcaSensitivities
from dpnoise_papers.inid_2024.tables.pca_privacy import (
    COLUMNS,
    _neighbours,
    dp_pca_privacy,
    dp_pca_sensitivities,
)
from dpnoise_papers.inid_2024.tables.pca_variants import rows


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
    assert list(privacy.columns) == list(COLUMNS)
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
