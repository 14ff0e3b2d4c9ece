"""Choices where a paper is silent, for each item, from the tables and lists of docs/choices.md."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from dpnoise_papers.review.prose import tables_in

if TYPE_CHECKING:
    from collections.abc import Iterable

_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_NAMED = re.compile(
    r"\b(Figure|Table|Algorithm|Theorem|Lemma|Section|Appendix)s? "
    r"((?:[IVX]+|\d+[a-d]?)\b(?:(?:,| and| to|, and) (?:[IVX]+|\d+[a-d]?)\b)*)"
)
_ROMAN = {"I": "1", "II": "2", "III": "3", "IV": "4", "V": "5", "VI": "6", "VII": "7"}


class Choice(NamedTuple):
    """One choice: the items that it concerns (ids or their beginnings), and cells by header."""

    paper: str
    items: frozenset[str]
    cells: tuple[tuple[str, str], ...]


def read_choices(text: str) -> list[Choice]:
    """Choices of all papers, in the order of the document.

    A row belongs to the items that its first cell names. Where the first column is not 'item', it
    belongs to those of the heading above it, as do the points of the lists there.
    """
    found = []
    parts = _SECTION.split(text)[1:]
    for heading, body in zip(parts[::2], parts[1::2], strict=True):
        paper, _, rest = heading.partition(", ")
        above = named_items(rest)
        for header, rows in tables_in(body):
            for row in rows:
                about = above if header[0] != "item" else set()
                items = named_items(row[0]) or about or {_slug(row[0])}
                cells = tuple(zip(header, row, strict=False))
                found.append(Choice(paper, frozenset(items), cells))
        if above:
            points = re.findall(r"^- (.+(?:\n {2}.+)*)", body, re.MULTILINE)
            found += [
                Choice(paper, frozenset(above), (("what the runs say", " ".join(one.split())),))
                for one in points
            ]
    return found


def choices_for(choices: Iterable[Choice], paper: str, item: str) -> list[Choice]:
    """Choices that concern one item; slides share the section of their paper."""
    family = paper.split("-")[:2]
    return [
        choice
        for choice in choices
        if choice.paper.split("-")[:2] == family
        and any(_concerns(name, item) for name in choice.items)
    ]


def named_items(text: str) -> set[str]:
    """Ids of what a text names: 'Figures 3b, 3c and Table II' is figure-3b, figure-3c, table-2."""
    found = set()
    for kind, listed in _NAMED.findall(text):
        parts = re.split(r", and |, | and ", listed)
        for part in parts:
            ends = [_ROMAN.get(end, end) for end in part.split(" to ")]
            found |= {f"{kind.lower()}-{number}" for number in _between(ends[0], ends[-1])}
    return found


def _between(first: str, last: str) -> list[str]:
    """Numbers from '3' to '7', or from '4a' to '4d'."""
    if first == last:
        return [first]
    if first.isdigit() and last.isdigit():
        return [str(number) for number in range(int(first), int(last) + 1)]
    stem, letters = first[:-1], range(ord(first[-1]), ord(last[-1]) + 1)
    return [f"{stem}{chr(letter)}" for letter in letters]


def _concerns(name: str, item: str) -> bool:
    """Whether 'figure-4' names an item such as 'figure-4a', and 'huber-density' itself."""
    if re.search(r"\d", name):
        return re.fullmatch(rf"{re.escape(name)}(?:[a-d]|-.+)?", item) is not None
    return name == item or name.endswith(f"-{item}")


def _slug(text: str) -> str:
    return "-".join(re.findall(r"[a-z0-9]+", text.lower()))
