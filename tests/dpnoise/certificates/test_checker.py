"""The independent checker: ball arithmetic, the package, planted faults, Python 3.8 to 3.13."""

import ast
import json
import math
import shutil
import subprocess
import sys
import time
from fractions import Fraction
from itertools import combinations_with_replacement, product
from pathlib import Path

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from certificate_claims import random_claims
from dpnoise import (
    L1,
    L2,
    AtMost,
    Certificate,
    CertificateError,
    Counts,
    DiscreteStaircase,
    Gaussian,
    Laplace,
    LInf,
    Product,
    Staircase,
    TruncatedLaplace,
    certify,
    privacy_profile,
    verify,
)
from dpnoise.certificates import checker
from dpnoise.certificates.codec import digest_of, plain
from dpnoise.joint.noise import NormStaircase, RadialNoise
from dpnoise.joint.vectors import CorrelatedGaussian
from dpnoise.sensitivity.spheroid import Spheroid
from dpnoise_papers.verify.oracles.gaussian import gaussian_ball
from for_all import for_all, thinned
from hostile_certificates import replaced, text_of

SOURCE = Path(checker.__file__)
MINORS = range(8, 14)
# What Python 3.8 has of the modules that the checker imports, as far as the checker needs it.
OLD = {
    "hashlib": {"sha256"},
    "json": {"dumps", "loads"},
    "math": {"ceil", "isqrt"},
    "sys": {"argv", "exit", "stderr", "stdout", "version_info"},
}
NEW_METHODS = {"bit_count", "is_integer", "removeprefix", "removesuffix"}


@pytest.fixture(autouse=True)
def precision():
    before, ctx.prec = ctx.prec, 2000
    yield
    ctx.prec = before


def exact(x):
    return arb(fmpq(*Fraction(x).as_integer_ratio()))


def holds(interval, ball):
    return exact(interval.lo) <= ball <= exact(interval.hi)


def width(interval):
    return float((interval.hi - interval.lo) / interval.hi)


