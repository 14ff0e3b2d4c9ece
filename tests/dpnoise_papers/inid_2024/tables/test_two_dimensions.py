"""Noise for two coordinates: closed forms, and that the box's own staircase is private."""

import itertools

import numpy as np
import pytest
from scipy import integrate

from dpnoise.joint.vectors import Staircase2D
from dpnoise.noise.stepwise import Staircase, staircase_2d_gamma
from dpnoise_papers.inid_2024.settings import Crossings, TwoDimensions
from dpnoise_papers.inid_2024.tables.profiles import (
    _scalar_staircase,
    staircase_crossings,
    two_dimensions,
)

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
    assert np.allclose(wide["laplace-spr"], 2 / epsilon)
    assert np.allclose(wide["laplace-optimal"], np.sqrt(LAMBDA).sum() ** 2 / epsilon)
    second = np.cbrt(LAMBDA).sum() * (np.cbrt(LAMBDA) ** 2).sum() / epsilon
    assert np.allclose(wide["laplace-optimal-2"], second)


def test_the_order_of_what_knows_as_much(wide):
    assert (wide["lower-bound"] < wide["box-staircase"]).all()
    assert (wide["box-staircase"] <= wide["box-norm"]).all()
    assert (wide["box-staircase"] < wide["staircase-optimal"]).all()
    assert (wide["staircase-optimal"] <= wide["laplace-optimal"]).all()
    assert (wide["laplace-optimal"] <= wide["laplace-optimal-2"]).all()


def test_one_staircase_per_coordinate_beats_every_split_of_a_grid(wide):
    for epsilon, best in wide["staircase-optimal"].items():
        share = np.linspace(0.001, 0.999, 9999)
        errors = LAMBDA[0] * _scalar_staircase(share * epsilon)
        errors = errors + LAMBDA[1] * _scalar_staircase((1 - share) * epsilon)
        assert best <= errors.min() * (1 + 1e-12)
        assert best == pytest.approx(errors.min(), rel=1e-6)


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
    twin = Staircase2D(epsilon, 1.0, gamma)

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


def test_crossings_are_where_the_errors_meet():
    crossings = staircase_crossings(Crossings(shares=[0.6, 0.85]))
    for share, epsilon in crossings.itertuples(index=False):
        near = [epsilon * 0.99, epsilon, epsilon * 1.01]
        at = table([share, 1 - share], near).pivot_table(
            index="epsilon", columns="mechanism", values="mae"
        )
        gap = (at["staircase"] - at["laplace-optimal"]).to_numpy()
        assert gap[0] > 0 > gap[2]
        assert gap[1] == pytest.approx(0.0, abs=1e-9)


def test_scaling_both_sensitivities_scales_every_error():
    one, two = (table([0.7 * s, 0.3 * s], [1.3])["mae"] for s in (1.0, 20.0))
    assert np.allclose(two, 20 * one)
