"""Sensitivities of DP-PCA."""

import numpy as np
import pytest

from dpnoise_papers.inid_2024.learning_settings import PcaSensitivities
from dpnoise_papers.inid_2024.tables.pca_privacy import (
    dp_pca_sensitivities,
)


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