def test_it_is_one_short_file_on_the_standard_library():
    text = SOURCE.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 600
    parts = list(ast.walk(ast.parse(text)))
    names = {alias.name for node in parts if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in parts if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names


def test_products_of_intervals_are_those_of_their_ends():
    ends = list(combinations_with_replacement((-3, -1, 0, 2, 5), 2))
    for one, other in product(ends, repeat=2):
        found = checker.Interval(*one) * checker.Interval(*other)
        every = [x * y for x, y in product(one, other)]
        assert (found.lo, found.hi) == (min(every), max(every))


def test_constants_and_functions_hold_those_of_arb():
    assert holds(checker.Interval(*checker.HALF_PI), arb.pi() / 2)
    for x in (0, Fraction(1, 3), -7, Fraction(-1, 10**30), 700, -745, Fraction(99999, 10)):
        assert holds(checker.exp(Fraction(x)), exact(x).exp())
        assert width(checker.exp(Fraction(x))) < 1e-60
    assert checker.exp(Fraction(-(10**9))).lo == 0
    for x in (0, Fraction(1, 10**40), Fraction(1, 3), 3, Fraction(39999, 10000), 4, 9, 40, 10**60):
        ratio = (exact(x) / arb(2).sqrt()).erfc() / 2 * (2 * arb.pi()).sqrt()
        ball = ratio * (exact(x) ** 2 / 2).exp() if x < 10**3 else None
        if ball is not None:
            assert holds(checker.mills(Fraction(x)), ball)
        assert width(checker.mills(Fraction(x))) < 1e-40
    for x in (2, Fraction(1, 3), 10**300, Fraction(1, 10**300)):
        assert holds(checker.root(checker.Interval(Fraction(x))), exact(x).sqrt())
    assert checker.root(checker.Interval(Fraction(9, 4))).hi == Fraction(3, 2)


@for_all("mu", [1e-9, 1e-3, 0.25, 1.0, 3.0, 40.0, 1e4])
@for_all("epsilon", [0.0, 1e-6, 0.5, 8.0, 700.0])
def test_the_gaussian_profile_holds_that_of_arb(mu, epsilon):
    found = checker.gaussian(checker.Interval(Fraction(mu) ** 2), Fraction(epsilon))
    ctx.prec = 20_000
    ball = gaussian_ball(exact(mu), exact(epsilon))
    assert exact(found.lo) <= ball.upper()
    assert ball.lower() <= exact(found.hi)
    if epsilon / mu < 40.0:
        assert width(found) < 1e-40


def one(noise, size, epsilon):
    found, proved = checker.enclosure(
        noise, {"kind": "linf", "radius": str(size), "of": 1}, epsilon
    )
    assert proved
    return float(found.lo), float(found.hi)


def test_profiles_of_one_coordinate_hold_those_of_the_package():
    rng = np.random.default_rng(7)
    for _ in range(20):
        a, b, c, size = (Fraction(float(x)) for x in rng.uniform(0.05, 3.0, 4))
        epsilon = Fraction(float(rng.choice([0.0, 0.3, 1.0, float(size / a)])))
        gamma = c / 4
        cases = [
            (Laplace(float(a)), {"kind": "laplace", "beta": str(a)}),
            (
                TruncatedLaplace(float(a), float(b)),
                {"kind": "truncated-laplace", "beta": str(a), "bound": str(b)},
            ),
            (
                Staircase(float(a), float(size + b), float(gamma)),
                {
                    "kind": "staircase",
                    "epsilon": str(a),
                    "sensitivity": str(Fraction(float(size + b))),
                    "gamma": str(gamma),
                },
            ),
        ]
        for noise, data in cases:
            low, high = one(data, size, epsilon)
            delta = float(privacy_profile(noise, float(size), float(epsilon)))
            assert low == pytest.approx(delta, rel=1e-11, abs=1e-300)
            assert high == pytest.approx(delta, rel=1e-11, abs=1e-300)


def test_random_certificates_are_verified():
    claims = list(random_claims(np.random.default_rng(3)))
    assert len(claims) > 50
    longest = 0.0
    for noise, ball, epsilon in claims:
        relation = getattr(ball, "relation", None) or "replace-one"
        certificate = certify(noise, ball, epsilon, relation=relation)
        start = time.process_time()
        assert checker.check(certificate.to_json().encode())
        longest = max(longest, time.process_time() - start)
    assert longest < 1.0


COUNTS = Counts(2, of=3, relation="add-remove")
TIGHT = {
    "gaussian": (Gaussian(4.0), L2(1.0, of=3), 1.0, "sigma"),
    "laplace": (Laplace(4.0), 2.0, 0.5, "beta"),
    "laplace with delta": (Laplace(4.0), 2.0, 0.25, "beta"),
    "staircase": (Staircase(0.5, 2.0, 0.4), 2.0, 0.5, "epsilon"),
    "staircase with delta": (Staircase(0.5, 2.0, 0.4), 2.0, 0.25, "epsilon"),
    "truncated": (TruncatedLaplace(2.0, 20.0), 1.0, 0.25, "bound"),
    "K-norm": (RadialNoise(AtMost(2, of=3), 2.0), AtMost(2, of=3), 0.5, "scale"),
    "Gaussian, counts": (Gaussian(4.0), Counts(2, of=3, relation="replace-one"), 1.0, "sigma"),
    "K-norm, counts": (RadialNoise(COUNTS, 2.0), COUNTS, 0.5, "scale"),
    "in a norm of counts": (RadialNoise(COUNTS, 2.0), AtMost(2, of=3, each=0.5), 0.5, "scale"),
    "correlated Gaussian": (
        CorrelatedGaussian(Spheroid(2.0, 1.25, of=5), 4.0),
        Counts(4, of=5, relation="add-remove"),
        1.0,
        "sigma",
    ),
    "correlated Gaussian in a plane": (
        CorrelatedGaussian(Spheroid(0.0, 1.25, of=5), 4.0),
        Counts(2, of=5, exactly=True, relation="replace-one"),
        1.0,
        "sigma",
    ),
    "staircase, few counts": (Staircase(0.25, 1.0, 0.4), COUNTS, 0.5, "epsilon"),
    "staircase, one of many": (
        Staircase(0.5, 1.0, 0.4),
        Counts(1, of=4, relation="add-remove"),
        0.25,
        "epsilon",
    ),
    "truncated, one of many": (TruncatedLaplace(2.0, 20.0), AtMost(1, of=4), 0.25, "bound"),
    "discrete staircase": (
        DiscreteStaircase(0.5, 5, 2),
        Counts(1, of=4, each=5, relation="replace-one"),
        1.0,
        "epsilon",
    ),
    "staircase in a norm": (NormStaircase(L2(1.0, of=3), 0.5, 0.4), L2(1.0, of=3), 0.5, "epsilon"),
}


PROFILES = Gaussian | Laplace | TruncatedLaplace | CorrelatedGaussian


_SIZES = ("radius", "each")


def faults(content, parameter):
    """Every planted fault of a tight certificate."""
    by_step = content["noise"]["kind"] in {"staircase", "discrete-staircase"}
    if by_step and "m" in content["sensitivity"]:  # one coordinate more that moves at once
        ball = content["sensitivity"]
        yield {**content, "sensitivity": {**ball, "m": ball["m"] + 1}}
    value = float(Fraction(content["noise"][parameter]))
    worse = np.nextafter(value, np.inf if parameter == "epsilon" else 0.0)
    yield {**content, "noise": {**content["noise"], parameter: str(Fraction(float(worse)))}}
    ball = dict(content["sensitivity"])
    name = next(name for name in _SIZES if name in ball)
    yield {**content, "sensitivity": {**ball, name: str(2 * Fraction(ball[name]))}}
    lower = str(Fraction(float(np.nextafter(float(Fraction(content["epsilon"])), 0.0))))
    yield {**content, "epsilon": lower}
    delta = Fraction(content["delta"]["upper"])
    if delta:
        yield {**content, "delta": {"lower": "0", "upper": str(delta / 2)}}
        yield {**content, "delta": {"lower": "0", "upper": str(delta * (1 - Fraction(1, 2**50)))}}


@pytest.mark.parametrize(("noise", "ball", "epsilon", "parameter"), TIGHT.values(), ids=TIGHT)
def test_planted_faults_are_refused(noise, ball, epsilon, parameter):
    relation = getattr(ball, "relation", None) or "replace-one"
    certificate = certify(noise, ball, epsilon, relation=relation)
    content = json.loads(certificate.to_json())
    if certificate.upper > 0:  # to the last digit of the checker
        found, _ = checker.enclosure(content["noise"], content["sensitivity"], Fraction(epsilon))
        content["delta"] = {"lower": "0", "upper": str(found.hi)}
    assert checker.check(text_of(content))
    for fault in faults(content, parameter):
        with pytest.raises((ValueError, NotImplementedError), match="delta: not proved") as refusal:
            checker.check(text_of(fault))
        # Where both bounds are exact, a fault is a contradiction.
        assert refusal.type is ValueError or not isinstance(noise, PROFILES)
    other = "add-remove" if relation == "replace-one" else "replace-one"
    changed = {**content, "relation": other, "digest": digest_of(content)}
    with pytest.raises(ValueError, match="digest"):
        checker.check(json.dumps(changed, indent=1).encode())


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_counts_are_for_one_relation(relation):
    ball = Counts(2, of=3, relation=relation)
    for sensitivity in (ball, Product(ball, L2(1.0, relation=relation))):
        noise = Laplace(float(sensitivity.l1))
        content = json.loads(certify(noise, sensitivity, 1.0).to_json())
        other = "add-remove" if relation == "replace-one" else "replace-one"
        changed = {key: value for key, value in content.items() if key != "digest"}
        text = text_of({**changed, "relation": other})
        with pytest.raises(ValueError, match="another relation"):
            checker.check(text)
        with pytest.raises(CertificateError, match="relation: expected"):
            Certificate.from_json(text)


def test_what_is_not_covered_is_no_pass(tmp_path, capsys):
    for noise, ball, epsilon in (
        (Laplace(1.0), [1.0, 1.0], 0.5),
        (TruncatedLaplace(1.0, 9.0), [1.0, 1.0], 0.5),
        (RadialNoise(L2(1.0, of=3), 1.0, 2.0), L2(1.0, of=3), 0.5),
        (Gaussian(4.0), LInf(1.0, of=20_000), 0.5),
        ((Gaussian(4.0), Laplace(1.0)), [1.0, 1.0], 0.5),
    ):
        certify(noise, ball, epsilon, relation="replace-one").write(tmp_path / "noise.json")
        assert checker.main([str(tmp_path / "noise.json")]) == 3
        assert "not covered by this checker" in capsys.readouterr().out


def test_it_runs_without_the_package(tmp_path):
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    certify(Gaussian(4.0), 1.0, 1.0, relation="replace-one").write(good)
    bad.write_text(good.read_text().replace("replace-one", "add-remove"))
    command = [sys.executable, "-I", "-S", str(SOURCE)]
    codes = {}
    for paths in ([good], [good, bad], [tmp_path / "none.json"], []):
        done = subprocess.run([*command, *map(str, paths)], capture_output=True, check=False)
        codes[len(codes)] = done.returncode
        assert bool(done.stderr) is not bool(paths)  # how to call it
    assert list(codes.values()) == [0, 1, 2, 2]


def test_an_old_python_verifies_and_refuses_nothing(monkeypatch, capsys):
    monkeypatch.setattr(sys, "version_info", (3, 7, 17))
    assert checker.main(["some.json"]) == 3
    assert "a Python before 3.8" in capsys.readouterr().out


TINY = "1/1" + "0" * 400


@pytest.mark.parametrize(
    ("upper", "shown"),
    [("1/4", "0.25"), ("1/3", repr(math.nextafter(1 / 3, 1.0))), (TINY, "5e-324")],
)
def test_the_delta_that_is_shown_is_not_below_that_of_the_certificate(upper, shown):
    content = json.loads(
        certify(
            RadialNoise(L1(1.0, of=3), 1.0), L1(1.0, of=3), 1.0, relation="replace-one"
        ).to_json()
    )
    content["delta"] = {"lower": "0", "upper": upper}
    assert checker.check(text_of(content)).startswith(f"verified: delta <= {shown} at ")


def test_scales_and_coordinates_are_as_many():
    ball, unit = {"kind": "linf", "radius": "1", "of": 2}, {"kind": "laplace", "beta": "4"}
    lists = [["1"] * count for count in (1, 3)]
    noises = [{"kind": "independent", "scales": scales, "unit": unit} for scales in lists]
    for noise in (*noises, [unit], [unit] * 3):
        with pytest.raises(ValueError, match="as many scales as coordinates"):
            checker.enclosure(noise, ball, Fraction(1))


# Where a value may be replaced by another one that makes a true claim or none.
TRUE = {("package_version",), ("delta", "lower"), ("sensitivity", "m"), ("digest",)}
TRUE |= {("certified_by",)}  # another account of such noise


JUNK = (None, True, -1, 1, 1.5, "", "0", "-1", "1/0", "1e9", "x", [], {}, ["1"], {"kind": "box"})
JUNK += ("4/3", str(Fraction(1e200)), ["nobody"], [checker.CHECKER])
JUNK += (["vector profile"], ["greatest loss", "me"], "linf", "l1")


def places(value, path=()):
    """The path of every value inside a document."""
    yield path
    pairs = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value if isinstance(value, list) else ())
    )
    for key, part in pairs:
        yield from places(part, (*path, key))


