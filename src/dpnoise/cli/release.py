"""The command `dpnoise release`: the values of a file with exact noise."""
# ruff: noqa: PLC0415  (the library is imported when a command runs)

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpnoise._imports import imports_of

with imports_of("cli"):
    import click

from dpnoise.cli.budget import open_budget, state_of
from dpnoise.cli.options import (
    FILE,
    budget_options,
    certificate_option,
    file_options,
    integer_option,
    json_option,
    read_budget,
    read_sensitivity,
    sensitivity_options,
)
from dpnoise.cli.output import Answer, show, upper
from dpnoise.cli.table_file import VALUES, read_rows, shown

if TYPE_CHECKING:
    from dpnoise._validation import Problems
    from dpnoise.sensitivity.base import Sensitivity

_AGAIN = "another release of the same values spends epsilon and delta once more"
_GRID, _WHOLE = "rounded to a grid that does not depend on the values", "whole numbers"


@click.command()
@click.argument("file", metavar="FILE.csv", type=click.Path())
@sensitivity_options
@budget_options
@click.option("-o", "--output", metavar="FILE", help="Write names and values as CSV; needed.")
@integer_option
@certificate_option
@click.option(
    "--budget", "ledger", metavar="FILE", help="Charge the ledger that dpnoise budget wrote."
)
@click.option("--label", default="", metavar="TEXT", help="What the ledger calls the release.")
@click.option("--force", is_flag=True, help="Replace files; a release each time spends again.")
@file_options
@json_option
def release(
    *,
    as_json: bool,
    file: str,
    output: str | None,
    certificate: str | None,
    ledger: str | None,
    label: str,
    force: bool,
    **given: Any,  # noqa: ANN401
) -> None:
    """Values in a CSV file with noise that is drawn exactly.

    One column of values, or a column of public names before it; a header is optional, and '-' is
    standard input. The noise is what `dpnoise best` finds for the sensitivity of all of them
    together. Each release of the same values spends its epsilon and delta again; with --budget the
    ledger is charged before anything is drawn, and a release that it does not allow is refused.
    With --counts and with --integer the values are whole numbers; what is released, too, with
    --integer always and with --counts where that costs at most 1 % of the error.

    Example: dpnoise release counts.csv --at-most 3 --epsilon 1 --relation add-remove -o noisy.csv
    """
    from dpnoise._validation import Problems

    problems, integer = Problems("release"), given["integer"]
    names, values, columns = read_rows(
        problems, file, VALUES, **{name: given.pop(name) for name in FILE}
    )
    budget = open_budget(problems, ledger) if ledger else None
    problems.require(not label or bool(ledger), "--label", "none without --budget", label)
    if budget is not None and budget.relation:
        other = given["relation"] not in {None, budget.relation}
        expected = f"{budget.relation}, that of {ledger}"
        problems.require(not other, "--relation", expected, given["relation"])
        given["relation"] = budget.relation
    ball = read_sensitivity(problems, given, len(values))
    if ball is not None and ball.dimension != len(values):
        problems.add(
            f"sensitivity: expected that of the {len(values)} rows of {shown(file)}, "
            f"got that of {ball.dimension} coordinates"
        )
    read_budget(problems, given["epsilon"], given["delta"], given["relation"])
    targets = {"--output": output, "--certificate": certificate}
    if integer or (integer is None and ball is not None and ball.is_whole):
        _check_integers(problems, ball, values)
    replaced = _check_targets(problems, file, targets, ledger=ledger, force=force)
    problems.raise_if_any()
    assert ball is not None  # noqa: S101  (or refused)
    assert output is not None  # noqa: S101
    from dpnoise.mechanisms.compare import best
    from dpnoise.releases.release import release as draw

    found = best(ball, epsilon=given["epsilon"], delta=given["delta"], integer=integer)
    texts = {}
    if certificate:
        from dpnoise.certificates.certificate import certify

        texts[certificate] = certify(found).to_json()
    noisy = draw(values, found, budget=budget, label=label).value.tolist()
    texts[output] = _table(columns, names, noisy)
    _write(texts)
    rows = [
        ("mechanism", f"{found.name} ({found.reference})"),
        ("noise", repr(found.noise)),
        ("95 % within", f"{found.half_width:.4g}, each value by itself"),
        ("delta", f"at most {upper(found.delta)} at epsilon = {given['epsilon']!r}, certified"),
        ("promise", found.promise),
        ("draws", "exact, " + (_WHOLE if found.whole else _GRID)),
    ]
    if budget is not None:
        rows.append(("budget", state_of(budget)))
    if replaced:
        rows.append(("replaced", f"{' and '.join(replaced)}: {_AGAIN}"))
    title = f"released: {len(noisy)} values, written to {output}"
    asked = {name: given[name] for name in ("epsilon", "delta", "relation")}
    data = {
        "request": {"file": file, "sensitivity": ball, **asked, "integer": found.whole},
        "columns": columns,
        "names": names,
        "values": noisy,
        "noise": found.noise,
        "delta": found.delta,
        "promise": found.promise,
        "half_width": found.half_width,
        "budget": ledger,
        "output": output,
        "certificate": certificate,
        "replaced": replaced,
    }
    show(Answer(title, ("", ""), rows, [], data), as_json=as_json)


