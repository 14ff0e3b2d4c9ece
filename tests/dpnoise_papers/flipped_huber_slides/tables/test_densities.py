"""One-dimensional densities of the slides."""

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.stats import norm

from dpnoise_papers.flipped_huber_slides.settings import CalibratedDensities, HuberDensity
from dpnoise_papers.flipped_huber_slides.tables.densities import calibrated_densities, huber_density

HUBER = {"alpha": 0.8, "half_width": 6.0, "points": 601}
CALIBRATED = {
    "epsilon": 2.0, "delta": 1e-6, "sensitivity": 1.0, "dimension": 1,
    "mechanisms": ("gaussian", "staircase", "truncated-laplace", "flipped-huber"),
    "half_width": 12.0, "points": 4001,
}  # fmt: skip


def test_huber_is_gaussian_up_to_its_transition_and_laplace_beyond():
    table = huber_density(HuberDensity(**HUBER))
    wide = table.pivot_table(index="t", columns="mechanism", values="density")
    t = wide.index.to_numpy()
    inside = abs(t) <= 0.8
    centre = (wide["huber"] / wide["gaussian"])[inside]
    tail = (wide["huber"] / wide["laplace"])[~inside]
    assert np.ptp(centre) < 1e-12
    assert np.ptp(tail) < 1e-12
    assert wide["gaussian"].to_numpy() == pytest.approx(norm.pdf(t), rel=1e-12)
    marks = table[table["transition"] == 1]
    assert marks[["mechanism", "t"]].to_numpy().tolist() == [["huber", -0.8], ["huber", 0.8]]
    # tau of the slides: the share of the density that is not the Gaussian's centre.
    excess = 2 * (norm.pdf(0.8) - 0.8 * norm.sf(0.8)) / 0.8
    assert centre.iloc[0] == pytest.approx(1 / (1 + excess), rel=1e-12)


def test_calibrated_densities_integrate_to_one_with_the_variance_told():
    table = calibrated_densities(CalibratedDensities(**CALIBRATED))
    assert tuple(table["mechanism"].unique()) == CALIBRATED["mechanisms"]
    for _, rows in table.groupby("mechanism"):
        t, density = rows["t"].to_numpy(), rows["density"].to_numpy()
        assert np.all(np.diff(t) > 0)
        assert trapezoid(density, t) == pytest.approx(1, abs=1e-4)
        assert trapezoid(density * t**2, t) == pytest.approx(rows["variance"].iloc[0], rel=1e-3)


def test_jumps_are_upright():
    table = calibrated_densities(CalibratedDensities(**CALIBRATED))
    rows = table[table["mechanism"] == "truncated-laplace"]
    seen = rows[rows["density"] > 0]
    edge = seen["t"].max()
    beyond = rows.loc[rows["t"] > edge, "t"].min()
    assert beyond / edge - 1 < 1e-8
    rows = table[table["mechanism"] == "staircase"]
    levels = rows["density"].round(12).nunique()
    steep = np.diff(rows["density"]) != 0
    assert levels > 5
    assert np.diff(rows["t"])[steep].max() < 1e-7
