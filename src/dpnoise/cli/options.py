"""Names, options and arguments that several commands share, and what they state.

Names are for completion and for 'did you mean', without the library; tests hold them against the
library's. What is wrong with a value is recorded, and text that is no number passes through, so
that one message names every problem.

**Answers** are a table for people or an object for programs. Bounds that people read are rounded
to the safe side, so that what is copied from a table holds.

**Refusals** are those of the group of a program's commands, with its exit codes. A mistake or an
impossible request is one message on standard error, exit code 2 and nothing on standard output;
with `--json` the message is an object {"error": ...}.
"""
# ruff: noqa: PLC0415  (the library is imported when a command runs)

from __future__ import annotations

import difflib
import json
import math
import re
import sys
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from functools import reduce
from typing import TYPE_CHECKING, Any

from dpnoise._imports import imports_of

with imports_of("cli"):
    import click
    from click.core import iter_params_for_processing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import NoReturn

    from dpnoise._validation import Problems
    from dpnoise.sensitivity.base import Sensitivity

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

_CONTINUOUS = (
    *("gaussian", "laplace", "flipped-huber", "offset-symmetric-gaussian", "staircase"),
    *("truncated-laplace", "subbotin", "huber"),
)
FAMILIES = (*_CONTINUOUS, "discrete-gaussian", "discrete-laplace", "discrete-staircase")
_OWN = (  # families with a method of their own, of `best` and `compare`
    *("k-norm", "norm-staircase", "blocks", "gaussian", "correlated-gaussian", "cells"),
    *("laplace", "staircase", "truncated-k-norm"),
)
METHOD_FAMILIES = (*_OWN, *(name for name in _CONTINUOUS if name not in _OWN))
ERRORS = ("variance", "mean-abs", "half-width", "max", "norm")
ALLOCATED = ("gaussian", "laplace")
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


def problems() -> Problems:
    """What is wrong with the arguments of the command that runs."""
    from dpnoise._validation import Problems

    context = click.get_current_context()
    found: Problems = context.meta.setdefault(__name__, Problems(str(context.info_name)))
    return found


class Number(click.ParamType):
    """A number of one kind, or the text that is none; a problem is recorded if it has limits."""

    name = "number"

    def __init__(self, kind: type = float, **limits: Any) -> None:  # noqa: ANN401
        self.kind, self.limits = kind, limits

    def convert(self, value: Any, param: Any = None, ctx: Any = None) -> Any:  # noqa: ANN401, ARG002
        """The number that a text stands for."""
        with suppress(ValueError):
            value = self.kind(value)
        if self.limits:
            self.check(param.opts[0], value)
        return value

    def check(self, name: str, value: Any) -> None:  # noqa: ANN401
        """What is wrong with a number is recorded."""
        if self.kind is int:
            good = isinstance(value, int) and value >= 1
            problems().require(good, name, "a whole number of at least 1", value)
        else:
            problems().number(name, value, **self.limits)


NUMBER, COUNT, WHOLE = Number(), Number(int), Number(int, low=1)
PROBABILITY = Number(low=0.0, high=1.0, open_low=True, open_high=True)


