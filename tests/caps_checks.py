"""What happens where an iteration reaches its cap: one check for each."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpnoise import (
    L2,
    Budget,
    Counts,
    allocate,
    calibrate,
    calibrate_joint,
    epsilon_at,
    gaussian_sigma,
    privacy_profile,
    vector_profile,
)
from dpnoise.calibration import budget, scalar
from dpnoise.joint.vectors import CorrelatedGaussian
from dpnoise.noise import (
    DiscreteGaussian,
    FlippedHuber,
    Gaussian,
    Laplace,
)
from dpnoise.optimality.bounds import minimum_cost
from dpnoise.optimality.closed_forms import smallest_moment, staircase_minimum
from dpnoise.privacy.lattice.bounds import lattice_bounds
from dpnoise_papers.balle_wang_2018.gaussian_calibration import (
    algorithm_1 as balle_wang_algorithm_1,
)
from dpnoise_papers.inid_2024.tables.bisection import algorithm_1 as inid_algorithm_1


def raises(call):
    def check():
        with pytest.raises(RuntimeError):
            call()

    return check


def doublings_of_a_printed_algorithm():
    """NaN, as documented: its result is judged, not used."""
    assert np.isnan(balle_wang_algorithm_1(0.5, 1e-6))


def halvings_of_a_printed_algorithm():
    assert np.isnan(inid_algorithm_1(1.0, 1e-6, tolerance=1e-9)[0])


def search_in_several_dimensions():
    """Fewer rounds find noise that is larger, and certified all the same."""
    epsilon, delta, dimension = 1.0, 1e-4, 2
    less = calibrate("offset-symmetric-gaussian", epsilon=epsilon, delta=delta, dimension=dimension)
    assert vector_profile(less.noise, 1.0, epsilon, copies=dimension).upper <= delta


def steps_back_of_a_staircase():
    """Certified, or (epsilon, 0)-DP noise."""
    found = calibrate("staircase", epsilon=1.0, delta=1e-6, dimension=7)
    assert vector_profile(found.noise, 1.0, 1.0, copies=7).upper <= 1e-6


def steps_of_gaussian_calibration():
    """From below the root, an early end leaves more noise than needed."""
    epsilon, delta = np.array([0.01, 1.0, 5.0]), 1e-6
    sigma = gaussian_sigma(epsilon, delta)
    for e, s in zip(epsilon, sigma, strict=True):
        assert privacy_profile(Gaussian(s), 1.0, e) <= delta


def rounds_of_the_inverse():
    for noise in (Gaussian(1.0), FlippedHuber(1.0, 2.0), DiscreteGaussian(3.0)):
        for delta in (1e-9, 0.01, 0.3):
            epsilon = epsilon_at(noise, 1.0, delta)
            assert epsilon == math.inf or privacy_profile(noise, 1.0, epsilon) <= delta


def doublings_of_an_odometer():
    """No epsilon is promised."""
    budget = Budget(1e4, 1e-6, relation="replace-one")
    budget.spend(Gaussian(0.1), 1.0)
    assert budget.epsilon_of() == math.inf
    assert budget.remaining() == 0.0


def doublings_of_an_integer_scale():
    """Noise that was seen to be private, or none."""
    try:
        found = calibrate("discrete-gaussian", epsilon=20.0, delta=1e-6)
    except RuntimeError:
        return
    assert privacy_profile(found.noise, 1, 20.0) <= 1e-6


def rounds_of_the_limit():
    few = minimum_cost(1.0, 1e-3, cells=6)
    assert 0.0 < few.lower <= few.upper
    assert np.max(few.noise.deltas(1.0)) <= 1e-3


def rounds_of_the_radial_floor():
    """The minimum stays enclosed; fewer rounds leave a wider interval."""
    smallest_moment.cache_clear()
    low, upper, _ = staircase_minimum(2, 1.0)
    smallest_moment.cache_clear()
    assert low <= 2.978121175232 <= upper


def attempts_of_the_inversion():
    one = vector_profile(FlippedHuber(1.0, 2.0), 1.0, 0.5, copies=3)
    other = lattice_bounds([(FlippedHuber(1.0, 2.0), 1.0, 3)], 0.5)
    assert one.log_lower <= other.log_upper
    assert other.log_lower <= one.log_upper


def improvements_of_a_certificate():
    """The first noise that was verified is kept."""
    problem = budget.Target(1.0, 1e-5, 1.0, 1)
    tight = gaussian_sigma(1.0, 1e-5)
    found = budget.certified_calibration(Gaussian(tight * (1.0 - 1e-9)), problem, method="exact")
    assert found.delta <= 1e-5
    assert found.noise.sigma >= tight * (1.0 - 1e-12)


def rounds_of_the_descent():
    """Without a descent the allocation falls back on a direction and is certified."""
    scales = allocate([2.0, 1.0], noise=Laplace(1.0), epsilon=1.0, delta=1e-3)
    noises = [Laplace(float(s)) for s in np.ravel(scales)]
    assert vector_profile(noises, [2.0, 1.0], 1.0).upper <= 1e-3


def rounds_of_a_scalar_minimum():
    grid = np.array([-1.0, 0.3, 2.0])
    x, value = scalar.minimize_on_interval(np.square, grid, np.square(grid))
    assert (x, value) == (0.3, np.square(0.3))  # the best that was seen, no extrapolation


def steps_of_the_scale_on_the_private_side():
    """The greatest scale ratio that was seen to be private, or an error."""

    def steep(d):
        return np.where(d < 0.5, -20.0, 5.0) + np.log(d), np.ones_like(d)

    try:
        log_d = scalar.solve_scale(steep, -10.0, np.array([0.0]))
    except RuntimeError:
        return
    assert steep(np.exp(log_d))[0] <= -10.0


def repairs_of_trend_filtering():
    """The duality gap is checked afterwards: a rough solution is refused or within it."""
    from dpnoise.denoise.graph import Graph
    from dpnoise.denoise.trend_filtering import LARGEST_GAP, trend_filter

    graph = Graph(6, np.array([[i, i + 1] for i in range(5)]))
    try:
        fit = trend_filter(graph, [0.0, 1.0, 5.0, 4.0, 9.0, 2.0], 0.7, order=0)
    except ArithmeticError:
        return
    assert fit.gap <= LARGEST_GAP


def certificates_of_joint_noise():
    """Without a verified candidate the noise for delta = 0 is returned."""
    budget = {"epsilon": 1.0, "delta": 1e-6}
    assert calibrate_joint("k-norm", L2(1.0, of=30), **budget).delta == 0.0
    with pytest.raises(RuntimeError):
        calibrate_joint("k-norm", L2(1.0, of=30), epsilon=0.0, delta=1e-6)


def refinements_of_a_draw():
    """A number of bits that never decides is refused, not guessed."""
    from dpnoise.releases.continuous import Uniform

    with pytest.raises(RuntimeError, match="not known well enough"):
        Uniform(0, _zeros()).exceeds(Gaussian(1.0), Fraction(10**6))


def refinements_of_a_vector():
    from dpnoise.joint.noise import RadialNoise
    from dpnoise.releases.continuous import rounded_vectors

    with pytest.raises(RuntimeError, match="not decided"):
        rounded_vectors(np.zeros((1, 2)), RadialNoise(L2(1.0, of=2), 1.0), np.ones(2), _zeros())


def refinements_of_a_quantile():
    from dpnoise import release

    with pytest.raises(RuntimeError, match="not decided"):
        release.quantile([0.5], 0.5, bounds=(0.0, 1.0), epsilon=1.0, relation="replace-one")


def _zeros():
    """A source of bits that are all 0, which no comparison of a vector survives."""
    from dpnoise.noise.exact import Entropy

    return Entropy(bytes)


def spheroid_around_counts():
    """Of a search that ends early the spheroid is larger, and still holds the set."""
    for relation in ("add-remove", "replace-one"):
        counts = Counts(2, of=5, relation=relation)
        assert CorrelatedGaussian(counts.smallest_ellipsoid, 1.0).mu(counts) <= 1.0
