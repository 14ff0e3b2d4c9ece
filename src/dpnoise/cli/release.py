"""The commands `dpnoise release`, exact noise for a file, and `dpnoise budget`, its ledger."""
# ruff: noqa: PLC0415  (the library is imported when a command runs)

from __future__ import annotations

import csv
import io
import os
from itertools import compress
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from dpnoise._imports import imports_of
from dpnoise.cli import options
from dpnoise.cli.options import NUMBER, lower, option, problems, show, upper
from dpnoise.cli.table_file import VALUES, read_rows, shown

with imports_of("cli"):
    import click

if TYPE_CHECKING:
    from dpnoise.privacy.odometer.budget import Budget

_AGAIN = "another release of the same values spends epsilon and delta once more"
_GRID, _WHOLE = "rounded to a grid that does not depend on the values", "whole numbers"


@options.command
@click.argument("file", metavar="FILE.csv", type=click.Path())
@options.sensitivity_options
@options.budget_options
@option("-o --output", "FILE", "Write names and values as CSV; needed.")
@options.integer_option
@options.times_option
@options.certificate_option
@option("--budget ledger", "FILE", "Charge the ledger that dpnoise budget wrote.")
@option("--label", "TEXT", "What the ledger calls the release.", default="")
@options.flag("--force", "Replace files; a release each time spends again.")
@options.file_options
@options.json_option
def release(file: str, **given: Any) -> None:  # noqa: ANN401
    """Values in a CSV file with noise that is drawn exactly.

    One column of values, or a column of public names before it; a header is optional, and '-' is
    standard input. The noise is what `dpnoise best` finds for the sensitivity of all of them
    together. Each release of the same values spends its epsilon and delta again; with --budget the
    ledger is charged before anything is drawn, and a release that it does not allow is refused.
    With --times N the noise is for N releases like this one, which keep epsilon and delta together;
    the ledger is charged for this one. With --counts and with --integer the values are whole
    numbers; what is released, too, with --integer always and with --counts where that costs at most
    1 % of the error.

    Example: dpnoise release counts.csv --at-most 3 --epsilon 1 --relation add-remove -o noisy.csv
    """
    wrong, integer, label, ledger = (problems(), *map(given.pop, ("integer", "label", "ledger")))
    targets = {f"--{name}": given.pop(name) for name in ("output", "certificate")}
    output, certificate = targets.values()
    asked = {name: given.pop(name) for name in options.FILE}
    names, values, columns = read_rows(file, VALUES, **asked)
    budget = open_budget(ledger) if ledger else None
    wrong.require(not label or bool(ledger), "--label", "none without --budget", label)
    if budget is not None and budget.relation:
        other = given["relation"] not in {None, budget.relation}
        expected = f"{budget.relation}, that of {ledger}"
        wrong.require(not other, "--relation", expected, given["relation"])
        given["relation"] = budget.relation
    ball = options.read_sensitivity(given, len(values))
    if ball is not None and ball.dimension != len(values):
        wrong.add(
            f"sensitivity: expected that of the {len(values)} rows of {shown(file)}, "
            f"got that of {ball.dimension} coordinates"
        )
    unread = options.RELATIONS[0] if ledger and budget is None else None  # the ledger has it
    options.read_budget(given["epsilon"], given["delta"], given["relation"] or unread)
    if integer or (integer is None and ball is not None and ball.is_whole):
        from dpnoise.privacy.integer_sets import read_parts

        if ball is not None:
            read_parts(wrong, ball)
        bad = sum(not value.is_integer() for value in values)
        if bad:  # no value is shown
            flag = "--integer" if integer else "--counts (--no-integer takes others)"
            wrong.add(f"values: expected integers with {flag}, got {bad} that are not")
    replaced = _check_targets(file, targets, ledger, force=given["force"])
    wrong.raise_if_any()
    assert output is not None  # noqa: S101
    from dpnoise.certificates.certificate import certify
    from dpnoise.mechanisms.compare import best
    from dpnoise.releases.release import release as draw

    times = given["times"] or 1
    asked = {name: given[name] for name in ("epsilon", "delta")}
    found = best(ball, **asked, integer=integer, times=times)
    texts = {certificate: certify(found).to_json()} if certificate else {}
    noisy = draw(values, found, budget=budget, label=label).value.tolist()
    text = io.StringIO(newline="")
    rows: Any = zip(names, map(repr, noisy), strict=True)
    csv.writer(text, lineterminator="\n").writerows([columns, *rows])
    _write({**texts, output: text.getvalue()})
    rows = [
        ("mechanism", f"{found.name} ({found.reference})"),
        ("noise", repr(found.noise)),
        ("95 % within", f"{found.half_width:.4g}, each value by itself"),
        ("delta", f"at most {upper(found.delta)} at epsilon = {given['epsilon']!r}, certified"),
        ("promise", found.promise),
        ("draws", "exact, " + (_WHOLE if found.whole else _GRID)),
        *([("budget", state_of(budget))] if budget is not None else []),
        *([("replaced", f"{' and '.join(replaced)}: {_AGAIN}")] if replaced else []),
    ]
    request = {**asked, "relation": given["relation"], "times": times}
    data = {
        "request": {"file": file, "sensitivity": ball, **request, "integer": found.whole},
        "columns": columns,
        "names": names,
        "values": noisy,
        **{name: getattr(found, name) for name in ("noise", "delta", "promise", "half_width")},
        "budget": ledger,
        "output": output,
        "certificate": certificate,
        "replaced": replaced,
    }
    title = f"released: {len(noisy)} values, written to {output}"
    show(title, rows, [], data)