class Name(click.Choice[str]):
    """One of several names, for completion; a problem is recorded for any other text."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:  # noqa: ANN401, ARG002
        """The text itself."""
        if value not in self.choices:
            hint = suggestion(value, self.choices)
            expected = f"one of {', '.join(self.choices)}"
            problems().add(f"{param.name}: expected {expected}, got {value!r}{hint}")
        return value


def needed(context: click.Context, param: click.Parameter, value: Any) -> Any:  # noqa: ANN401, ARG001
    """The value of an option without which there is no answer; a problem is recorded."""
    if value is None:
        problems().add(f"{param.opts[0]}: expected a positive number, got nothing")
    return value


def together(*decorators: Decorator) -> Decorator:
    """Several options as one decorator, in their order on the page of help."""
    return lambda function: reduce(lambda f, one: one(f), reversed(decorators), function)


def option(flag: str, metavar: str | None, text: str, kind: Any = None, **more: Any) -> Decorator:  # noqa: ANN401
    """An option with a value, which stands for `metavar` on the page of help."""
    return click.option(*flag.split(), metavar=metavar, help=text, type=kind, **more)


def flag(names: str, text: str, **more: Any) -> Decorator:  # noqa: ANN401
    """An option without a value, or of two names for yes and no, with neither by default."""
    neither = None if "/" in names else False
    return click.option(names, is_flag=True, default=neither, help=text, **more)


def choice(flag: str, names: tuple[str, ...], text: str | None = None) -> Decorator:
    """An option with a name, the first one by default."""
    return click.option(flag, type=Name(names), default=names[0], show_default=True, help=text)


sensitivity_options = together(
    option(
        "--sensitivity", "S[,S...]", "Largest change of one number, or of each: 1.0 or 1,2,0.5."
    ),
    option("--counts", "M", "A person adds to at most M of K counts.", COUNT),
    flag("--exactly", "With --counts: everybody is in exactly M counts."),
    flag("--amounts", "With --counts: a person adds any amount up to C, not whole numbers."),
    option("--at-most", "M", "A person changes at most M of K numbers, up or down.", COUNT),
    option("--of", "K", "How many numbers there are.", COUNT),
    option("--each", "C", "With --counts or --at-most: each by at most C (1).", NUMBER),
    option("--l1", "R", "Largest l1 norm of the change.", NUMBER),
    option("--l2", "R", "Largest l2 norm of the change.", NUMBER),
    option("--linf", "R", "Largest change of any number.", NUMBER),
)
relation_option = option(
    "--relation",
    None,
    "Neighbouring data sets that the sensitivity, and so the guarantee, is for: one person "
    "more or less, or one person replaced by another. There is no default.",
    Name(RELATIONS),
)
budget_options = together(
    option("--epsilon", "E", "Of the guarantee, from 0 to 1e4.", NUMBER),
    option("--delta", "D", "Of the guarantee, below 1; 0 by default.", NUMBER, default=0.0),
    relation_option,
)
FILE = ("header", "column", "names")  # names of the next
file_options = together(
    flag("--header/--no-header", "Whether the first row names the columns, where it is not clear."),
    option("--column", "NAME", "Column of the numbers, also counted from 1."),
    option("--names", "NAME", "Column of their names, also counted from 1."),
)
json_option = flag(
    "--json",
    "JSON with exact numbers.",
    expose_value=False,
    callback=lambda context, _, value: context.meta.update(json=value),
)
integer_option = flag(
    "--integer/--no-integer",
    "Answers in whole numbers, or real ones. By default whole ones with --counts, where that "
    "costs at most 1 % of the error, and else real ones.",
)
times_option = option(
    "--times", "N", "Noise of N releases that keep epsilon and delta together.", WHOLE
)
certificate_option = option("--certificate", "FILE", "Write one, which dpnoise verify confirms.")


def read_budget(epsilon: Any, delta: Any, relation: str | None) -> None:  # noqa: ANN401
    """What is wrong with a budget, or missing of it, is recorded."""
    found = problems()
    if epsilon is None:
        found.add("--epsilon: expected a number in [0, 10000], got nothing")
    found.budget(1.0 if epsilon is None else epsilon, delta)
    if isinstance(epsilon, float) and isinstance(delta, float):
        large = delta >= _LARGE_DELTA and epsilon <= _SMALL_EPSILON
        if 0.0 < epsilon < 1.0 <= delta < math.inf or (epsilon > 0.0 and large):
            zero = "" if delta >= 1.0 else " (if not, --epsilon 0 is nearly the same)"
            found.add(
                f"epsilon {epsilon:g} and delta {delta:g} look swapped; "
                f"did you mean --epsilon {delta:g} --delta {epsilon:g}?{zero}"
            )
    if relation is None:
        found.add(
            "--relation: expected add-remove (one person more or less) or replace-one (one person "
            "replaced by another), got nothing"
        )


def read_numbers(option: str, text: str) -> list[float]:
    """Numbers with commas between; none if some are not, which is recorded."""
    values = [NUMBER.convert(part.strip()) for part in text.split(",")]
    bad = [value for value in values if isinstance(value, str) or not math.isfinite(value)]
    expected = "finite numbers with commas between, such as 1,2,0.5"
    return values if problems().require(not bad, option, expected, text) else []


def read_sensitivity(given: dict[str, Any], rows: int | None = None) -> Any:  # noqa: ANN401
    """The set that the options state; None if they state none, which is recorded.

    Where a file lists the coordinates, `--of` is the number of its rows, unless it is given. A file
    that cannot be read has 0 rows: the other options are checked, and the answer is None. Without a
    relation, which is refused with the budget, counts get one for their numbers to be read.
    """
    found = problems()
    kinds = [kind for kind in _SETS if given[kind] is not None]
    flags = [f"--{kind.replace('_', '-')}" for kind in kinds]
    if len(kinds) != 1:
        found.add(
            "sensitivity: expected one of --sensitivity S, --counts M --of K, --at-most M --of K, "
            f"--l1 R --of K, --l2 R --of K, --linf R --of K, got {' and '.join(flags) or 'none'}"
        )
        return None
    (kind,), (flag,), before = kinds, flags, len(found.found)
    value, of = given[kind], given["of"]
    numbers: Any = []
    if kind == "sensitivity":
        if of is not None:
            found.add(
                f"--of: expected no --of beside --sensitivity, got {of!r}; --linf {value} --of "
                f"{of} is for coordinates that all change by at most as much"
            )
        numbers = read_numbers("--sensitivity", value)
        numbers = numbers[0] if len(numbers) == 1 else numbers
    elif of is None and rows is not None:
        of = rows or _MOST
    elif of is None:
        found.add(f"--of: expected the number of coordinates beside {flag}, got nothing")
    details = {name: ", as it is for --counts" for name in ("exactly", "amounts") if given[name]}
    details |= {"each": f", got {given['each']!r}"} if given["each"] is not None else {}
    kept = {"counts": ("exactly", "amounts", "each"), "at_most": ("each",)}.get(kind, ())
    for name in [one for one in details if one not in kept]:
        found.add(f"--{name}: expected no --{name} beside {flag}{details[name]}")
    if len(found.found) > before:
        return None
    try:
        ball = _set(kind, {**given, "of": of, "numbers": numbers})
    except ValueError as error:
        return found.add(str(error))
    return None if rows == 0 else ball


def _set(kind: str, given: dict[str, Any]) -> Sensitivity:
    """The sensitivity set of one kind; ValueError if something is out of range."""
    from dpnoise.sensitivity.at_most import AtMost
    from dpnoise.sensitivity.balls import L1, L2, LInf, as_sensitivity
    from dpnoise.sensitivity.counts import Counts

    relation = given["relation"] if given["relation"] in RELATIONS else None
    value, of, each = given[kind], given["of"], 1.0 if given["each"] is None else given["each"]
    if kind == "counts":
        people = {"exactly": given["exactly"], "whole": not given["amounts"]}
        return Counts(value, of, each, **people, relation=relation or RELATIONS[-1])
    if kind == "sensitivity":
        return as_sensitivity(given["numbers"]).stating(relation)
    if kind == "at_most":
        return AtMost(value, of, each, relation=relation)
    balls: dict[str, type[L1 | L2 | LInf]] = {"l1": L1, "l2": L2, "linf": LInf}
    return balls[kind](value, of, relation=relation)


def read_noise(family: str, parameters: tuple[str, ...]) -> Any:  # noqa: ANN401
    """The noise with parameters stated as name=value; None if it cannot be had."""
    from dpnoise.noise.families import FAMILIES as CONTINUOUS
    from dpnoise.noise.families import INTEGER_FAMILIES

    if family not in FAMILIES:
        return None
    found = problems()
    kind: Any = {**CONTINUOUS, **INTEGER_FAMILIES}[family]
    known = {field.name: field.default is MISSING for field in fields(kind) if field.init}
    values: dict[str, Any] = {}
    before, subject = len(found.found), f"parameters of {family}: expected"
    for text in parameters:
        name, sign, value = text.partition("=")
        if name not in known or not sign or name in values:
            hint = suggestion(name, known) if sign and name not in known else ""
            found.add(f"{subject} {' '.join(f'{one}=NUMBER' for one in known)}, got {text!r}{hint}")
            continue
        whole = family in INTEGER_FAMILIES and value.lstrip("-").isdigit()
        values[name] = int(value) if whole else NUMBER.convert(value)
    missing = [f"{name}=NUMBER" for name in known if known[name] and name not in values]
    if missing and len(found.found) == before:
        found.add(f"{subject} {' '.join(missing)}, got nothing")
    if len(found.found) > before:
        return None
    try:
        return kind(**values)
    except ValueError as error:
        return found.add(str(error))


_WIDE = 10**6  # of a text without lines drawn, where nothing is folded


def upper(x: float, digits: int = 4, *, rounding: str = ROUND_CEILING) -> str:
    """A number in some digits, rounded up."""
    if not math.isfinite(x):
        return str(x)
    found = Context(prec=digits, rounding=rounding).create_decimal(Decimal(x))
    return f"{float(found):.{digits}g}"  # of no more digits: not rounded again


def lower(x: float, digits: int = 4) -> str:
    """A number in some digits, rounded down."""
    return upper(x, digits, rounding=ROUND_FLOOR)


def plain(value: Any) -> Any:  # noqa: ANN401
    """A value as JSON has it; numbers that are not finite as text."""
    if hasattr(value, "tolist"):  # of NumPy
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if is_dataclass(value):
        parts = {field.name: plain(getattr(value, field.name)) for field in fields(value)}
        return {"kind": type(value).__name__, **parts}
    return value


def show(
    title: str,
    rows: Iterable[Sequence[str]],
    notes: list[str],
    data: dict[str, Any],
    header: Sequence[str] = ("", ""),
) -> None:
    """Print an answer: as JSON, as a table in a terminal, or as aligned text."""
    if click.get_current_context().meta.get("json"):
        click.echo(json.dumps(plain(data), allow_nan=False))
        return
    with imports_of("cli"):
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    drawn = sys.stdout.isatty()
    table = Table(
        box=box.HEAVY_HEAD if drawn else None,
        padding=(0, 1) if drawn else (0, 2, 0, 0),
        pad_edge=drawn,
        show_header=any(header),
    )
    for k, name in enumerate(header):
        inner = 0 < k < len(header) - 1
        table.add_column(name, justify="right" if inner else "left", overflow="fold")
    for cells in rows:
        table.add_row(*map(Text, cells))
    console = Console(highlight=False, width=None if drawn else _WIDE)
    with console.capture() as text:
        console.print(Text(title), table, *map(Text, notes), sep="\n")
    click.echo("\n".join(map(str.rstrip, text.get().splitlines())))


def certified(found: Any, path: str | None, relation: str | None = None) -> None:  # noqa: ANN401
    """Write the certificate of what was found, if there is a file for it."""
    if path:
        from dpnoise.certificates.certificate import certify

        certify(found, relation=relation).write(path)


REFUSED = 2


class Command(click.Command):
    """A command that refuses an option given twice, and names all arguments that are wrong."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Remaining arguments; UsageError with the problems of all parameters."""
        given = list(args)
        try:
            found = super().parse_args(ctx, args)
        except click.BadParameter:
            values, _, order = self.make_parser(ctx).parse_args(given)
            problems = []
            for parameter in iter_params_for_processing(order, self.get_params(ctx)):
                try:
                    parameter.handle_parse_result(ctx, values, [])
                except click.BadParameter as error:
                    problems.append(error.format_message().removesuffix("."))
            raise click.UsageError("; ".join(problems), ctx) from None
        order = self.make_parser(ctx).parse_args(given)[2]
        twice = [max(one.opts, key=len) for one in dict.fromkeys(order) if order.count(one) > 1]
        if twice and not ctx.resilient_parsing:  # of a completion
            message = f"{', '.join(twice)}: expected once, got it more often"
            raise click.UsageError(message, ctx)
        return found


