"""Names, options and arguments that several commands share, and what they state.

Names are for completion and for 'did you mean', without the library; tests hold them against the
library's. Values that are no numbers pass through as text, so that one message names every problem.
"""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

from dpnoise._imports import imports_of

with imports_of("cli"):
    import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dpnoise._validation import Problems
    from dpnoise.noise.base import Noise
    from dpnoise.noise.integers import IntegerNoise
    from dpnoise.sensitivity.base import Sensitivity

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

_CONTINUOUS = (
    "gaussian",
    "laplace",
    "flipped-huber",
    "offset-symmetric-gaussian",
    "staircase",
    "truncated-laplace",
    "subbotin",
    "huber",
)
FAMILIES = (*_CONTINUOUS, "discrete-gaussian", "discrete-laplace", "discrete-staircase")
_OWN = (  # families with a method of their own, of `best` and `compare`: joint noise is among them
    "k-norm",
    "norm-staircase",
    "blocks",
    "gaussian",
    "correlated-gaussian",
    "cells",
    "laplace",
    "staircase",
    "truncated-k-norm",
)
METHOD_FAMILIES = (*_OWN, *(name for name in _CONTINUOUS if name not in _OWN))
ERRORS = ("variance", "mean-abs", "half-width", "max", "norm")
ALLOCATED = ("gaussian", "laplace", "discrete-gaussian", "discrete-laplace")
SCHEMES = ("optimal", "spr", "iid")
METHODS = ("exact", "grid", "sufficient")
RELATIONS = ("add-remove", "replace-one")
_SETS = ("sensitivity", "counts", "at_most", "l1", "l2", "linf")
_MOST = 2000  # coordinates, as every set can have
_LARGE_DELTA, _SMALL_EPSILON = 0.1, 1e-3  # the two together are nearly always a mistake


def suggestion(value: str, known: Iterable[str]) -> str:
    """The known name next to a value, as the end of a message; empty if none is near."""
    kebab = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", value).lower()
    kebab = re.sub(r"[\s_-]+", "-", kebab).strip("-")
    near = difflib.get_close_matches(kebab, list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def require_name(problems: Problems, name: str, value: str, known: tuple[str, ...]) -> bool:
    """Record of a problem unless a value is a known name."""
    if value not in known:
        hint = suggestion(value, known)
        problems.add(f"{name}: expected one of {', '.join(known)}, got {value!r}{hint}")
    return value in known


class _Value(click.ParamType):
    """A number of one kind, or the text that is none."""

    def __init__(self, kind: Callable[[str], float], name: str) -> None:
        self.kind, self.name = kind, name

    def convert(self, value: Any, param: Any = None, ctx: Any = None) -> Any:  # noqa: ANN401, ARG002
        """The number that a text stands for."""
        try:
            return self.kind(value)
        except ValueError:
            return value


NUMBER, WHOLE = _Value(float, "number"), _Value(int, "integer")


class Name(click.Choice[str]):
    """One of several names for completion; other text passes through."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:  # noqa: ANN401, ARG002
        """The text itself."""
        return value


def _all(*decorators: Decorator) -> Decorator:
    """Several options as one decorator, in their order on the page of help."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


sensitivity_options = _all(
    click.option(
        "--sensitivity",
        metavar="S[,S...]",
        help="Largest change of one number, or of each coordinate: 1.0 or 1,2,0.5.",
    ),
    click.option(
        "--counts", type=WHOLE, metavar="M", help="A person adds to at most M of K counts."
    ),
    click.option(
        "--exactly", is_flag=True, help="With --counts: everybody is in exactly M counts."
    ),
    click.option(
        "--amounts",
        is_flag=True,
        help="With --counts: a person adds any amount up to C, not whole numbers.",
    ),
    click.option("--at-most", type=WHOLE, metavar="M", help="At most M of K coordinates change."),
    click.option("--of", type=WHOLE, metavar="K", help="Number of coordinates."),
    click.option(
        "--each",
        type=NUMBER,
        metavar="C",
        help="With --counts or --at-most: each by at most C (1).",
    ),
    click.option("--l1", type=NUMBER, metavar="R", help="Largest l1 norm of the change."),
    click.option("--l2", type=NUMBER, metavar="R", help="Largest l2 norm of the change."),
    click.option("--linf", type=NUMBER, metavar="R", help="Largest change of any coordinate."),
)


relation_option = click.option(
    "--relation",
    type=Name(RELATIONS),
    help="Neighbouring data sets that the sensitivity, and so the guarantee, is for: one person "
    "more or less, or one person replaced by another. There is no default.",
)


budget_options = _all(
    click.option("--epsilon", type=NUMBER, metavar="E", help="From 0 to 1e4."),
    click.option("--delta", type=NUMBER, default=0.0, metavar="D", help="Below 1; 0 by default."),
    relation_option,
)


FILE = ("header", "column", "names")  # names of the next
file_options = _all(
    click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first row names the columns, where that is not clear.",
    ),
    click.option("--column", metavar="NAME", help="Column of the numbers, also counted from 1."),
    click.option("--names", metavar="NAME", help="Column of their names, also counted from 1."),
)


