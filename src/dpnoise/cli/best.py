"""The commands `dpnoise best`, `compare`, `calibrate`, `allocate` and `profile`: which noise.

`best` and `compare` find noise of any family for a sensitivity set, `calibrate` finds one family's
noise for a budget, `allocate` divides one budget over the coordinates listed in a file, `profile`
gives the privacy that given noise provides.
"""
# ruff: noqa: PLC0415  (the library is imported when a command runs)

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpnoise._imports import imports_of
from dpnoise.cli import options
from dpnoise.cli.options import NUMBER, WHOLE, Name, flag, needed, option, problems, show, upper
from dpnoise.cli.table_file import SENSITIVITIES, read_rows

with imports_of("cli"):
    import click

if TYPE_CHECKING:
    from dpnoise.mechanisms.noise import Mechanism
    from dpnoise.sensitivity.base import Sensitivity

_ACCURACY = ("within", "level", "simultaneous")
_request_options = options.together(
    options.sensitivity_options,
    options.budget_options,
    options.choice(
        "--error", options.ERRORS, "What is to be small: a mean, the largest or the norm."
    ),
    option("--family", None, "Mechanisms of this family only.", Name(options.METHOD_FAMILIES)),
    options.integer_option,
    options.times_option,
)


def _read(given: dict[str, Any]) -> tuple[Sensitivity, dict[str, Any]]:
    """The set and the other arguments of `best` and `compare`; ValueError names every problem."""
    from dpnoise.mechanisms.repeated import read_accuracy
    from dpnoise.privacy.integer_sets import read_parts

    ball, found = options.read_sensitivity(given), problems()
    within = given.get("within")
    sought = within is not None and given["epsilon"] is None
    options.read_budget(1.0 if sought else given["epsilon"], given["delta"], given["relation"])
    accuracy = [name for name in _ACCURACY if within is not None]
    if accuracy:
        read_accuracy(found, given["epsilon"], *(given[name] for name in accuracy))
    elif "level" in given:
        options.PROBABILITY.check("--level", given["level"])
        if given["simultaneous"]:
            found.add("--simultaneous: expected --within beside it, got none")
    if ball is not None and given["integer"]:
        read_parts(found, ball)
    found.raise_if_any()
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


def _left_out(reasons: dict[str, str]) -> list[str]:
    """Notes on mechanisms that are not in the answer, by the reason."""
    notes = []
    for reason in dict.fromkeys(reasons.values()):
        names = "; ".join(name for name, why in reasons.items() if why == reason)
        notes.append(f"left out: {names} ({reason.replace('exhaustive=True', '--exhaustive')})")
    return notes


@options.command
@_request_options
@flag("--exhaustive", "Also mechanisms that take a second or more.")
@option("--within", "T", "Find the least epsilon that keeps each number within T.", NUMBER)
@option(
    "--level",
    "P",
    "Probability of 'within', between 0 and 1.",
    NUMBER,
    default=0.95,
    show_default=True,
)
@flag("--simultaneous", "With --within: all numbers together.")
@options.certificate_option
@options.json_option
def best(exhaustive: bool, certificate: str | None, **given: Any) -> None:  # noqa: ANN401
    """Noise of minimum error for a sensitivity.

    Example: dpnoise best --at-most 3 --of 12 --epsilon 1 --relation add-remove
    """
    ball, arguments = _read(given)
    from dpnoise.mechanisms.compare import best as find

    found = find(ball, exhaustive=exhaustive, **arguments)
    options.certified(found, certificate)
    call = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    call += ", exhaustive=True" * exhaustive
    each, together = (found.interval(given["level"], simultaneous=one)[1] for one in (False, True))
    far = f"{found.request.mean(each):.4g}, each coordinate by itself"
    far += f"; {max(together.tolist()):.4g}, all of them together" if found.dimension > 1 else ""
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
        (f"{100.0 * given['level']:.6g} % within", far),
        *([("epsilon", repr(found.epsilon))] if given["within"] is not None else []),
        ("delta", f"at most {upper(found.delta)}, certified"),
        ("floor", f"{found.request.floor_words} {options.lower(found.floor)}{ratio}"),
        ("promise", found.promise),
        ("in Python", f"best({ball!r}, {call})"),
    ]
    data = {
        "request": _asked(ball, given),
        "epsilon": found.epsilon,
        **_row(found),
        "interval": {"level": given["level"], "each": each, "together": together},
        "left_out": found.left_out,
    }
    title = f"noise of minimum {found.request.error} for {ball!r}"
    show(title, rows, _left_out(found.left_out), data)


