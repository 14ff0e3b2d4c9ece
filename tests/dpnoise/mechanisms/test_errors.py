"""The errors `max` and `norm` of `best` and `compare`, and what is optimal for them."""

import math
from itertools import pairwise

import numpy as np
import pytest

from dpnoise import (
    L1,
    L2,
    AtMost,
    Box,
    Counts,
    Ellipsoid,
    LInf,
    Product,
    best,
    compare,
)
from for_all import thinned

SETS = [
    LInf(1.0, of=3),
    L1(2.0, of=4),
    L2(1.0, of=3),
    AtMost(2, of=5),
    Box([1.0, 0.5, 0.0, 0.1]),
    Ellipsoid([1.0, 2.0]),
    Product(LInf(0.5, of=2), L2(1.0, of=2)),
    Counts(2, of=4, relation="add-remove"),
    Counts(3, of=6, relation="replace-one"),
]


def sampled(noise, entry):
    """The mean and its standard error."""
    values = entry(np.asarray(noise.rvs(20_000, 5), dtype=float))
    return float(np.mean(values)), float(np.std(values)) / math.sqrt(len(values))


@pytest.mark.parametrize(
    ("ball", "epsilon"),
    [(ball, (0.1, 4.0)[k % 2]) for k, ball in enumerate(SETS[::2]) if ball.convex],
    ids=repr,
)
def test_every_convex_set_has_an_optimum_in_its_own_norm(ball, epsilon):
    found = best(ball, epsilon=epsilon, error="norm", integer=False)
    assert 1.0 <= found.ratio <= 1.0 + 1e-4
    assert found.optimal
    assert f"{found.ratio:.3f}" == "1.000"
    assert found.error == found.mean_norm


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("K", [1, 2, 5, 100])
def test_sums_in_l1_balls_and_largest_errors_in_cubes_have_an_optimum(K, epsilon):
    pairs = [(L1(2.0, of=K), "mean-abs"), (LInf(2.0, of=K), "max")]
    for ball, error in pairs:
        found = best(ball, epsilon=epsilon, error=error)
        assert 1.0 <= found.ratio <= 1.0 + 1e-4
        assert found.optimal
        exact = best(ball, epsilon=epsilon, error=error, family="norm-staircase")
        assert 1.0 <= exact.ratio <= 1.0 + 4e-6
    # The same noise up to scale and norm: summed errors and largest errors agree.
    sums, largest = (best(ball, epsilon=epsilon, error=error).error for ball, error in pairs)
    assert K * sums == pytest.approx(largest, rel=1e-9)


ASKED = [*((ball, 0.0) for ball in SETS), *((SETS[i], 1e-6) for i in (0, 4, 7))]


@pytest.mark.parametrize("turn", thinned([1, 2]))
@pytest.mark.parametrize("k", range(len(ASKED)))
def test_no_mechanism_is_below_the_floor_and_samples_agree(k, turn):
    """Each set with two of the three errors."""
    (ball, delta), error = ASKED[k], ("mean-abs", "max", "norm")[(k + turn) % 3]
    table = compare(ball, epsilon=1.0, delta=delta, error=error, exhaustive=False)
    assert table.floor > 0.0
    for row in table:
        assert row.ratio > 1.0 - 0.006  # blocks and some norms are estimated
        entries = {
            "mean-abs": lambda x: np.mean(np.abs(x), axis=-1),
            "max": lambda x: np.max(np.abs(x), axis=-1),
            "norm": ball.norm,
        }
        mean, error_of_mean = sampled(row.noise, entries[error])
        assert abs(mean - row.error) < 6.0 * error_of_mean + 0.006 * row.error
    errors = [row.error for row in table]
    assert all(b >= a * (1.0 - 1.1e-4) for a, b in pairwise(errors))


def test_weights_of_the_largest_error_count_and_are_refused_for_the_norm():
    table = compare([1.0, 1.0], epsilon=1.0, error="max", weights=[1.0, 1e-6], exhaustive=False)
    assert table[0].error == pytest.approx(best(1.0, epsilon=1.0, error="max").error, rel=0.02)
    with pytest.raises(ValueError, match=r"weights: expected None for error='norm'"):
        best([1.0, 1.0], epsilon=1.0, error="norm", weights=[1.0, 2.0])
    flat = Counts(1, of=3, exactly=True, relation="replace-one")
    with pytest.raises(ValueError, match="error: expected another one than norm"):
        best(flat, epsilon=1.0, error="norm")
    assert best(flat, epsilon=1.0, error="max").ratio >= 1.0


def test_the_norm_of_noise_for_another_norm_is_estimated():
    ball = AtMost(2, of=4)
    noise = best(LInf(1.0, of=4), epsilon=1.0).noise
    mean, error = sampled(noise, ball.norm)
    assert abs(noise.mean_norm_of(ball) - mean) < 5.0 * error
