"""Errors, gains and dispersion of profiles of sensitivities: closed forms, and nu of Theorem 7.

Approximate Laplace noise: one coordinate exactly, limits, and certified results.

Noise for two coordinates: closed forms, and that the box's own staircase is private.
"""

from __future__ import annotations

import itertools
import math
from typing import get_args

import numpy as np
import pytest
from scipy import integrate

from dpnoise.joint.noise import NormStaircase
from dpnoise.noise import Laplace
from dpnoise.noise.stepwise import Staircase, staircase_2d_gamma
from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise.privacy.profile import privacy_profile
from dpnoise.sensitivity.balls import L1
from dpnoise_papers.inid_2024.settings import (
    ApproximateLaplace,
    Dispersion,
    Errors,
    LaplaceOrGaussian,
    ProfileName,
    Theorem7,
    TwoDimensions,
)
from dpnoise_papers.inid_2024.tables.profiles import (
    SCHEMES,
    _scalar_staircase,
    approximate_laplace,
    dispersion,
    dispersion_orders,
    error_curves,
    gini,
    laplace_against_gaussian,
    profile,
    profile_steps,
    theorem_7,
    two_dimensions,
)

PROFILES = get_args(ProfileName)
SETTINGS = {"profiles": list(PROFILES), "dimensions": [1, 2, 7]}


def mechanisms(noise):
    return [[noise, scheme] for scheme in SCHEMES]


@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("norm", [1, 2])
def test_profiles_are_normalised_and_grow(name, norm):
    shape = profile(name, 9, norm)
    assert np.linalg.norm(shape, norm) == pytest.approx(1.0)
    assert (np.diff(shape) >= 0).all()
    assert profile(name, 9).max() == 1.0


def test_profiles_are_powers_and_exponentials():
    i = np.arange(1, 6)
    assert np.allclose(profile("linear", 5), i / 5)
    assert np.allclose(profile("quadratic", 5), i**2 / 25)
    assert np.allclose(profile("exponential", 5), np.exp(i) / math.exp(5))


def test_gaussian_errors_are_the_closed_forms_of_table_i():
    grid = {"low": 0.1, "high": 10.0, "count": 3, "spacing": "log"}
    settings = Errors(
        mechanisms=mechanisms("gaussian"), epsilons=grid, norm=2, delta=1e-6, **SETTINGS
    )
    table = error_curves(settings)
    assert len(table) == 3 * 5 * 3 * 3
    assert np.allclose(table["from_iid"], np.abs(1.0 / table["gain"] - 1.0))
    for row in table.itertuples():
        lambdas, sigma = profile(row.profile, row.dimension, 2), gaussian_sigma(row.epsilon, 1e-6)
        if row.profile == "one-hot" and row.scheme == "spr":
            continue  # K counts the coordinates that any neighbour changes
        expected = row.dimension if row.scheme != "optimal" else lambdas.sum() ** 2
        assert row.mse == pytest.approx(sigma**2 * expected, rel=1e-9)
        assert row.gain == pytest.approx(sigma**2 * row.dimension / row.mse, rel=1e-9)
        assert row.gain_db == pytest.approx(10 * math.log10(row.gain), abs=1e-9)
        assert row.mse_db == pytest.approx(10 * math.log10(row.mse), abs=1e-9)
        assert row.delta == 1e-6
        assert (row.nu < 1.0) == (row.profile != "uniform" and row.dimension > 1)
        assert row.nu == pytest.approx(lambdas.mean() / lambdas.max(), rel=1e-12)
        assert row.case == ("edge" if row.profile in ("uniform", "one-hot") else "profile")


def test_laplace_errors_are_the_closed_forms_of_table_i():
    settings = Errors(mechanisms=mechanisms("laplace"), epsilons=[0.5], norm=1, **SETTINGS)
    table = error_curves(settings)
    for row in table[table["profile"] != "one-hot"].itertuples():
        lambdas, count = profile(row.profile, row.dimension, 1), row.dimension
        expected = {
            "iid": count,
            "spr": count**2 * np.sum(lambdas**2),
            "optimal": np.sum(np.cbrt(lambdas) ** 2) ** 3,
        }[row.scheme]
        assert row.mse == pytest.approx(2 * expected / 0.25, rel=1e-9)
        assert row.delta == 0.0


def test_one_hot_gains_the_dimension():
    for noise in ("gaussian", "laplace"):
        settings = Errors(
            mechanisms=[[noise, "optimal"]], profiles=["one-hot"], dimensions=[1, 20],
            epsilons=[2.0], delta=1e-6 if noise == "gaussian" else None, norm=2,
        )  # fmt: skip
        table = error_curves(settings)
        assert np.allclose(table["gain"], [1, 20])


