"""The command `dpnoise release`: the values of a file with exact noise."""
# ruff: noqa: PLC0415  (the library is imported when a command runs)

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpnoise._extras import imports_of

with imports_of("cli"):
    import click

from dpnoise.cli.options import (
    budget_options,
    certificate_option,
    json_option,
    read_budget,
    read_sensitivity,
    sensitivity_options,
)
from dpnoise.cli.output import Answer, show, upper
from dpnoise.cli.table_file import VALUES, read_rows

if TYPE_CHECKING:
    from dpnoise._validation import Problems


@click.command()
@click.argument("file", metavar="FILE.csv", type=click.Path())
@sensitivity_options
@budget_options
@click.option("-o", "--output", metavar="FILE", help="Write name,value as CSV; needed.")
@certificate_option
@json_option
def release(
    as_json: bool,
    file: str,
    output: str | None,
    certificate: str | None,
    **given: Any,  # noqa: ANN401
) -> None:
    """Values in a CSV file with noise that is drawn exactly.

    One column of values, or a column of public names before it; a header is optional. The noise is
    what `dpnoise best` finds for the sensitivity of all of them together.

    Example: dpnoise release counts.csv --at-most 3 --epsilon 1 --relation add-remove -o noisy.csv
    """
    from dpnoise._validation import Problems

    problems = Problems("release")
    names, values = read_rows(problems, file, VALUES)
    if given["of"] is None and given["sensitivity"] is None and values:
        given["of"] = len(values)
    ball = read_sensitivity(problems, given)
    if ball is not None and values and ball.dimension != len(values):
        problems.add(
            f"sensitivity: expected that of the {len(values)} rows of {file}, "
            f"got that of {ball.dimension} coordinates"
        )
    read_budget(problems, given["epsilon"], given["delta"], given["relation"])
    _check_targets(problems, file, {"--output": output, "--certificate": certificate})
    problems.raise_if_any()
    assert ball is not None  # noqa: S101  (or refused)
    assert output is not None  # noqa: S101
    from dpnoise.mechanisms.compare import best
    from dpnoise.releases.release import release as draw

    found = best(ball, epsilon=given["epsilon"], delta=given["delta"])
    texts = {}
    if certificate:
        from dpnoise.certificates.certify import certify

        texts[certificate] = certify(found).to_json()
    noisy = draw(values, found.noise).tolist()
    texts[output] = _table(names, noisy)
    _write(texts)
    rows = [
        ("mechanism", f"{found.name} ({found.reference})"),
        ("noise", repr(found.noise)),
        ("95 % within", f"{found.half_width:.4g}, each value by itself"),
        ("delta", f"at most {upper(found.delta)} at epsilon = {given['epsilon']!r}, certified"),
        ("promise", found.promise),
        ("draws", "exact, rounded to a grid that does not depend on the values"),
    ]
    title = f"released: {len(noisy)} values, written to {output}"
    asked = {name: given[name] for name in ("epsilon", "delta", "relation")}
    data = {
        "request": {"file": file, "sensitivity": ball, **asked},
        "names": names,
        "values": noisy,
        "noise": found.noise,
        "delta": found.delta,
        "promise": found.promise,
        "half_width": found.half_width,
        "output": output,
        "certificate": certificate,
    }
    show(Answer(title, ("", ""), rows, [], data), as_json=as_json)


def _check_targets(problems: Problems, file: str, targets: dict[str, str | None]) -> None:
    """Record of files that cannot be written, or must not be."""
    if targets["--output"] is None:
        problems.add("--output: expected a file to write, got nothing")
    taken = {Path(file).resolve(): "the file of the values"}
    for option, target in targets.items():
        if target is None:
            continue
        path = Path(target).resolve()
        if path in taken or (path.exists() and Path(file).exists() and path.samefile(file)):
            problems.add(f"{option}: expected another file than {taken.get(path, file)}")
        elif path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
            problems.add(f"{option}: expected a file in a folder to write to, got {target!r}")
        taken[path] = f"that of {option}"


def _table(names: list[str], values: list[float]) -> str:
    """The released values as CSV."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("name", "value"))
    writer.writerows((name, repr(value)) for name, value in zip(names, values, strict=True))
    return text.getvalue()


def _write(texts: dict[str, str]) -> None:
    """Write all files, each beside its place first, so that none is left half-written."""
    drafts: list[tuple[Path, str]] = []
    try:
        for target, text in texts.items():
            draft = Path(f"{target}.part")
            with draft.open("x", encoding="utf-8", newline="") as file:
                drafts.append((draft, target))
                file.write(text)
        for draft, target in drafts:
            draft.replace(target)
    finally:
        for draft, _ in drafts:
            draft.unlink(missing_ok=True)
