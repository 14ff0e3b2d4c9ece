"""The commands `dpnoise calibrate`, `allocate` and `profile`: one family, its scales and privacy.

`calibrate` finds noise for a budget, `allocate` divides one budget over the coordinates listed in a
file, `profile` gives the privacy that given noise provides.
"""
# ruff: noqa: PLC0415  (the library is imported when a command runs)

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpnoise._imports import imports_of

with imports_of("cli"):
    import click

from dpnoise.cli import options
from dpnoise.cli.options import NUMBER, WHOLE, Name, Number, needed, option, problems
from dpnoise.cli.output import certified, lower, save, show, upper
from dpnoise.cli.table_file import SENSITIVITIES, read_rows

if TYPE_CHECKING:
    from dpnoise.noise.base import Noise
    from dpnoise.noise.integers import IntegerNoise

_SCALES = {"gaussian": "sigma", "laplace": "beta"}
_EPSILONS = "0.1,0.3,1,3,10"
_TOP = 1e4  # largest epsilon that is found from delta
_CURVE = 60  # points of a figure
_LOWEST = 1e-20  # delta in a figure, if its largest is not below
_MOST_EPSILONS = 1000


_change_option = option(
    "--sensitivity", "S", "Largest change of a coordinate.", NUMBER, callback=needed
)


@click.command()
@click.argument("family", type=Name(options.FAMILIES))
@options.budget_options
@_change_option
@option("--dimension", "K", "Number of coordinates.", WHOLE, default=1)
@options.choice("--method", options.METHODS)
@options.certificate_option
@options.json_option
def calibrate(as_json: bool, family: str, certificate: str | None, **given: Any) -> None:  # noqa: ANN401
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
    certified(found, certificate, relation=relation)
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
    show(title, rows, [], data, as_json=as_json)


@click.command()
@click.argument("file", metavar="FILE.csv", type=click.Path())
@options.budget_options
@options.choice("--noise", options.ALLOCATED)
@options.choice("--scheme", options.SCHEMES)
@option("--power", "P", "Of the error E|T|^P; 2 by default.", Number(low=1.0), default=2.0)
@option("--output", "FILE", "Write name,sensitivity,scale as CSV as well.")
@options.file_options
@options.json_option
def allocate(as_json: bool, file: str, output: str | None, **given: Any) -> None:  # noqa: ANN401
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
    show(title, rows, [f"promise: {data['promise']}"], data, as_json=as_json, header=header)


@click.command()
@click.argument("family", type=Name(options.FAMILIES))
@click.argument("parameters", nargs=-1, metavar="[NAME=NUMBER]...")
@_change_option
@option(
    "--copies",
    "K",
    "Number of coordinates, or of queries, that have this noise and sensitivity.",
    WHOLE,
    default=1,
)
@option("--epsilon", "E[,E...]", f"Where to give delta; {_EPSILONS} by default.")
@option("--delta", "D", "Where to give epsilon instead.", Number(low=0.0, high=1.0, open_high=True))
@options.relation_option
@options.plot_option
@options.json_option
def profile(
    *,
    as_json: bool,
    family: str,
    parameters: tuple[str, ...],
    sensitivity: float,
    copies: int,
    epsilon: str | None,
    delta: float | None,
    relation: str | None,
    plot: str | None,
) -> None:
    """Privacy that given noise provides: delta at epsilon, or epsilon at delta.

    Example: dpnoise profile gaussian sigma=3 --sensitivity 1 --copies 5 --delta 1e-6
    """
    noise = options.read_noise(family, parameters)
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
    assert noise is not None  # noqa: S101  (or refused)
    if delta is not None:
        epsilons = [_epsilon_of(noise, sensitivity, copies, delta)]
    from dpnoise.privacy.vector import vector_profile
    from dpnoise.sensitivity.relation import each_words, neighbours_words

    found = vector_profile(noise, sensitivity, epsilons, copies=copies)
    deltas = found.upper.tolist()
    if delta is not None:
        deltas = [min(deltas[0], delta)]  # both are proved bounds
    if plot:
        _draw(plot, noise, sensitivity, copies, max(epsilons))
    rows = [
        (upper(e, 6) if delta is not None else repr(e), upper(high, 6), lower(low, 6))
        for e, high, low in zip(epsilons, deltas, found.lower.tolist(), strict=True)
    ]
    request = {"noise": noise, "sensitivity": sensitivity, "copies": copies, "relation": relation}
    data = {"request": {**request, "delta": delta}, "epsilon": epsilons, "delta": deltas}
    data["delta_at_least"] = found.lower
    notes = [neighbours_words(relation, each_words(copies, sensitivity))]
    header = ("epsilon", "delta at most", "delta at least")
    title = f"{noise!r}, sensitivity {sensitivity!r}, copies {copies}"
    show(title, rows, notes, data, as_json=as_json, header=header)


def _epsilon_of(
    noise: Noise | IntegerNoise, sensitivity: float, copies: int, delta: float
) -> float:
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


def _draw(
    path: str, noise: Noise | IntegerNoise, sensitivity: float, copies: int, most: float
) -> None:
    """A figure of the upper bound on delta from epsilon = 0 on."""
    import numpy as np

    from dpnoise.privacy.vector import vector_profile

    coarse = np.linspace(0.0, most if most > 0.0 else 1.0, _CURVE)
    seen = vector_profile(noise, sensitivity, coarse, copies=copies).upper >= _LOWEST
    last = min(max(int(np.count_nonzero(seen)), 1), _CURVE - 1)
    grid = np.linspace(0.0, coarse[last], _CURVE)  # to where delta ends
    delta = vector_profile(noise, sensitivity, grid, copies=copies).upper

    def curve(ax: Any) -> None:  # noqa: ANN401
        top = float(delta.max())
        some = delta >= min(_LOWEST, top)
        ax.plot(grid[some], delta[some], color="k")
        if top > 0.0:
            ax.set_yscale("log")
        ax.set_xlabel("epsilon")
        ax.set_ylabel("delta, upper bound")
        ax.set_title(f"{noise!r}, sensitivity {sensitivity:g}, copies {copies}", fontsize="medium")

    save(path, curve)
