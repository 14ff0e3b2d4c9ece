"""The command `dpnoise audit`: a lower bound on the epsilon of a sampler from its outputs."""
# ruff: noqa: PLC0415  (the library is imported when a command runs)

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpnoise._extras import imports_of

with imports_of("cli"):
    import click

from dpnoise.cli.names import FAMILIES
from dpnoise.cli.noise_words import read_noise
from dpnoise.cli.options import Name, Number, Whole, json_option
from dpnoise.cli.output import Answer, lower, show
from dpnoise.cli.outputs_file import read_outputs

if TYPE_CHECKING:
    from dpnoise._validation import Problems
    from dpnoise.auditing.audit import Audit

CONTRADICTED = 1  # exit code
_NO_PROOF = "a claim that is not contradicted is not proved: privacy rests on proofs, not on audits"
_BUDGET = {"epsilon": 1.0, "delta": 1e-6}  # of all families


@click.command()
@click.argument("family", type=Name(FAMILIES), required=False)
@click.argument("parameters", nargs=-1, metavar="[NAME=NUMBER]...")
@click.option("--sensitivity", type=Number(), metavar="S", help="Largest change of the number.")
@click.option(
    "--outputs",
    nargs=2,
    metavar="FIRST.csv SECOND.csv",
    help="Outputs of any sampler on two neighbouring inputs, one a row, instead of a family.",
)
@click.option("--families", is_flag=True, help="All families, for one budget, instead of one.")
@click.option("--epsilon", type=Number(), metavar="E", help="The claimed epsilon.")
@click.option("--delta", type=Number(), metavar="D", help="The claimed delta; 0 by default.")
@click.option(
    "--false-alarm",
    type=Number(),
    default=0.001,
    show_default=True,
    metavar="A",
    help="How likely a true claim is contradicted, at most, in one call of this command.",
)
@click.option("--size", type=Whole(), metavar="N", help="How many draws; a million by default.")
@click.option("--seed", type=Whole(), metavar="SEED", help="Of the draws; 0 by default.")
@json_option
def audit(as_json: bool, **given: Any) -> None:  # noqa: ANN401
    """Lower bound on the epsilon of a sampler, and whether it contradicts a claim.

    The exit code is 1 if the claim is contradicted, else 0.

    Example: dpnoise audit gaussian sigma=4 --sensitivity 1
    """
    from dpnoise._validation import Problems

    problems = Problems("audit")
    kinds = ("family", "outputs", "families")
    stated = [kind for kind in kinds if given[kind]]
    if len(stated) != 1:
        got = " and ".join(stated) or "none"
        problems.add(f"audit of what: expected one of FAMILY, --outputs, --families, got {got}")
    for name in (
        *(("sensitivity", "parameters") if "family" not in stated else ()),
        *(("size", "seed") if "outputs" in stated else ()),
    ):
        if given[name] not in (None, ()):
            problems.add(f"{name}: expected none beside {stated or 'nothing'}, got {given[name]!r}")
    problems.number(
        "--false-alarm", given["false_alarm"], low=0.0, high=1.0, open_low=True, open_high=True
    )
    run = {"family": _of_family, "outputs": _of_outputs, "families": _of_families}
    found = run[stated[0] if stated else "families"](problems, given)
    title = f"audit, false alarms at most {given['false_alarm']:g}"
    rows = [row for name, one in found.items() for row in _rows(name, one)]
    data = {"request": given, "audits": found, "proves_privacy": False}
    show(Answer(title, ("", ""), rows, [_NO_PROOF], data), as_json=as_json)
    if any(one.contradicted for one in found.values()):
        click.get_current_context().exit(CONTRADICTED)


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


def _of_families(problems: Problems, given: dict[str, Any]) -> dict[str, Audit]:
    """Audit of all families."""
    from dpnoise.auditing.families import audit_families

    problems.raise_if_any()
    options = _given(given, "epsilon", "delta", "false_alarm", "size", "seed")
    return audit_families(**{**_BUDGET, **options})


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
