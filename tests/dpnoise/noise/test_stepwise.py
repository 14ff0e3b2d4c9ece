"""Staircase noise: the best gamma, and epsilon-privacy."""

import math

import mpmath as mp
import numpy as np
import pytest

from dpnoise.noise import Staircase, staircase_gamma
from exact_noise import off
from for_all import for_all
from oracles.exact import Stairs


@for_all("epsilon", [1e-100, 1e-6, 0.01, 0.3, 1.0, 4.0, 30.0, 700.0])
@for_all("power", [1, 2])
def test_best_staircase_is_a_minimum(epsilon, power):
    """The exact moment falls up to 1e-12 before it and rises 1e-12 after; a grid has no better."""
    with mp.workdps(300):
        gamma = mp.mpf(float(staircase_gamma(epsilon, power)))

        def moment(gamma):
            exact = Stairs(epsilon, 1, gamma)
            return exact.moment(power) / exact.half

        step = gamma * mp.mpf("1e-12")
        assert moment(gamma - 2 * step) > moment(gamma - step)
        assert moment(gamma + step) < moment(gamma + 2 * step)
        grid = [mp.mpf(i) / 64 for i in range(1, 64)]
        assert moment(gamma) <= min(moment(x) for x in grid) * (1 + mp.mpf("1e-24"))
    noise = Staircase(epsilon, 1.0, float(gamma))
    best = noise.mean_abs() if power == 1 else noise.var()
    assert off(best, moment(gamma)) < 1e-12


def test_best_staircase_agrees_with_the_printed_formula():
    """Geng & Viswanath 2016, the gamma of the least variance, and that of the least E|T|."""
    epsilon = np.array([[0.5, 1.0], [3.0, 8.0]])
    b = np.exp(-epsilon)
    root = np.cbrt(b - 2 * b**2 + 2 * b**4 - b**5) / (2 ** (1 / 3) * (1 - b) ** 2)
    assert np.allclose(staircase_gamma(epsilon), root - b / (1 - b), rtol=1e-12)
    assert np.allclose(staircase_gamma(epsilon, 1), 1 / (1 + np.exp(epsilon / 2)), rtol=1e-14)
    assert isinstance(staircase_gamma(1.0), float)


@for_all(("epsilon", "gamma"), [(1e-6, 0.5), (1.0, 0.38), (3.0, 0.9), (600.0, 0.1)])
def test_staircase_is_epsilon_private(epsilon, gamma):
    """No shift up to the sensitivity changes the density by more than exp(epsilon)."""
    noise = Staircase(epsilon, 3.0, gamma)
    rng = np.random.default_rng(3)
    t = noise.sensitivity * rng.uniform(-4, 4, 4000)
    shift = noise.sensitivity * rng.uniform(-1, 1, 4000)
    loss = noise.logpdf(t) - noise.logpdf(t - shift)
    assert math.isclose(np.abs(loss).max(), epsilon, rel_tol=1e-12, abs_tol=1e-14)


@for_all(
    ("epsilon", "power", "words"),
    [
        (-1.0, 3, ["epsilon", "-1.0", "power", "1 or 2", "got 3"]),
        ([1.0, math.inf, 701], 2, ["epsilon", "[inf, 701.0]"]),
        ("a", "b", ["epsilon", "'a'", "power", "'b'"]),
    ],
)
def test_bad_epsilon_or_power_names_every_problem(epsilon, power, words):
    with pytest.raises(ValueError, match="expected") as error:
        staircase_gamma(epsilon, power)
    assert all(word in str(error.value) for word in words)
