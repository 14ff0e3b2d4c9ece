"""The commands `dpnoise best` and `dpnoise compare`: which noise for a sensitivity set."""
# ruff: noqa: PLC0415  (the library is imported when a command runs)

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpnoise._imports import imports_of

with imports_of("cli"):
    import click

from dpnoise.cli import options
from dpnoise.cli.options import NUMBER, PROBABILITY, option, problems
from dpnoise.cli.output import certified, lower, save, show, upper

if TYPE_CHECKING:
    from dpnoise.mechanisms.noise import Mechanism
    from dpnoise.sensitivity.base import Sensitivity

_ACCURACY = ("within", "level", "simultaneous")
_request_options = options.together(
    options.sensitivity_options,
    options.budget_options,
    options.choice(
        "--error",
        options.ERRORS,
        "What is to be small: a mean over the coordinates, the largest error or the norm.",
    ),
    click.option(
        "--family",
        type=options.Name(options.METHOD_FAMILIES),
        help="Mechanisms of this family of noise only, all of them.",
    ),
    options.integer_option,
    option("--times", "N", "Noise of N releases that keep it together.", options.WHOLE),
)


def _read(given: dict[str, Any]) -> tuple[Sensitivity, dict[str, Any]]:
    """The set and the other arguments of `best` and `compare`; ValueError names every problem."""
    from dpnoise.mechanisms.accuracy import read_accuracy
    from dpnoise.privacy.integer_points import read_parts

    ball, found = options.read_sensitivity(given), problems()
    within = given.get("within")
    sought = within is not None and given["epsilon"] is None
    options.read_budget(1.0 if sought else given["epsilon"], given["delta"], given["relation"])
    accuracy = [name for name in _ACCURACY if within is not None]
    if accuracy:
        read_accuracy(found, given["epsilon"], *(given[name] for name in accuracy))
    elif "level" in given:
        PROBABILITY.check("--level", given["level"])
        if given["simultaneous"]:
            found.add("--simultaneous: expected --within beside it, got none")
    if ball is not None and given["integer"]:
        read_parts(found, ball)
    found.raise_if_any()
    assert ball is not None  # noqa: S101  (or refused)
    more = [name for name in ("family", "integer", "times") if given.get(name) is not None]
    names = (*(accuracy or ["epsilon"]), "delta", "error", *more)
    return ball, {name: given[name] for name in names}


def _asked(ball: Sensitivity, given: dict[str, Any]) -> dict[str, Any]:
    """The request as data."""
    names = ["epsilon", "delta", "error", "relation", "family", "integer"]
    names += [name for name in _ACCURACY if name in given]
    asked = {"sensitivity": ball, "dimension": ball.dimension, **{k: given[k] for k in names}}
    return asked | {"times": given["times"] or 1}


def _row(found: Mechanism) -> dict[str, Any]:
    """A mechanism as data."""
    names = (
        *("name", "reference", "noise", "delta", "error", "variance", "variances"),
        *("std", "mean_abs", "half_width", "floor", "ratio", "optimal", "promise"),
    )
    return {name: getattr(found, name) for name in names}


def _within(found: Mechanism, level: float) -> tuple[str, str]:
    """How far numbers are off, in words."""
    words = f"{found.request.mean(found.interval(level)[1]):.4g}, each coordinate by itself"
    if found.dimension > 1:
        most = max(found.interval(level, simultaneous=True)[1].tolist())
        words += f"; {most:.4g}, all of them together"
    return f"{100.0 * level:.6g} % within", words


def _left_out(reasons: dict[str, str]) -> list[str]:
    """Notes on mechanisms that are not in the answer, by the reason."""
    notes = []
    for reason in dict.fromkeys(reasons.values()):
        names = ", ".join(name for name, why in reasons.items() if why == reason)
        notes.append(f"left out: {names} ({reason.replace('exhaustive=True', '--exhaustive')})")
    return notes


