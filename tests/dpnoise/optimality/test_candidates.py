"""Certificates for each kind of set: all true, the expected ones among them."""

import numpy as np
import pytest

from dpnoise import L1, L2, AtMost, Box, LInf, Product, gaussian_sigma
from dpnoise.optimality.candidates import candidates

VOLUME = "ball of equal volume, radial staircase"


def methods(ball, epsilon, delta, **options):
    """Return the methods tried for equal weights, with what they prove of the mean variance."""
    K = ball.dimension
    found = candidates(ball, epsilon, delta, np.full(K, 1.0 / K), **options)
    return {certificate.method: value for value, certificate in found}


@pytest.mark.parametrize(
    ("ball", "delta", "expected"),
    [
        (L1(1.0, 4), 0.0, [VOLUME]),
        (L2(1.0, 4), 0.0, ["radial staircase"]),
        (L2(1.0, 4), 1e-6, ["radial test"]),
        (LInf(1.0, 12), 0.0, ["ball as large as a projection, radial staircase", VOLUME]),
        (
            AtMost(3, of=12),
            1e-6,
            ["l2 ball within, radial test", "ball of equal volume, radial test"],
        ),
        (
            Product(L2(1.0, 3), L1(1.0, 2)),
            0.0,
            ["radial staircase + projection", VOLUME],
        ),
    ],
)
def test_methods_of_each_set(ball, delta, expected):
    assert set(methods(ball, 0.5, delta)) == {"projection", *expected}


@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.05])
@pytest.mark.parametrize(
    "ball", [L2(1.0, 3), LInf(1.0, 5), Box([1.0, 0.5, 0.0]), AtMost(2, of=5)], ids=repr
)
def test_no_candidate_is_above_gaussian_or_k_norm_noise(ball, delta):
    K, epsilon = ball.active_dimension, 0.7
    noise = (K + 1.0) * (K + 2.0) / epsilon**2 * float(np.mean(ball.mean_square))
    if delta > 0.0:
        normal = float(gaussian_sigma(epsilon, delta, ball.l2)) ** 2 * K / ball.dimension
        noise = min(noise, normal)
    found = methods(ball, epsilon, delta)
    assert 0.0 < max(found.values()) <= noise


def test_weights_of_few_coordinates_lead_to_their_own_certificates():
    """Coordinates without weight are left out: the floor is that of the others."""
    whole, part = LInf(1.0, 12), LInf(1.0, 4)
    w = np.append(np.ones(4), np.zeros(8))
    few = max(value for value, _ in candidates(whole, 0.3, 0.0, w))
    same = max(value for value, _ in candidates(part, 0.3, 0.0, np.ones(4)))
    assert np.isclose(few, same, rtol=1e-9)


def test_more_effort_adds_bounds_and_lowers_none():
    quick, fine = methods(L2(1.0, 5), 1.0, 1e-4), methods(L2(1.0, 5), 1.0, 1e-4, fine=True)
    assert set(quick) == set(fine)
    assert all(fine[name] >= 0.999 * value for name, value in quick.items())
