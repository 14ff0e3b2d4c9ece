"""The command `dpnoise budget`: a privacy budget whose ledger lives in a file."""
# ruff: noqa: PLC0415  (the library is imported when a command runs)

from __future__ import annotations

from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from dpnoise._imports import imports_of

with imports_of("cli"):
    import click

from dpnoise.cli.options import NUMBER, json_option, option, problems, read_budget, relation_option
from dpnoise.cli.output import lower, show, upper

if TYPE_CHECKING:
    from dpnoise.privacy.odometer.budget import Budget

_SHOWN = 100  # characters of what was released


def open_budget(path: str) -> Budget | None:
    """The budget of a ledger; None, with a problem recorded, if it cannot be had."""
    from dpnoise.privacy.odometer.budget import Budget

    if not Path(path).is_file():
        expected = "a ledger that 'dpnoise budget FILE --epsilon E' has begun"
        problems().add(f"budget: expected {expected}, got {path!r}")
        return None
    try:
        return Budget.open(path)
    except (ValueError, RuntimeError) as error:
        problems().add(str(error))
        return None


def state_of(budget: Budget) -> str:
    """What was spent and what is left, in words."""
    spent, left = upper(budget.epsilon_of()), lower(budget.remaining())
    limit = "" if budget.epsilon is None else f" of {budget.epsilon!r}"
    rest = "" if budget.rho_left is None else f", rho = {budget.rho_left!r} of {budget.rho!r}"
    return (
        f"epsilon = {spent}{limit} spent at delta = {budget.delta!r}; "
        f"left without delta: epsilon = {left}{rest}"
    )


@click.command()
@click.argument("ledger", metavar="LEDGER.json", type=click.Path())
@option("--epsilon", "E", "Of a new budget, from 0 to 1e4.", NUMBER)
@option("--delta", "D", "Of a new budget, below 1; 0 by default.", NUMBER)
@relation_option
@json_option
def budget(
    *,
    as_json: bool,
    ledger: str,
    epsilon: Any,  # noqa: ANN401
    delta: Any,  # noqa: ANN401
    relation: str | None,
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
        read_budget(epsilon, delta, relation)
        if Path(ledger).exists():
            problems().add(f"ledger: expected a file that is not there yet, got {ledger!r}")
        problems().raise_if_any()
        found = Budget.create(ledger, epsilon, delta, relation=relation)
    problems().raise_if_any()
    assert found is not None  # noqa: S101  (or refused)
    names = ("date", "label", "times", "what")
    entries = [{name: getattr(one, name) for name in names} for one in found.entries]
    rows = [[shorten(f"{x}", _SHOWN, placeholder=" ...") for x in one.values()] for one in entries]
    data = {name: getattr(found, name) for name in ("epsilon", "delta", "relation", "adaptive")}
    data |= {"entries": entries, "spent": found.epsilon_of(), "left": found.remaining()}
    title = f"budget of {ledger}: epsilon = {found.epsilon!r}, delta = {found.delta!r}"
    title += f", {found.relation}" if found.relation else ""
    show(title, rows, [state_of(found)], data, as_json=as_json, header=names)
