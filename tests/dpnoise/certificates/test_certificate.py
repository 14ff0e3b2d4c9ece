"""Certificates as files: every family and set survives, and no damaged file is read."""

import json
import math

import numpy as np
import pytest

from dpnoise import (
    L1,
    L2,
    AtMost,
    Box,
    Certificate,
    CertificateError,
    Counts,
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteStaircase,
    Ellipsoid,
    FlippedHuber,
    Gaussian,
    Histogram,
    Huber,
    Laplace,
    LInf,
    OffsetSymmetricGaussian,
    Product,
    Staircase,
    Subbotin,
    TruncatedLaplace,
    best,
    certify,
    verify,
)
from dpnoise.certificates.codec import digest_of
from dpnoise.joint.correlated import CorrelatedGaussian
from dpnoise.joint.noise import NormStaircase, RadialNoise
from dpnoise.mechanisms.noise import BlockNoise, IndependentNoise
from dpnoise.noise import FAMILIES, INTEGER_FAMILIES, KNorm, Staircase2D
from dpnoise.sensitivity.spheroid import Spheroid

TILTED = Ellipsoid([[1.0, 1.0], [0.5, -0.5]])
PARTS = [
    (Gaussian(0.1), 0.3),
    (Gaussian(4.0), L2(1.0, of=3)),
    (Laplace(1.0 / 3.0), AtMost(2, of=3, each=0.1)),
    (FlippedHuber(1.0, 2.0), 1.0),
    (OffsetSymmetricGaussian(1.0, 2.0), Box([1.0, 0.0])),
    (Staircase(1.0, 2.0, 0.4), 2.0),
    (TruncatedLaplace(1.0, 5.0), 1.0),
    (Subbotin(1.5, 2.0), 1.0),
    (Huber(1.5, 2.0), L1(1.0, of=2)),
    (Histogram(1.0, 3, (0.3, 0.1, 0.2, 0.05), 0.4), 1.0),
    (DiscreteGaussian(3.0), 1),
    (DiscreteLaplace(3.0), AtMost(2, of=4)),
    (DiscreteStaircase(1.0, 2, 1), 2),
    (RadialNoise(L2(1.0, of=3), 1.5), L2(1.0, of=3)),
    (RadialNoise(Ellipsoid([1.0, 0.0, 2.0]), 1.5, 2.0), Ellipsoid([1.0, 0.0, 2.0])),
    (RadialNoise(Product(LInf(1.0, of=2), AtMost(1, of=2)), 1.0, 1.0, 9.0), LInf(0.5, of=4)),
    (RadialNoise(TILTED, 2.0), TILTED),
    (RadialNoise(Spheroid(1.5, 1.0, of=3), 0.5, 2.0), Spheroid(1.5, 1.0, of=3)),
    (CorrelatedGaussian(TILTED, 4.0), LInf(1.0, of=2)),
    (CorrelatedGaussian(Spheroid(1.0, 2.0, of=5), 4.0), Counts(2, of=5, relation="add-remove")),
    (NormStaircase(LInf(1.0, of=2), 3.0, 0.4), LInf(1.0, of=2)),
    (KNorm(math.inf, 2, 1.5), LInf(1.0, of=2)),
    (Staircase2D(1.0, 1.0, 0.4), L1(1.0, of=2)),
    ((Gaussian(2.0), Laplace(1.0)), [1.0, 0.5]),
    (IndependentNoise(Gaussian(1.0), np.array([1.0, 0.5])), Box([1.0, 0.5])),
    (
        BlockNoise(
            (
                (np.array([1]), RadialNoise(LInf(1.0), 2.0)),
                (np.array([2, 0]), IndependentNoise(Gaussian(1.0), np.array([3.0, 4.0]))),
            ),
            3,
        ),
        Box([1.0, 0.5, 2.0]),
    ),
]


@pytest.mark.parametrize(("noise", "sensitivity"), PARTS, ids=lambda part: repr(part)[:40])
def test_every_family_and_set_survives_a_file_and_is_verified(noise, sensitivity, tmp_path):
    path = tmp_path / "certificate.json"
    certificate = certify(noise, sensitivity, 1.0, relation="add-remove")
    certificate.write(path)
    again = Certificate.read(path)
    assert again.to_json() == certificate.to_json() == path.read_text()
    assert repr(again.noise) == repr(certificate.noise)
    assert again.sensitivity == certificate.sensitivity
    assert again.relation == "add-remove"
    found = verify(path)
    assert certificate.lower <= found.lower <= found.upper <= certificate.upper


def test_no_family_is_left_out():
    kinds = {type(noise) for noise, _ in PARTS}
    assert {*FAMILIES.values(), *INTEGER_FAMILIES.values()} <= kinds


def changed(text, change):
    """The text of a certificate with a change, and with the digest of the new content."""
    content = json.loads(text)
    change(content)
    content["digest"] = digest_of(content)
    return json.dumps(content, indent=1)