json_option = click.option("--json", "as_json", is_flag=True, help="JSON with exact numbers.")


integer_option = click.option(
    "--integer/--no-integer",
    default=None,
    help="Whether answers are integers, and so is what comes out. By default, with --counts, "
    "where that costs at most 1 % of the error.",
)


certificate_option = click.option(
    "--certificate", metavar="FILE", help="Write a certificate, which dpnoise verify confirms."
)


plot_option = click.option("--plot", metavar="FILE", help="Draw a figure: .png, .svg or .pdf.")


def read_relation(problems: Problems, relation: str | None) -> None:
    """Record of a relation that is unknown or not stated."""
    if relation is None:
        problems.add(
            "--relation: expected add-remove (one person more or less) or replace-one (one person "
            "replaced by another), got nothing"
        )
    else:
        require_name(problems, "relation", relation, RELATIONS)


def read_budget(problems: Problems, epsilon: Any, delta: Any, relation: str | None) -> None:  # noqa: ANN401
    """Record of what is wrong with a budget and with the relation that it is for."""
    if epsilon is None:
        problems.add("--epsilon: expected a number in [0, 10000], got nothing")
    problems.budget(1.0 if epsilon is None else epsilon, delta)
    if isinstance(epsilon, float) and isinstance(delta, float):
        large = delta >= _LARGE_DELTA and epsilon <= _SMALL_EPSILON
        if 0.0 < epsilon < 1.0 <= delta < math.inf or (epsilon > 0.0 and large):
            zero = "" if delta >= 1.0 else " (if not, --epsilon 0 is nearly the same)"
            problems.add(
                f"epsilon {epsilon:g} and delta {delta:g} look swapped; "
                f"did you mean --epsilon {delta:g} --delta {epsilon:g}?{zero}"
            )
    read_relation(problems, relation)


def read_numbers(problems: Problems, option: str, text: str) -> list[float] | None:
    """Numbers with commas between; None if some are not, which is recorded."""
    parts = [part.strip() for part in text.split(",")]
    values = [NUMBER.convert(part) for part in parts]
    bad = [value for value in values if isinstance(value, str) or not math.isfinite(value)]
    expected = "finite numbers with commas between, such as 1,2,0.5"
    good = problems.require(not bad, option, expected, text)
    return values if good else None


def read_sensitivity(
    problems: Problems, given: dict[str, Any], rows: int | None = None
) -> Sensitivity | None:
    """The set that the options state; None if they state none, which is recorded.

    Where a file lists the coordinates, `--of` is the number of its rows, unless it is given. A file
    that cannot be read has 0 rows: the other options are checked, and the answer is None.
    """
    kinds = [kind for kind in _SETS if given[kind] is not None]
    flags = [f"--{kind.replace('_', '-')}" for kind in kinds]
    if len(kinds) != 1:
        problems.add(
            "sensitivity: expected one of --sensitivity S, --counts M --of K, --at-most M --of K, "
            f"--l1 R --of K, --l2 R --of K, --linf R --of K, got {' and '.join(flags) or 'none'}"
        )
        return None
    kind, before = kinds[0], len(problems.found)
    value, of = given[kind], given["of"]
    if kind != "sensitivity" and of is None and rows is not None:
        of = rows or _MOST
    if kind == "sensitivity" and of is not None:
        problems.add(
            f"--of: expected no --of beside --sensitivity, got {of!r}; --linf {value} --of {of} "
            "is for coordinates that all change by at most as much"
        )
    if kind != "sensitivity" and of is None:
        problems.add(f"--of: expected the number of coordinates beside {flags[0]}, got nothing")
    _refuse_details(problems, kind, flags[0], given)
    numbers = read_numbers(problems, "--sensitivity", value) if kind == "sensitivity" else None
    if len(problems.found) > before:
        return None
    try:
        found = _set(kind, numbers or [], value, {**given, "of": of})
        if given["relation"] in RELATIONS:
            found = found.stating(given["relation"])
    except ValueError as error:
        problems.add(str(error))
        return None
    return None if rows == 0 else found


