"""The trapezoidal rule keeps what it promises at any step and any cut."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpnoise.noise import FlippedHuber, Laplace, OffsetSymmetricGaussian
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise.privacy.inversion.loss import coordinate_loss
from dpnoise.privacy.inversion.transform import LossTransform
from dpnoise.privacy.inversion.trapezoid import LineTerms, Rule, TrapezoidPlan


def _relative(rule, mu, epsilon):
    """Return delta of a Gaussian loss in the units of the rule."""
    return math.exp(gaussian_log_delta(mu, epsilon) - rule.log_scale)


@pytest.mark.parametrize("c", [0.2, 2.0, 9.0])
@pytest.mark.parametrize("period", [1.0, 2.0, 5.0, 20.0])
def test_aliases_are_positive_and_bounded(c, period):
    mu, epsilon = 1.0, 2.5
    rule = Rule(LossTransform([], [], mu * mu), epsilon, c, mu * mu, removable=False)
    plan = TrapezoidPlan(0, 0.0, period, 4000, 0.0)
    found, rounding, *_ = LineTerms(rule, plan).at(rule.epsilon)
    exact = _relative(rule, mu, epsilon)
    aliases = float(rule.aliases(np.asarray(period), 0.0))
    assert found + rounding >= exact * (1.0 - 1e-12)
    assert found - aliases - rounding <= exact * (1.0 + 1e-12)
    # Poisson: the sum over all periods, to rounding, where delta is known at all of them.
    n = np.arange(1, 200)
    right = np.exp(gaussian_log_delta(mu, epsilon + n * period) + c * n * period - rule.log_scale)
    back = epsilon - n * period
    # delta(-x) = 1 - e^-x + e^-x delta(x).
    left = np.where(
        back >= 0.0,
        np.exp(gaussian_log_delta(mu, np.maximum(back, 0.0))),
        -np.expm1(np.minimum(back, 0.0))
        + np.exp(np.minimum(back, 0.0) + gaussian_log_delta(mu, np.maximum(-back, 0.0))),
    )
    left = left * np.exp(-c * n * period - rule.log_scale)
    assert found == pytest.approx(exact + right.sum() + left.sum(), rel=1e-10)


@pytest.mark.parametrize(
    ("noise", "copies"),
    [(OffsetSymmetricGaussian(3.0, 10.0), 2), (FlippedHuber(9.0, 8.0), 3), (Laplace(5.0), 4)],
)
@pytest.mark.parametrize("level", [0, 1, 2])
def test_the_tail_is_bounded(noise, copies, level):
    transform = LossTransform([coordinate_loss(noise)], [copies], 0.0)
    c, epsilon = 4.0, 0.3
    atomic = bool(transform.atoms.size)
    rule = Rule(transform, epsilon, c, 0.1, removable=atomic)
    if level >= rule.levels:
        assert not atomic
        return
    whole, rounding, *_ = LineTerms(rule, TrapezoidPlan(level, 0.0, 8.0, 200_000, 0.0)).at(
        rule.epsilon
    )
    rest = rule.plan(level, 0.0, math.inf, 1e300, 200_000)
    for tolerance in (1e-2, 1e-3, 1e-4):
        plan = rule.plan(level, 0.0, 1.0, tolerance, 200_000)
        plan = plan._replace(period=8.0, points=math.ceil(plan.points * 8.0 / plan.period))
        if plan.points > 50_000:
            break
        found, more, *_ = LineTerms(rule, plan).at(rule.epsilon)
        # The reference leaves out a tail too, which is smaller than the tolerance.
        assert abs(found - whole) <= plan.tail + rounding + more + 0.1 * tolerance
    assert rest.points >= 1


def test_blurring_adds_a_gaussian_coordinate():
    mu, blur, epsilon = 0.8, 0.3**2, 1.0
    rule = Rule(LossTransform([], [], mu * mu), epsilon, 2.0, mu * mu, removable=False)
    plan = TrapezoidPlan(0, blur, 12.0, 400, 0.0)
    found, _, density, _ = LineTerms(rule, plan).at(rule.epsilon)
    aliases = float(rule.aliases(np.asarray(12.0), blur))
    wide = _relative(rule, math.sqrt(mu * mu + blur), epsilon)
    assert abs(found - wide) <= aliases + 1e-12 * wide
    assert aliases < 1e-6 * wide
    # a times the derivative in a.
    step = 1e-5
    high, low = (_relative(rule, math.sqrt(mu * mu + blur + d), epsilon) for d in (step, -step))
    assert density == pytest.approx(2.0 * blur * (high - low) / (2.0 * step), rel=1e-5)


def test_a_small_gaussian_coordinate_adds_less_than_its_vega():
    # 0 <= w_a - w_0 <= a e^(a^2 / 8) dw_a / da at all losses. Out of the money w_0 = 0; in the
    # money all terms differ from that by the same factor (put-call parity).
    epsilon = np.linspace(0.0, 8.0, 2001)
    for a in (1e-3, 0.1, 1.0, 2.0):
        x = epsilon * a
        time_value = np.exp(gaussian_log_delta(a, x))
        vega = np.exp(-0.5 * (x / a) ** 2 + 0.5 * x - a * a / 8.0) / math.sqrt(2.0 * math.pi)
        assert np.all(time_value <= a * math.exp(a * a / 8.0) * vega * (1.0 + 1e-12))
