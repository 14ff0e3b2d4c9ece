"""The command `dpnoise allocate`: one budget over the coordinates listed in a file."""
# ruff: noqa: PLC0415  (the library is imported when a command runs)

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from dpnoise._extras import imports_of

with imports_of("cli"):
    import click

from dpnoise.cli.names import ALLOCATED, SCHEMES, require_name
from dpnoise.cli.options import (
    Name,
    Number,
    budget_options,
    header_option,
    json_option,
    read_budget,
)
from dpnoise.cli.output import Answer, show
from dpnoise.cli.table_file import read_rows

_SCALES = {"gaussian": "sigma", "laplace": "beta"}


@click.command()
@click.argument("file", metavar="FILE.csv", type=click.Path())
@budget_options
@click.option("--noise", type=Name(ALLOCATED), default="gaussian", show_default=True)
@click.option("--scheme", type=Name(SCHEMES), default="optimal", show_default=True)
@click.option(
    "--power", type=Number(), default=2.0, metavar="P", help="Of the error E|T|^P; 2 by default."
)
@click.option("--output", metavar="FILE", help="Write name,sensitivity,scale as CSV as well.")
@header_option
@json_option
def allocate(
    as_json: bool,
    file: str,
    output: str | None,
    relation: str | None,
    power: Any,  # noqa: ANN401
    **given: Any,  # noqa: ANN401
) -> None:
    """Scales of noise for the sensitivities in a CSV file.

    One column of sensitivities, or a column of names before it; a header is optional, and '-' is
    standard input. All coordinates may change together, each by at most its sensitivity.

    Example: dpnoise allocate sensitivities.csv --epsilon 1 --delta 1e-6 --relation replace-one
    """
    from dpnoise._validation import Problems

    problems = Problems("allocate")
    names, values, columns = read_rows(problems, file, header=given.pop("header"))
    read_budget(problems, given["epsilon"], given["delta"], relation)
    require_name(problems, "noise", given["noise"], ALLOCATED)
    require_name(problems, "scheme", given["scheme"], SCHEMES)
    problems.number("--power", power, low=1.0)
    problems.raise_if_any()
    from dpnoise.allocation.allocate import allocate as find
    from dpnoise.sensitivity.relation import own_words, promise

    scales = find(values, p=power, **given).tolist()
    table = list(zip(names, values, scales, strict=True))
    if output:
        with Path(output).open("w", encoding="utf-8", newline="") as target:
            writer = csv.writer(target, lineterminator="\n")
            writer.writerow((*columns, "scale"))
            writer.writerows((name, repr(value), repr(scale)) for name, value, scale in table)
    # All digits: a scale that is copied with fewer may be too small.
    rows = [(name, repr(value), repr(scale)) for name, value, scale in table]
    word = _SCALES.get(given["noise"].removeprefix("discrete-"), "scale")
    budget = f"epsilon = {given['epsilon']!r}, delta = {given['delta']!r}"
    title = f"{given['noise']} noise, {budget}, scheme {given['scheme']}"
    request = {**given, "power": power, "relation": relation}
    data = {"request": request, "names": names, "sensitivities": values, "scales": scales}
    data["promise"] = promise(relation, own_words(values), given["epsilon"], given["delta"])
    notes = [f"promise: {data['promise']}"]
    show(Answer(title, (*columns, word), rows, notes, data), as_json=as_json)
