"""The commands `dpnoise audit`, `verify` and `checker`: checks of claims of privacy.

`audit` gives a lower bound on the epsilon of a sampler from its outputs; `verify` derives the
claims of certificates again from their inputs alone, and `checker` does so without the package.
"""
# ruff: noqa: PLC0415  (the library is imported when a command runs)

from __future__ import annotations

import sys
from importlib import resources
from typing import Any

from dpnoise._imports import imports_of

with imports_of("cli"):
    import click

from dpnoise.cli import options
from dpnoise.cli.options import COUNT, NUMBER, PROBABILITY, lower, option, problems, show, upper
from dpnoise.cli.table_file import read_outputs, shown

REFUSED = 1  # exit code: a claim is contradicted, or not confirmed
_NO_PROOF = "a claim that is not contradicted is not proved: privacy rests on proofs, not on audits"
_NO_SIGNATURE = (
    "a digest shows damage and is no signature: confirmed is that the noise protects the stated "
    "sensitivity, not who wrote the file, nor that a query has that sensitivity"
)


@options.command
@click.argument("family", type=options.Name(options.FAMILIES), required=False)
@click.argument("parameters", nargs=-1, metavar="[NAME=NUMBER]...")
@option("--sensitivity", "S", "Largest change of the number.", NUMBER)
@option(
    "--outputs",
    "FIRST.csv SECOND.csv",
    "Outputs of any sampler on two neighbouring inputs, one a row.",
    nargs=2,
)
@option("--epsilon", "E", "The claimed epsilon.", NUMBER)
@option("--delta", "D", "The claimed delta; 0 by default.", NUMBER)
@option(
    "--false-alarm", "A", "How likely is a false alarm, at most; 0.001.", PROBABILITY, default=0.001
)
@option("--size", "N", "How many draws; a million by default.", COUNT)
@option("--seed", "SEED", "Of the draws; 0 by default.", COUNT)
@options.json_option
def audit(**given: Any) -> None:  # noqa: ANN401
    """Lower bound on the epsilon of a sampler, and whether it contradicts a claim.

    The exit code is 1 if the claim is contradicted, else 0.

    Example: dpnoise audit gaussian sigma=4 --sensitivity 1
    """
    from dpnoise.auditing.sampler import audit_noise, audit_sampler

    wrong, family, outputs = problems(), given["family"], given["outputs"]
    stated = [kind for kind in ("family", "outputs") if given[kind]]
    if len(stated) != 1:
        got = " and ".join(stated) or "none"
        wrong.add(f"audit of what: expected FAMILY or --outputs, got {got}")
    for name in (
        *(("sensitivity", "parameters") if not family else ()),
        *(("size", "seed") if outputs else ()),
    ):
        if given[name] not in (None, ()):
            wrong.add(f"{name}: expected none beside {stated or 'nothing'}, got {given[name]!r}")

    def those(*names: str) -> dict[str, Any]:
        return {name: given[name] for name in names if given[name] is not None}

    if family:
        noise = options.read_noise(family, given["parameters"])
        if given["sensitivity"] is None:
            wrong.add("--sensitivity: expected a positive number, got nothing")
        wrong.raise_if_any()
        asked = those("sensitivity", "epsilon", "delta", "false_alarm", "size", "seed")
        name, found = family, audit_noise(noise, **asked)
    else:
        if outputs == ("-", "-"):
            wrong.add("--outputs: expected two files, got standard input for both")
            wrong.raise_if_any()
        pair = [read_outputs(path) for path in outputs or ()]
        wrong.raise_if_any()
        confidence = 1.0 - given["false_alarm"]
        more = those("epsilon", "delta")
        name, found = "outputs", audit_sampler(*pair, confidence=confidence, **more)
    verdict = "contradicted" if found.contradicted else "not contradicted"
    rows = [(name, verdict if found.claim else "no claim: a lower bound only")]
    rows += [("claim", found.claim)] if found.claim else []
    rows += [("because", found.reason)] if found.reason else []
    rows.append(("epsilon", f"at least {lower(found.epsilon)} at delta = {found.delta_asked:g}"))
    for one in found.events:
        often = f"{one.hits} of {one.outputs} on the {one.likelier_on} input"
        rows.append(("event", f"{one.event}: {often}, {one.false_hits} on the other"))
    data = {"request": given, "audits": {name: found}, "proves_privacy": False}
    title = f"audit, false alarms at most {given['false_alarm']:g}"
    show(title, rows, [_NO_PROOF], data)
    if found.contradicted:
        click.get_current_context().exit(REFUSED)


@options.command
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path())
@options.json_option
def verify(files: tuple[str, ...]) -> None:
    """Certificates: is delta what they say?

    Delta is derived again from the noise, the sensitivity and epsilon, by the accounts of the
    package and where it can by the independent checker. The exit code is 0 if every certificate
    holds, 1 if one is refused, 2 if a file cannot be read. '-' is standard input.

    Example: dpnoise verify certificate.json
    """
    for name in files:
        try:
            with click.open_file(name, "rb"):
                pass
        except OSError as error:
            problems().add(f"{shown(name)}: expected a file to read, got {error.strerror}")
    problems().raise_if_any()
    found = {name: _verified(name) for name in files}
    held = sum(one["holds"] for one in found.values())
    rows = [(shown(name), one["verdict"]) for name, one in found.items()]
    data = {"files": [{"file": name, **one} for name, one in found.items()]}
    title = f"certificates that hold: {held} of {len(found)}"
    show(title, rows, [_NO_SIGNATURE], data)
    if held < len(found):
        click.get_current_context().exit(REFUSED)


@options.command
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
    from dpnoise.noise.exact import as_double_above

    try:
        with click.open_file(name, "rb") as file:
            found = derive_again(Certificate.from_json(file.read(MOST_BYTES + 1)))
    except CertificateError as error:
        return {"holds": False, "verdict": f"refused: {error}", "problem": str(error)}
    one = found.certificate
    low, high = max(0.0, -as_double_above(-one.lower)), as_double_above(one.upper)  # no -0
    also = "" if found.independent else ", not covered by the independent checker"
    names = ("noise", "sensitivity", "relation", "times", "promise")
    return {
        "holds": True,
        "verdict": (
            f"holds: {one.promise} (at most {upper(high)}, at least {lower(low)}, for "
            f"{one.sensitivity!r}); by {' and '.join(found.certified_by)}{also}"
        ),
        **{name: getattr(one, name) for name in names},
        "epsilon": float(one.epsilon),
        "delta": {"lower": str(one.lower), "upper": str(one.upper)},
        "derived": {"lower": str(found.lower), "upper": str(found.upper)},
        "certified_by": list(found.certified_by),
        "independent": found.independent,
        "package_version": one.package_version,
    }
