"""Bounds made of bounds: blocks, the heaviest coordinates, smaller sets."""

import math

import numpy as np
import pytest

from dpnoise import L1, L2, AtMost, Box, LInf, Product
from dpnoise.optimality.candidates import candidates
from dpnoise.optimality.certificates import (
    Blocks,
    Inclusion,
    Layers,
    Subsets,
    exchangeable,
    inner_radius,
    subset,
)
from dpnoise.optimality.radial_floor import RadialStaircase


def radial(K):
    return RadialStaircase().bound(L2(1.0, K), 1.0, 0.0, np.ones(K))


def test_layers_are_a_sum_over_the_levels_of_the_weights():
    weights = np.array([2.0, 7.0, 2.0, 2.0])
    layers = Layers((4, 1), (RadialStaircase(), RadialStaircase()))
    found = layers.bound(L2(1.0, 4), 1.0, 0.0, weights)
    assert math.isclose(found, 2 * radial(4) + 5 * radial(1), rel_tol=1e-9)
    fewer = Layers((4,), (RadialStaircase(),)).bound(L2(1.0, 4), 1.0, 0.0, weights)
    assert math.isclose(fewer, 2 * radial(4), rel_tol=1e-9)


@pytest.mark.parametrize("sizes", [(5,), (0,), (2, 2), (1,)])
def test_layers_that_do_not_fit_prove_nothing_or_less(sizes):
    layers = Layers(sizes, (RadialStaircase(),) * len(sizes))
    found = layers.bound(L2(1.0, 4), 1.0, 0.0, np.ones(4))
    assert found <= radial(4)
    assert layers.bound(Product(L2(1.0, 4)), 1.0, 0.0, np.ones(4)) == 0.0


def test_blocks_add_up():
    product = Product(L2(1.0, 2), L2(2.0, 3))
    parts = Blocks((RadialStaircase(), RadialStaircase()))
    found = parts.bound(product, 1.0, 0.0, np.ones(5))
    assert math.isclose(found, radial(2) + 4 * radial(3), rel_tol=1e-9)
    assert parts.bound(L2(1.0, 5), 1.0, 0.0, np.ones(5)) == 0.0
    assert Blocks((RadialStaircase(),)).bound(product, 1.0, 0.0, np.ones(5)) == 0.0


def test_a_box_becomes_a_cube_with_other_weights():
    cube, weights = exchangeable(Box([2.0, 0.0, 3.0]), np.array([1.0, 1.0, 5.0]))
    assert cube == LInf(1.0, 2)
    assert weights.tolist() == [4.0, 45.0]
    assert exchangeable(Product(L1(1.0, 2)), np.ones(2)) is None


def test_subsets_keep_the_kind():
    assert subset(AtMost(3, of=9, each=2.0), 2) == AtMost(2, of=2, each=2.0)
    assert subset(L1(2.0, 9), 4) == L1(2.0, 4)
    with pytest.raises(TypeError, match="exchanged"):
        subset(Box([1.0, 2.0]), 1)


@pytest.mark.parametrize(("m", "K"), [(1, 4), (2, 4), (3, 4), (2, 30)])
def test_inner_balls_lie_within(m, K):
    outer = AtMost(m, of=K, each=1.5)
    ball = L2(inner_radius(outer), K)
    rng = np.random.default_rng(3)
    points = rng.standard_normal((200, K))
    points = np.vstack([points, np.eye(K), np.ones(K)])
    points *= (ball.radius / np.linalg.norm(points, axis=1))[:, None]
    assert np.max(outer.norm(points)) <= 1 + 1e-12
    certificate = Inclusion(ball, RadialStaircase())
    assert certificate.bound(outer, 1.0, 0.0, np.ones(K)) > 0
    larger = Inclusion(L2(1.001 * ball.radius, K), RadialStaircase())
    assert larger.bound(outer, 1.0, 0.0, np.ones(K)) == 0.0
    assert certificate.bound(L2(10.0, K), 1.0, 0.0, np.ones(K)) == 0.0


def test_cubes_of_subsets_need_equal_weights_and_the_right_size():
    class Constant:
        method = "constant"

        def bound(self, *_problem):
            return 3.0

    outer = AtMost(3, of=12)
    assert Subsets(LInf(1.0, 3), Constant()).bound(outer, 1.0, 0.0, np.ones(12)) == 12.0
    assert Subsets(LInf(1.0, 4), Constant()).bound(outer, 1.0, 0.0, np.ones(12)) == 0.0
    assert Subsets(LInf(1.1, 3), Constant()).bound(outer, 1.0, 0.0, np.ones(12)) == 0.0
    assert Subsets(LInf(1.0, 3), Constant()).bound(outer, 1.0, 0.0, np.arange(12.0)) == 0.0
    assert Subsets(LInf(1.0, 3), Constant()).bound(LInf(1.0, 12), 1.0, 0.0, np.ones(12)) == 12.0
    assert Subsets(LInf(1.0, 13), Constant()).bound(LInf(1.0, 12), 1.0, 0.0, np.ones(12)) == 0.0


def test_every_candidate_is_named_and_true_of_the_same_problem():
    for sensitivity in (L2(1.0, 4), AtMost(2, of=4), Product(L2(1.0, 2), L1(1.0, 2))):
        found = candidates(sensitivity, 1.0, 0.0, np.ones(4))
        assert len(found) > 1
        upper = np.sum((4 + 1) * (4 + 2) * sensitivity.mean_square)  # of K-norm noise
        for bound, certificate in found:
            assert 0 < bound <= upper
            assert certificate.method