def command(function: Callable[..., Any]) -> click.Command:
    """A function as a command that refuses options that are given twice."""
    return click.command(cls=Command)(function)


class Program(click.Group):
    """A group whose commands end with the exit code that they return, 0 if none, or 2."""

    command_class = Command
    group_class = type
    refusals: tuple[type[Exception], ...] = (
        *(ValueError, ArithmeticError, RuntimeError, ImportError, OSError),
    )

    def main(  # type: ignore[override]  # never returns
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,  # noqa: ARG002  (the name of the group)
        **extra: Any,  # noqa: ANN401
    ) -> NoReturn:
        """Exit with the code of one command."""
        given = list(sys.argv[1:] if args is None else args)
        extra["standalone_mode"] = False
        try:
            code = super().main(given, self.name, **extra)
        except click.Abort:
            self._refuse("interrupted", given)
        except click.ClickException as error:
            context = getattr(error, "ctx", None)
            path = context.command_path if context else self.name
            self._refuse(f"{error.format_message()} ({path} --help)", given)
        except self.refusals as error:
            self._refuse(str(error), given)
        sys.exit(code if isinstance(code, int) else 0)

    def _refuse(self, message: str, given: list[str]) -> NoReturn:
        """Exit with one message on standard error."""
        message = message.replace("exhaustive=True", "--exhaustive")
        text = json.dumps({"error": message}) if "--json" in given else f"{self.name}: {message}"
        click.echo(text, err=True)
        sys.exit(REFUSED)
