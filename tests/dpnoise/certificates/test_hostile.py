"""Hostile certificates with a right digest: forged, mutated, or at extremes that cost time."""

import json
import math
import time
from collections import Counter
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from dpnoise import (
    L1,
    L2,
    AtMost,
    Box,
    Certificate,
    CertificateError,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Product,
    Staircase,
    TruncatedLaplace,
    certify,
    verify,
)
from dpnoise.certificates import checker
from dpnoise.certificates.codec import digest_of, noise_of, set_of
from dpnoise.joint.noise import NormStaircase, RadialNoise
from dpnoise.mechanisms.noise import BlockNoise, IndependentNoise
from exact_delta import exact_delta
from hostile_certificates import (
    BALL,
    BLOCK,
    CHECKED,
    GAUSSIAN,
    SETS,
    at,
    certificate,
    dimension_of,
    hostile,
    places,
    replaced,
    text_of,
)

TINY = str(Fraction(1e-200))
LAPLACE = {"kind": "laplace", "beta": "1"}
STEPS = {"epsilon": "1", "gamma": "1/2"}
ONE = {"kind": "linf", "radius": "1", "of": 1}
HALVES = AtMost(2, of=3, each=0.5)
BLOCKS = BlockNoise(
    (
        (np.array([2]), IndependentNoise(Gaussian(2.0), np.array([1.0]))),
        (np.array([0, 1]), IndependentNoise(Gaussian(1.0), np.array([3.0, 4.0]))),
    ),
    3,
)
BASES = {
    "gaussian": (Gaussian(4.0), L2(1.0, of=3), 1.0),
    "gaussian at epsilon 0": (Gaussian(1.0), AtMost(2, of=3, each=0.25), 0.0),
    "independent gaussian": (
        IndependentNoise(Gaussian(1.0), np.array([3.0, 1.5, 2.0])),
        Box([1.0, 0.5, 0.0]),
        0.5,
    ),
    "one gaussian each": ((Gaussian(2.0), Gaussian(4.0)), L1(1.0, of=2), 1.0),
    "blocks": (BLOCKS, Product(L2(1.0), AtMost(1, of=2)), 1.0),
    "laplace": (Laplace(4.0), 2.0, 0.25),
    "pure laplace": (Laplace(4.0), 2.0, 0.5),
    "pure laplace of three": ((Laplace(4.0), Laplace(2.0), Laplace(8.0)), HALVES, 0.375),
    "truncated laplace": (TruncatedLaplace(2.0, 20.0), 1.0, 0.25),
    "staircase": (Staircase(0.5, 2.0, 0.25), 2.0, 0.25),
    "pure staircase": (Staircase(0.5, 2.0, 0.25), 2.0, 0.5),
    "K-norm": (RadialNoise(HALVES, 2.0), HALVES, 0.5),
    "staircase in a norm": (NormStaircase(HALVES, 0.5, 0.25), HALVES, 0.5),
    "discrete laplace": (DiscreteLaplace(3.0), 1.0, 1.0 / 3.0),
}
PARTS = [
    json.loads(certify(*BASES[name], relation="add-remove").to_json())
    for name in ("gaussian", "laplace", "K-norm")
]
SECONDS = 5.0  # of processor time for one certificate; the slowest found took 0.8
FEW = "one", "at-most", "product"


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
        "certified_by": ["greatest loss"],
        **more,
    }
    return json.dumps({**content, "digest": digest_of(content)}, indent=1).encode()


