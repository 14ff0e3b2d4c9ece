"""The README's account of what came out: a template whose numbers are read from a run.

    python -m dpnoise_papers.claims.summary README.md published/what-came-out.md results

writes the numbers of the run in `results` into the README, between two marks; the tests
refuse a README whose words are not the template's or whose numbers are not the run's.
"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from dpnoise_papers.claims.quantity import read_tables
from dpnoise_papers.claims.references import NOT_RUN, REFERENCE, references, render

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

BEGIN = "<!-- from published/what-came-out.md -->"
END = "<!-- end -->"


def block(readme: str) -> str:
    """What stands between the two marks; ValueError if they are not there once."""
    parts = re.split(f"{re.escape(BEGIN)}\n(.*?){re.escape(END)}", readme, flags=re.DOTALL)
    if len(parts) != 3:
        message = f"expected {BEGIN} and {END} once, found {len(parts) // 2} pairs"
        raise ValueError(message)
    return parts[1]


def differences(
    readme: str, template: str, tables: Mapping[str, pd.DataFrame] | None = None
) -> list[str]:
    """Where a README is not what its template says, one line for each number that differs.

    One line if the words differ; without `tables` only words are compared. What has no value in
    this run is not compared.
    """
    words = [re.escape(part) for part in REFERENCE.sub("\0", _plain(template)).split("\0")]
    match = re.fullmatch(r"([^\s|]+?)".join(words), _plain(block(readme)))
    if not match:
        return ["the words of README.md are not those of published/what-came-out.md"]
    if tables is None:
        return []
    shown = [render(f"{{{part.text}}}", tables) for part in references(template)]
    return [
        f"README.md says {said}, the run {value}: {part.text}"
        for said, value, part in zip(match.groups(), shown, references(template), strict=True)
        if value not in (said, NOT_RUN)
    ]


def update(readme: Path, template: Path, results: Path) -> None:
    """Write the numbers of the run in `results` into a README; ValueError if the run lacks one."""
    text = template.read_text(encoding="utf-8")
    tables = read_tables({part.table for part in references(text)}, results)
    filled = render(text, tables)
    if NOT_RUN in filled:
        message = f"not all tables that {template} names are in {results}"
        raise ValueError(message)
    page = readme.read_text(encoding="utf-8")
    old, new = (f"{BEGIN}\n{part}{END}" for part in (block(page), _filled(filled)))
    readme.write_text(page.replace(old, new), encoding="utf-8")


def _plain(text: str) -> str:
    """Text on one line: how it is wrapped does not matter."""
    return " ".join(text.split())


def _filled(text: str) -> str:
    """Markdown with its paragraphs and list items wrapped; tables stay as they are."""
    parts = re.split(r"\n(?=\n|- |\|)", text)
    for place, part in enumerate(parts):
        if not part.lstrip().startswith("|"):
            blank, indent = "\n" * part.startswith("\n"), "  " * part.lstrip().startswith("- ")
            words = _plain(part)
            lines = textwrap.wrap(
                words, 100, subsequent_indent=indent,
                break_long_words=False, break_on_hyphens=False,
            )  # fmt: skip
            parts[place] = blank + "\n".join(lines)
    return "\n".join(parts)


if __name__ == "__main__":
    update(*map(Path, sys.argv[1:4]))
