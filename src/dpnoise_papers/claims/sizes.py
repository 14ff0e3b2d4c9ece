"""Thresholds of claims: words for sizes read as numbers, and the readings of paragraphs.

A paper says 'very small epsilon' and prints no number. `published/words.yaml` reads each such word
as one number, the same for all papers; a claim names the word, `{very-small-epsilon}`, where the
number would stand. What a paragraph fixes for all of its claims (search space, delta, relation)
stands once in `published/<paper>.paragraphs.yaml`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from dpnoise_papers.claims.model import Condition
from dpnoise_papers.strict_yaml import read_typed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

WORDS = "words.yaml"
FACTORS = {"half": 0.5, "double": 2.0}  # a verdict that turns between them is undecided
NATURAL = (0.0, 1.0)  # thresholds that need no word: no difference, a factor of one
FILLED = ("printed", "select", "against", "corrected_select")  # columns that may name a word

_Text = Annotated[str, StringConstraints(min_length=1)]
_WORD = re.compile(r"\{(1\+|1-|1/|-)?([a-z0-9]+(?:-[a-z0-9]+)*)\}")
_NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")


class Word(BaseModel):
    """A word for a size: how papers say it, what it claims, and the number that it is read as.

    `exact` words are numbers themselves ('a third'); they are read in one way.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    words: list[_Text] = Field(min_length=1)
    meaning: _Text = Field(alias="reading")
    value: Annotated[float, Field(gt=0)]
    exact: bool = False


class Paragraph(BaseModel):
    """What holds for all printed claims of one place: conditions, and ranges as printed."""

    model_config = ConfigDict(extra="forbid", strict=True)

    meaning: _Text = Field(alias="reading")
    select: str = ""
    ranges: dict[str, str] = {}

    @property
    def shared(self) -> tuple[Condition, ...]:
        """Conditions on the tables of the paragraph's claims; ValueError if they are none."""
        return Condition.parse(self.select)


class Threshold(NamedTuple):
    """A number that a claim compares with, and the column in which the claim states it."""

    column: str
    value: float


def read_words(folder: Path) -> dict[str, Word]:
    """Words of `words.yaml` in a folder, none without the file; ValueError names every mistake."""
    path = folder / WORDS
    return read_typed(path, dict[str, Word]) if path.is_file() else {}


def read_paragraphs(claims: Path) -> dict[str, Paragraph]:
    """Paragraphs beside a paper's claims, by place; ValueError names every mistake."""
    path = claims.with_suffix(".paragraphs.yaml")
    return read_typed(path, dict[str, Paragraph]) if path.is_file() else {}


def paragraph_of(place: str, paragraphs: Mapping[str, Paragraph]) -> Paragraph | None:
    """Paragraph with the longest name that a place is, or begins with before a comma."""
    names = [name for name in paragraphs if place == name or place.startswith(f"{name},")]
    return paragraphs[max(names, key=len)] if names else None


def named_words(row: Mapping[str, str]) -> list[str]:
    """Words that a row of claims names, each once."""
    return list(dict.fromkeys(m[2] for column in FILLED for m in _WORD.finditer(row[column])))


def filled(row: Mapping[str, str], values: Mapping[str, float]) -> dict[str, str]:
    """Row with the number of each word in its place; KeyError if a word has none."""

    def number(match: re.Match[str]) -> str:
        sign, value = match[1] or "", values[match[2]]
        found = {"": value, "-": -value, "1+": 1 + value, "1-": 1 - value, "1/": 1 / value}[sign]
        return f"{found:.10g}"

    return {**row, **{column: _WORD.sub(number, row[column]) for column in FILLED}}


def thresholds(row: Mapping[str, str]) -> list[Threshold]:
    """Numbers that a row compares with and for which it names no word: its bound and its ranges."""
    found = []
    if row["relation"] and row["printed"] and not _WORD.search(row["printed"]):
        found.append(Threshold("printed", _value(row["printed"])))
    for column in ("select", "against"):
        for part in row[column].split(";"):
            ends = re.fullmatch(r"\s*\w+\s*(?:<=|>=|<|>)\s*(\S.*?)\s*", part)
            if ends and not _WORD.search(ends[1]):
                found.append(Threshold(column, _value(ends[1])))
    return found


def numbers_in(texts: Iterable[str]) -> list[float]:
    """Numbers that stand in some texts, percentages also as shares."""
    found = []
    for text in texts:
        for match in _NUMBER.finditer(text):
            value = _value(match[0].replace(",", ""))
            found += [value, value / 100] if text[match.end() :].lstrip()[:1] == "%" else [value]
    return found


def _value(text: str) -> float:
    """Number that a text stands for, a percentage as a share; NaN if it is none."""
    try:
        return float(text.removesuffix("%")) * (0.01 if text.endswith("%") else 1.0)
    except ValueError:
        return float("nan")
