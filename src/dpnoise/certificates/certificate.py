"""Certificates: noise, sensitivity and a proved bound on delta, as an object and as a file.

`certify` states what is known of noise and a sensitivity set; `verify` derives the claim of a
certificate again from its inputs alone.
"""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from dpnoise._validation import Problems, is_integer
from dpnoise._version import __version__
from dpnoise.calibration.budget import Calibration
from dpnoise.certificates.checker import CHECKER, COMPOSED, ERRORS, MOST_TIMES, check, enclosure
from dpnoise.certificates.codec import (
    DIGEST,
    MOST_BYTES,
    digest_of,
    document_of,
    fraction_of,
    is_known,
    noise_of,
    plain,
    set_of,
    text_of,
    text_of_document,
)
from dpnoise.joint.calibrate import JointCalibration
from dpnoise.mechanisms.noise import Mechanism
from dpnoise.noise.exact import as_double_above
from dpnoise.privacy.accounts import Bounds, bounds, dimension_of, supports
from dpnoise.privacy.odometer.accounts import ExactAccount
from dpnoise.privacy.odometer.ledger import Ledger
from dpnoise.privacy.odometer.releases import read_release
from dpnoise.sensitivity.balls import as_sensitivity
from dpnoise.sensitivity.base import IN_SET, Sensitivity, is_set, joined, require_relation

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike


FORMAT, VERSION = "dpnoise certificate", 1
_FIELDS = {
    *("format", "format_version", "package_version", "noise", "sensitivity", "dimension"),
    *("relation", "epsilon", "delta", "certified_by", DIGEST),
}
_ROUNDING = Fraction(1, 2**30)  # another processor rounds the account otherwise


class CertificateError(ValueError):
    """A certificate that cannot be read, or whose claim is not confirmed.

    Examples
    --------
    >>> from dpnoise import Certificate, CertificateError
    >>> try:
    ...     Certificate.from_json("{}")
    ... except CertificateError as error:
    ...     print("format" in str(error))
    True
    """