@pytest.mark.parametrize(
    "noise",
    thinned([RadialNoise(AtMost(2, of=3), 1.0), [Laplace(3.0)] * 3, Staircase(0.3, 4.0, 0.4)]),
    ids=["K-norm", "list", "staircase"],
)
def test_junk_in_any_place_is_refused_without_a_traceback(noise, tmp_path, capsys):
    content = json.loads(certify(noise, AtMost(2, of=3), 1.0, relation="replace-one").to_json())
    path = tmp_path / "junk.json"
    for place in places(content):
        for junk in JUNK:
            changed = replaced(content, place, junk)
            path.write_bytes(text_of(changed) if isinstance(changed, dict) else b"[]")
            code = checker.main([str(path)])
            assert code in (1, 3) or place in TRUE or changed == content, (place, junk)
            told = capsys.readouterr().out.removeprefix(f"{path}: ")
            if told.startswith("verified: "):
                verify(path)
            elif changed != content and code != 3:
                with pytest.raises(CertificateError, match="certificate: ") as refused:
                    verify(path)
                upper_alone = told.startswith("upper bound verified: ")
                assert not upper_alone or "delta.lower: expected" in str(refused.value)
    capsys.readouterr()


def test_truncated_files_and_flipped_bits_never_pass(tmp_path, capsys):
    data, path = (
        certify(Gaussian(4.0), 1.0, 1.0, relation="replace-one").to_json().encode(),
        tmp_path / "damaged.json",
    )
    cut = [data[:k] for k in range(0, len(data), 5)]
    flipped = [
        data[:k] + bytes([data[k] ^ 1 << bit]) + data[k + 1 :]
        for k in range(0, len(data), 4)
        for bit in (0, 5, 7)
    ]
    for damaged in [*cut, *flipped, data + b"\n", b"[" * 10**5, b'{"a":1,"a":1}', b"NaN"]:
        path.write_bytes(damaged)
        assert checker.main([str(path)]) == 1
    capsys.readouterr()


