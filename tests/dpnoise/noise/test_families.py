"""Every noise family against its definition: 80 digits, quadrature, limits, sampling."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from scipy import special, stats

from dpnoise.noise import (
    FAMILIES,
    FlippedHuber,
    Gaussian,
    Huber,
    Laplace,
    Noise,
    OffsetSymmetricGaussian,
    Staircase,
    Subbotin,
    TruncatedLaplace,
)
from exact_noise import TABLE, exact_noise, off
from for_all import for_all
from oracles.exact import Pieces
from refusals import names_every_problem

INSTANCES = [noise for row in TABLE.values() for noise in row.instances]
FLIPPED, OFFSET, HUBERS, SUBBOTIN, TRUNCATED, STAIRS = (
    TABLE[kind].instances
    for kind in (
        FlippedHuber,
        OffsetSymmetricGaussian,
        Huber,
        Subbotin,
        TruncatedLaplace,
        Staircase,
    )
)
every = for_all("noise", INSTANCES)


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(80):
        yield


def points(noise, exact):
    """Arguments t >= 0 from the deep centre to the far tail, and around the first seams."""
    rng = np.random.default_rng(7)
    near = noise.std() * 10.0 ** rng.uniform(-14, 0, 5)
    far = noise.isf(10.0 ** -np.array([0.5, 3, 16, 80, 299]))
    seam = [s * f for s in exact.seams[:4] for f in (1 - 1e-9, 1 + 1e-9)]
    return [t for t in [0.0, *near.tolist(), *far.tolist(), *seam] if t < noise.bound]


@every
def test_density_and_tail_hold_to_1e_12(noise):
    exact = exact_noise(noise)
    for t in points(noise, exact):
        log_density, log_tail = exact.log_density(mp.mpf(t)), exact.log_tail(mp.mpf(t))
        # The scale of a logarithm near 0 is that of its terms.
        assert abs(noise.logpdf(t) - float(log_density)) <= 1e-12 * (1 + abs(float(log_density)))
        # What one rounding of t can do: it counts where a tail drops steeply.
        rounding = 1e-16 * t * mp.exp(log_density - log_tail)
        assert off(noise.logsf(t), log_tail) <= 1e-12 - rounding / log_tail
        if log_density > -700:
            assert off(noise.pdf(t), mp.exp(log_density)) <= 1e-12 + rounding
        if log_tail > -700:
            assert off(noise.sf(t), mp.exp(log_tail)) <= 1e-12 + rounding
            assert off(noise.cdf(-t), mp.exp(log_tail)) <= 1e-12 + rounding
            assert off(noise.logsf(-t), mp.log1p(-mp.exp(log_tail))) <= 1e-12 + rounding
        assert off(noise.sf(-t), 1 - mp.exp(log_tail)) <= 1e-15


@every
def test_logsf_does_not_underflow(noise):
    t = 1e3 * noise.isf(1e-300)
    assert noise.sf(t) == 0
    exact = exact_noise(noise).log_tail(mp.mpf(float(t))) if t < noise.bound else -mp.inf
    assert off(noise.logsf(t), exact if exact > -1.7e308 else -mp.inf) <= 1e-12
    assert noise.logsf(math.inf) == -math.inf
    assert noise.logpdf(math.inf) == -math.inf
    assert noise.logpdf(1e200 * t) < -1e200


@every
def test_quantiles_invert_the_tail(noise):
    """The error in t is below 1e-12 of t, from the centre to 1e-307."""
    exact = exact_noise(noise)
    centre = 0.5 - 2.0 ** -np.array([53, 40, 20, 10, 5, 3, 2.5])
    tails = [*centre.tolist(), 0.2, 0.1, 1e-2, 1e-5, 1e-20, 1e-100, 1e-300, 1e-307]
    for tail in tails:
        t = mp.mpf(float(noise.isf(tail)))
        slack = mp.mpf("1e-12")
        density = max(mp.exp(exact.log_density(t * (1 + s))) for s in (-slack, 0, slack))
        assert abs(mp.exp(exact.log_tail(t)) - mp.mpf(tail)) <= slack * t * density


@every
def test_quantiles_are_odd_and_defined_on_the_unit_interval(noise):
    p = np.array([2.0**-60, 1e-3, 0.25, 0.4, 0.5 - 2.0**-40])
    assert np.array_equal(noise.ppf(p), -noise.isf(p))
    assert np.array_equal(noise.ppf(1 - p[1:]), -noise.ppf(1 - (1 - p[1:])))
    assert noise.ppf(0.5) == 0
    assert math.copysign(1.0, noise.ppf(0.5)) == 1.0
    assert noise.ppf(0) == -noise.bound
    assert noise.isf([0, 1]).tolist() == [noise.bound, -noise.bound]
    assert np.isnan(noise.ppf([-0.1, 1.1, math.nan])).all()


@every
def test_moments_hold_to_1e_12(noise):
    exact = exact_noise(noise)
    assert off(noise.var(), exact.variance()) <= 1e-12
    assert off(noise.std() ** 2, exact.variance()) <= 1e-12
    assert off(noise.mean_abs(), exact.mean_abs()) <= 1e-12
    assert off(noise.fisher_information(), exact.fisher()) <= 1e-12


# The flattest staircase has millions of steps, too many to integrate one by one.
@for_all("noise", [n for n in INSTANCES if n != STAIRS[0]])
def test_density_is_the_derivative_of_the_cdf(noise):
    """Gauss-Legendre quadrature of the density over intervals gives the cdf and the total 1."""
    half = {*(-noise.ppf([1e-18, 1e-9, 1e-4, 0.01, 0.1, 0.3, 0.5])).tolist()}
    half |= {s for s in seams(noise) if s < max(half)}
    edges = sorted(half | {-e for e in half})
    nodes, weights = np.polynomial.legendre.leggauss(60)
    left, right = np.array(edges[:-1]), np.array(edges[1:])
    t = 0.5 * (left + right)[:, None] + 0.5 * (right - left)[:, None] * nodes
    mass = 0.5 * (right - left) * (noise.pdf(t) @ weights)
    assert np.allclose(mass, noise.cdf(right) - noise.cdf(left), rtol=1e-10, atol=1e-15)
    assert abs(mass.sum() - 1) < 1e-12


def seams(noise):
    """Where the density is not smooth, in doubles, out to its 1e-18 tail."""
    if isinstance(noise, Staircase):
        step = np.arange(42.0 / noise.epsilon + 1.0)
        return {*(noise.sensitivity * step), *(noise.sensitivity * (step + noise.gamma))}
    if isinstance(noise, Subbotin):  # rough at 0, and for large p flat and then steep
        return {
            *(noise.scale * np.geomspace(1e-9, 1e-1, 20)),
            *(noise.scale * np.arange(1, 2, 0.05)),
        }
    return {*exact_noise(noise).seams}


@every
def test_pieces_are_minus_the_log_density(noise):
    pieces = noise.pieces()
    quadratic = isinstance(exact_noise(noise), Pieces)
    quadratic |= isinstance(noise, Subbotin) and noise.p in (1.0, 2.0)
    assert (pieces is not None) == quadratic
    if not quadratic:
        return
    assert pieces[0].left == 0
    assert pieces[-1].right == noise.bound
    for one, two in itertools.pairwise(pieces):
        assert one.right == two.left
        width = one.right - one.left
        end = one.value + width * (one.slope + 0.5 * one.curvature * width)
        assert math.isclose(end, two.value, rel_tol=1e-12, abs_tol=1e-12)  # no jump
    for piece in pieces:
        right = min(piece.right, piece.left + noise.isf(1e-300), noise.isf(1e-300))
        for t in np.linspace(piece.left, right, 7) if right > piece.left else []:
            x = t - piece.left
            value = piece.value + x * (piece.slope + 0.5 * piece.curvature * x)
            assert math.isclose(value, -noise.logpdf(t), rel_tol=1e-12, abs_tol=1e-12)


@every
def test_log_concavity_is_what_the_family_says(noise):
    """Second differences of the log density over the whole line, beyond the bound too."""
    reach = 3 * noise.sensitivity if isinstance(noise, Staircase) else 0.0
    t = np.linspace(-1.0, 1.0, 4001) * min(1.3 * noise.bound, max(reach, noise.isf(1e-300)))
    log_density = noise.logpdf(t)
    with np.errstate(invalid="ignore"):  # -inf less -inf
        bend = np.diff(log_density, 2)[np.isfinite(log_density[1:-1])]
    rounding = 1e-15 * (1 + np.abs(log_density[np.isfinite(log_density)]).max())
    concave = bool((bend <= 4 * rounding).all())
    assert concave == noise.log_concave


@every
def test_scaling_shapes_and_types(noise):
    wide = noise.scaled(3.0)
    assert type(wide) is type(noise)
    t = noise.std() * np.array([[0.1, -2.0, 5.0]])
    assert np.allclose(wide.sf(3 * t), noise.sf(t), rtol=1e-12)
    assert math.isclose(wide.var(), 9 * noise.var(), rel_tol=1e-14)
    assert math.isclose(wide.bound, 3 * noise.bound)
    for name in ("pdf", "logpdf", "cdf", "sf", "logsf"):
        method = getattr(noise, name)
        assert method(t).shape == t.shape
        assert isinstance(method(0.5), float)
        assert math.isnan(method(math.nan))
        assert method([0.5]) == method(0.5) == method(np.float32(0.5))
        assert method([]).shape == (0,)
    for moment in (noise.var, noise.std, noise.mean_abs, noise.fisher_information):
        assert type(moment()) is float
    assert isinstance(noise.ppf(0.2), float)
    assert isinstance(noise.rvs(random_state=0), float)
    assert noise.rvs(0).shape == (0,)


@every
def test_samples_follow_the_cdf(noise):
    """Kolmogorov-Smirnov at a false-alarm rate of 1e-4 per family (fixed seed)."""
    draws = noise.rvs((40, 500), random_state=11)
    assert draws.shape == (40, 500)
    assert stats.kstest(draws.ravel(), noise.cdf).pvalue > 1e-4
    some = [noise.rvs((4, 5), random_state=seed) for seed in (11, np.random.default_rng(11))]
    assert np.array_equal(*some)
    # Signs are fair: 20,000 tosses leave +-6 standard deviations once in 5e8.
    assert abs(np.sign(draws).mean()) < 6 / math.sqrt(draws.size)
    assert np.abs(draws).max() <= noise.bound
    # Equal tail probabilities of unit Laplace noise: the same draws, for whole arrays at once.
    laplace = Laplace(1.0).rvs((40, 500), random_state=11)
    assert np.array_equal(draws[:4], noise.coupled(laplace[:4]))
    assert np.signbit(noise.coupled([-0.0, -0.1, 0.1])).tolist() == [True, True, False]


@for_all("reach", [0.3, 5.0])
def test_nothing_lies_beyond_the_bound(reach):
    noise = TruncatedLaplace(2.0, 2.0 * reach)
    outside = np.nextafter(noise.bound, math.inf) * np.array([1.0, -1.0, 5.0])
    assert noise.pdf(outside).tolist() == [0, 0, 0]
    assert noise.logpdf(outside).tolist() == [-math.inf] * 3
    assert noise.sf(outside).tolist() == [0, 1, 0]
    assert noise.sf(noise.bound) == 0
    assert noise.pdf(noise.bound) > 0
    assert noise.cdf(noise.bound) == 1


@for_all("name", FAMILIES)
def test_families_are_listed_by_name(name):
    family = FAMILIES[name]
    words = name.replace("-", "").lower()
    assert family.__name__.lower() == words
    assert issubclass(family, Noise)
    assert any(type(noise) is family for noise in INSTANCES)


test_bad_input_names_every_problem = names_every_problem(
    [
        (lambda: Gaussian(0), ["Gaussian noise", "sigma", "(0, inf]", "got 0"]),
        (lambda: Gaussian("one"), ["sigma", "'one'"]),
        (lambda: Gaussian(True), ["sigma", "True"]),
        (lambda: Laplace(math.inf), ["Laplace noise", "beta", "inf"]),
        (lambda: Laplace(math.nan), ["beta", "nan"]),
        (lambda: FlippedHuber(-1, 0), ["flipped Huber noise", "alpha", "got -1", "gamma", "got 0"]),
        (lambda: FlippedHuber(1e200, 1e-200), ["alpha / gamma", "1e+150", "inf"]),
        (lambda: OffsetSymmetricGaussian(-1, 0), ["theta", "got -1", "rho", "got 0"]),
        (lambda: OffsetSymmetricGaussian(1e200, 1e-200), ["theta / rho", "1e+150", "inf"]),
        (lambda: Huber(0.0), ["Huber noise", "alpha", "1e-150", "got 0.0"]),
        (lambda: Huber(math.inf, -1), ["alpha", "got inf", "scale", "got -1"]),
        (lambda: Subbotin(0.5, 0), ["Subbotin noise", "p:", "[1, 1000]", "0.5", "scale", "got 0"]),
        (lambda: TruncatedLaplace(0, math.inf), ["beta", "got 0", "bound", "got inf"]),
        (lambda: TruncatedLaplace(1e60, 1e-60), ["bound / beta", "1e-100", "1e-120"]),
        (
            lambda: Staircase(800, 0, 1),
            ["staircase noise", "epsilon", "700", "sensitivity", "gamma", "(0, 1)", "got 1"],
        ),
        (lambda: FlippedHuber(1, 1).scaled(0), ["scaling", "factor", "got 0"]),
    ]
)


def test_noise_is_frozen_comparable_and_abstract():
    assert FlippedHuber(1, 2) == FlippedHuber(1.0, np.float64(2))
    with pytest.raises(AttributeError):
        Gaussian(1.0).sigma = 2.0
    with pytest.raises(TypeError, match="abstract"):
        Noise()


def test_scipy_agrees():
    t = np.linspace(-9, 9, 37)
    for ours, theirs in [
        (Gaussian(1.7), stats.norm(0, 1.7)),
        (Laplace(0.8), stats.laplace(0, 0.8)),
    ]:
        for name in ("pdf", "logpdf", "cdf", "sf", "logsf"):
            assert np.allclose(getattr(ours, name)(t), getattr(theirs, name)(t), rtol=1e-12)
        assert np.allclose(ours.ppf(special.expit(t)), theirs.ppf(special.expit(t)), rtol=1e-11)