@click.command()
@_request_options
@click.option("--exhaustive", is_flag=True, help="Also mechanisms that take a second or more.")
@option(
    "--within",
    "T",
    "In the place of --epsilon: the least epsilon that keeps each number within T.",
    NUMBER,
)
@option(
    "--level",
    None,
    "The probability of --within, and of what is shown.",
    NUMBER,
    default=0.95,
    show_default=True,
)
@click.option("--simultaneous", is_flag=True, help="With --within: all numbers together.")
@options.certificate_option
@options.json_option
def best(as_json: bool, exhaustive: bool, certificate: str | None, **given: Any) -> None:  # noqa: ANN401
    """Noise of minimum error for a sensitivity.

    Example: dpnoise best --at-most 3 --of 12 --epsilon 1 --relation add-remove
    """
    ball, arguments = _read(given)
    from dpnoise.mechanisms.compare import best as find

    found = find(ball, exhaustive=exhaustive, **arguments)
    certified(found, certificate)
    call = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    call += ", exhaustive=True" * exhaustive
    # The error that was asked for, where no other line has it.
    asked = {"max": "largest error", "norm": "norm"}.get(found.request.error)
    ratio = f"; ratio {found.ratio:.4g}" if found.floor > 0.0 else ""
    ratio = "; optimal, ratio 1.000" if found.optimal else ratio
    rows = [
        ("mechanism", f"{found.name} ({found.reference})"),
        ("noise", repr(found.noise)),
        ("standard deviation", f"{found.std:.4g}"),
        ("variance", f"{found.variance:.4g}, mean over {ball.dimension} coordinates"),
        *([(asked, f"{found.error:.4g}, expected")] if asked else []),
        _within(found, given["level"]),
        ("delta", f"at most {upper(found.delta)}, certified"),
        ("floor", f"{found.request.floor_words} {lower(found.floor)}{ratio}"),
        ("promise", found.promise),
        ("in Python", f"best({ball!r}, {call})"),
    ]
    ends = {one: found.interval(given["level"], simultaneous=one)[1] for one in (False, True)}
    data = {
        "request": _asked(ball, given),
        "epsilon": found.epsilon,
        **_row(found),
        "interval": {"level": given["level"], "each": ends[False], "together": ends[True]},
        "left_out": found.left_out,
    }
    title = f"noise of minimum {found.request.error} for {ball!r}"
    show(title, rows, _left_out(found.left_out), data, as_json=as_json)


@click.command()
@_request_options
@click.option("--exhaustive/--quick", default=True, help="Whether to run the slow searches.")
@options.plot_option
@options.json_option
def compare(as_json: bool, exhaustive: bool, plot: str | None, **given: Any) -> None:  # noqa: ANN401
    """Every mechanism for a sensitivity, best first.

    Example: dpnoise compare --l2 1 --of 10 --epsilon 1 --delta 1e-6 --relation add-remove --quick
    """
    ball, arguments = _read(given)
    from dpnoise.mechanisms.compare import compare as find

    table = find(ball, exhaustive=exhaustive, **arguments)
    if plot:
        save(plot, table.plot)
    asked = ("error",) * (given["error"] in {"max", "norm"})
    names = (*asked, "std", "mean_abs", "half_width", "variance")
    rows = [
        (
            row.name,
            *(f"{getattr(row, name):.4g}" for name in names),
            upper(row.delta, 3),
            row.reference,
        )
        for row in table
    ]
    notes = [
        "errors are means over the coordinates; delta is a certified upper bound",
        f"floor: {table.request.floor_words} {lower(table.floor)}",
        f"promise: {table.promise}",
        *_left_out(table.left_out),
    ]
    budget = f"epsilon = {given['epsilon']!r}, delta = {given['delta']!r}"
    budget += f" for {given['times']} releases together" if (given["times"] or 1) > 1 else ""
    data = {"request": _asked(ball, given), "mechanisms": [_row(row) for row in table]}
    data |= {name: getattr(table, name) for name in ("floor", "promise", "left_out")}
    header = ("mechanism", *asked, "std", "mean |error|", "95 % within", "variance", "delta", "by")
    title = f"noise for {ball!r}, {budget}: best {given['error']} first"
    show(title, rows, notes, data, as_json=as_json, header=header)