def test_the_claim_that_is_forged_below_is_true_as_it_stands():
    words = "verified: delta <= 0.0 at epsilon = 1.0, replace-one"
    assert checker.check(claim(LAPLACE, ONE)) == words


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
        "a scale that is no double": ({"kind": "laplace", "beta": "4/3"}, ONE, 1, {}),
        "a size of no double": (LAPLACE, {"kind": "linf", "radius": "1/3", "of": 1}, 1, {}),
        "a size that no set has": (LAPLACE, {"kind": "linf", "radius": TINY, "of": 1}, 1, {}),
        "a staircase too steep": (
            {"kind": "staircase", "sensitivity": "1", **STEPS, "epsilon": "701"},
            {"kind": "linf", "radius": "1/2", "of": 1},
            1,
            {"epsilon": "701"},
        ),
        "a staircase of too many steps": (
            {"kind": "norm-staircase", "ball": ONE, **STEPS, "epsilon": "1/1048576"},
            ONE,
            1,
            {},
        ),
        "no version": (LAPLACE, ONE, 1, {"package_version": "0 1"}),
        "a version of digits": (LAPLACE, ONE, 1, {"package_version": 1}),
        "nobody": (LAPLACE, ONE, 1, {"certified_by": ["nobody"]}),
        "no account": (LAPLACE, ONE, 1, {"certified_by": []}),
        "the checker alone": (LAPLACE, ONE, 1, {"certified_by": [checker.CHECKER]}),
        "an account of other noise": (LAPLACE, ONE, 1, {"certified_by": ["Gaussian profile"]}),
        "an account twice": (LAPLACE, ONE, 1, {"certified_by": ["greatest loss"] * 2}),
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
    for k in range(240, 300, 7):
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
    assert float(upper) < upper <= Fraction(float(found.split()[3]))


def test_a_lower_bound_that_is_not_proved_is_named():
    many = {"kind": "at-most", "each": "1", "m": 2, "of": 3}
    found, exact = checker.enclosure(LAPLACE, many, Fraction(1))
    assert not exact
    upper = str(found.hi)
    assert checker.check(claim(LAPLACE, many, 3, lower="0", upper=upper)).endswith("replace-one")
    text = checker.check(claim(LAPLACE, many, 3, lower=upper, upper=upper))
    assert text.startswith("upper bound verified: delta <= ")
    assert text.endswith("; delta.lower is not proved here")


def doubles(text):
    """Other numbers for a number: its neighbours among doubles, halves, multiples, round ones."""
    x = float(Fraction(text))
    near = {math.nextafter(x, 0.0), math.nextafter(x, 9.0), 0.5 * x, 2.0 * x} if x else {1e-9}
    return sorted({str(Fraction(y)) for y in {*near, 1.0, 0.0}} - {text})


def mutations(content):
    """Contents of which one part is another, with the dimension that fits it and without."""
    for path in places(content):
        value = at(content, path)
        if path[-1] in {"digest", "format", "package_version", "format_version"}:
            continue
        if isinstance(value, int):
            others = [value - 1, value + 1, 2 * value]
        elif isinstance(value, str) and set(value) <= set("0123456789/"):
            others = doubles(value)
        elif path == ("relation",):
            others = ["add-remove" if value == "replace-one" else "replace-one"]
        else:
            others = []
        for other in others:
            yield replaced(content, path, other)
    for part in PARTS:
        yield {**content, "noise": part["noise"]}
        yield {**content, "sensitivity": part["sensitivity"]}
        yield {**content, "delta": part["delta"]}
    sensitivity = content["sensitivity"]
    if "radius" in sensitivity:
        for kind in ("l1", "l2", "linf"):
            yield {**content, "sensitivity": {**sensitivity, "kind": kind}}


def with_dimension(content):
    """The content, and where it differs the one with the dimension of its set."""
    yield content
    try:
        K = dimension_of(content["sensitivity"])
    except (TypeError, KeyError):
        return
    if content["dimension"] != K:
        yield {**content, "dimension": K}


def accepted(content):
    """Who accepts a content: the package, the checker; and whether the checker proves `lower`."""
    text = json.dumps({**content, "digest": digest_of(content)}, indent=1).encode()
    found = set()
    try:
        verify(Certificate.from_json(text))
        found.add("verify")
    except CertificateError:
        pass
    try:
        words = checker.check(text)
        found.add("checker, upper" if words.startswith("upper bound") else "checker")
    except (*checker.ERRORS, NotImplementedError):
        pass
    return found


