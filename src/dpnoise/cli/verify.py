"""The command `dpnoise verify`: claims of certificates, derived again from their inputs alone."""
# ruff: noqa: PLC0415  (the library is imported when a command runs)

from __future__ import annotations

import sys
from importlib import resources
from typing import TYPE_CHECKING, Any

from dpnoise._extras import imports_of

with imports_of("cli"):
    import click

from dpnoise.cli.options import json_option
from dpnoise.cli.output import Answer, lower, show, upper
from dpnoise.cli.table_file import shown

if TYPE_CHECKING:
    from dpnoise.certificates.verify import Verification

REFUSED = 1  # exit code
_NO_SIGNATURE = (
    "a digest shows damage and is no signature: confirmed is that the noise protects the stated "
    "sensitivity, not who wrote the file, nor that a query has that sensitivity"
)


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path())
@json_option
def verify(as_json: bool, files: tuple[str, ...]) -> None:
    """Certificates: is delta what they say?

    Delta is derived again from the noise, the sensitivity and epsilon, by the accounts of the
    package and where it can by the independent checker. The exit code is 0 if every certificate
    holds, 1 if one is refused, 2 if a file cannot be read. '-' is standard input.

    Example: dpnoise verify certificate.json
    """
    from dpnoise._validation import Problems

    problems = Problems("verify")
    for name in files:
        try:
            with click.open_file(name, "rb"):
                pass
        except OSError as error:
            problems.add(f"{shown(name)}: expected a file to read, got {error.strerror}")
    problems.raise_if_any()
    found = {name: _verified(name) for name in files}
    held = sum(one["holds"] for one in found.values())
    title = f"certificates that hold: {held} of {len(found)}"
    rows = [(shown(name), one["verdict"]) for name, one in found.items()]
    data = {"files": [{"file": name, **one} for name, one in found.items()]}
    show(Answer(title, ("", ""), rows, [_NO_SIGNATURE], data), as_json=as_json)
    if held < len(found):
        click.get_current_context().exit(REFUSED)


@click.command()
def checker() -> None:
    """The independent checker of certificates, as a program of one file.

    It needs nothing but Python 3.8 or newer, and shares nothing with this package.

    Example: dpnoise checker > checker.py
    """
    source = resources.files("dpnoise.certificates").joinpath("checker.py").read_bytes()
    sys.stdout.buffer.write(source)


def _verified(name: str) -> dict[str, Any]:
    """What is known of one file."""
    from dpnoise.certificates.certificate import Certificate, CertificateError
    from dpnoise.certificates.document import MOST_BYTES
    from dpnoise.certificates.verify import verify as derive_again

    try:
        with click.open_file(name, "rb") as file:
            return _confirmed(derive_again(Certificate.from_json(file.read(MOST_BYTES + 1))))
    except CertificateError as error:
        return {"holds": False, "verdict": f"refused: {error}", "problem": str(error)}


def _confirmed(found: Verification) -> dict[str, Any]:
    """A certificate that holds."""
    from dpnoise.noise.exact import as_double_above

    one = found.certificate
    epsilon = float(one.epsilon)
    low, high = max(0.0, -as_double_above(-one.lower)), as_double_above(one.upper)  # no -0
    by = " and ".join(found.certified_by)
    also = "" if found.independent else ", not covered by the independent checker"
    verdict = (
        f"holds: {one.promise} (at most {upper(high)}, at least {lower(low)}, for "
        f"{one.sensitivity!r}); by {by}"
    )
    return {
        "holds": True,
        "verdict": verdict + also,
        "noise": one.noise,
        "sensitivity": one.sensitivity,
        "relation": one.relation,
        "promise": one.promise,
        "epsilon": epsilon,
        "delta": {"lower": str(one.lower), "upper": str(one.upper)},
        "derived": {"lower": str(found.lower), "upper": str(found.upper)},
        "certified_by": list(found.certified_by),
        "independent": found.independent,
        "package_version": one.package_version,
    }