BAD = {
    "newer": (lambda c: c.update(format_version=2), "format_version: expected at most 1"),
    "another format": (lambda c: c.update(format="x"), "format: expected 'dpnoise certificate'"),
    "true as a version": (lambda c: c.update(format_version=True), "format_version: expected 1"),
    "a key too many": (lambda c: c.update(note="x"), r"\['note'\] too many"),
    "a key missing": (lambda c: c.pop("relation"), "relation: expected"),
    "no relation": (lambda c: c.update(relation="swap"), "relation: expected .add-remove"),
    "number for text": (lambda c: c.update(epsilon=1), "epsilon: expected a fraction"),
    "not in lowest terms": (lambda c: c.update(epsilon="2/2"), "epsilon: expected a fraction"),
    "no double": (lambda c: c.update(epsilon="1/3"), "epsilon: expected a double"),
    "negative": (lambda c: c.update(epsilon="-1"), "epsilon: expected a finite number in"),
    "by zero": (lambda c: c.update(epsilon="1/0"), "epsilon: expected a fraction"),
    "text for a count": (lambda c: c.update(dimension="3"), "dimension: expected 3"),
    "another dimension": (lambda c: c.update(dimension=4), "dimension: expected 3"),
    "delta above 1": (lambda c: c["delta"].update(upper="2"), "delta: expected 0 <= lower"),
    "delta a list": (lambda c: c.update(delta=[]), "delta: expected an object"),
    "no accounts": (lambda c: c.update(certified_by=[]), "certified_by: expected a list"),
    "no noise": (lambda c: c.update(noise=None), "noise: expected noise of kind"),
    "another noise": (lambda c: c["noise"].update(kind="cauchy"), "noise: expected noise of kind"),
    "no scale": (lambda c: c["noise"].update(sigma="0"), "noise: Gaussian noise: sigma"),
    "a noise of a count": (lambda c: c["noise"].update(sigma=4), "noise: expected .*'sigma': '4'"),
    "a scale too many": (lambda c: c["noise"].update(mu="0"), "noise: expected the keys"),
    "no set": (lambda c: c.update(sensitivity="1"), "sensitivity: expected a set of kind"),
    "a set of text": (lambda c: c["sensitivity"].update(of="3"), "sensitivity: L2 sensitivity: of"),
    "other accounts": (lambda c: c.update(certified_by=["me"]), "certified_by: expected"),
    "a version of digits": (lambda c: c.update(package_version=1), "package_version: expected"),
}


@pytest.mark.parametrize(("change", "message"), BAD.values(), ids=BAD)
def test_a_changed_field_is_refused_by_name_even_with_its_digest(change, message):
    text = certify(Gaussian(4.0), L2(1.0, of=3), 1.0, relation="replace-one").to_json()
    with pytest.raises(CertificateError, match=message):
        verify(Certificate.from_json(changed(text, change)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "content: expected complete JSON"),
        ("[]", "content: expected an object, got list"),
        ('{"format": 1, "format": 1}', "keys: expected each once, got format twice"),
        ('{"format": NaN}', "numbers: expected integers or fractions as text, got NaN"),
        ('{"format": 1.5}', "numbers: expected integers"),
        ('{"format": ' + "9" * 5000 + "}", "certificate: "),
        ("[" * 100_000, "nesting|complete JSON"),
        (b"\xff\xfe", "content: expected complete JSON"),
    ],
    ids=["empty", "list", "twice", "nan", "float", "digits", "deep", "bytes"],
)
def test_what_is_no_certificate_is_refused(text, message):
    with pytest.raises(CertificateError, match=message):
        Certificate.from_json(text)


def test_every_problem_is_named_at_once():
    def change(content):
        content.update(relation="swap", epsilon="x", dimension=7)

    text = certify(Gaussian(4.0), L2(1.0, of=3), 1.0, relation="replace-one").to_json()
    with pytest.raises(CertificateError, match=r"epsilon: .*relation: .*dimension: "):
        Certificate.from_json(changed(text, change))


def test_truncated_files_and_flipped_bits_never_pass():
    data = certify(best([1.0, 0.1], epsilon=1.0), relation="replace-one").to_json().encode()
    for k in range(0, len(data), 7):
        with pytest.raises(CertificateError):
            Certificate.from_json(data[:k])
    for k in range(0, len(data), 3):
        flipped = bytearray(data)
        flipped[k] ^= 1 << (k % 8)
        with pytest.raises(CertificateError):
            Certificate.from_json(bytes(flipped))
    with pytest.raises(CertificateError, match="to the last byte"):
        Certificate.from_json(data + b"\n")


def test_nothing_half_written_is_left_behind(tmp_path):
    certificate = certify(Gaussian(4.0), 1.0, 1.0, relation="replace-one")
    with pytest.raises(OSError, match="none"):
        certificate.write(tmp_path / "none" / "certificate.json")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        certificate.write(tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_certificate_of_an_earlier_version_is_read_and_written_alike():
    """The relation was a field of the file before sets stated it."""
    found = Certificate.from_json(EARLIER)
    assert found.sensitivity == AtMost(2, of=3, relation="replace-one")
    assert found.to_json() == EARLIER
    assert found.promise.startswith("one person replaced by another, in at most 2 of 3 counts")
    assert verify(found).independent


EARLIER = """{
 "format": "dpnoise certificate",
 "format_version": 1,
 "package_version": "0.1.0",
 "noise": {
  "kind": "laplace",
  "beta": "2"
 },
 "sensitivity": {
  "kind": "at-most",
  "m": 2,
  "of": 3,
  "each": "1"
 },
 "dimension": 3,
 "relation": "replace-one",
 "epsilon": "1",
 "delta": {
  "lower": "0",
  "upper": "0"
 },
 "certified_by": [
  "greatest loss",
  "independent checker"
 ],
 "digest": "sha256:81c755e5d50a76b6e7176b4592db50b5e32d0b456d6298bf2a6bcc95dd392c1c"
}"""
