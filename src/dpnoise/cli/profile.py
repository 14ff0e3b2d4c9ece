"""The command `dpnoise profile`: the privacy that given noise provides."""
# ruff: noqa: PLC0415  (the library is imported when a command runs)

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpnoise._extras import imports_of

with imports_of("cli"):
    import click

from dpnoise.cli.names import FAMILIES, RELATIONS, require_name
from dpnoise.cli.noise_words import read_noise
from dpnoise.cli.options import (
    Name,
    Number,
    Whole,
    json_option,
    plot_option,
    read_numbers,
    relation_option,
)
from dpnoise.cli.output import Answer, lower, show, upper

if TYPE_CHECKING:
    from dpnoise.noise.base import Noise
    from dpnoise.noise.integers import IntegerNoise

_EPSILONS = "0.1,0.3,1,3,10"
_TOP = 1e4  # largest epsilon that is found from delta
_CURVE = 60  # points of a figure
_LOWEST = 1e-20  # delta in a figure, if its largest is not below
_MOST_EPSILONS = 1000


@click.command()
@click.argument("family", type=Name(FAMILIES))
@click.argument("parameters", nargs=-1, metavar="[NAME=NUMBER]...")
@click.option("--sensitivity", type=Number(), metavar="S", help="Largest change of a coordinate.")
@click.option(
    "--copies",
    type=Whole(),
    default=1,
    metavar="K",
    help="Number of coordinates, or of queries, that have this noise and sensitivity.",
)
@click.option("--epsilon", metavar="E[,E...]", help=f"Where to give delta; {_EPSILONS} by default.")
@click.option("--delta", type=Number(), metavar="D", help="Where to give epsilon instead.")
@relation_option
@plot_option
@json_option
def profile(
    *,
    as_json: bool,
    family: str,
    parameters: tuple[str, ...],
    sensitivity: Any,  # noqa: ANN401
    copies: Any,  # noqa: ANN401
    epsilon: str | None,
    delta: Any,  # noqa: ANN401
    relation: str | None,
    plot: str | None,
) -> None:
    """Privacy that given noise provides: delta at epsilon, or epsilon at delta.

    Example: dpnoise profile gaussian sigma=3 --sensitivity 1 --copies 5 --delta 1e-6
    """
    from dpnoise._validation import Problems

    problems = Problems("profile")
    noise = read_noise(problems, family, parameters)
    if sensitivity is None:
        problems.add("--sensitivity: expected a positive number, got nothing")
    else:
        problems.number("--sensitivity", sensitivity, low=0.0, open_low=True)
    if isinstance(copies, str) or copies < 1:
        problems.add(f"--copies: expected a whole number of at least 1, got {copies!r}")
    if epsilon is not None and delta is not None:
        problems.add(f"expected --epsilon or --delta, got both: {epsilon} and {delta}")
    epsilons = read_numbers(problems, "--epsilon", _EPSILONS if epsilon is None else epsilon) or []
    few = len(epsilons) <= _MOST_EPSILONS
    problems.require(few, "--epsilon", f"at most {_MOST_EPSILONS} values", len(epsilons))
    bad = [value for value in epsilons if not 0.0 <= value <= _TOP]
    problems.require(not bad, "--epsilon", f"numbers in [0, {_TOP:g}]", bad)
    if delta is not None:
        problems.number("--delta", delta, low=0.0, high=1.0, open_high=True)
    if relation is not None:
        require_name(problems, "relation", relation, RELATIONS)
    problems.raise_if_any()
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
    title = f"{noise!r}, sensitivity {sensitivity!r}, copies {copies}"
    header = ("epsilon", "delta at most", "delta at least")
    request = {"noise": noise, "sensitivity": sensitivity, "copies": copies, "relation": relation}
    data = {"request": {**request, "delta": delta}, "epsilon": epsilons, "delta": deltas}
    data["delta_at_least"] = found.lower
    neighbours = neighbours_words(relation, each_words(copies, sensitivity))
    show(Answer(title, header, rows, [neighbours], data), as_json=as_json)


def _epsilon_of(
    noise: Noise | IntegerNoise, sensitivity: float, copies: int, delta: float
) -> float:
    """An epsilon at which all copies keep delta; ValueError if there is none up to 1e4."""
    from dpnoise.privacy.odometer.budget import Budget
    from dpnoise.privacy.profile import epsilon_at

    if copies == 1:
        found = float(epsilon_at(noise, sensitivity, delta))
    else:
        budget = Budget(_TOP, delta)
        budget.spend(noise, sensitivity, times=copies, relation=RELATIONS[0])  # alike for both
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

    from dpnoise.cli.plot import save
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
