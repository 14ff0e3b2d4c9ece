"""Privacy of DP-PCA with clipped entries: it holds, and a scale that is too small is caught."""

import numpy as np
import pytest

from dpnoise_papers.inid_2024.theory import privacy
from dpnoise_papers.inid_2024.theory.statements import CHECKS
from dpnoise_papers.seeds import generator

RUN = {one.id: one.run for one in CHECKS if one.id.startswith("section-vi-b-") and one.share < 1}


@pytest.mark.parametrize("features", [3, 40])
def test_a_sample_has_norm_1(features):
    kind, size, count = privacy._sample(generator(1, "sample"), features)
    assert count @ (size**2 * np.where(kind == 0, 1, 2)) == pytest.approx(1.0)


@pytest.mark.parametrize("name", RUN)
def test_the_mechanisms_are_private(name):
    outcome = RUN[name](generator(3, name), 30)
    assert (outcome.margin >= -outcome.tolerance).all()


@pytest.mark.parametrize("factor", [0.99, 1.01])
def test_other_noise_is_caught(monkeypatch, factor):
    """Too little is not private; too much does not spend the budget at the corner of the box."""
    sigma = privacy.gaussian_sigma
    monkeypatch.setattr(privacy, "gaussian_sigma", lambda e, d: factor * sigma(e, d))
    outcome = RUN["section-vi-b-gaussian"](generator(3, "caught"), 20)
    assert (outcome.margin < -outcome.tolerance).all()