def test_gini_is_the_double_sum():
    rng = np.random.default_rng(5)
    for dimension in (1, 2, 9):
        x = rng.exponential(size=dimension)
        double = np.abs(x[:, None] - x).sum() / (2 * dimension * x.sum())
        assert gini(x) == pytest.approx(double, abs=1e-15)


def test_dispersion_of_known_profiles():
    table = dispersion(Dispersion(profiles=list(PROFILES), dimensions=[2, 10])).set_index(
        ["profile", "dimension"]
    )
    assert table.loc[("one-hot", 10), "gini"] == pytest.approx(0.9)
    assert table.loc[("uniform", 10), "gini"] == pytest.approx(0.0, abs=1e-15)
    assert table.loc[("linear", 10), "gini"] == pytest.approx((10 - 1) / (3 * 10))
    assert table.loc[("quadratic", 2), "gini"] == pytest.approx(0.3)
    assert table.loc[("linear", 10), "nu"] == pytest.approx(0.55)


def test_crossovers_are_the_first_loss_and_agree_with_the_curves():
    settings = LaplaceOrGaussian(
        profiles=["uniform", "exponential", "one-hot"], epsilons=[0.5], deltas=[1e-3, 1e-6],
        largest_dimension=40,
    )  # fmt: skip
    table = laplace_against_gaussian(settings).set_index(["profile", "delta"])
    for name, delta in table.index:
        settings = Errors(
            mechanisms=[["gaussian", "optimal"], ["laplace", "optimal"]], profiles=[name],
            dimensions=list(range(1, 41)), epsilons=[0.5], delta=delta, norm=2,
        )  # fmt: skip
        curves = error_curves(settings).pivot_table(
            index="dimension", columns="noise", values="mse"
        )
        worse = curves.index[curves["laplace"] > curves["gaussian"]]
        first = table.loc[(name, delta), "crossover"]
        assert math.isnan(first) if len(worse) == 0 else first == worse[0]
        last = 10 * math.log10(curves.loc[40, "laplace"] / curves.loc[40, "gaussian"])
        assert table.loc[(name, delta), "ratio_db"] == pytest.approx(last, abs=1e-8)


def test_the_exponential_limit_is_a_condition_on_sigma():
    """Laplace wins for all K while (epsilon sigma)^2 / 2 is above (1-r)^2 / (1-r^(2/3))^3."""
    r = math.exp(-1)
    limit = (1 - r) ** 2 / (1 - r ** (2 / 3)) ** 3
    settings = LaplaceOrGaussian(
        profiles=["exponential"], epsilons=[0.1, 0.5, 1.1, 1.2, 5.0], deltas=[1e-3],
        largest_dimension=2000,
    )  # fmt: skip
    table = laplace_against_gaussian(settings)
    score = (table["epsilon"] * gaussian_sigma(table["epsilon"], 1e-3)) ** 2 / 2
    assert np.allclose(table["ratio_db"], 10 * np.log10(limit / score), atol=1e-9)
    assert (table["crossover"].isna() == (score > limit)).all()


def gain_db(noise, name, dimension):
    x = profile(name, dimension)
    if noise == "gaussian":
        return 10 * np.log10(dimension * np.sum(x**2) / np.sum(x) ** 2)
    return 10 * np.log10(dimension * np.sum(x) ** 2 / np.sum(np.cbrt(x) ** 2) ** 3)


def test_pairs_are_ordered_by_dispersion_and_compare_the_gains():
    table = dispersion_orders(Dispersion(profiles=PROFILES, dimensions=[1, 2, 3]))
    assert set(table["dimension"]) == {2, 3}  # one coordinate has no dispersion
    assert len(table) == 2 * 2 * 10
    for row in table.itertuples():
        more, less = (profile(name, row.dimension) for name in (row.more, row.less))
        assert row.gini_difference == pytest.approx(gini(more) - gini(less))
        assert row.gini_difference > 0.0
        gains = [gain_db(row.noise, name, row.dimension) for name in (row.more, row.less)]
        assert row.gain_difference_db == pytest.approx(gains[0] - gains[1], abs=1e-9)


def test_dispersion_orders_the_laplace_gains_but_at_three_coordinates():
    table = dispersion_orders(Dispersion(profiles=PROFILES, dimensions=[2, 3, 4, 9]))
    wrong = table[table["gain_difference_db"] <= 0.0]
    assert wrong[["noise", "dimension", "more", "less"]].to_numpy().tolist() == [
        ["laplace", 3, "exponential", "quadratic"]
    ]


