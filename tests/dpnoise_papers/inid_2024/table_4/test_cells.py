"""Cells of Table IV: one budget for all schemes, scales by their closed forms."""

import math

import numpy as np
import pytest

import deep_toys as toys

torch = pytest.importorskip("torch")
from dpnoise_papers.inid_2024.deep.accounting import noise_unit  # noqa: E402
from dpnoise_papers.inid_2024.table_4.cells import cell_noise, cell_run  # noqa: E402

SIZES = [44, 152, 152, 304, 592, 90]


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
@pytest.mark.parametrize("scheme", ["iid", "spr", "optimal", "spr-group"])
def test_every_cell_spends_the_same_budget(noise, scheme):
    """On all its steps; the thresholds have norm C_0."""
    table = toys.table(clip=0.7)
    delta = {"gaussian": 1e-05, "laplace": 0}[noise]
    run = cell_run(table, toys.images(), f"{noise}-{delta:g}-8-{scheme}", toys.TRIALS)
    assert run.noise == noise
    unit = noise_unit(noise, 8.0, float(delta), 8, 0.25)
    assert math.isclose(toys.spent_unit(run), unit, rel_tol=1e-12)
    power = 2 if noise == "gaussian" else 1
    assert math.isclose(sum(clip**power for clip in run.clips), 0.7**power, rel_tol=1e-12)
    assert run.whole == (scheme == "iid")
    assert len(run.clips) == (1 if run.whole else 6)


def test_scales_follow_the_closed_forms():
    """sigma_m^4 ~ C_m^2 / K_m, beta_m^3 ~ C_m / K_m; SPR ~ C_m / K_m^(1/p); by group ~ C_m."""
    table, k = toys.table(), np.array(SIZES, dtype=float)
    powers = {
        ("gaussian", "optimal"): k**-0.25,
        ("laplace", "optimal"): k ** (-1 / 3),
        ("gaussian", "spr"): k**-0.5,
        ("laplace", "spr"): k**-1.0,
        ("gaussian", "spr-group"): np.ones(6),
        ("laplace", "spr-group"): np.ones(6),
    }
    for (noise, scheme), expected in powers.items():
        delta = {"gaussian": 1e-05, "laplace": 0}[noise]
        cell = table.cells[f"{noise}-{delta:g}-8-{scheme}"]
        _, _, _, scales = cell_noise(table, cell, SIZES)
        ratios = np.array(scales) / expected
        assert np.allclose(ratios, ratios[0], rtol=1e-12)
