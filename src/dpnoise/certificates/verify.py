"""The public `verify`: a certificate's claim, derived again from its inputs alone."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpnoise._validation import Problems
from dpnoise._version import __version__
from dpnoise.certificates.certificate import Certificate, CertificateError
from dpnoise.certificates.certify import derive
from dpnoise.certificates.checker import ERRORS, check

if TYPE_CHECKING:
    from fractions import Fraction


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
