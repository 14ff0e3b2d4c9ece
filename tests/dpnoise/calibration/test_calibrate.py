"""The public entrances: closed forms, pure privacy, a proved bound, and input that is refused."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from dpnoise import (
    FlippedHuber,
    Huber,
    OffsetSymmetricGaussian,
    Staircase,
    Subbotin,
    TruncatedLaplace,
    calibrate,
    vector_profile,
)
from dpnoise.calibration import search
from dpnoise.calibration.budget import Calibration
from dpnoise.noise import FAMILIES
from dpnoise.privacy.accounts import composed_log_delta
from dpnoise.privacy.vector import VectorProfile
from exact_noise import exact_noise
from for_all import for_all, thinned


def test_families_by_name_and_by_class():
    for name, kind in FAMILIES.items():
        found = calibrate(name, epsilon=1.0, delta=1e-3)
        assert isinstance(found, Calibration)
        assert isinstance(found.noise, kind)
        assert found == calibrate(kind, epsilon=1.0, delta=1e-3)


@pytest.mark.parametrize("dimension", [1, 2, 7, 1000])
@pytest.mark.parametrize("family", ["laplace", "staircase", "subbotin", "huber"])
def test_pure_privacy_in_exact_arithmetic(family, dimension):
    """At delta 0 the losses add up to at most epsilon, without rounding."""
    for epsilon, sensitivity in [(0.1, 1.0), (1 / 3, 0.7), (5.0, 1e7)]:
        found = calibrate(family, epsilon=epsilon, dimension=dimension, sensitivity=sensitivity)
        noise = found.noise
        rate = {
            "laplace": lambda n: 1 / Fraction(n.beta),
            "subbotin": lambda n: 1 / Fraction(n.scale),
            "huber": lambda n: Fraction(n.alpha) / Fraction(n.scale),
            "staircase": lambda n: Fraction(n.epsilon) / Fraction(n.sensitivity),
        }[family](noise) * Fraction(sensitivity)
        assert dimension * rate <= Fraction(epsilon)
        assert dimension * rate > Fraction(epsilon) * (1 - Fraction(10) ** -12)
        assert found.delta == 0.0
        pure = 2.0 * (dimension * sensitivity / epsilon) ** 2
        if family == "staircase":
            assert found.variance < pure
        else:
            assert found.infimum == pytest.approx(pure, rel=1e-12)
            assert found.variance == pytest.approx(pure, rel=1e-9)
            assert found.attained == (family != "huber")


def test_huber_variance_at_fixed_tails_grows_with_the_centre():
    """Which makes Laplace noise the limit at delta 0."""
    huber = FAMILIES["huber"]
    variance = [huber(a, a).var() for a in np.geomspace(1e-3, 30.0, 60)]
    assert np.all(np.diff(variance) > 0.0)
    assert variance[0] == pytest.approx(2.0, rel=1e-6)


def test_pure_staircase_is_better_than_laplace():
    for epsilon in (0.1, 2.0, 9.0):
        found = calibrate("staircase", epsilon=epsilon, sensitivity=0.3)
        assert found.delta == 0.0
        assert found.variance < calibrate("laplace", epsilon=epsilon, sensitivity=0.3).variance
        for gamma in (0.9, 1.1):
            other = Staircase(epsilon, 0.3, gamma * found.noise.gamma)
            assert other.var() > found.variance
        for shift in (0.05, 0.17, 0.3):
            assert exact_noise(found.noise).delta(shift, epsilon) < 1e-40


BAD = [
    ({"family": "cauchy"}, "family: expected one of gaussian, .*got 'cauchy'"),
    ({"family": 3}, "family: expected one of .*got 3"),
    ({"family": int}, "family: expected one of .*int"),
    ({"epsilon": -1.0}, "epsilon: .*got -1.0"),
    ({"epsilon": math.nan}, "epsilon: .*got nan"),
    ({"epsilon": "1"}, "epsilon: .*got '1'"),
    ({"delta": 1.0}, "delta: .*got 1.0"),
    ({"delta": -1e-9}, "delta: .*got -1e-09"),
    ({"delta": 1e-310}, "delta: expected 0 or at least 1e-300"),
    ({"sensitivity": 0.0}, "sensitivity: .*got 0.0"),
    ({"dimension": 0}, "dimension: expected a whole number of at least 1, at most 1e.150, got 0"),
    ({"dimension": 2.5}, "dimension: .*got 2.5"),
    ({"method": "magic"}, "method: expected .*'exact'.*got 'magic'"),
    ({"family": "gaussian", "method": "grid"}, "method: expected 'exact' for gaussian"),
    ({"family": "huber", "method": "sufficient"}, "method: expected 'exact' for huber"),
    ({"delta": 0.0}, "delta: expected more than 0 for flipped-huber"),
    ({"family": "truncated-laplace", "delta": 0.0}, "delta: expected more than 0 for truncated"),
    ({"family": "laplace", "delta": 0.0, "epsilon": 0.0}, "epsilon: expected more than 0"),
    ({"family": "staircase", "epsilon": 0.0}, "epsilon: expected more than 0 for staircase"),
    ({"epsilon": 0.0, "delta": 1e-9}, "epsilon, delta: expected one of at least 1e-07 times"),
    ({"epsilon": 1e-5, "dimension": 1000}, "epsilon, delta: expected one of at least"),
    ({"family": "staircase", "epsilon": 800.0}, "epsilon / dimension: "),
    ({"method": "sufficient", "epsilon": 0.0}, "epsilon: expected more than 0 for Theorem 8"),
    ({"family": "subbotin", "dimension": 3}, "dimension: expected 1 for subbotin"),
    ({"box": ((0, 1), (1, 2))}, "box: expected None unless the method is 'grid'"),
    ({"resolution": (5, 5)}, "resolution: expected None unless the method is 'grid'"),
    ({"method": "grid", "box": ((1, 0), (1, 2))}, "box: expected .*got"),
    ({"method": "grid", "box": 5}, "box: expected .*got 5"),
    ({"method": "grid", "box": ((0.0, math.inf), (1, 2))}, "box: expected .*got"),
    ({"method": "grid", "box": ((math.nan, 1.0), (1, 2))}, "box: expected .*got"),
    ({"method": "grid", "box": (("0", "1"), (1, 2))}, "box: expected .*got"),
    ({"method": "grid", "resolution": (5, 0)}, "resolution: expected two whole numbers"),
    ({"method": "grid", "resolution": (10**9, 10**9)}, "resolution: .*at most .200000, 1000000."),
    ({"method": "grid", "dimension": 2}, "dimension: expected 1 for the method 'grid', got 2"),
    ({"dimension": 10**9}, "dimension: expected at most 1e.08 for flipped-huber with delta > 0"),
    (
        {"family": "laplace", "delta": 0.0, "epsilon": 1e-300},
        "epsilon: expected a scale K / epsilon",
    ),
    ({"method": "grid", "resolution": 9}, "resolution: expected two whole numbers"),
]


DEAR = [
    {"family": "offset-symmetric-gaussian", "epsilon": 710.0, "delta": 0.9, "dimension": 10**6},
    {"family": "flipped-huber", "epsilon": 1e-300, "delta": 0.5, "dimension": 10**6},
    {"family": "flipped-huber", "epsilon": 10.0, "delta": 1e-300, "dimension": 2},
    {"family": "huber", "epsilon": 1e-100, "delta": 0.999999, "dimension": 5},
]
EXTREMES = [
    *(pytest.param(request, marks=pytest.mark.slow) for request in DEAR),
    {"family": "laplace", "epsilon": 1e-300, "delta": 0.99, "dimension": 20},
    {"family": "truncated-laplace", "epsilon": 1e-7, "delta": 1.0 - 1e-12, "dimension": 50},
    {"family": "laplace", "epsilon": 0.0, "delta": 1.0 - 1e-16, "dimension": 1000},
    {
        "family": "flipped-huber",
        "epsilon": 1e4,
        "delta": 1e-10,
        "dimension": 1,
        "sensitivity": 1e100,
    },
    {"family": "gaussian", "epsilon": 1e-300, "delta": 1e-300 * 1e294, "dimension": 3},
    {"family": "staircase", "epsilon": 1e4, "delta": 0.9, "dimension": 100, "sensitivity": 0.3},
    {"family": "staircase", "epsilon": 3.0, "dimension": 10**9, "sensitivity": 1e100},
    {"family": "laplace", "epsilon": 1e-4, "delta": 1e-50, "sensitivity": 1e-100},
    {"family": "flipped-huber", "epsilon": 5e-324, "delta": 1e-3},
    {"family": "staircase", "epsilon": 217.75498352996118, "sensitivity": 660316324947.482},
]


@pytest.mark.parametrize("request_", EXTREMES, ids=str)
def test_extreme_requests_are_answered(request_):
    """Once refused, or answered with an error about noise that nobody passed."""
    delta = request_.get("delta", 0.0)
    found = calibrate(request_["family"], **{k: v for k, v in request_.items() if k != "family"})
    assert found.delta <= delta
    assert 0.0 < found.variance < math.inf


def test_a_search_without_lower_bounds_ends(monkeypatch):
    """Values of the inversion that bound delta from above alone took 0.2 s each, 128 times."""
    asked = []

    def from_above(noise, d, epsilon, copies, rtol):  # noqa: ARG001
        asked.append(noise)
        upper = composed_log_delta(noise, d, epsilon, copies)
        return VectorProfile(-math.inf, upper, upper)

    monkeypatch.setattr(search, "vector_profile", from_above)
    budget = {"epsilon": 0.5358159017199916, "delta": 1.1347640202562718e-13, "dimension": 2}
    found = calibrate("offset-symmetric-gaussian", **budget)
    assert found.delta <= budget["delta"]
    assert found.variance <= calibrate("laplace", **budget).variance
    assert sum(isinstance(noise, OffsetSymmetricGaussian) for noise in asked) <= 20


@for_all(("change", "message"), BAD)
def test_bad_input_is_named(change, message):
    request = {"family": "flipped-huber", "epsilon": 1.0, "delta": 1e-6} | change
    with pytest.raises(ValueError, match=message):
        calibrate(request.pop("family"), **request)


def test_every_problem_is_named_at_once():
    with pytest.raises(ValueError, match=r"family.*epsilon.*delta.*sensitivity.*dimension"):
        calibrate("x", epsilon=-1.0, delta=2.0, sensitivity=-3.0, dimension=0)
    with pytest.raises(ValueError, match=r"epsilon.*method"):
        calibrate("laplace", epsilon=-1.0, method="grid")


@pytest.mark.parametrize("dimension", [10**400, np.array(2.5), np.float32(1.5), pd.NA, "2", None])
@pytest.mark.parametrize("method", ["exact", "grid"])
def test_a_dimension_of_another_type_is_named(dimension, method):
    with pytest.raises(ValueError, match="dimension: expected a whole number"):
        calibrate("flipped-huber", epsilon=1.0, delta=1e-3, dimension=dimension, method=method)


@pytest.mark.parametrize("method", [np.ones(2), pd.Series(["exact"]), pd.NA, None, ["exact"]])
def test_a_method_of_another_type_is_named(method):
    with pytest.raises(ValueError, match="method: expected 'exact'"):
        calibrate("flipped-huber", epsilon=1.0, delta=1e-3, method=method)


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


@pytest.mark.parametrize(
    ("family", "budget"),
    thinned(
        [
            (family, budget)
            for turn, family in enumerate(MEMBERS)
            for budget in (BUDGETS[1 + turn % 2], BUDGETS[0])[:: 1 - 2 * (turn % 2)]
        ]
    ),
)
def test_no_certified_noise_has_less_variance(family, budget):
    epsilon, delta, dimension = budget
    dimension = 1 if family == "subbotin" else dimension
    found = calibrate(family, epsilon=epsilon, delta=delta, dimension=dimension)
    assert found.delta <= delta
    member = MEMBERS[family](np.random.default_rng(dimension))
    least = min(found.variance, found.infimum)
    assert private_variance(member, epsilon, delta, dimension) >= least * (1.0 - 1e-6), member


@pytest.mark.parametrize("dimension", [1, 6, 30])
def test_no_certified_staircase_has_less_variance(dimension):
    epsilon, delta = 1.0, 1e-4
    found = calibrate("staircase", epsilon=epsilon, delta=delta, dimension=dimension)
    rng = np.random.default_rng(dimension)
    for _ in range(15):
        noise = Staircase(
            epsilon / dimension * float(rng.uniform(0.9, 5)), 1.0, float(rng.random())
        )
        private = vector_profile(noise, 1.0, epsilon, copies=dimension).upper <= delta
        assert noise.var() >= found.variance * (1.0 - 1e-6) or not private