@dataclass(frozen=True, eq=False)
class Certificate:
    """Proved bounds on delta of noise for a sensitivity set, with everything needed to check them.

    Made by `certify` and `Certificate.read`. It states: adding a draw of `noise` to the answer is
    (epsilon, upper)-DP for all neighbouring data sets whose answers differ by an element of
    `sensitivity`, and (epsilon, delta)-DP for no delta below `lower`. All numbers are exact.

    Parameters
    ----------
    noise : object
        Noise of one number, added to each coordinate independently; a tuple of these, one for each
        coordinate; or noise for a vector.
    sensitivity : Sensitivity
        The set of differences of the answers on neighbouring data sets.
    relation : {"add-remove", "replace-one"}
        Which data sets are neighbours; that of `sensitivity`, if it states one.
    epsilon, lower, upper : Fraction
        The guarantee, and the bounds on delta.
    certified_by : tuple of str
        The accounts that bounded delta.
    package_version : str
        The version of the package that wrote the certificate.
    times : int, default 1
        How many releases with fresh noise keep the guarantee together.

    Examples
    --------
    >>> from dpnoise import Certificate, Laplace, certify
    >>> text = certify(Laplace(2.0), 1.0, 0.5, relation="add-remove").to_json()
    >>> found = Certificate.from_json(text)
    >>> found.noise, found.delta
    (Laplace(beta=2.0), 0.0)
    >>> found.promise
    'one person more or less, in one number, by at most 1: epsilon = 0.5, delta = 0'
    """

    noise: Any
    sensitivity: Sensitivity
    relation: str
    epsilon: Fraction
    lower: Fraction
    upper: Fraction
    certified_by: tuple[str, ...]
    package_version: str
    times: int = 1

    def __post_init__(self) -> None:
        """The relation is also that of the set."""
        object.__setattr__(self, "sensitivity", self.sensitivity.stating(self.relation))

    @property
    def promise(self) -> str:
        """The guarantee in one sentence."""
        delta = as_double_above(self.upper)
        return self.sensitivity.promise(float(self.epsilon), delta, self.times)

    @property
    def delta(self) -> float:
        """The upper bound on delta."""
        return float(self.upper)

    def _content(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "format_version": VERSION,
            "package_version": self.package_version,
            "noise": plain(self.noise),
            "sensitivity": plain(self.sensitivity),
            "dimension": self.sensitivity.dimension,
            "relation": self.relation,
            "epsilon": text_of(self.epsilon),
            "delta": {"lower": text_of(self.lower), "upper": text_of(self.upper)},
            "certified_by": list(self.certified_by),
            **({"times": self.times} if self.times > 1 else {}),
        }

    def to_json(self) -> str:
        """The text of the file."""
        return text_of_document(self._content())

    @property
    def digest(self) -> str:
        """SHA-256 of the content: it shows damage and is no signature."""
        return digest_of(self._content())

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the file, whole or not at all; OSError if that is not possible."""
        target = Path(path)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(self.to_json())
            Path(name).chmod(0o644)
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """The certificate that a text states, not yet verified.

        Raises
        ------
        CertificateError
            If the text is damaged, of a newer format or no certificate; every problem is named.
        """
        problems = Problems("certificate")
        try:
            content = document_of(text)
        except ValueError as error:
            problems.add(str(error))
            content = {}
        problems.raise_if_any(CertificateError)
        try:
            found = cls(**_read(problems, content))
        except RecursionError as error:
            message = "certificate: content: expected a few levels of nesting, got too many"
            raise CertificateError(message) from error
        same = found.to_json().encode() == (text.encode() if isinstance(text, str) else text)
        expected = "the text that dpnoise writes for it, to the last byte"
        problems.require(same, "content", expected, "another one")
        problems.raise_if_any(CertificateError)
        return found

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """The certificate in a file, not yet verified; errors as for `from_json`, and OSError."""
        with Path(path).open("rb") as file:
            return cls.from_json(file.read(MOST_BYTES + 1))


def _read(problems: Problems, content: dict[str, Any]) -> dict[str, Any]:
    """The fields of a certificate; CertificateError names everything that is wrong."""
    version = content.get("format_version")
    known = content.get("format") == FORMAT
    problems.require(known, "format", repr(FORMAT), content.get("format"))
    newer = is_integer(version) and version > VERSION
    expected = f"at most {VERSION} (a newer dpnoise wrote this file)" if newer else str(VERSION)
    same = is_integer(version) and version == VERSION
    problems.require(same, "format_version", expected, version)
    problems.raise_if_any(CertificateError)
    times = content.get("times")
    good = times is None or (is_integer(times) and 2 <= times <= MOST_TIMES)
    problems.require(good, "times", f"none for one release, or from 2 to {MOST_TIMES}", times)
    keys = set(content) - {"times"}
    if keys != _FIELDS:
        missing, extra = sorted(_FIELDS - keys), sorted(keys - _FIELDS)
        problems.add(f"keys: expected {sorted(_FIELDS)}, got {missing} missing, {extra} too many")
    good = content.get(DIGEST) == digest_of(content)
    problems.require(good, DIGEST, "that of the content (was it changed?)", content.get(DIGEST))
    bounds = content.get("delta")
    if not isinstance(bounds, dict) or set(bounds) != {"lower", "upper"}:
        problems.add(f"delta: expected an object with lower and upper, got {str(bounds)[:80]}")
        bounds = {"lower": "0", "upper": "1"}
    names = content.get("certified_by")
    listed = isinstance(names, list) and names and all(isinstance(name, str) for name in names)
    problems.require(bool(listed), "certified_by", "a list of accounts", names)
    text = content.get("package_version")
    good = isinstance(text, str) and bool(re.fullmatch(r"[0-9A-Za-z.+!-]{1,40}", text))
    problems.require(good, "package_version", "a version such as '0.1.0'", text)
    found = {
        "noise": _part(problems, "noise", noise_of, content.get("noise")),
        "sensitivity": _part(problems, "sensitivity", set_of, content.get("sensitivity")),
        "relation": content.get("relation"),
        "epsilon": _part(problems, "epsilon", fraction_of, content.get("epsilon")),
        "lower": _part(problems, "delta.lower", fraction_of, bounds["lower"]),
        "upper": _part(problems, "delta.upper", fraction_of, bounds["upper"]),
        "certified_by": tuple(names) if listed and names else (),
        "package_version": text,
        "times": 1 if times is None else times,
    }
    check_claim(problems, **{name: found[name] for name in _CLAIM})
    ball, K = found["sensitivity"], content.get("dimension")
    if is_set(ball):
        same = is_integer(K) and ball.dimension == K
        problems.require(same, "dimension", f"{ball.dimension}, that of the sensitivity", K)
    problems.raise_if_any(CertificateError)
    return found


_CLAIM = ("noise", "sensitivity", "relation", "epsilon", "lower", "upper")


def _part(problems: Problems, name: str, read: Callable[[Any], Any], data: Any) -> Any:  # noqa: ANN401
    """One part of a file, in the one form that it has; None if it is not understood."""
    try:
        found = read(data)
    except (ValueError, TypeError, OverflowError) as error:
        problems.add(f"{name}: {error}")
        return None
    if plain(found) != data:
        problems.add(f"{name}: expected {str(plain(found))[:80]}, got {str(data)[:80]}")
    return found


def check_claim(
    problems: Problems,
    *,
    noise: object,
    sensitivity: object,
    relation: object,
    epsilon: Fraction | None,
    lower: Fraction | None = None,
    upper: Fraction | None = None,
) -> None:
    """What is wrong with a claim is recorded; None is a part that was not understood."""
    if require_relation(problems, relation, IN_SET) and is_set(sensitivity):
        try:
            sensitivity.stating(relation)  # type: ignore[arg-type]  # a name, as was checked
        except ValueError as error:
            problems.add(str(error))
    good = epsilon is None or problems.number("epsilon", epsilon, low=0.0, high=1e4)
    if epsilon is not None and good and float(epsilon) != epsilon:
        problems.add(f"epsilon: expected a double, got {epsilon}")
    if lower is not None and upper is not None and not 0 <= lower <= upper <= 1:
        problems.add(f"delta: expected 0 <= lower <= upper <= 1, got {lower} and {upper}")
    known = is_known(noise) and not is_set(noise)
    if noise is not None and not known:
        problems.add(f"noise: expected noise of this package, or a tuple of it, got {noise!r}")
    elif noise is not None and is_set(sensitivity):
        expected = f"for {sensitivity.dimension} coordinates, as the sensitivity has"
        problems.require(supports(noise, sensitivity), "noise", expected, dimension_of(noise))


class WantedBounds(NamedTuple):
    """Noise, set and budget of which bounds are wanted."""

    noise: Any
    sensitivity: Sensitivity
    epsilon: float | None
    delta: float | None
    times: int = 1


def _claim_of(found: Any) -> WantedBounds | None:  # noqa: ANN401
    """The claim of a result of the package; None for anything else."""
    if isinstance(found, Mechanism):
        request = found.request
        given = request.sensitivity, request.epsilon, request.delta, request.times
        return WantedBounds(found.noise, *given)
    if isinstance(found, JointCalibration):
        return WantedBounds(found.noise, found.sensitivity, found.epsilon, found.delta)
    if isinstance(found, Calibration) and found.budget is not None:
        budget = found.budget
        ball = as_sensitivity(budget.sensitivity, budget.dimension)
        return WantedBounds(found.noise, ball, budget.epsilon, budget.delta)
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


def _account(noise: Any, sensitivity: Sensitivity, epsilon: float, times: int) -> Bounds:  # noqa: ANN401
    """Bounds of the package, for several releases those of a `Budget`."""
    if times == 1:
        return bounds(noise, sensitivity, epsilon)
    problems = Problems("certificate")
    one = read_release(problems, noise, sensitivity)
    problems.raise_if_any()
    upper = ExactAccount(epsilon, 0.0).delta_of(Ledger().plus(one, times), epsilon)
    return Bounds(0.0, upper, COMPOSED)


def derive(noise: Any, sensitivity: Sensitivity, epsilon: float, times: int = 1) -> Derived:  # noqa: ANN401
    """Bounds by the accounts of the package and by the independent checker, where it has some.

    RuntimeError if the two contradict each other; ValueError if the noise cannot have the set.
    """
    account = _account(noise, sensitivity, epsilon, times)
    lower, upper = Fraction(account.lower), Fraction(account.upper)
    try:
        found, exact = enclosure(plain(noise), plain(sensitivity), Fraction(epsilon), times)
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
    are the integer points of the set. Of rounded noise the noise before rounding is certified. What
    `best(..., times=n)` found is certified for all n releases together.

    Examples
    --------
    >>> from dpnoise import Gaussian, certify
    >>> certificate = certify(Gaussian(4.0), 1.0, 1.0, relation="add-remove")
    >>> certificate.lower <= certificate.upper < 2e-5
    True
    """
    problems = Problems("certificate")
    claim, times = _claim_of(noise), 1
    if claim is not None:
        pair: Any = {"sensitivity": sensitivity, "epsilon": epsilon}
        given = [name for name in pair if pair[name] is not None]
        if given:
            problems.add(f"{', '.join(given)}: expected none beside a result that states them")
        sensitivity, epsilon, times = claim.sensitivity, claim.epsilon, claim.times
        noise, delta = claim.noise, claim.delta if delta is None else delta
    ball: Any = None
    try:
        ball = as_sensitivity(sensitivity)  # type: ignore[arg-type]  # None is refused there
        relation = joined(problems, ball.relation, relation, "the set and relation=")
    except ValueError as error:
        problems.add(str(error))
    noise = getattr(noise, "certified", noise)  # before it is rounded, for instance
    if isinstance(noise, list) or np.ndim(noise) == 1:
        noise = tuple(noise)
    problems.require(noise is not None, "noise", "noise of this package, or a tuple of it", noise)
    good = problems.number("epsilon", epsilon, low=0.0, high=1e4)
    exact: Any = Fraction(float(epsilon)) if good else None  # type: ignore[arg-type]
    check_claim(problems, noise=noise, sensitivity=ball, relation=relation, epsilon=exact)
    if delta is not None:
        problems.number("delta", delta, low=0.0, high=1.0)
    problems.raise_if_any()
    assert relation is not None  # noqa: S101
    derived = derive(noise, ball, float(exact), times)
    lower, upper = derived.stated(delta)
    if delta is not None and upper > delta:
        message = f"certificate: delta: expected at least {float(upper)!r}, all that is proved of "
        raise ValueError(f"{message}{noise!r}, got {delta!r}")
    names = derived.certified_by
    return Certificate(noise, ball, relation, exact, lower, upper, names, __version__, times)


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
        one = certificate
        found = derive(one.noise, one.sensitivity, float(one.epsilon), one.times)
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
    independent = _independently(problems, certificate)
    same = certificate.package_version == __version__
    # What the checker covers it judges by itself, names included, which is the same everywhere.
    if same and not independent and certificate.certified_by != found.certified_by:
        names = list(certificate.certified_by)
        problems.add(f"certified_by: expected {list(found.certified_by)}, got {names}")
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