@pytest.mark.usefixtures("once")
@pytest.mark.parametrize("base", BASES.values(), ids=BASES)
def test_no_mutation_passes_unless_its_claim_is_true(base):
    content = json.loads(certify(*base, relation="add-remove").to_json())
    assert accepted(content) >= {"verify"}
    known = {}  # what is true does not depend on what is claimed
    counts = Counter()
    for first in mutations(content):
        for mutated in with_dimension(first):
            if mutated == content:
                continue
            who = accepted(mutated)
            assert "checker" not in who or "verify" in who, mutated
            counts[bool(who)] += 1
            if not who:
                continue
            asked = json.dumps([mutated[key] for key in ("noise", "sensitivity", "epsilon")])
            if asked not in known:
                noise, ball = noise_of(mutated["noise"]), set_of(mutated["sensitivity"])
                known[asked] = exact_delta(noise, ball, float(Fraction(mutated["epsilon"])))
            low, high = known[asked]
            margin = mp.mpf(10) ** -40
            lower, upper = (Fraction(mutated["delta"][end]) for end in ("lower", "upper"))
            assert mp.mpf(upper.numerator) / upper.denominator >= low * (1 - margin), (mutated, who)
            if who != {"checker, upper"}:
                assert mp.mpf(lower.numerator) / lower.denominator <= high * (1 + margin), mutated
    assert counts[True] > 0  # more noise, a smaller set, a larger epsilon
    assert counts[False] > 10


def outcome(content):
    """What the checker says in how many seconds."""
    text, start = text_of(content), time.process_time()
    try:
        checker.check(text)
        found = "verified"
    except NotImplementedError:
        found = "not covered"
    except checker.ERRORS:
        found = "refused"
    return found, time.process_time() - start


@pytest.mark.parametrize("kind", CHECKED)
def test_no_field_at_an_extreme_costs_the_checker_time(kind):
    """Each of three sets has another third of the values of all fields, one all of epsilon."""
    said = Counter()
    for start, name in enumerate(FEW, list(CHECKED).index(kind)):
        for turn, content in enumerate(hostile(CHECKED[kind], SETS[name], seldom=37), start):
            if turn % 3 and (content["epsilon"] == "1" or name != "one"):
                continue
            found, seconds = outcome(content)
            assert seconds < SECONDS, content
            said[found] += 1
    assert said["verified"] > 0
    assert said["refused"] + said["not covered"] > 0


def nested(depth):
    """A product of a product of ..."""
    return {"kind": "product", "blocks": [nested(depth - 1)]} if depth else BALL


def test_a_few_bytes_that_state_many_coordinates_are_refused_at_once():
    many = {"kind": "product", "blocks": [{"kind": "l2", "radius": "1", "of": 10**4}] * 3000}
    huge = {"kind": "product", "blocks": [{"kind": "l2", "radius": "1", "of": 10**8}, BALL]}
    laplace = CHECKED["laplace"]
    hole = {"kind": "blocks", "dimension": 10**8}
    hole["blocks"] = [{"coordinates": [0], "noise": BLOCK}]
    digits = {"kind": "gaussian", "sigma": "7" * 10**6}
    ball = {"kind": "l2", "radius": "1", "of": 10**8}
    for noise, some in ((laplace, many), (laplace, huge), (hole, ball), (digits, SETS["one"])):
        content = {**certificate(noise, some), "dimension": dimension_of(some)}
        found, seconds = outcome(content)
        assert (found != "verified", seconds < SECONDS) == (True, True)
        start = time.process_time()
        if noise is laplace:  # equal coordinates are counted, not listed
            assert not verify(Certificate.from_json(text_of(content))).independent
        else:
            with pytest.raises(CertificateError):
                verify(Certificate.from_json(text_of(content)))
        assert time.process_time() - start < 3.0 * SECONDS
    for depth in (10, 300):
        assert outcome(certificate(GAUSSIAN, nested(depth)))[1] < SECONDS


def test_exponentials_that_need_too_many_digits_are_not_formed():
    with pytest.raises(NotImplementedError, match="exponentials"):
        checker.exp(Fraction(5 * 10**8))
    with pytest.raises(ValueError, match="number: expected"):
        checker.number("1" * 2001)
