"""Certificates as files: every family and set survives, and no damaged file is read."""

import json
import math
from dataclasses import replace
from fractions import Fraction

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
    Huber,
    Laplace,
    LInf,
    OffsetSymmetricGaussian,
    Product,
    Staircase,
    Subbotin,
    TruncatedLaplace,
    best,
    calibrate,
    calibrate_joint,
    certify,
    vector_profile,
    verify,
)
from dpnoise.certificates.checker import check
from dpnoise.certificates.codec import digest_of
from dpnoise.joint.noise import NormStaircase, RadialNoise
from dpnoise.joint.vectors import CorrelatedGaussian
from dpnoise.mechanisms.noise import BlockNoise, IndependentNoise
from dpnoise.noise import FAMILIES, INTEGER_FAMILIES, KNorm
from dpnoise.privacy.accounts import Bounds
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
FOUND = {
    "gaussian": (lambda: calibrate("gaussian", epsilon=1.0, delta=1e-6, dimension=5), 1e-6),
    "K-norm": (lambda: calibrate_joint("k-norm", L2(1.0, of=3), epsilon=0.3), 0.0),
    "box": (lambda: best([1.0, 0.1, 0.01], epsilon=1.0, delta=1e-6), 1e-6),
    "at most": (lambda: best(AtMost(3, of=12), epsilon=1.0, delta=1e-6), 1e-6),
}


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


@pytest.mark.parametrize(("search", "delta"), FOUND.values(), ids=FOUND)
def test_results_are_certified_within_their_budget(search, delta):
    found = search()
    certificate = certify(found, relation="replace-one")
    assert certificate.upper <= delta
    assert certificate.noise is found.noise
    verify(certificate)


def test_the_set_counts_and_not_only_the_box_around_it():
    inside, around = (
        certify(Laplace(1.0), ball, 0.5, relation="replace-one")
        for ball in (L1(1.0, of=4), LInf(1.0, of=4))
    )
    assert inside.upper < around.lower
    assert inside.upper == pytest.approx(
        certify(Laplace(1.0), 1.0, 0.5, relation="replace-one").upper, rel=1e-8
    )
    mixed = certify(
        IndependentNoise(Gaussian(1.0), np.array([3.0, 1.5])),
        AtMost(1, of=2),
        1.0,
        relation="replace-one",
    )
    assert mixed.upper == pytest.approx(
        certify(Gaussian(1.5), 1.0, 1.0, relation="replace-one").upper, rel=1e-14
    )


def planted(certificate, **changes):
    return verify(replace(certificate, **changes))


def test_planted_faults_are_found():
    tight = certify(Gaussian(4.0), 1.0, 1.0, relation="replace-one")
    verify(tight)
    faults = [
        {"noise": Gaussian(float(np.nextafter(4.0, 0.0)))},
        {"sensitivity": LInf(2.0, of=1)},
        {"epsilon": Fraction(float(np.nextafter(1.0, 0.0)))},
        {"upper": tight.upper / 2, "lower": Fraction(0)},
        {"lower": tight.upper},
        {"sensitivity": Box([1.0, 1e-3])},
    ]
    for fault in faults:
        with pytest.raises(CertificateError, match="derived again"):
            planted(tight, **fault)


@pytest.mark.parametrize("wrong", [(0.0, 1e-12), (0.5, 0.9)])
def test_two_accounts_that_contradict_each_other_certify_nothing(monkeypatch, wrong):
    """One below, or above, what the independent checker encloses."""
    tight = certify(Gaussian(4.0), 1.0, 1.0, relation="replace-one")
    planted = lambda *_: Bounds(*wrong, "scalar profile")  # noqa: E731
    monkeypatch.setattr("dpnoise.certificates.certificate.bounds", planted)
    with pytest.raises(RuntimeError, match="two accounts contradict each other"):
        certify(Gaussian(4.0), 1.0, 1.0, relation="replace-one")
    with pytest.raises(CertificateError, match="two accounts contradict each other"):
        verify(tight)


