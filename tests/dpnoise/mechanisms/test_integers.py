"""`best` and `compare` with `integer=True`: certified, above their floor, never above rounding."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import gammaincc

from dpnoise import (
    L1,
    L2,
    AtMost,
    Box,
    Counts,
    DiscreteLaplace,
    DiscreteStaircase,
    Ellipsoid,
    LInf,
    Product,
    calibrate,
    certify,
    release,
    verify,
)
from dpnoise.joint.noise import NormStaircase, RadialNoise
from dpnoise.mechanisms.compare import best, compare
from dpnoise.mechanisms.integers import IntegerVector, RoundedNoise
from dpnoise.mechanisms.noise import BlockNoise, IndependentNoise
from dpnoise.mechanisms.request import integer_floor
from dpnoise.noise.exponential_power import Gaussian, Laplace
from oracles.grids import least_error

WHO = "add-remove"
SETS = (
    LInf(1.0, relation=WHO),
    AtMost(3, of=12, relation=WHO),
    L1(5.0, relation=WHO),
    AtMost(2, of=3, relation=WHO),
    Box((1.0, 1.0, 4.0), relation=WHO),
    L2(2.0, of=3, relation=WHO),
    Product(L1(2.0, of=2), LInf(3.0, of=2), relation=WHO),
)


# Three counts and an l2 ball with delta.
ASKED = [(ball, 1e-5 if k in {3, 5} else 0.0) for k, ball in enumerate(SETS)]


@pytest.mark.parametrize(("ball", "delta"), ASKED, ids=repr)
def test_rows_are_integers_certified_and_above_the_floor(ball, delta):
    table = compare(ball, epsilon=1.0, delta=delta, integer=True, exhaustive=False)
    assert table.floor > 0.0
    for row in table:
        assert row.delta <= delta
        assert row.floor <= row.variance * (1.0 + 1e-12)
        x = row.noise.rvs((4,), 1)
        assert x.shape == (4, ball.dimension)
        assert x.dtype == np.int64
        assert row.half_width == round(row.half_width * ball.dimension) / ball.dimension
    names = {row.name for row in table}
    assert "discrete Laplace" in names
    assert ("discrete Gaussian" in names) == (delta > 0.0)
    found = best(ball, epsilon=1.0, delta=delta, integer=True)
    assert found.error <= min(row.error for row in table) * (1.0 + 1e-4)
    certificate = certify(found)
    assert certificate.upper <= delta
    assert certificate.promise.startswith("one person more or less")
    assert certificate.promise == ball.promise(1.0, certificate.delta)
    verify(certificate)


def test_three_of_twelve_counts():
    ball = AtMost(3, of=12, relation=WHO)
    table = compare(ball, epsilon=1.0, integer=True, exhaustive=False)
    laplace = table["discrete Laplace"]
    assert laplace.noise == IntegerVector((DiscreteLaplace(3.0),) * 12)
    assert calibrate("discrete-laplace", epsilon=1.0, dimension=12).noise == DiscreteLaplace(12.0)
    assert verify(certify(laplace)).independent  # by the stand-alone checker
    assert certify(laplace).noise == DiscreteLaplace(3.0)
    # K-norm noise has less, 17 and 1/12 of rounding: best says which it is.
    assert table[0].name == "K-norm, rounded"
    assert table[0].variance == pytest.approx(table[0].noise.real.var()[0] + 1.0 / 12.0, rel=1e-12)
    assert table[0].variance == pytest.approx(17.0 + 1.0 / 12.0, rel=1e-4)
    assert certify(table[0]).noise == table[0].noise.real


@pytest.mark.parametrize("epsilon", [0.1, 1.0, math.log(3.0), 4.0])
@pytest.mark.parametrize("change", [1, 2, 5, 16])
def test_one_number_has_the_optimal_staircase(change, epsilon):
    found = best(float(change), epsilon=epsilon, integer=True, relation=WHO)
    (noise,) = found.noise.noises
    expected = calibrate("discrete-staircase", epsilon=epsilon, sensitivity=change).variance
    assert found.variance == pytest.approx(expected, rel=1e-9)
    assert found.ratio == pytest.approx(1.0, rel=1e-9)
    assert isinstance(noise, DiscreteLaplace if change == 1 else DiscreteStaircase)


def least_square(change, epsilon, delta, reach):
    """Least E N^2 of any noise on -reach, ..., reach: a linear program without symmetry."""
    points = [(k,) for k in range(-reach, reach + 1)]
    shifts = [(k,) for k in range(-change, change + 1) if k]
    return least_error(points, shifts, np.arange(-reach, reach + 1.0) ** 2, (epsilon, delta))


@pytest.mark.parametrize(("change", "reach"), [(1, 12), (2, 16), (3, 20)])
def test_the_floor_of_one_number_is_below_a_linear_program_with_delta(change, reach):
    # Bounded support is feasible with delta only.
    for epsilon, delta in ((1.0, 0.01), (2.0, 0.05), (2.0, 0.3)):
        least = least_square(change, epsilon, delta, reach)
        low = integer_floor(change, epsilon, delta)
        assert 0.9 * least <= low <= least * (1.0 + 1e-7)


@pytest.mark.parametrize(
    "real",
    [
        IndependentNoise(Gaussian(1.0), np.array([0.4, 1.3, 6.0])),
        RadialNoise(AtMost(3, of=12), 1.0),
        RadialNoise(LInf(1.0, of=3), 0.3),
        NormStaircase(LInf(3.0, of=2), 1.0, 0.3),
        BlockNoise(
            (
                (np.array([0, 2]), RadialNoise(L2(1.0, of=2), 2.0)),
                (np.array([1]), IndependentNoise(Gaussian(1.0), np.array([0.7]))),
            ),
            3,
        ),
    ],
    ids=["gaussian", "at most", "narrow", "steps", "blocks"],
)
def test_the_variance_of_rounded_noise_is_that_of_its_draws(real):
    noise = RoundedNoise(real)
    x = noise.rvs(200_000, 5).astype(float)
    spread = np.std(x**2, axis=0) / math.sqrt(len(x))
    assert np.all(np.abs(np.mean(x**2, axis=0) - noise.var()) <= 5.0 * spread)


@pytest.mark.parametrize("level", [0.3, 0.8, 0.95, 1.0 - 1e-9])
@pytest.mark.parametrize("scale", [0.1, 1.3, 7.0])
def test_half_widths_of_rounded_noise_are_the_least_integers_that_hold(scale, level):
    """P(|round(X)| > h) = P(|X| > h + 1/2) = exp(-(h + 1/2) / scale) for Laplace noise."""
    noise = RoundedNoise(IndependentNoise(Laplace(1.0), np.array([scale])))
    for (h,) in (noise.half_width(level), noise.upper_half_width(level)):
        assert h == round(h)
        assert math.exp(-(h + 0.5) / scale) <= (1.0 - level) * (1.0 + 1e-9)
        assert h == 0.0 or math.exp(-(h - 0.5) / scale) > (1.0 - level) * (1.0 - 1e-9)


def test_noise_that_hardly_ever_moves_is_not_said_to_have_no_variance():
    # X = T U, T gamma of shape 6 and scale 1/40: P(|X| > 1/2) from two gamma tails.
    found = compare(LInf(1.0, of=5), epsilon=40.0, integer=True, exhaustive=False)[
        "K-norm, rounded"
    ]
    exact = sum(
        (2 * k + 1) * (gammaincc(6, y) - y / 5.0 * gammaincc(5, y))
        for k in range(3)
        for y in [40.0 * (k + 0.5)]
    )
    assert exact <= found.variance <= 10.0 * exact
    assert found.ratio >= 1.0


def test_unequal_sizes_share_the_budget_and_release_integers():
    found = compare([1, 9], epsilon=1.0, integer=True, relation=WHO, family="laplace")[
        "discrete Laplace"
    ]
    small, large = (noise.beta for noise in found.noise.noises)
    assert Fraction(1) / Fraction(small) + Fraction(9) / Fraction(large) <= 1
    # The shares 1 / small and 9 / large of epsilon have the least variance.
    ways = np.geomspace(0.5, 2.0, 101) / small
    sums = [
        DiscreteLaplace(1 / x).var() + DiscreteLaplace(9 / (1 - x)).var() for x in ways if x < 1
    ]
    assert 2.0 * found.variance <= min(sums) * (1.0 + 1e-3)
    many = release(np.zeros((2000, 2)), found.noise)
    assert np.all(np.abs(np.var(many, axis=0) / found.variances - 1.0) < 0.35)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"sensitivity": 1.5}, ["got 1.5 in LInf", "rounding up is safe"]),
        ({"sensitivity": [1.0, 0.0]}, ["got 0.0 in Box", "leave out coordinates"]),
        ({"sensitivity": Ellipsoid((1.0, 2.0))}, ["L1, L2, LInf, Box, AtMost"]),
        ({"sensitivity": 0.5, "epsilon": -1.0}, ["got 0.5", "epsilon: expected"]),
        (
            {"sensitivity": 1.0, "integer": "yes"},
            ["integer: expected None, True or False, got 'yes'"],
        ),
    ],
)
def test_what_is_not_for_integers_is_one_message(arguments, words):
    with pytest.raises(ValueError, match="noise for a sensitivity set") as error:
        best(**{"epsilon": 1.0, "integer": True, **arguments})
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_counts_have_discrete_noise_of_the_hull_and_their_own_joint_noise(relation):
    counts = Counts(2, of=5, each=2.0, relation=relation)
    hull = AtMost(2 if relation == WHO else 4, of=5, each=2.0, relation=relation)
    table, wider = (compare(one, epsilon=1.0, integer=True) for one in (counts, hull))
    names = [row.name for row in wider if row.name.startswith("discrete")]
    assert names
    for name in names:
        assert table[name].noise == wider[name].noise
    assert table["K-norm, rounded"].variance < wider["K-norm, rounded"].variance
    assert table[0].variance >= table.floor > 0.0
    assert verify(certify(table[0]))
    assert table.floor >= integer_floor(2, 1.0, 0.0) * (1.0 - 1e-9)  # each count by itself
