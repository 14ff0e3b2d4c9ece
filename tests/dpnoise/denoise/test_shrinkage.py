"""James-Stein and soft thresholds: risks and their estimates, optimality, and refusals."""

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from dpnoise.denoise.shrinkage import (
    bayes_risk,
    james_stein,
    james_stein_bayes_risk,
    soft_threshold,
    universal_threshold,
)
from for_all import for_all
from refusals import names_every_problem

SIGMA = 1.7
dimensions = for_all("d", [3, 4, 10, 300])


@dimensions
@for_all("prior_variance", [0.0, 0.3, 5.0])
def test_theorem_11_corrected_is_the_integral_of_sure_over_the_radius(d, prior_variance):
    spread = prior_variance + SIGMA**2

    def integrand(x):
        sure = d * SIGMA**2 - (d - 2) ** 2 * SIGMA**4 / (spread * x)
        return sure * stats.chi2.pdf(x, d)

    risk, _ = integrate.quad(integrand, 0, d, epsabs=0, epsrel=1e-10, limit=200)
    rest, _ = integrate.quad(integrand, d, np.inf, epsabs=0, epsrel=1e-10, limit=200)
    assert james_stein_bayes_risk(d, prior_variance, SIGMA) == pytest.approx(risk + rest, rel=1e-8)


@for_all("d", [6, 30])
def test_theorem_11_corrected_against_simulation(d):
    """Four standard errors: a false alarm once in 16,000; d >= 6 for a finite variance."""
    rng = np.random.default_rng(11)
    w = 0.8
    f = w * rng.normal(size=(100_000, d))
    y = f + SIGMA * rng.normal(size=f.shape)
    losses = np.sum((james_stein(y, SIGMA) - f) ** 2, axis=1)
    error = np.std(losses) / np.sqrt(len(losses))
    assert abs(np.mean(losses) - james_stein_bayes_risk(d, w * w, SIGMA)) < 4 * error


@for_all("d", [3, 10])
@for_all("length", [0.0, 2.0, 4.0])
def test_james_stein_dominates_the_data_and_its_positive_part_dominates_it(d, length):
    """Stein's improvement (d-2)^2 sigma^4 E 1/|y|^2, by quadrature and by simulation."""
    rng = np.random.default_rng(12)
    f = np.zeros(d)
    f[0] = length * SIGMA
    y = f + SIGMA * rng.normal(size=(200_000 if d == 3 else 50_000, d))
    raw, plain, positive = (
        np.sum((estimate - f) ** 2, axis=1)
        for estimate in (y, james_stein(y, SIGMA), james_stein(y, SIGMA, positive_part=True))
    )
    mean_inverse = stats.ncx2(d, length**2) if length else stats.chi2(d)
    inverse, _ = integrate.quad(lambda x: mean_inverse.pdf(x) / x, 0, np.inf, limit=200)
    improvement = (d - 2) ** 2 * SIGMA**2 * inverse
    # the loss has no variance at d = 3, so the tolerance is relative, not in standard errors
    assert np.mean(raw - plain) == pytest.approx(improvement, rel=0.06)
    assert np.mean(plain - positive) > 0


def test_extremes():
    assert np.all(james_stein(np.zeros(3), 1.0, positive_part=True) == 0)
    assert np.all(james_stein([1e-300] * 3, 1.0, positive_part=True) == 0)
    assert james_stein([1e99] * 3, 1e-200) == pytest.approx([1e99] * 3)
    assert james_stein([1e-99] * 3, 1e-100) == pytest.approx([1e-99 * (1 - 1 / 300)] * 3)


test_every_problem_is_named = names_every_problem(
    [
        (lambda: james_stein([1.0, 2.0], -1.0), ["d >= 3", "shape (2,)", "sigma", "-1.0"]),
        (lambda: james_stein(np.zeros(3), 1.0), ["y", "1e-150", "0.0"]),
        (lambda: james_stein([1.0, np.nan, 2.0], 1.0), ["y", "nan"]),
        (lambda: james_stein([1.0, 1e101, 2.0], 1.0), ["y", "1e+101"]),
        (lambda: james_stein_bayes_risk(2, -1.0, 0.0), ["d:", "prior_variance", "sigma"]),
        (lambda: bayes_risk(2.5, 1.0, np.inf), ["d:", "2.5", "sigma"]),
    ],
    match=":",
)


@for_all("t", [0.0, 0.7, 3.0])
def test_soft_threshold_is_the_proximal_map_of_the_absolute_value(t):
    for y in (-2.0, -0.7, 0.0, 0.4, 5.0):
        found = optimize.minimize_scalar(
            lambda b, y=y: 0.5 * (b - y) ** 2 + t * abs(b), bounds=(-6, 6), options={"xatol": 1e-9}
        )
        assert soft_threshold([y], t)[0] == pytest.approx(found.x, abs=1e-4)


test_every_problem_of_thresholds_is_named = names_every_problem(
    [
        (lambda: soft_threshold([1.0], -1.0), ["threshold", "-1.0"]),
        (lambda: soft_threshold(np.ones((2, 3)), np.ones(3)), ["threshold", "(2,)", "(3,)"]),
        (lambda: soft_threshold([], np.nan), ["d >= 1", "threshold", "nan"]),
        (lambda: universal_threshold(0.0, 0), ["sigma", "d:"]),
    ],
    match=":",
)