def test_a_wanted_delta_is_stated_or_refused():
    found = certify(Gaussian(4.0), 1.0, 1.0, delta=0.1, relation="replace-one")
    assert found.upper < 1e-5
    assert found.promise == LInf(1.0, relation="replace-one").promise(1.0, found.delta)
    assert not found.promise.endswith("delta = 0")
    with pytest.raises(ValueError, match="delta: expected at least"):
        certify(Gaussian(4.0), 1.0, 1.0, delta=1e-9, relation="replace-one")


def test_every_problem_with_the_arguments_is_named():
    with pytest.raises(ValueError, match=r"epsilon.*relation.*noise.*delta"):
        certify(3.0, 1.0, -1.0, relation="x", delta=2.0)
    with pytest.raises(ValueError, match=r"noise: expected for 2 coordinates, .* got 3"):
        certify([Gaussian(1.0)] * 3, [1.0, 2.0], 1.0, relation="replace-one")
    with pytest.raises(ValueError, match="sensitivity, epsilon: expected none beside a result"):
        certify(calibrate("laplace", epsilon=1.0), 1.0, 1.0, relation="replace-one")
    with pytest.raises(ValueError, match="integer"):
        certify(DiscreteLaplace(3.0), 0.5, 1.0, relation="replace-one")
    with pytest.raises(ValueError, match="expected some for coordinate 1"):
        certify(
            IndependentNoise(Laplace(1.0), np.array([1.0, 0.0])),
            [1.0, 1.0],
            1.0,
            relation="replace-one",
        )
    with pytest.raises(ValueError, match="a certificate or a path"):
        verify(3)


BOTH = ["add-remove", "replace-one"]


@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("ball", [L1(1.0, 2), L2(1.0, 2), Box([1.0, 0.5]), AtMost(2, of=3)])
def test_the_relation_is_that_of_the_set_and_stays_in_the_file(ball, relation):
    noise = Gaussian(8.0)
    stated = certify(noise, ball.stating(relation), 1.0)
    given = certify(noise, ball, 1.0, relation=relation)
    assert stated.to_json() == given.to_json()
    again = Certificate.from_json(stated.to_json())
    assert again.relation == again.sensitivity.relation == relation
    assert again.sensitivity == ball.stating(relation)
    assert again.promise == stated.promise
    assert ball.words in stated.promise
    bounds = [certify(noise, ball, 1.0, relation=one) for one in BOTH]  # geometry alone
    assert bounds[0].upper == bounds[1].upper


@pytest.mark.parametrize(
    "claim",
    [
        (Gaussian(4.0), [1.0, 0.5], 1.0),
        (best(1.0, epsilon=1.0),),
        (calibrate_joint("k-norm", L2(1.0, of=2), epsilon=1.0),),
    ],
)
def test_nothing_is_certified_without_a_relation(claim):
    """Both ways to state it are named."""
    with pytest.raises(ValueError, match=r"in the sensitivity set.*or as relation=, got None"):
        certify(*claim)
    for relation in BOTH:
        assert certify(*claim, relation=relation).relation == relation


def test_a_set_and_an_argument_that_disagree_are_refused_with_what_joins_them():
    ball = L2(1.0, of=2, relation="add-remove")
    for claim in ((Gaussian(4.0), ball, 1.0), (best(ball, epsilon=1.0),)):
        with pytest.raises(ValueError, match=r"'add-remove' and 'replace-one'; replace_one\(set\)"):
            certify(*claim, relation="replace-one")
    with pytest.raises(ValueError, match="'add-remove' and 'replace-one'"):
        replace(certify(Gaussian(4.0), ball, 1.0), relation="replace-one")


