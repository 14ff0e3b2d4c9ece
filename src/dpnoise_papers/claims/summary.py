"""Accounts of what came out in the documents: templates whose numbers are the recorded run's.

    python -m dpnoise_papers.claims.summary docs/snapshot README.md docs/fairness.md

writes the numbers of the recorded run (`dpnoise_papers.claims.findings`) into each document,
between two marks of which the first names the template; the tests refuse a document whose words are
not those of its template or whose numbers are not those of the recorded run.
"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from dpnoise_papers.claims.findings import read_snapshot
from dpnoise_papers.claims.references import NOT_RUN, REFERENCE, account, references
from dpnoise_papers.pages import one_line
from dpnoise_papers.result_files import write_text

if TYPE_CHECKING:
    from collections.abc import Mapping


def differences(document: str | Path, template: str, numbers: Mapping[str, str]) -> list[str]:
    """Where a document is not what its template says with these numbers, one line for each number.

    One line if the words differ; what `numbers` lacks is not compared.
    """
    given = account(document)
    words = [re.escape(part) for part in REFERENCE.sub("\0", one_line(template)).split("\0")]
    match = re.fullmatch(r"([^\s|]+?)".join(words), one_line(given.text))
    if not match:
        return [f"the words of {document} are not those of {given.template}"]
    return [
        f"{document} says {said}, the recorded run {numbers[part.text]}: {part.text}"
        for said, part in zip(match.groups(), references(template), strict=True)
        if numbers.get(part.text, said) != said
    ]


def update(document: Path, root: Path, numbers: Mapping[str, str]) -> None:
    """Write numbers into a document whose template lies below `root`.

    ValueError if one of them is missing; then nothing is written.
    """
    given = account(document)
    text = (root / given.template).read_text(encoding="utf-8")
    wanted = [part.text for part in references(text)]
    missing = [one for one in wanted if numbers.get(one, NOT_RUN) == NOT_RUN]
    if missing:
        raise ValueError(f"{given.template}: the recorded run has no {'; '.join(missing)}")
    filled = REFERENCE.sub(lambda match: numbers[match[1]], text)
    page, end = document.read_text(encoding="utf-8"), given.start + len(given.text)
    write_text(page[: given.start] + _filled(filled).rstrip() + "\n" + page[end:], document)


def _filled(text: str) -> str:
    """Markdown with its paragraphs and list items wrapped; tables stay as they are."""
    parts = re.split(r"\n(?=\n|- |\|)", text)
    for place, part in enumerate(parts):
        if not part.lstrip().startswith("|"):
            blank, indent = "\n" * part.startswith("\n"), "  " * part.lstrip().startswith("- ")
            words = one_line(part)
            lines = textwrap.wrap(
                words, 100, subsequent_indent=indent,
                break_long_words=False, break_on_hyphens=False,
            )  # fmt: skip
            parts[place] = blank + "\n".join(lines)
    return "\n".join(parts)


if __name__ == "__main__":
    snapshot, *documents = map(Path, sys.argv[1:])
    for document in documents:
        update(document, Path(), read_snapshot(snapshot).shown)
