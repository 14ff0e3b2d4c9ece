"""Mutated certificates with a right digest: none passes unless what it then claims is true."""

import json
import math
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
from dpnoise.certificates.codec import noise_of, set_of
from dpnoise.certificates.document import digest_of
from dpnoise.joint.noise import NormStaircase, RadialNoise
from dpnoise.mechanisms.noise import BlockNoise, IndependentNoise
from exact_delta import exact_delta
from hostile_certificates import at, dimension_of, places, replaced

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
        found.add("checker, upper" if "not proved" in words else "checker")
    except (*checker.ERRORS, NotImplementedError):
        pass
    return found


@pytest.mark.parametrize("base", BASES.values(), ids=BASES)
def test_no_mutation_passes_unless_its_claim_is_true(base):
    content = json.loads(certify(*base, relation="add-remove").to_json())
    assert accepted(content) >= {"verify"}
    counts = Counter()
    for first in mutations(content):
        for mutated in with_dimension(first):
            if mutated == content:
                continue
            who = accepted(mutated)
            counts[bool(who)] += 1
            if not who:
                continue
            noise, ball = noise_of(mutated["noise"]), set_of(mutated["sensitivity"])
            epsilon = float(Fraction(mutated["epsilon"]))
            low, high = exact_delta(noise, ball, epsilon)
            margin = mp.mpf(10) ** -40
            lower, upper = (Fraction(mutated["delta"][end]) for end in ("lower", "upper"))
            assert mp.mpf(upper.numerator) / upper.denominator >= low * (1 - margin), (mutated, who)
            if who != {"checker, upper"}:
                assert mp.mpf(lower.numerator) / lower.denominator <= high * (1 + margin), mutated
    assert counts[True] > 0  # more noise, a smaller set, a larger epsilon
    assert counts[False] > 10