def test_noise_on_the_integers_is_certified_for_integer_points():
    visits = AtMost(3, of=12, relation="add-remove")
    # Twelve coordinates at once, which a box around the set would count, need far more.
    noise = DiscreteGaussian(7.32)
    certificate = certify(noise, visits, 1.0)
    exact = vector_profile(noise, 1, 1.0, copies=3)
    assert certificate.lower <= exact.upper
    assert exact.lower <= certificate.upper <= exact.upper * (1.0 + 1e-8)
    assert certificate.lower >= exact.lower * (1.0 - 1e-8)
    assert vector_profile(noise, 1, 1.0, copies=12).lower > 1000 * certificate.upper
    assert verify(certificate).lower <= verify(certificate).upper
    # The largest l1 norm of an integer point of the ball is 4, of a real one 2 sqrt(9).
    ball = L2(2.0, of=9, relation="add-remove")
    assert certify(DiscreteLaplace(4.0), ball, 1.0).upper == 0
    assert certify(DiscreteLaplace(4.0), ball, 0.999).lower > 0
    # Noise that differs between the blocks, and within one.
    both = (DiscreteLaplace(2.0),) * 2 + (DiscreteStaircase(0.5, 3, 2),)
    ball = Product(L1(1.0, of=2), LInf(3.0), relation="add-remove")
    assert certify(both, ball, 1.0).upper == 0
    mixed = (DiscreteLaplace(2.0), DiscreteLaplace(4.0), DiscreteStaircase(0.5, 3, 2))
    assert certify(mixed, ball, 1.0).upper <= certify(both, ball, 0.5).upper


def test_changes_that_are_no_integers_are_refused_for_noise_on_the_integers():
    for ball in (LInf(0.5, of=2), Ellipsoid((1.5, 2.5))):
        with pytest.raises(ValueError, match="integers"):
            certify(DiscreteGaussian(3.0), ball, 1.0, relation="add-remove")


def test_a_set_without_a_line_in_the_codec_is_refused_by_name():
    class Own(L2):
        """A set of a user."""

    for ball in (Own(1.0, of=2), Product(Own(1.0, of=2), L1(1.0))):
        with pytest.raises(ValueError, match=r"expected a set of kind l1.*got .*Own\(radius=1"):
            certify(Gaussian(3.0), ball, epsilon=1.0, relation="add-remove")


VISITS = Counts(3, of=12, relation="add-remove")
ONE_OF = Counts(1, of=3, relation="replace-one")
YEARS = {
    "by coordinate": (Box([1.0, 0.5], relation="add-remove"), {"delta": 1e-6}),
    "correlated": (VISITS, {"delta": 1e-6}),
    "without delta": (ONE_OF, {}),
    "a staircase in the norm": (L2(1.0, of=3, relation="add-remove"), {}),
    "Laplace with delta": (LInf(1.0, relation="add-remove"), {"delta": 0.01, "family": "laplace"}),
}


@pytest.mark.parametrize("name", YEARS)
def test_a_certificate_is_for_all_releases(name, tmp_path):
    ball, asked = YEARS[name]
    found = best(ball, epsilon=1.0, times=52, **asked)
    certificate = certify(found)
    assert certificate.times == found.times == 52
    assert certificate.promise.count("released 52 times") == 1
    assert certificate.upper <= found.request.delta
    certificate.write(tmp_path / "year.json")
    assert verify(tmp_path / "year.json").independent == (name != "Laplace with delta")
    text = certificate.to_json()
    assert Certificate.from_json(text).to_json() == text
    with pytest.raises(CertificateError, match=r"delta.upper: expected at least"):
        verify(replace(certificate, times=53))
    if certificate.lower > 0:  # of fewer releases it is too high
        with pytest.raises(CertificateError, match=r"delta.lower: expected at most"):
            verify(replace(certificate, times=51))


def test_the_delta_of_several_releases_is_that_of_a_wider_gaussian():
    found = certify(best(VISITS, epsilon=1.0, delta=1e-6, times=4))
    wide = certify(found.noise, VISITS.scaled(2.0), 1.0)
    assert float(wide.upper) == pytest.approx(float(found.lower), rel=1e-9)


@pytest.mark.parametrize("times", [1, 0, -3, "52", True, 10**7, None])
def test_a_number_of_releases_that_is_none_is_refused(times):
    text = certify(best(ONE_OF, epsilon=1.0, times=52)).to_json()
    wrong = changed(text, lambda content: content.update(times=times))
    with pytest.raises(CertificateError):
        Certificate.from_json(wrong)
    with pytest.raises(ValueError, match="times: expected"):
        check(wrong.encode())