def calls(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def newer(tree):
    """What in a program needs a Python after 3.8, without its annotations, which are not run."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            module = getattr(node.value, "id", None)
            if node.attr in NEW_METHODS or node.attr not in OLD.get(module, {node.attr}):
                yield ast.unparse(node)
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.BitOr):
            yield "|="
        if isinstance(node, ast.Call) and "strict" in {word.arg for word in node.keywords}:
            yield "strict"
        if isinstance(node, ast.Subscript) and getattr(node.value, "id", "") in {"tuple", "list"}:
            yield ast.unparse(node)


def without_annotations(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
            for argument in [*node.args.args, *node.args.kwonlyargs]:
                argument.annotation = None
    return tree


def test_it_uses_nothing_that_python_3_8_lacks():
    text = SOURCE.read_text(encoding="ascii")
    ast.parse(text, feature_version=(3, 8))
    assert "from __future__ import annotations" in text
    assert not list(newer(without_annotations(ast.parse(text))))


NEWER = "math.lcm(2, 3); x |= y; zip(x, y, strict=True); Pair = tuple[int, int]; (3).bit_count()"


@pytest.mark.parametrize("line", NEWER.split("; "))
def test_what_is_newer_is_found(line):
    assert list(newer(without_annotations(ast.parse(line))))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Certificates that hold, that are changed in one place, and that are not covered."""
    folder, rng = tmp_path_factory.mktemp("certificates"), np.random.default_rng(5)
    claims = [
        *[*random_claims(rng)][::24],
        (Laplace(1.0), [1.0, 1.0], 0.5),
        (TruncatedLaplace(2.0, 20.0), 1.0, 0.25),
        (Gaussian(0.3), 1.0, 40.0),
    ]
    for k, (noise, ball, epsilon) in enumerate(claims):
        stated = getattr(ball, "relation", None) or "replace-one"
        certificate = certify(noise, ball, epsilon, relation=stated)
        certificate.write(folder / f"{k}-true.json")
        content = json.loads(certificate.to_json())
        content["delta"] = {"lower": "0", "upper": "1/1" + "0" * 400}
        content["digest"] = digest_of(content)
        (folder / f"{k}-false.json").write_text(json.dumps(content, indent=1))
        (folder / f"{k}-damaged.json").write_text(certificate.to_json().replace("1", "2"))
    return sorted(folder.iterdir())


def verdicts(python, files):
    command = [python, "-I", "-S", str(SOURCE), *(path.name for path in files)]
    done = subprocess.run(command, cwd=files[0].parent, capture_output=True, text=True, check=False)
    assert not done.stderr
    return done.returncode, done.stdout.splitlines()


@pytest.fixture(scope="module")
def ours(files):
    return verdicts(sys.executable, files)


def test_the_verdicts_of_this_python_are_of_every_kind(ours):
    kinds = {line.split(": ")[1] for line in ours[1]}
    assert kinds == {"verified", "refused", "not covered by this checker"}
    assert not [line for line in ours[1] if "-true" in line and ": refused" in line]
    assert not [line for line in ours[1] if "-damaged" in line and ": refused" not in line]


def interpreter(minor):
    """A Python of that version on this machine; None if there is none that starts."""
    name = f"python3.{minor}"
    managed = Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/{name}")
    for path in filter(None, [shutil.which(name), *map(str, sorted(managed))]):
        if not subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode:
            return path
    return None


@pytest.mark.parametrize("minor", thinned(MINORS, 3))
def test_every_python_comes_to_the_same_verdicts(minor, files, ours):
    python = interpreter(minor)
    if python is None:
        pytest.skip(f"no Python 3.{minor} on this machine")
    assert verdicts(python, files) == ours


def test_few_coordinates_count_by_their_largest_losses():
    noises = plain([Staircase(x, 1.0, 0.4) for x in (0.25, 0.125, 0.5, 0.25)])
    for ball, loss in (
        (Counts(2, of=4, relation="add-remove"), Fraction(3, 4)),
        (Counts(1, of=4, relation="replace-one"), Fraction(3, 4)),
        (AtMost(3, of=4), Fraction(1)),
        (LInf(1.0, of=4), Fraction(9, 8)),
    ):
        assert checker.enclosure(noises, plain(ball), loss)[0].hi == 0
        assert checker.enclosure(noises, plain(ball), loss - Fraction(1, 2**40))[0].hi > 0
