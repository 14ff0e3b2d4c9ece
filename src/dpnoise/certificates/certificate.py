"""Certificates: noise, sensitivity and a proved bound on delta, as an object and as a file."""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from dpnoise._validation import Problems, is_integer
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
from dpnoise.noise.exact import as_double_above
from dpnoise.privacy.accounts import dimension_of, supports
from dpnoise.sensitivity.base import IN_SET, Sensitivity, require_relation

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

FORMAT, VERSION = "dpnoise certificate", 1
_FIELDS = {
    *("format", "format_version", "package_version", "noise", "sensitivity", "dimension"),
    *("relation", "epsilon", "delta", "certified_by", DIGEST),
}


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

    def __post_init__(self) -> None:
        """The relation is also that of the set."""
        object.__setattr__(self, "sensitivity", self.sensitivity.stating(self.relation))

    @property
    def promise(self) -> str:
        """The guarantee in one sentence."""
        return self.sensitivity.promise(float(self.epsilon), as_double_above(self.upper))

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
    if set(content) != _FIELDS:
        missing, extra = sorted(_FIELDS - set(content)), sorted(set(content) - _FIELDS)
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
    }
    check_claim(problems, **{name: found[name] for name in _CLAIM})
    ball, K = found["sensitivity"], content.get("dimension")
    if isinstance(ball, Sensitivity):
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
    """Record of what is wrong with the parts of a claim; None is a part that was not understood."""
    if require_relation(problems, relation, IN_SET) and isinstance(sensitivity, Sensitivity):
        try:
            sensitivity.stating(relation)  # type: ignore[arg-type]  # a name, as was checked
        except ValueError as error:
            problems.add(str(error))
    good = epsilon is None or problems.number("epsilon", epsilon, low=0.0, high=1e4)
    if epsilon is not None and good and float(epsilon) != epsilon:
        problems.add(f"epsilon: expected a double, got {epsilon}")
    if lower is not None and upper is not None and not 0 <= lower <= upper <= 1:
        problems.add(f"delta: expected 0 <= lower <= upper <= 1, got {lower} and {upper}")
    if noise is not None and not is_known(noise):
        problems.add(f"noise: expected noise of this package, or a tuple of it, got {noise!r}")
    elif noise is not None and isinstance(sensitivity, Sensitivity):
        expected = f"for {sensitivity.dimension} coordinates, as the sensitivity has"
        problems.require(supports(noise, sensitivity), "noise", expected, dimension_of(noise))
