"""The mechanism 'blocks': its account, its partitions against all others, its plan carried out."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpnoise import L2, Box, Product
from dpnoise.mechanisms.methods import (
    best_partitions,
    blocks,
    composed_delta,
    gaussian_mu,
)
from dpnoise.mechanisms.request import read_request
from dpnoise.privacy.gaussian import gaussian_log_delta
from sampled_delta import loss, sampled_delta

HARMONIC = Box(tuple(1.0 / np.arange(1.0, 21.0)))


def request(ball, epsilon=1.0, delta=1e-6, weights=None):
    return read_request(ball, epsilon, delta, "variance", weights)


@pytest.mark.parametrize("spent", [0.01, 0.5, 1.0, 2.9])
@pytest.mark.parametrize("mu", [0.1, 1.0])
def test_delta_beside_randomised_response_is_that_of_the_product(spent, mu):
    epsilon = 3.0
    # The losses of the product: +-spent and a Gaussian with mean mu^2 / 2 and variance mu^2.
    nodes, weights = np.polynomial.legendre.leggauss(400)
    total = 0.0
    for sign in (1.0, -1.0):
        p = 1.0 / (1.0 + math.exp(-sign * spent))
        low = max(epsilon - sign * spent, mu * mu / 2 - 12 * mu)
        high = max(mu * mu / 2 + 12 * mu, low)
        losses = 0.5 * (low + high) + 0.5 * (high - low) * nodes
        density = np.exp(-((losses - mu * mu / 2) ** 2) / (2 * mu * mu))
        density /= mu * math.sqrt(2 * math.pi)
        gain = -np.expm1(epsilon - sign * spent - losses)
        total += p * 0.5 * (high - low) * float(weights @ (density * gain))
    assert composed_delta(mu, epsilon, spent) == pytest.approx(total, rel=1e-6, abs=1e-30)


@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.01, 0.6])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_mu_of_the_gaussian_block_spends_delta_and_no_more(epsilon, delta):
    spent = epsilon * np.array([1e-6, 0.1, 0.5, 0.9, 1.0 - 1e-6])
    for mu, e in zip(gaussian_mu(epsilon, delta, spent), spent, strict=True):
        assert 0.98 * delta <= composed_delta(mu, epsilon, e) <= delta
        plain = math.exp(gaussian_log_delta(mu, epsilon - e))  # basic composition
        assert plain > delta * 0.999


def test_the_epsilons_of_pure_blocks_add_up_to_the_budget():
    found = blocks(request(HARMONIC, delta=0.0))
    assert found.delta == 0.0
    sizes = sorted(indices.size for indices, _ in found.noise.blocks)
    assert sum(sizes) == 20
    assert len(sizes) > 1
    used = sum(
        Fraction(noise.epsilon) if hasattr(noise, "epsilon") else 1 / Fraction(noise.scale)
        for _, noise in found.noise.blocks
    )
    assert Fraction(1) * (1 - Fraction(1, 10**9)) < used <= 1


def test_every_loss_of_pure_blocks_is_within_epsilon():
    rng = np.random.default_rng(5)
    found = blocks(request(HARMONIC, delta=0.0)).noise
    x = found.rvs(20_000, rng)
    signs = 2.0 * rng.integers(0, 2, 20) - 1.0
    losses = loss(found, x, signs * HARMONIC.box)
    assert np.max(losses) <= 1.0 + 1e-9
    assert np.max(losses) > 0.8


def test_samples_do_not_contradict_the_delta_of_mixed_blocks():
    rng = np.random.default_rng(11)
    ball = Box((1.0,) * 3 + (0.01,) * 30)
    found = blocks(request(ball, epsilon=1.0, delta=1e-3))
    assert found.delta > 0.0
    estimate, error, unseen = sampled_delta(found.noise, ball.box, 1.0, rng, draws=4000)
    assert estimate - 5 * error - unseen <= found.delta
    assert estimate + 5 * error > 1e-2 * found.delta  # the bound is not idle


def test_factors_of_a_product_are_blocks_that_stay_whole():
    ball = Product(L2(1.0, of=3), L2(0.01, of=30), Box((5.0, 0.0)))
    found = blocks(request(ball, delta=0.0)).noise
    for start, size in ((0, 3), (3, 30)):
        holders = [i for i, (at, _) in enumerate(found.blocks) if start in at]
        assert set(range(start, start + size)) <= set(found.blocks[holders[0]][0].tolist())
    assert found.var()[-1] == 0.0
    assert np.all(found.rvs(10, 1)[:, -1] == 0.0)


def all_partitions(items):
    """Yield every partition of a list into non-empty sets."""
    if not items:
        yield []
        return
    first, *rest = items
    for parts in all_partitions(rest):
        yield [[first], *parts]
        for i, part in enumerate(parts):
            yield [*parts[:i], [first, *part], *parts[i + 1 :]]


def root(volume, size):
    return math.cbrt(volume * (size + 1.0) * (size + 2.0))


@pytest.mark.parametrize("seed", range(12))
def test_intervals_of_sorted_coordinates_are_the_best_of_all_partitions(seed):
    rng = np.random.default_rng(seed)
    values = np.sort(rng.exponential(size=7) ** rng.integers(1, 6))[::-1]
    if seed % 3 == 0:  # ties
        values = np.sort(np.round(values, 0) + 1.0)[::-1]
    least = min(
        sum(root(sum(values[i] for i in block), len(block)) for block in blocks)
        for blocks in all_partitions(list(range(7)))
    )
    found = best_partitions(values, np.ones(7, dtype=int))
    assert found.values[-1] == pytest.approx(least, rel=1e-12)