@options.command
@_request_options
@click.option("--exhaustive/--quick", default=True, help="Whether to run the slow searches.")
@options.json_option
def compare(exhaustive: bool, **given: Any) -> None:  # noqa: ANN401
    """Every mechanism for a sensitivity, best first.

    Example: dpnoise compare --l2 1 --of 10 --epsilon 1 --delta 1e-6 --relation add-remove --quick
    """
    ball, arguments = _read(given)
    from dpnoise.mechanisms.compare import compare as find

    table = find(ball, exhaustive=exhaustive, **arguments)
    asked = ("error",) * (given["error"] in {"max", "norm"})
    names = (*asked, "std", "mean_abs", "half_width", "variance")
    cells = [[f"{getattr(row, name):.4g}" for name in names] for row in table]
    pairs = zip(table, cells, strict=True)
    rows = [(row.name, *some, upper(row.delta, 3), row.reference) for row, some in pairs]
    notes = [
        "errors are means over the coordinates; delta is a certified upper bound",
        f"floor: {table.request.floor_words} {options.lower(table.floor)}",
        f"promise: {table.promise}",
        *_left_out(table.left_out),
    ]
    budget = f"epsilon = {given['epsilon']!r}, delta = {given['delta']!r}"
    budget += f" for {given['times']} releases together" if (given["times"] or 1) > 1 else ""
    data = {"request": _asked(ball, given), "mechanisms": [_row(row) for row in table]}
    data |= {name: getattr(table, name) for name in ("floor", "promise", "left_out")}
    header = ("mechanism", *asked, "std", "mean |error|", "95 % within", "variance", "delta", "by")
    title = f"noise for {ball!r}, {budget}: best {given['error']} first"
    show(title, rows, notes, data, header=header)


_SCALES = {"gaussian": "sigma", "laplace": "beta"}
_EPSILONS = "0.1,0.3,1,3,10"
_TOP = 1e4  # largest epsilon that is found from delta
_MOST_EPSILONS = 1000


_change_option = option(
    "--sensitivity", "S", "Largest change of a coordinate.", NUMBER, callback=needed
)


@options.command
@click.argument("family", type=Name(options.FAMILIES))
@options.budget_options
@_change_option
@option("--dimension", "K", "How many numbers there are.", WHOLE, default=1)
@options.choice("--method", options.METHODS)
@options.certificate_option
@options.json_option
def calibrate(family: str, certificate: str | None, **given: Any) -> None:  # noqa: ANN401
    """Noise of minimum variance in one family.

    Example: dpnoise calibrate laplace --epsilon 1 --sensitivity 1 --relation add-remove
    """
    from dpnoise.calibration.calibrate import calibrate as find
    from dpnoise.sensitivity.base import LARGEST, SMALLEST
    from dpnoise.sensitivity.relation import each_words, promise

    size, dimension, relation = given["sensitivity"], given["dimension"], given.pop("relation")
    if isinstance(size, str) and "," in size:
        problems().add(
            "--sensitivity: expected one number for all coordinates, "
            f"got {size!r}; dpnoise best and allocate take different ones"
        )
    elif size is not None:
        problems().number("--sensitivity", size, low=SMALLEST, high=LARGEST)
    options.read_budget(given["epsilon"], given["delta"], relation)
    problems().raise_if_any()
    found = find(family, **given)
    options.certified(found, certificate, relation=relation)
    sentence = promise(relation, each_words(dimension, size), given["epsilon"], found.delta)
    call = ", ".join(f"{name}={value!r}" for name, value in given.items())
    limit = f"none of this family has minimum variance; its limit has {found.infimum:.6g}"
    rows = [
        ("noise", repr(found.noise)),
        ("standard deviation", f"{math.sqrt(found.variance):.6g}, of each coordinate"),
        ("variance", f"{found.variance:.6g}, of each coordinate"),
        *([] if found.attained else [("limit", limit)]),
        ("delta", f"at most {upper(found.delta)}, certified by {', '.join(found.certified_by)}"),
        ("promise", sentence),
        ("in Python", f"calibrate({family!r}, {call})"),
    ]
    names = ("noise", "delta", "variance", "method", "attained", "infimum", "certified_by")
    data: dict[str, Any] = {"request": {"family": family, "relation": relation, **given}}
    data |= {**{name: getattr(found, name) for name in names}, "promise": sentence}
    budget = f"epsilon = {given['epsilon']!r}, delta = {given['delta']!r}"
    title = f"{family} noise for sensitivity {size!r}, dimension {dimension}, {budget}"
    show(title, rows, [], data)


