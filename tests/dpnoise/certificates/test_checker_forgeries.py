"""Forged certificates: false or meaningless claims with a right digest, which never pass."""

import json
from fractions import Fraction

import pytest

from dpnoise.certificates import checker
from dpnoise.certificates.document import digest_of

LAPLACE = {"kind": "laplace", "beta": "1"}
STEPS = {"epsilon": "1", "gamma": "1/2"}
ONE = {"kind": "linf", "radius": "1", "of": 1}


def claim(noise, sensitivity, dimension=1, *, epsilon="1", lower="0", upper="0", **more):
    content = {
        "format": "dpnoise certificate",
        "format_version": 1,
        "package_version": "0",
        "noise": noise,
        "sensitivity": sensitivity,
        "dimension": dimension,
        "relation": "replace-one",
        "epsilon": epsilon,
        "delta": {"lower": lower, "upper": upper},
        "certified_by": ["nobody"],
        **more,
    }
    return json.dumps({**content, "digest": digest_of(content)}, indent=1).encode()


def test_the_claim_that_is_forged_below_is_true_as_it_stands():
    assert checker.check(claim(LAPLACE, ONE)) == "delta <= 0.0 at epsilon = 1.0, replace-one"


@pytest.mark.parametrize(
    ("noise", "sensitivity", "dimension", "more"),
    {
        # Noise on the even numbers: an answer moved by 1 is told by its parity, delta = 1.
        "scaled integers": (
            {
                "kind": "independent",
                "unit": {"kind": "discrete-laplace", "beta": "1"},
                "scales": ["2"],
            },
            {"kind": "linf", "radius": "1", "of": 1},
            1,
            {},
        ),
        "radii of their own": (
            [LAPLACE, LAPLACE],
            {"kind": "l1", "radius": ["1", "1"], "of": 5},
            2,
            {},
        ),
        "sides of their own": (
            [LAPLACE, LAPLACE],
            {"kind": "at-most", "each": ["1", "1"], "m": 1, "of": 5},
            2,
            {},
        ),
        "norm of a number": ([{"kind": "norm-staircase", "ball": "1", **STEPS}], ONE, 1, {}),
        "another claim beside it": (LAPLACE, ONE, 1, {"kind": "delta = 0 at every epsilon"}),
        "not a double": (LAPLACE, ONE, 1, {"epsilon": f"{10**30 + 1}/{10**30}"}),
    }.values(),
)
def test_forgeries_do_not_pass(noise, sensitivity, dimension, more):
    with pytest.raises((ValueError, NotImplementedError, TypeError)):
        checker.check(claim(noise, sensitivity, dimension, **more))


def test_a_second_meaning_of_delta_is_refused():
    delta = {"kind": "always", "lower": "0", "upper": "0"}
    with pytest.raises(ValueError, match="delta: expected"):
        checker.check(claim(LAPLACE, ONE, delta=delta))


def test_bounds_too_short_for_the_digits_that_are_kept_are_no_pass():
    # Below a bound b of 2^-250 the noise is uniform on [-b, b] to many digits: delta = d / (2 b).
    for k in range(240, 300, 3):
        bound = Fraction(3, 2**k)
        for share in (Fraction(1, 7), Fraction(1, 2), Fraction(9, 10), Fraction(3, 2)):
            true = share / 2
            try:
                found = checker.truncated(share * bound, bound, Fraction(0))
            except NotImplementedError:
                continue
            assert found.lo <= true * (1 + Fraction(1, 2**230))
            assert found.hi >= true * (1 - Fraction(1, 2**230))
    with pytest.raises(NotImplementedError, match="digits"):
        checker.truncated(Fraction(1, 2**301), Fraction(1, 2**300), Fraction(0))


def test_infinite_losses_only():
    # From epsilon = d on, what is left is P(T > bound - d).
    d, bound = Fraction(1, 3), Fraction(2)
    found = [checker.truncated(d, bound, epsilon) for epsilon in (d, 2 * d, Fraction(50))]
    assert len({(one.lo, one.hi) for one in found}) == 1
    tail = (2.718281828459045 ** float(d) - 1) / (2 * (2.718281828459045 ** float(bound) - 1))
    assert float(found[0].hi) == pytest.approx(tail, rel=1e-12)
    assert checker.truncated(5 * bound, bound, Fraction(1)).hi == 1


def test_the_lower_bound_uses_no_loss_that_was_rounded_up():
    loss = Fraction(3**200, 3**200 - 1)
    box = {"kind": "box", "lambdas": [str(loss)]}
    found, exact = checker.enclosure(LAPLACE, box, Fraction(0))
    assert exact
    alone = checker.of_loss(loss, Fraction(0), laplace=True, exact=True)[0]
    assert (found.lo, found.hi) == (alone.lo, alone.hi)


def test_what_is_printed_is_no_stronger_than_what_is_proved():
    two = {"kind": "linf", "radius": "2", "of": 1}
    upper = Fraction(0.4) + Fraction(1, 10**30)
    found = checker.check(claim(LAPLACE, two, upper=str(upper)))
    assert float(upper) < upper <= Fraction(float(found.split()[2]))


def test_a_lower_bound_that_is_not_proved_is_named():
    many = {"kind": "at-most", "each": "1", "m": 2, "of": 3}
    found, exact = checker.enclosure(LAPLACE, many, Fraction(1))
    assert not exact
    upper = str(found.hi)
    assert checker.check(claim(LAPLACE, many, 3, lower="0", upper=upper)).endswith("replace-one")
    text = checker.check(claim(LAPLACE, many, 3, lower=upper, upper=upper))
    assert text.endswith("; delta.lower is not proved here")