def test_steps_add_up_to_the_gain():
    table = profile_steps(Dispersion(profiles=PROFILES, dimensions=[4, 1, 2]))
    assert set(table["dimension"]) == {2, 4}
    assert set(table.loc[table["case"] == "edge", "profile"]) == {"uniform", "one-hot"}
    assert set(table.loc[table["nu"] == 1.0, "profile"]) == {"uniform"}
    for (noise, name), rows in table.groupby(["noise", "profile"]):
        last = rows.set_index("dimension").loc[4, "gain_db"]
        assert last == pytest.approx(gain_db(noise, name, 4), abs=1e-9)
        assert rows["step_db"].sum() == pytest.approx(last, abs=1e-9)


@pytest.fixture(scope="module")
def theorem_7_table():
    return theorem_7(Theorem7(dimensions=[1, 2, 30], largest=10**5, shares=[1e-5, 1e-2, 0.5, 1.0]))


def test_every_ratio_is_between_nu_and_one(theorem_7_table):
    for noise in ("gaussian", "laplace"):
        assert (theorem_7_table[noise] >= theorem_7_table["nu"] * (1 - 1e-12)).all()
        assert (theorem_7_table[noise] <= 1 + 1e-12).all()
        assert np.allclose(
            theorem_7_table[f"{noise}_over_claim"] * theorem_7_table["nu"] ** 2,
            theorem_7_table[noise],
        )


def test_the_profiles_of_the_paper_refute_theorem_7_but_not_footnote_7(theorem_7_table):
    paper = theorem_7_table[theorem_7_table["case"] == "profile"]
    assert set(paper["profile"]) == {"linear", "quadratic", "exponential"}
    assert set(theorem_7_table.loc[theorem_7_table["case"] == "extreme", "profile"]) == {
        "block", "outlier",
    }  # fmt: skip
    steep = paper[(paper["profile"] == "exponential") & (paper["dimension"] == 30)].iloc[0]
    ratio = np.e**-1  # of neighbouring sensitivities: nu = 1/(30 (1 - ratio)), but for e^-30
    assert steep["gaussian_over_claim"] == pytest.approx(30 * (1 - ratio**2), rel=1e-9)
    assert paper["absolute_over_claim"].max() < 2.6


def test_the_mean_absolute_errors_lie_between_nu_and_one_as_well(theorem_7_table):
    assert (theorem_7_table["absolute"] >= theorem_7_table["nu"] * (1 - 1e-12)).all()
    assert (theorem_7_table["absolute"] <= 1 + 1e-12).all()
    assert np.allclose(
        theorem_7_table["absolute_over_claim"] * theorem_7_table["nu"], theorem_7_table["absolute"]
    )
    two = theorem_7_table[
        (theorem_7_table["profile"] == "linear") & (theorem_7_table["dimension"] == 2)
    ].iloc[0]
    assert two["absolute"] == pytest.approx((0.5**0.5 + 1) ** 2 / 3.0)  # sensitivities 1/2 and 1


def test_equal_or_absent_sensitivities_reach_the_lower_end(theorem_7_table):
    rows = theorem_7_table[theorem_7_table["profile"] == "block"]
    assert np.allclose(rows["nu"], rows["share"])
    assert np.allclose(rows["gaussian"], rows["nu"])
    assert np.allclose(rows["laplace"], rows["nu"])


def test_one_large_and_many_small_ones_come_near_the_upper_end(theorem_7_table):
    row = theorem_7_table[
        (theorem_7_table["profile"] == "outlier") & (theorem_7_table["share"] == 1e-2)
    ].iloc[0]
    assert row["nu"] < 0.0101
    assert row["gaussian"] > 0.9
    assert row["laplace"] > 0.99


def test_gaussian_noise_always_gains_more(theorem_7_table):
    assert (theorem_7_table["gaussian"] <= theorem_7_table["laplace"] * (1 + 1e-12)).all()