def _check_integers(problems: Problems, ball: Sensitivity | None, values: list[float]) -> None:
    """Record of a set or of values that are not for integers; no value is shown."""
    from dpnoise.privacy.integer_points import read_parts

    if ball is not None:
        read_parts(problems, ball)
    bad = sum(not value.is_integer() for value in values)
    if bad:
        problems.add(f"values: expected integers with --integer, got {bad} that are not")


def _check_targets(
    problems: Problems,
    file: str,
    targets: dict[str, str | None],
    *,
    ledger: str | None,
    force: bool,
) -> list[str]:
    """The files that will be replaced; those that cannot or must not be written are recorded."""
    if targets["--output"] is None:
        problems.add("--output: expected a file to write, got nothing")
    taken = {} if file == "-" else {Path(file).resolve(): "the file of the values"}
    if ledger:
        taken[Path(ledger).resolve()] = "the ledger"
    replaced = []
    for option, target in targets.items():
        if target is None:
            continue
        path = Path(target).resolve()
        other = next((what for one, what in taken.items() if _same(path, one)), "")
        if other:
            problems.add(f"{option}: expected another file than {other}")
        elif not _can_hold(path) or target == "-":
            problems.add(f"{option}: expected a file in a folder to write to, got {target!r}")
        elif path.exists() and not force:
            problems.add(
                f"{option}: expected a file that is not there yet, got {target!r}; {_AGAIN} "
                "(--force replaces the file)"
            )
        elif path.exists():
            replaced.append(target)
        taken[path] = f"that of {option}"
    return replaced


def _same(path: Path, other: Path) -> bool:
    """Whether two paths are one file, be it there or not."""
    return path == other or (path.exists() and other.exists() and path.samefile(other))


def _can_hold(path: Path) -> bool:
    """Whether a file can be written there."""
    return not path.is_dir() and path.parent.is_dir() and os.access(path.parent, os.W_OK)


def _table(columns: tuple[str, str], names: list[str], values: list[float] | list[int]) -> str:
    """The released values as CSV."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows((name, repr(value)) for name, value in zip(names, values, strict=True))
    return text.getvalue()


def _write(texts: dict[str, str]) -> None:
    """Write all files, each beside its place first, so that none is left half-written."""
    drafts: list[tuple[Path, str]] = []
    try:
        for target, text in texts.items():
            draft = Path(f"{target}.part")
            with draft.open("x", encoding="utf-8", newline="") as file:
                drafts.append((draft, target))
                file.write(text)
        for draft, target in drafts:
            draft.replace(target)
    finally:
        for draft, _ in drafts:
            draft.unlink(missing_ok=True)
