"""Densities, privacy losses, profiles and the cases of Table I in one dimension.

Algorithm 2 against the exact profile.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad, trapezoid

from dpnoise.noise import FlippedHuber, Gaussian, OffsetSymmetricGaussian
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise.privacy.profile import privacy_profile
from dpnoise_papers.flipped_huber_2023.privacy import (
    VARIANTS,
    algorithm_2,
    densities,
    fisher_information,
    iterate,
    loss_and_bound,
    losses_at_one_scale,
    profiles_at_one_variance,
    published_cases,
)
from dpnoise_papers.flipped_huber_2023.settings import (
    Algorithm2,
    Densities,
    FisherInformation,
    LossAndBound,
    LossesAtOneScale,
    ProfilesAtOneVariance,
    PublishedCases,
)
from dpnoise_papers.settings import Grid
from dpnoise_papers.verify.oracles.densities import flipped_huber
from oracles.exact import Pieces

PARAMETERS = ((0.0, 1.0), (1.0, 1.0), (2.0, 0.7))
FIGURE_5 = {"alpha": 2.0, "gamma": 1.3, "shifts": (1.0, 3.0, 5.0), "margin": 1.0, "points": 101}
FIGURE_6 = {
    "variance": 16.0, "scale": 7.0, "sensitivity": 1.0,
    "epsilons": {"low": 0.0, "high": 1.0, "count": 11, "spacing": "linear"},
}  # fmt: skip
FIGURE_7 = {"scale": 0.6, "shift": 1.0, "half_width": 2.5, "points": 101}
CASES = ["i", "ii", "iii", "iv", "v"]
BORDERS = ["i-iii", "ii-iii", "ii-iv", "iii-iv", "iv-v"]


def ratios(low, high, count):
    return FisherInformation(ratios=Grid(low=low, high=high, count=count, spacing="log"))


def test_densities_integrate_to_one_and_follow_equation_8():
    table = densities(Densities(parameters=PARAMETERS, half_width=8.0, points=2001))
    for (alpha, gamma), rows in table.groupby(["alpha", "gamma"]):
        t = rows["t"].to_numpy()
        assert np.all(np.diff(t) > 0)
        assert trapezoid(rows["density"], t) == pytest.approx(1, abs=1e-4)
        rho = np.where(abs(t) <= alpha, alpha * abs(t), (t**2 + alpha**2) / 2)
        shape = rows["density"] / rows["density"].max()
        assert shape.to_numpy() == pytest.approx(np.exp((rho.min() - rho) / gamma**2), rel=1e-11)


def test_the_transitions_are_marked_on_the_grid():
    # 0.3 is no grid point, 5 lies outside, alpha = 0 has no transition.
    parameters = ((0.0, 1.0), (0.3, 1.0), (5.0, 1.0), (2.0, 1.0))
    table = densities(Densities(parameters=parameters, half_width=4.0, points=5))
    marks = table[table["transition"] == 1]
    assert marks[["alpha", "t"]].to_numpy().tolist() == [[0.3, -0.3], [0.3, 0.3], [2, -2], [2, 2]]
    assert list(table.groupby("alpha").size()) == [5, 7, 5, 5]


def test_nfi_rises_from_the_gaussian_1_to_the_laplace_2():
    table = fisher_information(ratios(1e-3, 1e3, 200))
    rows = table[table["mechanism"] == "flipped-huber"]
    nfi = rows["nfi"].to_numpy()
    assert rows["ratio"].iloc[0] == 0
    assert nfi[0] == pytest.approx(1, abs=1e-14)
    assert nfi[-1] == pytest.approx(2, abs=1e-12)
    assert np.all(np.diff(nfi) > -1e-13)
    assert np.all((nfi > 1 - 1e-14) & (nfi < 2 + 1e-14))
    assert np.all(rows["variance_over_gamma2"] <= 1 + 1e-15)
    assert np.all(rows["fisher_information_times_gamma2"] >= 1 - 1e-15)
    references = table.set_index("mechanism")["nfi"]
    assert references["gaussian"] == pytest.approx(1, abs=1e-15)
    assert references["laplace"] == pytest.approx(2, abs=1e-15)


def rho(t, alpha):
    return np.where(abs(t) <= alpha, alpha * abs(t), (t**2 + alpha**2) / 2)


def test_losses_follow_equation_7_and_stay_below_their_bounds():
    table = loss_and_bound(LossAndBound(**FIGURE_5))
    assert tuple(sorted(table["d"].unique())) == FIGURE_5["shifts"]
    for d, rows in table.groupby("d"):
        t = rows["t"].to_numpy()
        expected = (rho(t + d / 2, 2.0) - rho(t - d / 2, 2.0)) / 1.3**2
        assert rows["loss"].to_numpy() == pytest.approx(expected, abs=1e-12)
        assert np.all(np.diff(rows["loss"]) > -1e-12)
        assert np.all(rows["loss"] <= rows["bound"] + 1e-12)
        slope = np.diff(rows["bound"]) / np.diff(t)
        assert slope == pytest.approx(np.full(len(slope), d / 1.3**2), rel=1e-9)


def test_loss_and_bound_touch_at_the_ridge_which_the_paper_prints():
    table = loss_and_bound(LossAndBound(**FIGURE_5))
    ridges = table[table["ridge"] == 1].set_index("d")
    assert list(ridges["t"]) == [0.5, 1.5, 2.5]
    assert ridges["loss"].to_numpy() == pytest.approx(ridges["bound"].to_numpy(), rel=1e-12)
    for d, height in ridges["loss"].items():
        printed = (4 + d**2 - max(2 - d, 0) ** 2) / (2 * 1.3**2)
        assert height == pytest.approx(printed, rel=1e-12)


def test_losses_at_one_scale_are_those_of_appendix_e():
    table = losses_at_one_scale(LossesAtOneScale(**FIGURE_7))
    losses = table.pivot_table(index="t", columns="mechanism", values="loss")
    t, s = losses.index.to_numpy(), 0.6
    assert losses["gaussian"].to_numpy() == pytest.approx(t / s**2, abs=1e-12)
    clipped = np.sign(t) * np.minimum(abs(t), 0.5)
    assert losses["laplace"].to_numpy() == pytest.approx(2 * clipped / s, abs=1e-12)
    total = losses["gaussian"] + losses["laplace"]
    assert losses["offset-symmetric-gaussian"].to_numpy() == pytest.approx(total, abs=1e-12)
    tails = abs(t) >= s + 0.5
    gaussian = losses["gaussian"][tails].to_numpy()
    assert losses["flipped-huber"][tails].to_numpy() == pytest.approx(gaussian, abs=1e-12)
    assert tails.any()


def test_profiles_belong_to_noise_of_the_wanted_variance():
    table = profiles_at_one_variance(ProfilesAtOneVariance(**FIGURE_6))
    assert list(table["mechanism"].unique()) == [
        "gaussian", "offset-symmetric-gaussian", "flipped-huber",
    ]  # fmt: skip
    families = {"gaussian": Gaussian, "flipped-huber": FlippedHuber,
                "offset-symmetric-gaussian": OffsetSymmetricGaussian}  # fmt: skip
    for name, rows in table.groupby("mechanism"):
        told = dict(part.split("=") for part in rows["noise"].iloc[0].split(", "))
        noise = families[name](**{key: float(value) for key, value in told.items()})
        assert noise.var() == pytest.approx(16.0, rel=1e-4)  # the text has six digits
        if name != "gaussian":
            assert 7.0 in (float(value) for value in told.values())
        row = rows.iloc[3]

        def gap(t, noise=noise, epsilon=row["epsilon"]):
            return max(noise.pdf(t) - math.exp(epsilon) * noise.pdf(t + 1.0), 0.0)

        delta = quad(gap, -70, 70, points=[-1, -0.5, 0], limit=500, epsabs=1e-12)[0]
        assert row["delta"] == pytest.approx(delta, rel=1e-4)


@pytest.fixture(scope="module")
def table():
    return published_cases(PublishedCases(trials=12, seed=1))


def test_every_case_and_border_is_hit_and_the_printed_table_holds(table):
    assert list(table["case"].unique()) == CASES + BORDERS
    assert (table.groupby("case").size() == 12).all()
    assert (table["ranges"] == 1).all()
    assert (table[["t1_in_interval", "t2_in_interval"]] == 1).all(axis=None)
    assert (table["loss_error"] == 0).all()


def test_our_profile_is_the_printed_one_and_the_borders_join(table):
    border = table["case"].str.contains("-")
    assert ((table["border"] == 1) == border).all()
    assert table.loc[~border, "relative_error"].max() < 1e-10
    assert table.loc[~border, "published"].min() < 1e-20
    assert table.loc[border, ["ours", "relative_error"]].isna().all(axis=None)
    assert (table.loc[border, "jump"] == 0).all()
    assert table.loc[~border, "jump"].isna().all()


@pytest.mark.parametrize("case", CASES)
def test_the_printed_profile_is_the_integral_that_defines_it(table, case):
    rows = table[table["case"] == case]
    row = rows.loc[rows["published"].idxmax()]
    delta = Pieces(flipped_huber, row["alpha"], row["gamma"]).delta(
        row["sensitivity"], row["epsilon"]
    )
    assert row["published"] == pytest.approx(float(delta), rel=1e-9)


NOISE = FlippedHuber(0.7, 1.3)
GRID = np.linspace(0.0, 30.0, 1501)


@pytest.mark.parametrize("variant", VARIANTS)
def test_one_coordinate_is_the_scalar_profile(variant):
    delta = iterate(NOISE, 1, 1.5, nu=GRID, nodes=101, variant=variant)
    assert math.isclose(delta, privacy_profile(NOISE, 1.0, 1.5), rel_tol=1e-12)


@pytest.mark.parametrize("dimension", [2, 4])
def test_the_corrected_recursion_composes_gaussian_noise(dimension):
    noise, epsilon = FlippedHuber(0.0, 2.0), 1.0
    delta = iterate(noise, dimension, epsilon, nu=GRID, nodes=1501, variant="corrected")
    exact = math.exp(gaussian_log_delta(math.sqrt(dimension) / 2.0, epsilon))
    assert math.isclose(delta, exact, rel_tol=2e-3)
    assert delta > exact  # chords lie above a convex profile


def test_line_4_as_printed_stays_at_two_coordinates():
    setting = {"nu": GRID, "nodes": 1501}
    two = iterate(NOISE, 2, 1.5, variant="corrected", **setting)
    for dimension in (2, 5, 9):
        printed = iterate(NOISE, dimension, 1.5, variant="printed", **setting)
        assert math.isclose(printed, two, rel_tol=1e-6)
    assert iterate(NOISE, 5, 1.5, variant="corrected", **setting) > 1.5 * two


def test_the_table_sets_the_variants_against_the_exact_profile():
    settings = Algorithm2(
        cases=((0.7, 1.3, 3, 2.0), (0.0, 2.0, 2, 1.0)),
        grid_points=2001,
        grid_factor=8.0,
        nodes=3001,
    )
    table = algorithm_2(settings)
    assert np.all(table["lower"] <= table["upper"])
    assert np.all(table["corrected_off"] < 5e-3)
    assert np.array_equal(table["zero_off"], table["zero_error"].abs())
    assert table.loc[0, "printed_error"] < -0.1  # the privacy of two coordinates, not of three
    assert np.allclose(table["clamped"] / table["lower"] - 1, table["clamped_error"], atol=1e-5)