@options.command
@click.argument("file", metavar="FILE.csv", type=click.Path())
@options.budget_options
@options.choice("--noise", options.ALLOCATED)
@options.choice("--scheme", options.SCHEMES)
@option("--power", "P", "Of the error E|T|^P; 2 by default.", options.Number(low=1.0), default=2.0)
@option("--output", "FILE", "Write name,sensitivity,scale as CSV as well.")
@options.file_options
@options.json_option
def allocate(file: str, output: str | None, **given: Any) -> None:  # noqa: ANN401
    """Scales of noise for the sensitivities in a CSV file.

    One column of sensitivities, or a column of names before it; a header is optional, and '-' is
    standard input. All coordinates may change together, each by at most its sensitivity.

    Example: dpnoise allocate sensitivities.csv --epsilon 1 --delta 1e-6 --relation replace-one
    """
    asked = {name: given.pop(name) for name in options.FILE}
    relation, power = given.pop("relation"), given.pop("power")
    names, values, columns = read_rows(file, SENSITIVITIES, **asked)
    options.read_budget(given["epsilon"], given["delta"], relation)
    problems().raise_if_any()
    from dpnoise.allocation.allocate import allocate as find
    from dpnoise.sensitivity.relation import own_words, promise

    scales = find(values, p=power, **given).tolist()
    # All digits: a scale that is copied with fewer may be too small.
    rows = [(name, repr(x), repr(y)) for name, x, y in zip(names, values, scales, strict=True)]
    if output:
        with Path(output).open("w", encoding="utf-8", newline="") as target:
            csv.writer(target, lineterminator="\n").writerows([(*columns, "scale"), *rows])
    request = {**given, "power": power, "relation": relation}
    data = {"request": request, "names": names, "sensitivities": values, "scales": scales}
    data["promise"] = promise(relation, own_words(values), given["epsilon"], given["delta"])
    budget = f"epsilon = {given['epsilon']!r}, delta = {given['delta']!r}"
    title = f"{given['noise']} noise, {budget}, scheme {given['scheme']}"
    header = (*columns, _SCALES.get(given["noise"].removeprefix("discrete-"), "scale"))
    show(title, rows, [f"promise: {data['promise']}"], data, header=header)


@options.command
@click.argument("family", type=Name(options.FAMILIES))
@click.argument("parameters", nargs=-1, metavar="[NAME=NUMBER]...")
@_change_option
@option("--copies", "K", "How many coordinates or queries have this noise.", WHOLE, default=1)
@option("--epsilon", "E[,E...]", f"Epsilons to show delta at; {_EPSILONS} by default.")
@option(
    "--delta",
    "D",
    "Show epsilon at this delta instead.",
    options.Number(low=0.0, high=1.0, open_high=True),
)
@options.relation_option
@options.json_option
def profile(family: str, parameters: tuple[str, ...], **given: Any) -> None:  # noqa: ANN401
    """Privacy that given noise provides: delta at epsilon, or epsilon at delta.

    Example: dpnoise profile gaussian sigma=3 --sensitivity 1 --copies 5 --delta 1e-6
    """
    noise = options.read_noise(family, parameters)
    names = ("sensitivity", "copies", "epsilon", "delta")
    sensitivity, copies, epsilon, delta = (given[name] for name in names)
    if sensitivity is not None:
        problems().number("--sensitivity", sensitivity, low=0.0, open_low=True)
    if epsilon is not None and delta is not None:
        problems().add(f"expected --epsilon or --delta, got both: {epsilon} and {delta}")
    epsilons = options.read_numbers("--epsilon", _EPSILONS if epsilon is None else epsilon)
    few = len(epsilons) <= _MOST_EPSILONS
    problems().require(few, "--epsilon", f"at most {_MOST_EPSILONS} values", len(epsilons))
    bad = [value for value in epsilons if not 0.0 <= value <= _TOP]
    problems().require(not bad, "--epsilon", f"numbers in [0, {_TOP:g}]", bad)
    problems().raise_if_any()
    if delta is not None:
        epsilons = [_epsilon_of(noise, sensitivity, copies, delta)]
    from dpnoise.privacy.vector import vector_profile
    from dpnoise.sensitivity.relation import each_words, neighbours_words

    found = vector_profile(noise, sensitivity, epsilons, copies=copies)
    deltas = found.upper.tolist()
    if delta is not None:
        deltas = [min(deltas[0], delta)]  # both are proved bounds
    rows = [
        (upper(e, 6) if delta is not None else repr(e), upper(high, 6), options.lower(low, 6))
        for e, high, low in zip(epsilons, deltas, found.lower.tolist(), strict=True)
    ]
    request = {name: given[name] for name in ("sensitivity", "copies", "relation", "delta")}
    data = {"request": {"noise": noise, **request}, "epsilon": epsilons, "delta": deltas}
    data["delta_at_least"] = found.lower
    notes = [neighbours_words(given["relation"], each_words(copies, sensitivity))]
    header = ("epsilon", "delta at most", "delta at least")
    title = f"{noise!r}, sensitivity {sensitivity!r}, copies {copies}"
    show(title, rows, notes, data, header=header)


def _epsilon_of(noise: Any, sensitivity: float, copies: int, delta: float) -> float:  # noqa: ANN401
    """An epsilon at which all copies keep delta; ValueError if there is none up to 1e4."""
    from dpnoise.privacy.odometer.budget import Budget
    from dpnoise.privacy.profile import epsilon_at

    if copies == 1:
        found = float(epsilon_at(noise, sensitivity, delta))
    else:
        budget = Budget(_TOP, delta)  # alike for both relations
        budget.spend(noise, sensitivity, times=copies, relation=options.RELATIONS[0])
        found = float(budget.epsilon_of())
    if not found <= _TOP:
        message = (
            f"profile: delta: expected one that {noise!r} keeps at sensitivity {sensitivity:g} "
            f"for some epsilon up to {_TOP:g}, got {delta!r}"
        )
        raise ValueError(message)
    return found
