"""Tables of the slides: densities, the mass of Huber's, best parameters and DP-CD curves."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, special
from scipy.integrate import trapezoid
from scipy.stats import norm

from dpnoise.noise import FlippedHuber, Huber, Laplace
from dpnoise.privacy.odometer.budget import Budget
from dpnoise.privacy.profile import privacy_profile
from dpnoise.privacy.vector import vector_profile
from dpnoise_papers.flipped_huber_slides.settings import (
    CalibratedDensities,
    HuberDensity,
    HuberMass,
    IllustrativeValues,
)
from dpnoise_papers.flipped_huber_slides.tables import (
    calibrated_densities,
    composed_delta,
    composition,
    descent_curves,
    huber_density,
    huber_mass,
    illustrative_values,
)

HUBER = {"alpha": 0.8, "half_width": 6.0, "points": 601}
CALIBRATED = {
    "epsilon": 2.0, "delta": 1e-6, "sensitivity": 1.0, "dimension": 1,
    "mechanisms": ("gaussian", "staircase", "truncated-laplace", "flipped-huber"),
    "half_width": 12.0, "points": 4001,
}  # fmt: skip
VALUES = {
    "delta": 1e-6, "sensitivity": 1.0, "epsilons": (0.5, 2.0),
    "box": ((0.02, 150.0), (0.02, 50.0)), "resolution": (1500, 500),
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


@pytest.mark.parametrize("alpha", [0.3, 1.0, 2.5])
def test_mass_of_the_huber_density(alpha):
    table = huber_mass(HuberMass(alphas=(alpha,))).set_index("reading")
    phi = math.exp(-(alpha**2) / 2) / math.sqrt(2 * math.pi)
    tau = 1 / (1 + alpha / (2 * (phi - alpha * special.ndtr(-alpha))))

    def printed(t):
        if t <= alpha:
            return (1 - tau) * math.exp(-t * t / 2) / math.sqrt(2 * math.pi)
        return (1 - tau) * math.exp(-alpha * (t - alpha / 2))

    mass = 2 * sum(integrate.quad(printed, *ends)[0] for ends in ((0, alpha), (alpha, math.inf)))
    assert table.loc["printed", "mass"] == pytest.approx(mass, rel=1e-9)
    assert table.loc["corrected", "mass"] == pytest.approx(1.0, rel=1e-12)
    assert table.loc["corrected", "jump"] == pytest.approx(0.0, abs=1e-12)
    # corrected, it is the package's Huber noise
    noise = Huber(alpha)
    assert noise.pdf(0.0) == pytest.approx((1 - tau) / math.sqrt(2 * math.pi), rel=1e-9)


def test_illustrative_values_keep_the_budget():
    table = illustrative_values(IllustrativeValues(**VALUES))
    assert tuple(table["epsilon"]) == VALUES["epsilons"]
    for row in table.itertuples():
        exact = FlippedHuber(row.alpha_exact, row.gamma_exact)
        grid = FlippedHuber(row.alpha, row.gamma)
        assert exact.var() == pytest.approx(row.variance_exact, rel=1e-12)
        assert grid.var() == pytest.approx(row.variance_grid, rel=1e-12)
        assert row.variance_exact <= row.variance_grid
        for noise in (exact, grid):
            assert privacy_profile(noise, 1.0, row.epsilon) <= 1e-6
        assert privacy_profile(exact, 1.0, row.epsilon) <= row.delta_bound <= 1e-6
        assert row.delta_bound > 0.99e-6


def test_curves_of_all_data_sets_stand_together_in_order():
    names = ["dataset", "mechanism", "passes", "nmse"]
    rows = [("b", "gaussian", 5, 0.4), ("b", "gaussian", 2, 0.3), ("b", "flipped-huber", 2, 0.2)]
    parts = {"missing": pd.DataFrame(columns=names), "b": pd.DataFrame(rows, columns=names),
             "a": pd.DataFrame([("a", "laplace", 2, 0.7)], columns=names)}  # fmt: skip
    table = descent_curves(parts)
    assert table.to_numpy().tolist() == [["a", "laplace", 2, 0.7], *map(list, rows[::-1])]
    assert list(descent_curves({"a": pd.DataFrame(columns=names)}).columns) == names


@pytest.mark.parametrize(("each", "copies", "epsilon"), [(0.3, 3, 0.5), (0.7, 3, 0.0)])
def test_the_optimal_composition_is_that_of_randomised_response(each, copies, epsilon):
    """Its outcomes are enumerated; the ledger of a budget, which lists losses, agrees."""
    good = 1 / (1 + math.exp(-each))
    outcomes = list(itertools.product([1, 0], repeat=copies))
    p, q = (
        np.array([math.prod(a if x else 1 - a for x in one) for one in outcomes])
        for a in (good, 1 - good)
    )
    delta = np.sum(np.maximum(p - math.exp(epsilon) * q, 0))
    assert composed_delta(each, copies, epsilon) == pytest.approx(delta, rel=1e-12)
    budget = Budget(10.0, 0.5, relation="add-remove")
    budget.spend_dp(each, times=copies)
    assert budget.epsilon_of(delta) == pytest.approx(epsilon, abs=1e-6)


def test_composition_lies_between_basic_and_exact():
    """Noise by the optimal theorem is private, and that of a tenth less variance is not so."""
    exact, pure, k, delta = 2 / 0.115**2, 2 * 20**2, 20, 1e-6
    found = pd.DataFrame({
        "dimension": k, "delta": delta, "epsilon": 1.0, "mechanism": ["laplace"] * 2 + ["gaussian"],
        "method": ["pure", "exact", "exact"], "variance": [pure, exact, 1.0],
    })  # fmt: skip
    table = composition(found).set_index("theorem")
    assert table.loc["basic", "composed"] == pure
    each = math.sqrt(2 / table.loc["optimal", "composed"])
    assert composed_delta(each, k, 1.0) == pytest.approx(delta, rel=1e-9)
    assert np.allclose(table["excess"], table["composed"] / exact - 1)
    scale = math.sqrt(table.loc["optimal", "composed"] / 2)
    assert vector_profile(Laplace(scale), 1.0, 1.0, copies=k).upper <= delta
    less = vector_profile(Laplace(scale * math.sqrt(0.9)), 1.0, 1.0, copies=k)
    assert less.lower > delta
