"""The command `dpnoise calibrate`: noise of one family for a budget."""
# ruff: noqa: PLC0415  (the library is imported when a command runs)

from __future__ import annotations

import math
from typing import Any

from dpnoise._extras import imports_of

with imports_of("cli"):
    import click

from dpnoise.cli.names import FAMILIES, METHODS, require_name
from dpnoise.cli.options import (
    Name,
    Number,
    Whole,
    budget_options,
    certificate_option,
    json_option,
    read_budget,
)
from dpnoise.cli.output import Answer, lower, show, upper


@click.command()
@click.argument("family", type=Name(FAMILIES))
@budget_options
@click.option("--sensitivity", type=Number(), metavar="S", help="Largest change of a coordinate.")
@click.option("--dimension", type=Whole(), default=1, metavar="K", help="Number of coordinates.")
@click.option("--method", type=Name(METHODS), default="exact", show_default=True)
@click.option(
    "--global-certificate",
    is_flag=True,
    help="Prove how far above the least variance of the family the noise is, in seconds.",
)
@certificate_option
@json_option
def calibrate(
    as_json: bool,
    family: str,
    relation: str | None,
    certificate: str | None,
    global_certificate: bool,
    **given: Any,  # noqa: ANN401
) -> None:
    """Noise of minimum variance in one family.

    Example: dpnoise calibrate laplace --epsilon 1 --sensitivity 1 --relation add-remove
    """
    from dpnoise._validation import Problems
    from dpnoise.calibration.calibrate import calibrate as find
    from dpnoise.sensitivity.base import LARGEST, SMALLEST
    from dpnoise.sensitivity.relation import each_words, promise

    problems = Problems("calibrate")
    require_name(problems, "family", family, FAMILIES)
    read_budget(problems, given["epsilon"], given["delta"], relation)
    size, dimension = given["sensitivity"], given["dimension"]
    if size is None:
        problems.add("--sensitivity: expected a positive number, got nothing")
    elif isinstance(size, str) and "," in size:
        problems.add(
            "--sensitivity: expected one number for all coordinates, "
            f"got {size!r}; dpnoise best and allocate take different ones"
        )
    else:
        problems.number("--sensitivity", size, low=SMALLEST, high=LARGEST)
    if isinstance(dimension, str) or dimension < 1:
        problems.add(f"--dimension: expected a whole number of at least 1, got {dimension!r}")
    require_name(problems, "method", given["method"], METHODS)
    if global_certificate:
        from dpnoise.calibration.calibrate import read_family
        from dpnoise.calibration.cover import GLOBAL, check_certificate

        kind = read_family(Problems("family"), family).kind if family in FAMILIES else None
        check_certificate(problems, GLOBAL, kind, given["method"], given["delta"])
        given["certificate"] = GLOBAL
    problems.raise_if_any()
    found = find(family, **given)
    if certificate:
        from dpnoise.certificates.certify import certify

        certify(found, relation=relation).write(certificate)
    sentence = promise(relation, each_words(dimension, size), given["epsilon"], found.delta)
    call = ", ".join(f"{name}={value!r}" for name, value in given.items())
    rows = [
        ("noise", repr(found.noise)),
        ("standard deviation", f"{math.sqrt(found.variance):.6g}, of each coordinate"),
        ("variance", f"{found.variance:.6g}, of each coordinate"),
        ("delta", f"at most {upper(found.delta)}, certified by {', '.join(found.certified_by)}"),
        ("promise", sentence),
        ("in Python", f"calibrate({family!r}, {call})"),
    ]
    if not found.attained:
        limit = f"none of this family has minimum variance; its limit has {found.infimum:.6g}"
        rows.insert(3, ("limit", limit))
    if found.optimal_within is not None:
        bound = lower(found.variance * (1.0 - found.optimal_within), 6)
        proved = f"no noise of this family has less than {bound}, proved"
        rows.insert(3, ("least of the family", proved))
    budget = f"epsilon = {given['epsilon']!r}, delta = {given['delta']!r}"
    title = f"{family} noise for sensitivity {size!r}, dimension {dimension}, {budget}"
    names = ["noise", "delta", "variance", "method", "attained", "infimum", "certified_by"]
    names += ["optimal_within"] * global_certificate
    request = {"family": family, "relation": relation, **given}
    data = {"request": request, **{name: getattr(found, name) for name in names}}
    data["promise"] = sentence
    show(Answer(title, ("", ""), rows, [], data), as_json=as_json)
