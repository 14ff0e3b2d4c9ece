"""The bound is never above certified noise, reaches the optimum, and says what it cannot do."""

import math

import numpy as np
import pytest

from dpnoise import (
    DiscreteGaussian,
    FlippedHuber,
    Gaussian,
    Huber,
    OffsetSymmetricGaussian,
    Staircase,
    Subbotin,
    TruncatedLaplace,
    variance_bound,
    vector_profile,
)

MEMBERS = {
    "flipped-huber": lambda rng: FlippedHuber(float(rng.gamma(1.0, 2.0)), 1.0),
    "offset-symmetric-gaussian": lambda rng: OffsetSymmetricGaussian(float(rng.gamma(1.0, 4.0)), 1),
    "huber": lambda rng: Huber(float(rng.gamma(1.0, 1.5)) + 1e-3, 1.0),
    "truncated-laplace": lambda rng: TruncatedLaplace(1.0, float(rng.gamma(1.0, 8.0))),
    "subbotin": lambda rng: Subbotin(1.0 + float(rng.gamma(0.5, 1.0)), 1.0),
}
BUDGETS = [(1.0, 1e-2, 1), (0.3, 1e-6, 5), (2.0, 1e-4, 12)]


def private_variance(noise, epsilon, delta, dimension):
    """Return the variance at which a multiple of noise is certified, by bisection."""
    low, high = 1e-2, 1e4
    while high > low * (1.0 + 1e-4):
        middle = math.sqrt(low * high)
        upper = vector_profile(
            noise.scaled(middle / noise.std()), 1.0, epsilon, copies=dimension, rtol=1e-2
        ).upper
        low, high = (low, middle) if upper <= delta else (middle, high)
    return high**2


@pytest.mark.parametrize("family", MEMBERS)
@pytest.mark.parametrize(("epsilon", "delta", "dimension"), BUDGETS)
def test_no_certified_noise_has_less_variance(family, epsilon, delta, dimension):
    dimension = 1 if family == "subbotin" else dimension
    bound = variance_bound(family, epsilon=epsilon, delta=delta, dimension=dimension, rtol=1e-2)
    assert bound.optimal_within == pytest.approx(1e-2, rel=1e-3)
    assert bound.found.delta <= delta
    rng = np.random.default_rng(dimension)
    for _ in range(4):
        member = MEMBERS[family](rng)
        assert private_variance(member, epsilon, delta, dimension) >= bound.variance, member


@pytest.mark.parametrize("dimension", [1, 6, 30])
def test_no_certified_staircase_has_less_variance(dimension):
    epsilon, delta = 1.0, 1e-4
    bound = variance_bound("staircase", epsilon=epsilon, delta=delta, dimension=dimension)
    assert bound.optimal_within < 1.001e-3
    rng = np.random.default_rng(dimension)
    for _ in range(40):
        noise = Staircase(
            epsilon / dimension * float(rng.uniform(0.9, 5)), 1.0, float(rng.random())
        )
        private = vector_profile(noise, 1.0, epsilon, copies=dimension).upper <= delta
        assert noise.var() >= bound.variance or not private


def test_the_readme_and_the_papers_optima():
    """Within 1e-3 of the least of all flipped Huber noise."""
    for epsilon, delta, dimension, variance in [(1.0, 1e-6, 10, 178.087), (0.3, 1e-8, 5, 555.501)]:
        bound = variance_bound("flipped-huber", epsilon=epsilon, delta=delta, dimension=dimension)
        assert bound.found.variance == pytest.approx(variance, abs=1e-3)
        assert bound.variance >= bound.found.variance * (1.0 - 1.0001e-3)


def test_a_scale_alone_is_as_tight_as_the_account():
    for kind in ("gaussian", "laplace"):
        bound = variance_bound(kind, epsilon=1.0, delta=1e-6, dimension=7, rtol=1e-6)
        assert bound.optimal_within < 1.1e-6
        assert len(bound.cells) == 1


def test_the_bound_goes_with_the_square_of_the_sensitivity():
    one = variance_bound(FlippedHuber, epsilon=1.0, delta=1e-5, rtol=1e-2)
    for unit in (1e-60, 3.0, 1e60):
        other = variance_bound(FlippedHuber, epsilon=1.0, delta=1e-5, rtol=1e-2, sensitivity=unit)
        assert other.variance == pytest.approx(one.variance * unit**2, rel=1e-7)
        assert [cell.shapes for cell in other.cells] == [cell.shapes for cell in one.cells]


def test_a_cap_gives_a_lower_bound_that_holds():
    few = variance_bound("flipped-huber", epsilon=1.0, delta=1e-6, dimension=10, max_cells=20)
    assert 0.0 <= few.variance < 0.99 * few.found.variance
    assert few.parameter == "alpha / gamma"


def test_an_optimum_that_is_a_limit():
    """Laplace noise for a large epsilon, a Gaussian for many coordinates."""
    bound = variance_bound("huber", epsilon=5.0, delta=1e-8, rtol=1e-2)
    assert not bound.found.attained
    assert bound.variance < bound.found.infimum
    bound = variance_bound("flipped-huber", epsilon=0.1, delta=1e-6, dimension=50, rtol=1e-2)
    gaussian = variance_bound(Gaussian, epsilon=0.1, delta=1e-6, dimension=50)
    assert bound.variance < gaussian.found.variance < bound.variance * 1.0102


def test_refusals_name_everything():
    with pytest.raises(ValueError, match=r"family: .*rtol: .*max_cells: ") as refusal:
        variance_bound(DiscreteGaussian, epsilon=1.0, delta=0.0, rtol=2.0, max_cells=0)
    assert "delta: expected more than 0" in str(refusal.value)
    with pytest.raises(ValueError, match="dimension"):
        variance_bound("subbotin", epsilon=1.0, delta=1e-6, dimension=2)


@pytest.mark.parametrize(
    ("epsilon", "delta", "dimension"),
    [(0.2, 1e-8, 20), (5.0, 1e-6, 20), (5.0, 1e-6, 5), (0.1, 1e-6, 1)],
)
def test_what_the_reproduction_calls_optimum_is_proved(epsilon, delta, dimension):
    """Four of the settings that docs/variance-bound.md lists."""
    bound = variance_bound("flipped-huber", epsilon=epsilon, delta=delta, dimension=dimension)
    assert bound.optimal_within <= 1.001e-3
