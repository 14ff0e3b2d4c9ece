"""Certificates of several Gaussian blocks against the exact quadratic form, for every set."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from dpnoise import (
    L1,
    L2,
    AtMost,
    Box,
    Counts,
    Ellipsoid,
    Gaussian,
    Laplace,
    LInf,
    Product,
    certify,
    privacy_profile,
    verify,
)
from dpnoise.certificates import checker
from dpnoise.certificates.codec import plain as plain_set
from dpnoise.joint.noise import RadialNoise
from dpnoise.joint.vectors import CorrelatedGaussian
from dpnoise.mechanisms.noise import BlockNoise, IndependentNoise
from exact_delta import extreme_points

SETS = [
    L1(0.7, of=4),
    L2(1.3, of=4),
    LInf(0.9, of=4),
    Box([1.0, 0.0, 0.3, 2.0]),
    AtMost(2, of=4, each=0.6),
    AtMost(1, of=4),
    Ellipsoid([1.0, 2.0, 0.5, 0.0]),
    Product(L2(1.0, of=2), AtMost(1, of=2)),
    Product(L1(1.0, of=3), LInf(0.2)),
    Counts(2, of=4, each=0.6, whole=False, relation="add-remove"),
    Counts(1, of=4, each=0.6, whole=False, relation="replace-one"),
    Product(Counts(1, of=3, relation="add-remove"), L2(1.0, relation="add-remove")),
]
CUTS = [
    ([0], [1], [2], [3]),
    ([0, 1], [2, 3]),
    ([3, 0], [2, 1]),  # not in order
    ([0, 2], [1, 3]),  # across the factors of a product
    ([1, 3, 0, 2],),
]


def certified(noise, ball, epsilon):
    relation = None if ball.relation else "add-remove"
    return certify(noise, ball, epsilon, relation=relation)


def gaussian_blocks(cut, sigmas):
    return BlockNoise(
        tuple(
            (np.array(at), IndependentNoise(Gaussian(2.0), np.array([sigmas[k] / 2.0 for k in at])))
            for at in cut
        ),
        len(sigmas),
    )


@pytest.mark.usefixtures("once")
@pytest.mark.parametrize("ball", SETS, ids=repr)
def test_every_set_and_every_cut_gives_the_exact_quadratic_form(ball):
    rng = np.random.default_rng(1)
    for sigmas in ([1.0] * 4, rng.integers(1, 9, 4) / 4.0):
        points = np.array(extreme_points(ball), dtype=float)
        if ball.relation != "replace-one":  # where the signs that are left out matter
            assert np.all(ball.norm(points) <= 1.0 + 1e-12)
        mu = math.sqrt(
            max(math.fsum((d / s) ** 2 for d, s in zip(x, sigmas, strict=True)) for x in points)
        )
        delta = float(privacy_profile(Gaussian(1.0), mu, 1.0))
        for cut in CUTS:
            found = certified(gaussian_blocks(cut, sigmas), ball, 1.0)
            assert float(found.lower) == pytest.approx(delta, rel=1e-8)
            assert float(found.upper) == pytest.approx(delta, rel=1e-8)
            assert found.lower <= delta * (1.0 + 1e-13)
            assert found.upper >= delta * (1.0 - 1e-13)
            assert verify(found).independent


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("ball", SETS, ids=repr)
def test_the_largest_power_sum_holds_every_difference_and_is_attained(ball, power):
    rng = np.random.default_rng(2)
    weights = [Fraction(int(x), 8) for x in rng.integers(0, 30, 4)]
    w = np.array([float(x) for x in weights])
    largest = float(ball.largest_power_sum(weights, power))
    inside = ball.sample(20_000, 3)
    edge = inside / np.asarray(ball.norm(inside))[:, None]
    sums = np.sum((w * np.abs(edge)) ** power, axis=-1)
    assert np.all(sums <= largest * (1.0 + 1e-12))
    if power == 2 or not ("L2" in repr(ball) or "Ellipsoid" in repr(ball)):
        ends = np.sum((w * np.array(extreme_points(ball), dtype=float)) ** power, axis=-1)
        assert np.max(ends) == pytest.approx(largest, rel=1e-14)
    else:  # the support function, by floating-point formulas of its own
        assert float(ball.support(w)) == pytest.approx(largest, rel=1e-14)
    one = ball.largest_power_sum(Fraction(3), power)
    assert one == pytest.approx(float(ball.largest_power_sum([Fraction(3)] * 4, power)), rel=1e-14)


@pytest.mark.parametrize(
    "ball", [L2(1.0, 2), L1(1.0, 5), AtMost(1, 10), Ellipsoid([1.0] * 3)], ids=repr
)
def test_blocks_whose_extremes_are_not_attained_together(ball):
    # Every difference has an l2 norm of at most 1: mu = 1, whatever the number of blocks.
    K = ball.dimension
    found = certified(gaussian_blocks([[k] for k in range(K)], [1.0] * K), ball, 1.0)
    assert float(found.lower) == pytest.approx(0.12693673750664395, rel=1e-14)
    assert float(found.upper) == pytest.approx(0.12693673750664395, rel=1e-14)


def test_a_block_without_delta_leaves_the_gaussian_blocks_as_lower_bound():
    # All of the difference may fall on the Gaussian coordinates, and post-processing drops others.
    parts = (
        (np.array([2]), RadialNoise(LInf(1.0), 4.0)),
        (np.array([0]), IndependentNoise(Gaussian(1.0), np.array([1.0]))),
        (np.array([1]), IndependentNoise(Gaussian(1.0), np.array([1.0]))),
    )
    found = certified(BlockNoise(parts, 3), L2(1.0, of=3), 1.0)
    assert float(found.lower) == pytest.approx(0.12693673750664395, rel=1e-8)
    assert found.lower < found.upper < 2 * found.lower
    verify(found)


def test_laplace_blocks_add_up_over_attained_differences():
    noise = BlockNoise(
        tuple(
            (np.array([k]), IndependentNoise(Laplace(1.0), np.array([scale])))
            for k, scale in enumerate((1.0, 2.0, 4.0))
        ),
        3,
    )
    assert certified(noise, L1(1.0, of=3), 1.0).upper == 0  # 1 + 1/2 + 1/4 by blocks of their own
    assert certified(noise, AtMost(2, of=3), 1.5).upper == 0
    assert certified(noise, AtMost(2, of=3), 1.4375).upper > 0
    assert verify(certified(noise, L1(1.0, of=3), 1.0)).independent


def test_the_checker_refuses_blocks_that_leave_a_coordinate_or_take_one_twice():
    unit = {"kind": "gaussian", "sigma": "1"}
    one = {"kind": "independent", "unit": unit, "scales": ["1"]}
    ball = {"kind": "l2", "radius": "1", "of": 2}
    flat = {"kind": "box", "lambdas": ["1", "0"]}

    def blocks(*cut, dimension=2):
        parts = [{"coordinates": at, "noise": one} for at in cut]
        return {"kind": "blocks", "blocks": parts, "dimension": dimension}

    assert checker.enclosure(blocks([0], [1]), ball, Fraction(1))[1]
    assert checker.enclosure(blocks([0]), flat, Fraction(1))[1]
    for noise in (
        blocks([0]),
        blocks([0], [0]),
        blocks([0], [2]),
        blocks([0], [-1]),
        blocks([0], [True]),
        blocks([0, 1]),
        blocks([0], [1], dimension=3),
        blocks(),
    ):
        with pytest.raises(ValueError, match="expected"):
            checker.enclosure(noise, ball, Fraction(1))


def test_correlated_blocks_are_exact_over_factors_and_bounded_elsewhere():
    """Beside the product of two counts: coordinates of both in one block, for one set of all."""
    ball = Product(*(Counts(2, of=2, relation="add-remove") for _ in range(2)))
    part = CorrelatedGaussian(ball.blocks[0].smallest_ellipsoid, 2.0)
    plain = IndependentNoise(Gaussian(1.0), np.array([3.0, 3.0]))
    factors = BlockNoise(((np.arange(2), part), (np.arange(2, 4), plain)), 4)
    delta = float(privacy_profile(Gaussian(1.0), math.sqrt(1.0 / 4.0 + 2.0 / 9.0), 1.0))
    found = certify(factors, ball, 1.0)
    assert float(found.lower) == pytest.approx(delta, rel=1e-9)
    assert float(found.upper) == pytest.approx(delta, rel=1e-9)
    assert verify(found).independent
    whole = Counts(2, of=4, relation="add-remove")
    two = BlockNoise(((np.arange(2), part), (np.arange(2, 4), part)), 4)
    bounded = certify(two, whole, 1.0)  # each block has mu = 1/2, though not both at once
    assert bounded.lower == 0
    assert float(bounded.upper) == pytest.approx(
        float(privacy_profile(Gaussian(1.0), math.sqrt(0.5), 1.0)), rel=1e-9
    )
    content = json.loads(found.to_json())["noise"]
    twice = {**content, "blocks": [*content["blocks"], content["blocks"][0]]}
    missing = {**content, "blocks": content["blocks"][:1]}
    over = json.loads(json.dumps(content))
    over["blocks"][1]["coordinates"] = [1, 2]
    for wrong in (twice, missing, over):
        with pytest.raises((ValueError, NotImplementedError), match=r"blocks|noise"):
            checker.enclosure(wrong, plain_set(ball), Fraction(1))
