"""The public `certify` and `verify`: what is known of noise and a sensitivity set, derived again.

`certify` states it as a certificate; `verify` derives the claim of a certificate again from its
inputs alone.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpnoise._validation import Problems
from dpnoise._version import __version__
from dpnoise.calibration.budget import Calibration
from dpnoise.certificates.certificate import Certificate, CertificateError, check_claim
from dpnoise.certificates.checker import ERRORS, check, enclosure
from dpnoise.certificates.codec import plain
from dpnoise.joint.calibrate import JointCalibration
from dpnoise.mechanisms.noise import Mechanism
from dpnoise.noise.exact import as_double_above
from dpnoise.privacy.accounts import bounds
from dpnoise.sensitivity.base import joined
from dpnoise.sensitivity.convert import as_sensitivity

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise.sensitivity.base import Sensitivity

CHECKER = "independent checker"
_ROUNDING = Fraction(1, 2**30)  # another processor rounds the account otherwise


class WantedBounds(NamedTuple):
    """Noise, set and budget of which bounds are wanted."""

    noise: Any
    sensitivity: Sensitivity
    epsilon: float | None
    delta: float | None


def _claim_of(found: Any) -> WantedBounds | None:  # noqa: ANN401
    """The claim of a result of the package; None for anything else."""
    if isinstance(found, Mechanism):
        request = found.request
        return WantedBounds(found.noise, request.sensitivity, request.epsilon, request.delta)
    if isinstance(found, JointCalibration):
        return WantedBounds(found.noise, found.sensitivity, found.epsilon, found.delta)
    if isinstance(found, Calibration) and found.budget is not None:
        budget = found.budget
        ball = found.sensitivity or as_sensitivity(budget.sensitivity, budget.dimension)
        return WantedBounds(found.noise, ball, budget.epsilon, budget.delta)
    if isinstance(found, Calibration) and found.sensitivity is not None:
        return WantedBounds(found.noise, found.sensitivity, found.epsilon, found.delta)
    return None


class Derived(NamedTuple):
    """Bounds on delta that were proved, and by what."""

    lower: Fraction
    upper: Fraction
    certified_by: tuple[str, ...]
    rounds: bool  # whether doubles were rounded on the way, differently on other processors

    def stated(self, delta: float | None) -> tuple[Fraction, Fraction]:
        """Bounds for a certificate, with slack for the rounding of other processors.

        The upper bound is not above `delta` if that is proved.
        """
        slack = _ROUNDING if self.rounds else Fraction(0)
        upper = min(as_double_above(self.upper * (1 + slack)), 1.0)
        if delta is not None and self.upper <= delta:
            upper = min(upper, delta)
        lower = -as_double_above(-self.lower * (1 - slack))
        return Fraction(max(lower, 0.0)), Fraction(upper)


def derive(noise: Any, sensitivity: Sensitivity, epsilon: float) -> Derived:  # noqa: ANN401
    """Bounds by the accounts of the package and by the independent checker, where it has some.

    RuntimeError if the two contradict each other; ValueError if the noise cannot have the set.
    """
    account = bounds(noise, sensitivity.geometry, epsilon)
    lower, upper = Fraction(account.lower), Fraction(account.upper)
    try:
        found, exact = enclosure(plain(noise), plain(sensitivity), Fraction(epsilon))
    except NotImplementedError:
        return Derived(lower, upper, (account.account,), upper > 0)
    if found.lo > upper or lower > found.hi:
        message = (
            f"certificate: two accounts contradict each other for {noise!r}, {sensitivity!r} at "
            f"epsilon = {epsilon!r}: delta in [{account.lower!r}, {account.upper!r}] and in "
            f"[{float(found.lo)!r}, {float(found.hi)!r}]"
        )
        raise RuntimeError(message)
    names = (account.account, CHECKER)
    if exact:
        return Derived(max(lower, found.lo), min(upper, found.hi), names, rounds=False)
    if found.hi <= upper:
        return Derived(lower, found.hi, names, rounds=upper > 0)
    return Derived(lower, upper, names[:1], rounds=True)


def certify(
    noise: Any,  # noqa: ANN401
    sensitivity: float | ArrayLike | Sensitivity | None = None,
    epsilon: float | None = None,
    *,
    delta: float | None = None,
    relation: str | None = None,
) -> Certificate:
    """Certificate of the privacy of noise, to be written to a file and verified by others.

    Parameters
    ----------
    noise : object
        Noise of one number, added independently to each coordinate; a sequence of these, one for
        each coordinate; noise for a vector, as `best` and `calibrate_joint` return it. Or the
        result of `calibrate`, `calibrate_joint` or `best` itself, which states all the rest.
    sensitivity : float, array_like of shape (K,), or Sensitivity
        The differences between the answers on neighbouring data sets: a number for each
        coordinate, one number, or a set.
    epsilon : float
        From 0 to 1e4.
    delta : float, optional
        What is wanted, as a bound that must be proved; by default the smallest that is.
    relation : {"add-remove", "replace-one"}, optional
        Which data sets are neighbours: one person more or less, or one person replaced by
        another. Needed unless the set states it, and then the same.

    Returns
    -------
    Certificate
        With attributes lower, upper (exact bounds on delta), `to_json()`, `write(path)`.

    Raises
    ------
    ValueError
        If an argument is out of range, no relation is stated, or delta is given and not proved;
        every problem is named.
    RuntimeError
        If two accounts contradict each other.

    Notes
    -----
    Proved, in the model of real-valued noise with exactly the parameters stated: delta of the
    noise at epsilon is at most `upper`, as far as `certified_by` are proved (docs/certificates.md).
    The neighbouring data sets are a premise: nobody can verify from the file that the sensitivity
    is that of the query. Noise on the integers is for answers that are integers, whose differences
    are the integer points of the set. Of rounded noise the noise before rounding is certified.

    Examples
    --------
    >>> from dpnoise import Gaussian, certify
    >>> certificate = certify(Gaussian(4.0), 1.0, 1.0, relation="add-remove")
    >>> certificate.lower <= certificate.upper < 2e-5
    True
    """
    problems = Problems("certificate")
    claim = _claim_of(noise)
    if claim is not None:
        given = [
            name
            for name, value in (("sensitivity", sensitivity), ("epsilon", epsilon))
            if value is not None
        ]
        if given:
            problems.add(f"{', '.join(given)}: expected none beside a result that states them")
        sensitivity, epsilon = claim.sensitivity, claim.epsilon
        noise, delta = claim.noise, claim.delta if delta is None else delta
    ball = None
    try:
        ball = as_sensitivity(sensitivity)  # type: ignore[arg-type]  # None is refused there
        relation = joined(problems, ball.relation, relation, "the set and relation=")
    except ValueError as error:
        problems.add(str(error))
    noise = getattr(noise, "certified", noise)  # before it is rounded, for instance
    if isinstance(noise, list | np.ndarray):
        noise = tuple(noise)
    good = problems.number("epsilon", epsilon, low=0.0, high=1e4)
    exact = Fraction(float(epsilon)) if good else None  # type: ignore[arg-type]
    check_claim(problems, noise=noise, sensitivity=ball, relation=relation, epsilon=exact)
    if delta is not None:
        problems.number("delta", delta, low=0.0, high=1.0)
    problems.raise_if_any()
    assert ball is not None  # noqa: S101  (or refused)
    assert exact is not None  # noqa: S101
    assert relation is not None  # noqa: S101
    derived = derive(noise, ball, float(exact))
    lower, upper = derived.stated(delta)
    if delta is not None and upper > delta:
        message = f"certificate: delta: expected at least {float(upper)!r}, all that is proved of "
        raise ValueError(f"{message}{noise!r}, got {delta!r}")
    return Certificate(
        noise, ball, relation, exact, lower, upper, derived.certified_by, __version__
    )


@dataclass(frozen=True)
class Verification:
    """What was derived again from the inputs of a certificate that holds.

    Attributes
    ----------
    certificate : Certificate
        The certificate.
    lower, upper : Fraction
        The bounds on delta that were found, within those that are stated.
    certified_by : tuple of str
        The accounts that found them.
    independent : bool
        Whether the independent checker confirmed the claim as well; it does not cover all noise.
    """

    certificate: Certificate
    lower: Fraction
    upper: Fraction
    certified_by: tuple[str, ...]
    independent: bool


def verify(certificate: Certificate | str | os.PathLike[str]) -> Verification:
    """Verification of a certificate by deriving delta again from its inputs.

    Parameters
    ----------
    certificate : Certificate, str or os.PathLike
        A certificate, or the path of its file.

    Returns
    -------
    Verification
        Only if the claim is confirmed. With attributes certificate, lower, upper, certified_by.

    Raises
    ------
    CertificateError
        If the file is damaged, changed, newer or no certificate, or if its claim is not confirmed;
        the message names every problem. It is a ValueError.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> from dpnoise import Laplace, certify, verify
    >>> found = verify(certify(Laplace(2.0), 1.0, 0.5, relation="replace-one"))
    >>> float(found.upper), found.independent
    (0.0, True)
    """
    if not isinstance(certificate, Certificate):
        problems = Problems("verification")
        good = isinstance(certificate, str | os.PathLike)
        problems.require(good, "certificate", "a certificate or a path", certificate)
        problems.raise_if_any()
        certificate = Certificate.read(certificate)
    problems = Problems("certificate")
    try:
        found = derive(certificate.noise, certificate.sensitivity, float(certificate.epsilon))
    except (ValueError, ArithmeticError, RuntimeError) as error:
        message = f"certificate: the claim could not be derived again: {error}"
        raise CertificateError(message) from error
    if found.upper > certificate.upper:
        problems.add(
            f"delta.upper: expected at least {float(found.upper)!r}, derived again by "
            f"{' and '.join(found.certified_by)}, got {float(certificate.upper)!r}"
        )
    if found.lower < certificate.lower:
        expected = f"at most {float(found.lower)!r}, derived again"
        problems.add(f"delta.lower: expected {expected}, got {float(certificate.lower)!r}")
    same = certificate.package_version == __version__
    if same and certificate.certified_by != found.certified_by:
        names = list(certificate.certified_by)
        problems.add(f"certified_by: expected {list(found.certified_by)}, got {names}")
    independent = _independently(problems, certificate)
    problems.raise_if_any(CertificateError)
    return Verification(certificate, found.lower, found.upper, found.certified_by, independent)


def _independently(problems: Problems, certificate: Certificate) -> bool:
    """Whether the independent checker confirms the text; that it refuses it is recorded."""
    try:
        check(certificate.to_json().encode())
    except NotImplementedError:
        return False
    except ERRORS as error:
        problems.add(f"independent checker: {error}")
        return False
    return True
