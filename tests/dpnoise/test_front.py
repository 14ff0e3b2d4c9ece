"""The front: at most twenty names by five nouns, and the cases of `best` that have names."""

import pytest

import dpnoise
from dpnoise import (
    L2,
    AtMost,
    LInf,
    best,
    calibrate,
    calibrate_joint,
)
from dpnoise.joint.calibrate import JOINT_FAMILIES
from dpnoise.noise import FAMILIES, INTEGER_FAMILIES
from for_all import thinned

NOUNS = {"sensitivity", "noise", "mechanisms", "releases", "certificates", "privacy"}
TIE = 1e-4  # within which `best` prefers the smaller delta


def test_the_front_has_at_most_twenty_names_of_five_nouns():
    assert len(dpnoise.__all__) <= 20
    assert dir(dpnoise) == sorted(dpnoise.__all__)
    homes = {getattr(dpnoise, name).__module__.split(".")[1] for name in dpnoise.__all__}
    assert homes == NOUNS  # certificates are of releases
    for name in dpnoise.__all__:
        assert f"`{name}`" in dpnoise.__doc__


def test_names_that_left_the_front_are_imported_as_before():
    assert len(dpnoise._PUBLIC) >= 50
    assert set(dpnoise._PUBLIC) > set(dpnoise.__all__)


PURE = ("laplace", "staircase", "subbotin", "huber")  # which `calibrate` has with delta = 0
CASES = thinned(
    [(family, 1e-6, K) for family in FAMILIES for K in (1, 3) if (family, K) != ("subbotin", 3)]
)
CASES += [(family, 0.0, K) for family in PURE for K in (1, 3)]


@pytest.mark.parametrize(("family", "delta", "dimension"), CASES)
def test_calibrate_is_a_case_of_best(family, delta, dimension):
    asked = {"epsilon": 1.0, "delta": delta}
    found = calibrate(family, **asked, sensitivity=0.5, dimension=dimension)
    limit = "laplace" if delta == 0.0 and family in {"subbotin", "huber"} else family
    other = best(LInf(0.5, of=dimension), **asked, family=limit)
    several = delta == 0.0 or family in {"laplace", "staircase"}
    assert other.variance == pytest.approx(found.variance, rel=TIE if several else 1e-11)
    assert max(other.delta, found.delta) <= delta


WHOLE = [(family, 1e-6) for family in INTEGER_FAMILIES]
WHOLE += [(family, 0.0) for family in INTEGER_FAMILIES if family != "discrete-gaussian"]


@pytest.mark.parametrize(
    ("family", "delta", "each"), [(*one, (2, 1)[k % 2]) for k, one in enumerate(WHOLE)]
)
def test_calibrate_for_integers_is_a_case_of_best(each, family, delta):
    ball = LInf(each, of=3, relation="add-remove")
    found = calibrate(family, epsilon=1.0, delta=delta, sensitivity=each, dimension=3)
    plain = family.removeprefix("discrete-")
    other = best(ball, epsilon=1.0, delta=delta, family=plain, integer=True)
    assert "rounded" not in other.name
    assert other.variance == pytest.approx(found.variance, rel=TIE)


JOINT = [(family, 1e-3) for family in JOINT_FAMILIES]
JOINT += [(family, 0.0) for family, one in JOINT_FAMILIES.items() if not one.needs_delta]


@pytest.mark.parametrize(("family", "delta"), JOINT)
@pytest.mark.parametrize("ball", [L2(1.0, of=3), AtMost(3, of=6)], ids=repr)
def test_calibrate_joint_is_a_case_of_best(ball, family, delta):
    found = calibrate_joint(family, ball, epsilon=1.0, delta=delta)
    other = best(ball, epsilon=1.0, delta=delta, family=family)
    if "ellipsoid" in other.name:
        assert other.variance < found.variance
    else:
        assert other.variance == pytest.approx(found.variance, rel=1e-12)
        assert other.noise == found.noise