def test_corollary_6_by_its_formula_and_the_error_beside_gaussian_noise():
    settings = ApproximateLaplace(
        dimensions={"uniform": [1, 100], "linear": [3]}, epsilons=[0.3, 2.0], deltas=[1e-3, 0.2]
    )
    for row in approximate_laplace(settings).itertuples():
        factor = row.factor_printed
        delta = float(privacy_profile(Laplace(factor), row.epsilon, row.epsilon))
        assert 0.0 < delta <= row.delta  # one coordinate: the scales of Corollary 6 are private
        assert row.gain_printed_db == pytest.approx(-20 * math.log10(factor), abs=1e-12)
        sensitivities = profile(row.profile, row.dimension, 1)
        laplace = 2 * np.sum(np.cbrt(sensitivities) ** 2) ** 3 / row.epsilon**2
        gaussian = (sensitivities.sum() * gaussian_sigma(row.epsilon, row.delta)) ** 2
        expected = 10 * math.log10(laplace / gaussian)
        assert row.over_gaussian_pure_db == pytest.approx(expected, abs=1e-7)


LAMBDA = np.array([0.85, 0.15])


def table(sensitivities, epsilons):
    return two_dimensions(TwoDimensions(sensitivities=sensitivities, epsilons=epsilons))


@pytest.fixture(scope="module")
def wide():
    found = table(LAMBDA.tolist(), [0.01, 0.5, 2.0, 5.0])
    assert np.allclose(found["mae_epsilon"], found["mae"] * found["epsilon"])
    assert set(found.loc[found["knows"] == "total", "mechanism"]) == {"staircase", "laplace-iid"}
    iid = found["epsilon"].map(
        found[found["mechanism"] == "laplace-iid"].set_index("epsilon")["mae"]
    )
    assert np.allclose(found["from_iid"], np.abs(found["mae"] / iid - 1.0))
    return found.pivot_table(index="epsilon", columns="mechanism", values="mae")


def test_laplace_errors_are_closed_forms(wide):
    epsilon = wide.index.to_numpy()
    assert np.allclose(wide["laplace-iid"], 2 / epsilon)
    assert np.allclose(wide["laplace-optimal"], np.sqrt(LAMBDA).sum() ** 2 / epsilon)


def test_the_order_of_what_knows_as_much(wide):
    assert (wide["lower-bound"] < wide["box-staircase"]).all()
    assert (wide["box-staircase"] < wide["laplace-optimal"]).all()


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_scalar_staircase_at_its_best_gamma(epsilon):
    best = Staircase(epsilon, 1.0, 1.0 / (1.0 + np.exp(epsilon / 2))).mean_abs()
    assert _scalar_staircase(epsilon) == pytest.approx(best, rel=1e-12)
    for gamma in (0.1, 0.3, 0.6):
        assert Staircase(epsilon, 1.0, gamma).mean_abs() >= best * (1 - 1e-12)


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_the_box_staircase_is_private_on_the_box_and_has_its_error(epsilon):
    """By quadrature of its density, a function of the norm max |x_i| / lambda_i alone."""
    gamma = float(staircase_2d_gamma(epsilon))
    twin = NormStaircase(L1(1.0, of=2), epsilon, gamma)

    def log_density(norm):
        return twin.logpdf(np.stack([norm, np.zeros_like(norm)], axis=-1))

    # The area of a ball grows with the square of its radius, so that r dr is its measure.
    edges = np.concatenate([[k, k + gamma] for k in range(int(60 / epsilon))])
    parts = [
        integrate.quad(lambda r, n=n: np.exp(log_density(np.array(r))) * r**n, a, b)[0]
        for n in (1, 2)
        for a, b in itertools.pairwise(edges)
    ]
    mass, radius = np.sum(np.reshape(parts, (2, -1)), axis=1)
    found = table(LAMBDA.tolist(), [epsilon])
    mae = found.set_index("mechanism").loc["box-staircase", "mae"]
    assert 0.75 * radius / mass == pytest.approx(mae, rel=1e-6)
    rng = np.random.default_rng(11)
    points = LAMBDA * rng.uniform(-4, 4, (20_000, 2))
    others = points + LAMBDA * rng.uniform(-1, 1, points.shape)
    loss = [log_density(np.abs(x / LAMBDA).max(axis=1)) for x in (points, others)]
    assert np.abs(loss[0] - loss[1]).max() <= epsilon * (1 + 1e-12)


def test_points_of_a_norm_have_three_quarters_of_it_on_average():
    """The cone measure of a box: uniform in the box, divided by its norm."""
    x = np.random.default_rng(3).uniform(-1, 1, (200_000, 2))
    share = np.abs(x).mean(axis=1) / np.abs(x).max(axis=1)
    # 5 standard errors: a false alarm in two million.
    assert abs(share.mean() - 0.75) < 5 * share.std() / np.sqrt(len(share))


def test_scaling_both_sensitivities_scales_every_error():
    one, two = (table([0.7 * s, 0.3 * s], [1.3])["mae"] for s in (1.0, 20.0))
    assert np.allclose(two, 20 * one)
