"""The commands `dpnoise audit`, `verify` and `checker`: checks of claims of privacy.

`audit` gives a lower bound on the epsilon of a sampler from its outputs; `verify` derives the
claims of certificates again from their inputs alone, and `checker` does so without the package.
"""
# ruff: noqa: PLC0415  (the library is imported when a command runs)

from __future__ import annotations

import sys
from importlib import resources
from typing import TYPE_CHECKING, Any

from dpnoise._imports import imports_of

with imports_of("cli"):
    import click

from dpnoise.cli.options import FAMILIES, NUMBER, WHOLE, Name, json_option, read_noise
from dpnoise.cli.output import Answer, lower, show, upper
from dpnoise.cli.table_file import read_outputs, shown

if TYPE_CHECKING:
    from dpnoise._validation import Problems
    from dpnoise.auditing.audit import Audit
    from dpnoise.certificates.certificate import Verification

REFUSED = 1  # exit code: a claim is contradicted, or not confirmed
_NO_PROOF = "a claim that is not contradicted is not proved: privacy rests on proofs, not on audits"
_NO_SIGNATURE = (
    "a digest shows damage and is no signature: confirmed is that the noise protects the stated "
    "sensitivity, not who wrote the file, nor that a query has that sensitivity"
)


@click.command()
@click.argument("family", type=Name(FAMILIES), required=False)
@click.argument("parameters", nargs=-1, metavar="[NAME=NUMBER]...")
@click.option("--sensitivity", type=NUMBER, metavar="S", help="Largest change of the number.")
@click.option(
    "--outputs",
    nargs=2,
    metavar="FIRST.csv SECOND.csv",
    help="Outputs of any sampler on two neighbouring inputs, one a row, instead of a family.",
)
@click.option("--epsilon", type=NUMBER, metavar="E", help="The claimed epsilon.")
@click.option("--delta", type=NUMBER, metavar="D", help="The claimed delta; 0 by default.")
@click.option(
    "--false-alarm",
    type=NUMBER,
    default=0.001,
    show_default=True,
    metavar="A",
    help="How likely a true claim is contradicted, at most, in one call of this command.",
)
@click.option("--size", type=WHOLE, metavar="N", help="How many draws; a million by default.")
@click.option("--seed", type=WHOLE, metavar="SEED", help="Of the draws; 0 by default.")
@json_option
def audit(as_json: bool, **given: Any) -> None:  # noqa: ANN401
    """Lower bound on the epsilon of a sampler, and whether it contradicts a claim.

    The exit code is 1 if the claim is contradicted, else 0.

    Example: dpnoise audit gaussian sigma=4 --sensitivity 1
    """
    from dpnoise._validation import Problems

    problems = Problems("audit")
    stated = [kind for kind in ("family", "outputs") if given[kind]]
    if len(stated) != 1:
        got = " and ".join(stated) or "none"
        problems.add(f"audit of what: expected FAMILY or --outputs, got {got}")
    for name in (
        *(("sensitivity", "parameters") if "family" not in stated else ()),
        *(("size", "seed") if "outputs" in stated else ()),
    ):
        if given[name] not in (None, ()):
            problems.add(f"{name}: expected none beside {stated or 'nothing'}, got {given[name]!r}")
    problems.number(
        "--false-alarm", given["false_alarm"], low=0.0, high=1.0, open_low=True, open_high=True
    )
    if not stated:
        problems.raise_if_any()
    found = (_of_family if "family" in stated else _of_outputs)(problems, given)
    title = f"audit, false alarms at most {given['false_alarm']:g}"
    rows = [row for name, one in found.items() for row in _rows(name, one)]
    data = {"request": given, "audits": found, "proves_privacy": False}
    show(Answer(title, ("", ""), rows, [_NO_PROOF], data), as_json=as_json)
    if any(one.contradicted for one in found.values()):
        click.get_current_context().exit(REFUSED)


def _given(given: dict[str, Any], *names: str) -> dict[str, Any]:
    """Those of the options that are stated."""
    return {name: given[name] for name in names if given[name] is not None}


def _of_family(problems: Problems, given: dict[str, Any]) -> dict[str, Audit]:
    """Audit of the noise of one family."""
    from dpnoise.auditing.noise import audit_noise

    noise = read_noise(problems, given["family"], given["parameters"])
    if given["sensitivity"] is None:
        problems.add("--sensitivity: expected a positive number, got nothing")
    problems.raise_if_any()
    options = _given(given, "epsilon", "delta", "false_alarm", "size", "seed")
    return {given["family"]: audit_noise(noise, given["sensitivity"], **options)}


def _of_outputs(problems: Problems, given: dict[str, Any]) -> dict[str, Audit]:
    """Audit of the outputs in two files."""
    from dpnoise.auditing.sampler import audit_sampler

    if given["outputs"] == ("-", "-"):
        problems.add("--outputs: expected two files, got standard input for both")
        problems.raise_if_any()
    first, second = (read_outputs(problems, path) for path in given["outputs"])
    problems.raise_if_any()
    confidence = 1.0 - given["false_alarm"]
    options = _given(given, "epsilon", "delta")
    return {"outputs": audit_sampler(first, second, confidence=confidence, **options)}


def _rows(name: str, found: Audit) -> list[tuple[str, str]]:
    """What one audit found."""
    verdict = "contradicted" if found.contradicted else "not contradicted"
    rows = [(name, verdict if found.claim else "no claim: a lower bound only")]
    rows += [("claim", found.claim)] if found.claim else []
    rows += [("because", found.reason)] if found.reason else []
    rows.append(("epsilon", f"at least {lower(found.epsilon)} at delta = {found.delta_asked:g}"))
    for one in found.events:
        often = f"{one.hits} of {one.outputs} on the {one.likelier_on} input"
        rows.append(("event", f"{one.event}: {often}, {one.false_hits} on the other"))
    return rows


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
    from dpnoise.certificates.certificate import verify as derive_again
    from dpnoise.certificates.codec import MOST_BYTES

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
        "times": one.times,
        "promise": one.promise,
        "epsilon": epsilon,
        "delta": {"lower": str(one.lower), "upper": str(one.upper)},
        "derived": {"lower": str(found.lower), "upper": str(found.upper)},
        "certified_by": list(found.certified_by),
        "independent": found.independent,
        "package_version": one.package_version,
    }
