"""The commands `dpnoise best` and `dpnoise compare`: which noise for a sensitivity set."""
# ruff: noqa: PLC0415  (the library is imported when a command runs)

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpnoise._imports import imports_of

with imports_of("cli"):
    import click

from dpnoise.cli.options import (
    ERRORS,
    METHOD_FAMILIES,
    NUMBER,
    WHOLE,
    Name,
    budget_options,
    certificate_option,
    integer_option,
    json_option,
    plot_option,
    read_budget,
    read_sensitivity,
    require_name,
    sensitivity_options,
)
from dpnoise.cli.output import Answer, lower, save, show, upper

if TYPE_CHECKING:
    from dpnoise.mechanisms.noise import Mechanism
    from dpnoise.sensitivity.base import Sensitivity

_error_option = click.option(
    "--error",
    type=Name(ERRORS),
    default=ERRORS[0],
    show_default=True,
    help="What is to be small: a mean over the coordinates, the largest error or the norm.",
)

_ACCURACY = ("within", "level", "simultaneous")
_OPEN = {"open_low": True, "open_high": True}

_family_option = click.option(
    "--family",
    type=Name(METHOD_FAMILIES),
    help="Mechanisms of this family of noise only, all of them.",
)


def _read(name: str, given: dict[str, Any]) -> tuple[Sensitivity, dict[str, Any]]:
    """The set and the other arguments of `best` and `compare`; ValueError names every problem."""
    from dpnoise._validation import Problems
    from dpnoise.mechanisms.accuracy import read_accuracy
    from dpnoise.privacy.integer_points import read_parts

    problems = Problems(name)
    ball = read_sensitivity(problems, given)
    within = given.get("within")
    sought = within is not None and given["epsilon"] is None
    read_budget(problems, 1.0 if sought else given["epsilon"], given["delta"], given["relation"])
    accuracy = [name for name in _ACCURACY if within is not None]
    if accuracy:
        read_accuracy(problems, given["epsilon"], *(given[name] for name in accuracy))
    elif "level" in given:
        problems.number("--level", given["level"], low=0.0, high=1.0, **_OPEN)
        if given["simultaneous"]:
            problems.add("--simultaneous: expected --within beside it, got none")
    require_name(problems, "error", given["error"], ERRORS)
    if given["family"] is not None:
        require_name(problems, "family", given["family"], METHOD_FAMILIES)
    times = given["times"]
    good = times is None or (isinstance(times, int) and times >= 1)
    problems.require(good, "--times", "a whole number of at least 1", times)
    if ball is not None and given["integer"]:
        read_parts(problems, ball)
    problems.raise_if_any()
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


def _ratio(found: Mechanism) -> str:
    """How far the noise is from the floor, in words."""
    if found.optimal:
        return "; optimal, ratio 1.000"
    return f"; ratio {found.ratio:.4g}" if found.floor > 0.0 else ""


def _asked_error(found: Mechanism) -> list[tuple[str, str]]:
    """The error that was asked for, where no other line has it."""
    names = {"max": "largest error", "norm": "norm"}
    name = names.get(found.request.error)
    return [(name, f"{found.error:.4g}, expected")] if name else []


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


_times_option = click.option(
    "--times", type=WHOLE, metavar="N", help="Noise of N releases that keep it together."
)


@click.command()
@sensitivity_options
@budget_options
@_error_option
@_family_option
@integer_option
@click.option("--exhaustive", is_flag=True, help="Also mechanisms that take a second or more.")
@_times_option
@click.option(
    "--within",
    type=NUMBER,
    metavar="T",
    help="In the place of --epsilon: the least epsilon that keeps each number within T.",
)
@click.option(
    "--level",
    type=NUMBER,
    default=0.95,
    show_default=True,
    help="The probability of --within, and of what is shown.",
)
@click.option("--simultaneous", is_flag=True, help="With --within: all numbers together.")
@certificate_option
@json_option
def best(as_json: bool, exhaustive: bool, **given: Any) -> None:  # noqa: ANN401
    """Noise of minimum error for a sensitivity.

    Example: dpnoise best --at-most 3 --of 12 --epsilon 1 --relation add-remove
    """
    certificate = given["certificate"]
    ball, arguments = _read("best", given)
    from dpnoise.mechanisms.compare import best as find

    found = find(ball, exhaustive=exhaustive, **arguments)
    if certificate:
        from dpnoise.certificates.certificate import certify

        certify(found).write(certificate)
    more = ", exhaustive=True" if exhaustive else ""
    call = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    rows = [
        ("mechanism", f"{found.name} ({found.reference})"),
        ("noise", repr(found.noise)),
        ("standard deviation", f"{found.std:.4g}"),
        ("variance", f"{found.variance:.4g}, mean over {ball.dimension} coordinates"),
        *_asked_error(found),
        _within(found, given["level"]),
        ("delta", f"at most {upper(found.delta)}, certified"),
        ("floor", f"{found.request.floor_words} {lower(found.floor)}{_ratio(found)}"),
        ("promise", found.promise),
        ("in Python", f"best({ball!r}, {call}{more})"),
    ]
    title = f"noise of minimum {found.request.error} for {ball!r}"
    ends = {one: found.interval(given["level"], simultaneous=one)[1] for one in (False, True)}
    data = {
        "request": _asked(ball, given),
        "epsilon": found.epsilon,
        **_row(found),
        "interval": {"level": given["level"], "each": ends[False], "together": ends[True]},
        "left_out": found.left_out,
    }
    show(Answer(title, ("", ""), rows, _left_out(found.left_out), data), as_json=as_json)


@click.command()
@sensitivity_options
@budget_options
@_error_option
@_family_option
@integer_option
@click.option("--exhaustive/--quick", default=True, help="Whether to run the slow searches.")
@_times_option
@plot_option
@json_option
def compare(as_json: bool, exhaustive: bool, plot: str | None, **given: Any) -> None:  # noqa: ANN401
    """Every mechanism for a sensitivity, best first.

    Example: dpnoise compare --l2 1 --of 10 --epsilon 1 --delta 1e-6 --relation add-remove --quick
    """
    ball, arguments = _read("compare", given)
    from dpnoise.mechanisms.compare import compare as find

    table = find(ball, exhaustive=exhaustive, **arguments)
    if plot:
        save(plot, table.plot)
    asked = ("error",) if given["error"] in {"max", "norm"} else ()
    header = ("mechanism", *asked, "std", "mean |error|", "95 % within", "variance", "delta", "by")
    rows = [
        (
            row.name,
            *(f"{row.error:.4g}" for _ in asked),
            *(f"{x:.4g}" for x in (row.std, row.mean_abs, row.half_width, row.variance)),
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
    title = f"noise for {ball!r}, {budget}: best {given['error']} first"
    data = {
        "request": _asked(ball, given),
        "mechanisms": [_row(row) for row in table],
        "floor": table.floor,
        "promise": table.promise,
        "left_out": table.left_out,
    }
    show(Answer(title, header, rows, notes, data), as_json=as_json)
