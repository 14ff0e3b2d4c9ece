"""The uncovered share of a ball: simulation, arbitrary precision, monotonicity, limits."""

import math
from functools import cache

import mpmath
import numpy as np
from scipy import special

from dpnoise import L2, AtMost, Counts
from dpnoise.joint.profile import Uncovered, relative_error
from for_all import for_all
from joint_sets import SETS, corners

every = for_all("ball", SETS)
sampled = cache(lambda ball: ball.sample(20_000, random_state=1))


@every
@for_all(("a", "e"), [(0.5, 0.2), (0.1, 0.0), (1.0, 0.9), (3.0, 0.5), (1.5, 4.0)])
def test_bounds_hold_for_simulated_shares(ball, a, e):
    """5 standard errors (fixed seed)."""
    points = sampled(ball)
    most = max(np.mean(ball.norm(points + a * d) > 1.0 + e) for d in corners(ball))
    error = 5 * math.sqrt(max(most * (1.0 - most), 1e-4) / len(points))
    share = Uncovered(ball)
    lower, upper = share.lower(np.array(a), np.array(e)), share.upper(np.array(a), np.array(e))
    assert lower <= most + error
    assert upper >= most - error
    if any(isinstance(block, AtMost | Counts) for block in ball.blocks or (ball,)):
        assert (0.0 < lower < upper) == (e < a)
    else:
        assert upper - lower <= 1e-9


@every
def test_it_rises_with_the_shift_and_falls_with_the_excess(ball):
    share = Uncovered(ball)
    a, e = np.linspace(0.01, 3.0, 200)[:, None], np.linspace(0.0, 2.0, 100)
    g = share.upper(a, e)
    assert np.all(np.diff(g, axis=0) >= -1e-10)
    assert np.all(np.diff(g, axis=1) <= 1e-10)
    assert np.all(g[np.broadcast_to(e >= a + 1e-9, g.shape)] == 0.0)
    assert np.all(share.upper(1e9, np.array([0.0, 5.0])) >= 1.0 - 1e-9)


@for_all("K", [2, 3, 50, 1000])
def test_caps_against_arbitrary_precision(K):
    """The volume of the intersection of two balls, by mpmath's incomplete beta function."""
    share = Uncovered(L2(1.0, of=K))
    rng = np.random.default_rng(K)
    with mpmath.workdps(60):
        for a in rng.uniform(0.01, 1.0, 15) / math.sqrt(K):
            for e in a * rng.uniform(0.0, 0.9, 3):
                t = (mpmath.mpf(e) * (2 + e) - mpmath.mpf(a) ** 2) / (2 * mpmath.mpf(a))
                b = mpmath.mpf(K + 1) / 2

                def cap(u, b=b):
                    return mpmath.betainc(b, b, 0, (1 - u) / 2, regularized=True)

                g = cap(t) - (1 + mpmath.mpf(e)) ** K * cap((t + a) / (1 + mpmath.mpf(e)))
                assert share.lower(a, e) <= g <= share.upper(a, e)
                assert share.upper(a, e) <= g * (1 + 1e-6) + 1e-12


@for_all("a", [1.5, 30.0, 300.0, 1500.0, 3000.0])
def test_relative_errors_of_the_special_functions(a):
    """Against 350 digits, from the left tail to 35 standard deviations right of the mean."""
    rng = np.random.default_rng(int(a))
    with mpmath.workdps(350):
        for z in rng.uniform(-8.0, 35.0, 12):
            x = max(a + z * math.sqrt(a), 1e-3)
            above = mpmath.gammainc(a, mpmath.mpf(x), mpmath.inf, regularized=True)
            pairs = (special.gammaincc(a, x), above), (special.gammainc(a, x), 1 - above)
            for value, exact in pairs:
                if exact > 1e-290:
                    assert abs(value / exact - 1) < relative_error(a)
    with mpmath.workdps(30):  # all terms are positive
        for x in np.clip(0.5 + rng.normal(size=12) * rng.uniform(0, 4) / math.sqrt(a), 1e-9, 1):
            exact = mpmath.betainc(a, a, 0, mpmath.mpf(float(x)), regularized=True)
            if exact > 1e-290:
                assert abs(special.betainc(a, a, x) / exact - 1) < relative_error(a)