def _check_targets(
    file: str, targets: dict[str, str | None], ledger: str | None, *, force: bool
) -> list[str]:
    """The files that will be replaced; those that cannot or must not be written are recorded."""
    wrong = problems()
    if targets["--output"] is None:
        wrong.add("--output: expected a file to write, got nothing")
    taken = {} if file == "-" else {Path(file).resolve(): "the file of the values"}
    if ledger:
        taken[Path(ledger).resolve()] = "the ledger"
    replaced = []
    for flag, target in targets.items():
        if target is None:
            continue
        path = Path(target).resolve()
        here = path.exists()
        same = [one == path or (here and one.exists() and one.samefile(path)) for one in taken]
        other = next(compress(taken.values(), same), "")
        folder = path.parent.is_dir() and os.access(path.parent, os.W_OK) and not path.is_dir()
        if other:
            wrong.add(f"{flag}: expected another file than {other}")
        elif not folder or target == "-":
            wrong.add(f"{flag}: expected a file in a folder to write to, got {target!r}")
        elif here and not force:
            wrong.add(
                f"{flag}: expected a file that is not there yet, got {target!r}; {_AGAIN} "
                "(--force replaces the file)"
            )
        elif here:
            replaced.append(target)
        taken[path] = f"that of {flag}"
    return replaced


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


_SHOWN = 100  # characters of what was released


def open_budget(path: str) -> Any:  # noqa: ANN401
    """The budget of a ledger; None, with a problem recorded, if it cannot be had."""
    from dpnoise.privacy.odometer.budget import Budget

    if not Path(path).is_file():
        expected = "a ledger that 'dpnoise budget FILE --epsilon E' has begun"
        return problems().add(f"budget: expected {expected}, got {path!r}")
    try:
        return Budget.open(path)
    except (ValueError, RuntimeError) as error:
        return problems().add(str(error))  # which names the file


def state_of(budget: Budget) -> str:
    """What was spent and what is left, in words."""
    spent, left = upper(budget.epsilon_of()), lower(budget.remaining())
    limit = "" if budget.epsilon is None else f" of {budget.epsilon!r}"
    rest = "" if budget.rho_left is None else f", rho = {budget.rho_left!r} of {budget.rho!r}"
    return (
        f"epsilon = {spent}{limit} spent at delta = {budget.delta!r}; "
        f"left without delta: epsilon = {left}{rest}"
    )


@options.command
@click.argument("ledger", metavar="LEDGER.json", type=click.Path())
@option("--epsilon", "E", "Of a new budget, from 0 to 1e4.", NUMBER)
@option("--delta", "D", "Of a new budget, below 1; 0 by default.", NUMBER)
@options.relation_option
@options.flag("--statement", "Print the page for the privacy officer.")
@options.json_option
def budget(
    ledger: str,
    epsilon: Any,  # noqa: ANN401
    delta: Any,  # noqa: ANN401
    relation: str | None,
    statement: bool,
) -> None:
    """What was released under a budget, and what is left of it.

    With --epsilon a new budget is written, to a file that is not there yet. `dpnoise release
    --budget` charges it, before anything is drawn.

    Example: dpnoise budget ledger.json --epsilon 1 --delta 1e-6 --relation add-remove
    """
    from dpnoise.privacy.odometer.budget import Budget

    if epsilon is None:
        for name, value in (("--delta", delta), ("--relation", relation)):
            expected = "none without --epsilon, which begins one"
            problems().require(value is None, name, expected, value)
        found = open_budget(ledger)
    else:
        delta = 0.0 if delta is None else delta
        options.read_budget(epsilon, delta, relation)
        if Path(ledger).exists():
            problems().add(f"ledger: expected a file that is not there yet, got {ledger!r}")
        problems().raise_if_any()
        found = Budget.create(ledger, epsilon, delta, relation=relation)
    problems().raise_if_any()
    names = ("date", "label", "times", "what")
    entries = [{name: getattr(one, name) for name in names} for one in found.entries]
    rows = [[shorten(f"{x}", _SHOWN, placeholder=" ...") for x in one.values()] for one in entries]
    data = {name: getattr(found, name) for name in ("epsilon", "delta", "relation", "adaptive")}
    data |= {"entries": entries, "spent": found.epsilon_of(), "left": found.remaining()}
    if statement:
        data["statement"] = str(found.statement())
        show(data["statement"], [], [], data)
        return
    title = f"budget of {ledger}: epsilon = {found.epsilon!r}, delta = {found.delta!r}"
    title += f", {found.relation}" if found.relation else ""
    show(title, rows, [state_of(found)], data, header=names)
