"""Certificates of workloads: written, read, verified by the checker, and refused when changed."""

import json
from fractions import Fraction

import numpy as np
import pytest

from dpnoise import (
    L2,
    Certificate,
    CertificateError,
    Laplace,
    Workload,
    best,
    certify,
    verify,
)
from dpnoise.certificates.checker import COUNTS, ERRORS, check, in_ellipsoid
from dpnoise.certificates.codec import plain, set_of
from dpnoise.privacy.accounts import bounds
from hostile_certificates import text_of

ADDED, MOVED = {"relation": "add-remove"}, {"relation": "replace-one"}
BUDGET = {"epsilon": 1.0, "delta": 1e-6}
CASES = [
    Workload.prefix_sums(7, **ADDED),
    Workload.prefix_sums(5, **MOVED),
    Workload.marginals((2, 3), 1, **ADDED),
    Workload([[1.0, -2.5, 0.5], [0.0, 3.0, -1.0]], exactly=True, **MOVED),
]


@pytest.mark.parametrize("given", CASES)
@pytest.mark.parametrize("family", ["correlated-gaussian", "cells", "gaussian"])
def test_what_is_found_is_certified_written_and_verified(given, family):
    """The claim keeps the budget, survives the file, and is confirmed by both accounts."""
    found = best(given, family=family, **BUDGET)
    certificate = certify(found)
    assert certificate.delta <= BUDGET["delta"]
    again = Certificate.from_json(certificate.to_json())
    assert again.noise == certificate.noise
    assert again.sensitivity == given
    assert again.promise.startswith(given.promise(1.0, 0.0).partition(":")[0])
    assert verify(again).independent == (family != "gaussian")
    stated = set_of(plain(given))
    assert stated == given


@pytest.mark.parametrize("given", [CASES[0], CASES[1]])
def test_the_account_is_that_of_the_worst_difference(given):
    """mu from the covariance of the answers by dense linear algebra."""
    noise = best(given, family="correlated-gaussian", **BUDGET).noise
    axes, W = np.array(noise.inner.ball.axes), given.W.toarray()
    covariance = noise.inner.sigma**2 * W @ axes.T @ axes @ W.T
    columns = (given.W @ given.changes).toarray()
    squares = np.sum(columns * np.linalg.solve(covariance, columns), axis=0)
    mu = float(noise.inner.ball.largest_norm_of(given.cells)) / noise.inner.sigma
    assert mu == pytest.approx(np.sqrt(np.max(squares)), rel=1e-7)
    assert bounds(noise, given, 1.0).upper <= 1e-6


def smaller(content):
    """Less noise."""
    content["noise"]["noise"]["sigma"] = "3"


def narrower(content):
    """One axis a third as long, with which one column is not hidden."""
    content["noise"]["noise"]["ball"]["axes"][-1][-1] = "1/4"


def other_questions(content):
    """Noise of other questions than those of the set."""
    content["noise"]["W"]["entries"][0] = "2"


def other_set(content):
    """Twice as large answers."""
    content["sensitivity"]["W"]["entries"] = ["2" for _ in content["sensitivity"]["W"]["entries"]]


def other_shape(content):
    """A column that is not there."""
    for part in (content["noise"], content["sensitivity"]):
        part["W"]["columns"][0] = 9


@pytest.mark.parametrize("change", [smaller, narrower, other_questions, other_set, other_shape])
def test_changed_certificates_are_refused(change):
    """By the package and by the checker alone."""
    certificate = certify(best(CASES[0], family="correlated-gaussian", **BUDGET))
    content = json.loads(certificate.to_json())
    change(content)
    text = text_of(content)
    with pytest.raises(ValueError, match="certificate"):
        verify(Certificate.from_json(text))
    with pytest.raises(ERRORS):
        check(text)


@pytest.mark.parametrize("kind", COUNTS)
def test_the_checker_measures_every_extreme_point(kind):
    """Norms in a random triangular ellipsoid against dense algebra, each column the worst once."""
    rng = np.random.default_rng(4)
    for longest in range(4):
        A = np.triu(rng.standard_normal((4, 4)), 1) + np.diag(rng.uniform(1.0, 2.0, 4))
        A[longest, longest] = 0.125
        each = np.eye(4)
        moved = [a - b for a in each for b in each]
        points = {COUNTS[0]: [*each], COUNTS[1]: [*each, *moved], COUNTS[2]: moved}[kind]
        expected = np.max(np.sum((np.array(points) @ np.linalg.inv(A)) ** 2, axis=1))
        part = [([Fraction(1)] * 4, 1, kind)]
        found = float(in_ellipsoid({"axes": plain(tuple(map(tuple, A.tolist())))}, part))
        assert found == pytest.approx(expected, rel=1e-12)


def test_noise_of_other_questions_has_no_account_for_a_set():
    """Neither delta, nor a loss, nor a cost."""
    noise = best(CASES[0], family="correlated-gaussian", **BUDGET).noise
    other = Workload(2.0 * np.tri(7), **ADDED)
    for asked in (
        lambda: bounds(noise, other, 1.0),
        lambda: noise.loss_in(other),
        lambda: noise.spending_in(other),
        lambda: noise.spending_in(L2(1.0, of=7)),
    ):
        with pytest.raises(ValueError, match="same questions"):
            asked()


@pytest.mark.parametrize(
    ("given", "family"),
    [(CASES[0], "cells"), (CASES[1], "correlated-gaussian"), (CASES[2], None)],
)
def test_whole_answers_are_certified(given, family):
    """The noise before rounding, or that of the cells; noise of one number states no cells."""
    found = best(given, family=family, integer=True, **BUDGET)
    certificate = certify(found)
    assert certificate.delta <= BUDGET["delta"]
    again = Certificate.from_json(certificate.to_json())
    assert again.to_json() == certificate.to_json()
    assert verify(again).independent
    content = json.loads(certificate.to_json())
    content["noise"]["noise"] = plain(Laplace(100.0))
    with pytest.raises(CertificateError, match="expected noise for"):
        Certificate.from_json(text_of(content))
