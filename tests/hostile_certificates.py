"""Certificates of strangers: noise that the checker knows, with one or two fields at extremes.

Nothing in them need make sense; what is asked of `verify` and the independent checker is an answer
in bounded time.
"""

import json
from fractions import Fraction
from itertools import combinations, product

from dpnoise.certificates.codec import digest_of

SMALL, LARGE = Fraction(5e-324), Fraction(1.7976931348623157e308)
NUMBERS = ["0", *(str(Fraction(x)) for x in (SMALL, 1e-100, 1e-9, 1e9, 1e100, LARGE)), "infinity"]
COUNTS = [0, 3, 10**4, 10**8, 10**30]
BALL = {"kind": "linf", "radius": "1", "of": 2}
ACCOUNTS = "greatest loss", "Gaussian profile"  # of other noise, of Gaussian
STEPS = {"epsilon": "1", "gamma": "1/2"}
GAUSSIAN = {"kind": "gaussian", "sigma": "1"}
BLOCK = {"kind": "independent", "unit": GAUSSIAN, "scales": ["1"]}

CHECKED = {  # that the independent checker knows
    "gaussian": GAUSSIAN,
    "laplace": {"kind": "laplace", "beta": "1"},
    "discrete-laplace": {"kind": "discrete-laplace", "beta": "1"},
    "staircase": {"kind": "staircase", "sensitivity": "1", **STEPS},
    "truncated-laplace": {"kind": "truncated-laplace", "beta": "1", "bound": "1"},
    "norm-staircase": {"kind": "norm-staircase", "ball": BALL, **STEPS},
    "k-norm": {"kind": "radial", "ball": BALL, "bound": "infinity", "power": "1", "scale": "1"},
    "correlated-gaussian": {
        "kind": "correlated-gaussian",
        "ball": {"kind": "spheroid", "along": "1", "across": "2", "of": 2},
        "sigma": "1",
    },
    "independent": {"kind": "independent", "unit": GAUSSIAN, "scales": ["1", "2"]},
    "list": [GAUSSIAN, {"kind": "gaussian", "sigma": "2"}],
    "blocks": {
        "kind": "blocks",
        "blocks": [{"coordinates": [k], "noise": BLOCK} for k in (0, 1)],
        "dimension": 2,
    },
}
SETS = {
    "linf": BALL,
    "l1": {"kind": "l1", "radius": "1", "of": 2},
    "at-most": {"kind": "at-most", "m": 1, "of": 2, "each": "1"},
    "box": {"kind": "box", "lambdas": ["1", "2"]},
    "product": {
        "kind": "product",
        "blocks": [{"kind": "l2", "radius": "1", "of": 1}, {"kind": "ellipsoid", "axes": ["1"]}],
    },
    "one": {"kind": "l2", "radius": "1", "of": 1},
}


def certificate(noise, sensitivity, *, epsilon="1", lower="0", upper="1"):
    """The content of a certificate without its digest."""
    return {
        "format": "dpnoise certificate",
        "format_version": 1,
        "package_version": "0",
        "noise": noise,
        "sensitivity": sensitivity,
        "dimension": dimension_of(sensitivity),
        "relation": "replace-one",
        "epsilon": epsilon,
        "delta": {"lower": lower, "upper": upper},
        "certified_by": [ACCOUNTS["gaussian" in json.dumps(noise)]],
    }


def dimension_of(data):
    """The dimension that a set in plain data states."""
    if "blocks" in data:
        return sum(dimension_of(block) for block in data["blocks"])
    return data["of"] if "of" in data else len(data.get("lambdas", data.get("axes")))


def text_of(content):
    """The text of a certificate, with the digest of its content."""
    return json.dumps({**content, "digest": digest_of(content)}, indent=1).encode()


def places(value, path=()):
    """The path of every number or count inside a document."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from places(part, (*path, key)) if key != "kind" else ()
    elif isinstance(value, list):
        for key, part in enumerate(value):
            yield from places(part, (*path, key))
    else:
        yield path


def at(value, path):
    """The value at a path."""
    for key in path:
        value = value[key]
    return value


def replaced(value, path, new):
    """A document with another value at a path."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(copy[path[0]], path[1:], new)
    return copy


def hostile(noise, sensitivity, *, fields=2, seldom=1):
    """Contents with one number of the noise, the set and epsilon at extremes, or two.

    Of those with two only every `seldom`-th.
    """
    content = certificate(noise, sensitivity)
    every = [
        path
        for path in places({key: content[key] for key in ("noise", "sensitivity", "epsilon")})
        if path[-1] != "dimension"
    ]
    number = 0
    for count in range(1, fields + 1):
        for paths in combinations(every, count):
            values = [COUNTS if isinstance(at(content, path), int) else NUMBERS for path in paths]
            for chosen in product(*(one[:: 1 if count == 1 else 2] for one in values)):
                number += 1
                if count > 1 and number % seldom:
                    continue
                changed = content
                for path, value in zip(paths, chosen, strict=True):
                    changed = replaced(changed, path, value)
                yield {**changed, "dimension": dimension_of(changed["sensitivity"])}
