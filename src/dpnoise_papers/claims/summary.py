"""Accounts of what came out in the documents: templates whose numbers are read from a run.

    python -m dpnoise_papers.claims.summary results README.md docs/what-came-out.md

writes the numbers of the run in `results` into each document, between two marks of which the first
names the template; the tests refuse a document whose words are not those of its template or whose
numbers are not those of the run.
"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from dpnoise_papers.claims.documents import account
from dpnoise_papers.claims.quantity import read_tables
from dpnoise_papers.claims.references import NOT_RUN, REFERENCE, references, render
from dpnoise_papers.result_files import write_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd


def differences(
    document: str | Path, template: str, tables: Mapping[str, pd.DataFrame] | None = None
) -> list[str]:
    """Where a document is not what the text of its template says, one line for each number.

    One line if the words differ; without `tables` only words are compared. What has no value in
    this run is not compared.
    """
    given = account(document)
    words = [re.escape(part) for part in REFERENCE.sub("\0", _plain(template)).split("\0")]
    match = re.fullmatch(r"([^\s|]+?)".join(words), _plain(given.text))
    if not match:
        return [f"the words of {document} are not those of {given.template}"]
    if tables is None:
        return []
    shown = [render(f"{{{part.text}}}", tables) for part in references(template)]
    return [
        f"{document} says {said}, the run {value}: {part.text}"
        for said, value, part in zip(match.groups(), shown, references(template), strict=True)
        if value not in (said, NOT_RUN)
    ]


def update(document: Path, root: Path, results: Path) -> None:
    """Write the numbers of the run in `results` into a document whose template lies below `root`.

    ValueError if the run lacks one of them; then nothing is written.
    """
    given = account(document)
    text = (root / given.template).read_text(encoding="utf-8")
    tables = read_tables({part.table for part in references(text)}, results)
    filled = render(text, tables)
    if NOT_RUN in filled:
        message = f"not all tables that {given.template} names are in {results}"
        raise ValueError(message)
    page, end = document.read_text(encoding="utf-8"), given.start + len(given.text)
    write_text(page[: given.start] + _filled(filled).rstrip() + "\n" + page[end:], document)


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
    results, *documents = map(Path, sys.argv[1:])
    for document in documents:
        update(document, Path(), results)