def _refuse_details(problems: Problems, kind: str, flag: str, given: dict[str, Any]) -> None:
    """Record of options that say more about another kind of set."""
    for name in ("exactly", "amounts"):
        if kind != "counts" and given[name]:
            expected = f"expected no --{name} beside {flag}, as it is for --counts"
            problems.add(f"--{name}: {expected}")
    if kind not in ("counts", "at_most") and given["each"] is not None:
        problems.add(f"--each: expected no --each beside {flag}, got {given['each']!r}")


def _set(kind: str, numbers: list[float], value: Any, given: dict[str, Any]) -> Sensitivity:  # noqa: ANN401
    """The sensitivity set of one kind; ValueError if something is out of range.

    Without a relation, which is refused with the budget, counts get one for their numbers to be
    read.
    """
    from dpnoise.sensitivity.at_most import AtMost  # noqa: PLC0415
    from dpnoise.sensitivity.balls import L1, L2, LInf  # noqa: PLC0415
    from dpnoise.sensitivity.convert import as_sensitivity  # noqa: PLC0415
    from dpnoise.sensitivity.counts import Counts  # noqa: PLC0415

    if kind == "sensitivity":
        return as_sensitivity(numbers[0] if len(numbers) == 1 else numbers)
    of, each = given["of"], 1.0 if given["each"] is None else given["each"]
    if kind == "counts":
        relation = given["relation"] if given["relation"] in RELATIONS else RELATIONS[-1]
        whole = not given["amounts"]
        return Counts(value, of, each, exactly=given["exactly"], whole=whole, relation=relation)
    if kind == "at_most":
        return AtMost(value, of, each)
    balls: dict[str, Callable[..., Sensitivity]] = {"l1": L1, "l2": L2, "linf": LInf}
    return balls[kind](value, of)


def read_noise(
    problems: Problems, family: str, parameters: tuple[str, ...]
) -> Noise | IntegerNoise | None:
    """The noise with parameters stated as name=value; None if it cannot be had."""
    from dpnoise.noise.families import FAMILIES as CONTINUOUS  # noqa: PLC0415
    from dpnoise.noise.families import INTEGER_FAMILIES  # noqa: PLC0415

    if not require_name(problems, "family", family, FAMILIES):
        return None
    kind: Any = {**CONTINUOUS, **INTEGER_FAMILIES}[family]
    known = {field.name: field.default is MISSING for field in fields(kind) if field.init}
    values: dict[str, Any] = {}
    before = len(problems.found)
    for text in parameters:
        name, sign, value = text.partition("=")
        if name not in known or not sign or name in values:
            expected = " ".join(f"{one}=NUMBER" for one in known)
            hint = suggestion(name, known) if sign and name not in known else ""
            problems.add(f"parameters of {family}: expected {expected}, got {text!r}{hint}")
            continue
        whole = family in INTEGER_FAMILIES and value.lstrip("-").isdigit()
        values[name] = int(value) if whole else NUMBER.convert(value)
    missing = [name for name, required in known.items() if required and name not in values]
    if missing and len(problems.found) == before:
        expected = " ".join(f"{one}=NUMBER" for one in missing)
        problems.add(f"parameters of {family}: expected {expected}, got nothing")
    if len(problems.found) > before:
        return None
    try:
        noise: Noise | IntegerNoise = kind(**values)
    except ValueError as error:
        problems.add(str(error))
        return None
    return noise
