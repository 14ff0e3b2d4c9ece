"""Claims of papers as data: numbers, orderings and quantitative sentences.

Nothing here knows of any particular paper: a later claim is a row, not code. The columns
of `published/<paper>.csv` are explained in `published/README.md`.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Container, Sequence
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray

    from dpnoise._types import Array
    from dpnoise._validation import Problems

_CONDITION = re.compile(r"\s*(\w+)\s*(<=|>=|=|<|>)\s*(\S.*?)\s*")


@dataclass(frozen=True)
class Printed:
    """A number as a paper prints it."""

    text: str
    value: float
    half_unit: float

    @classmethod
    def parse(cls, text: str) -> Printed:
        """Number that a text prints; ValueError if it is none."""
        scale = Decimal("0.01") if text.endswith("%") else Decimal(1)
        try:
            number = Decimal(text.removesuffix("%").strip()) * scale
        except InvalidOperation:
            number = Decimal("nan")
        if not number.is_finite():
            message = f"expected a number such as 0.0391, 0.6371e-3 or 8.29%, got {text!r}"
            raise ValueError(message)
        half_unit = Decimal(5).scaleb(int(number.as_tuple().exponent) - 1)  # finite: an integer
        return cls(text, float(number), float(half_unit))


@dataclass(frozen=True)
class Condition:
    """One condition on the rows of a table; the relation is '=', '<', '<=', '>' or '>='."""

    column: str
    relation: str
    value: str

    @classmethod
    def parse(cls, text: str) -> tuple[Condition, ...]:
        """Conditions of a list such as 'dataset=houses;epsilon<=1'; ValueError if it is none."""
        parts = [part for part in text.split(";") if part.strip()]
        matches = [_CONDITION.fullmatch(part) for part in parts]
        if not all(matches):
            message = f"expected a list such as 'dataset=houses;epsilon<=1', got {text!r}"
            raise ValueError(message)
        return tuple(cls(*match.groups()) for match in matches if match)

    def __str__(self) -> str:
        """Condition as it is written in the claims."""
        return f"{self.column}{self.relation}{self.value}"

    def holds(self, column: pd.Series) -> NDArray[np.bool_]:
        """Whether the condition holds, for each entry of a column of length n.

        Numbers compare as numbers (equality to a relative 1e-9), all else as text.
        """
        try:
            wanted, entries = float(self.value), column.to_numpy(dtype=float)
        except (TypeError, ValueError):
            texts = column.astype(str)
            return (texts == self.value).to_numpy() & (self.relation == "=")
        if self.relation == "=":
            return np.isclose(entries, wanted, rtol=1e-9, atol=0.0)
        return related(entries, self.relation, wanted)


def related(left: Array, relation: str, right: Array | float) -> NDArray[np.bool_]:
    """Whether a relation other than '=' holds, for each entry; False where one is not a number."""
    functions = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
    return functions[relation](left, right)


def replaced(select: tuple[Condition, ...], others: tuple[Condition, ...]) -> tuple[Condition, ...]:
    """Conditions `select`, those on columns of `others` replaced by `others`."""
    named = {condition.column for condition in others}
    return (*(condition for condition in select if condition.column not in named), *others)


DOUBLED = "(double)"  # ends the words of an alternative that takes a word at twice its value


@dataclass(frozen=True)
class Claim:
    """One claim of a paper and where to find our value for it.

    The attributes are the columns of `published/<paper>.csv`, parsed; `paper` is the name of the
    file. `against_column` and `corrected_column` are the columns of the second and the corrected
    selection, `corrected_statement` is a corrected formula or sentence in words. `shared` are the
    conditions of its paragraph, which hold where the table has the column. `alternatives` are the
    claim with a word for a size read at half and at double of its value, each with words to say so.
    `reason` is the finding of the cause why nothing computes a claim that has no `result`.
    `assumptions` are those of its paragraph and item, `details` what it alone assumes besides.
    """

    id: str
    paper: str
    item: str
    place: str
    quote: str
    kind: str
    form: str
    quantity: str
    statement: str
    printed: Printed | None
    result: str
    select: tuple[Condition, ...]
    column: str
    against: tuple[Condition, ...]
    against_column: str
    pair: tuple[str, ...]
    relation: str
    reduce: str
    resolution: float
    ordering: str
    correction: str
    corrected: Printed | None
    corrected_statement: str
    corrected_select: tuple[Condition, ...]
    corrected_column: str
    cause: tuple[str, ...]
    shared: tuple[Condition, ...] = ()
    alternatives: tuple[tuple[str, Claim], ...] = ()
    reason: str = ""
    assumptions: tuple[str, ...] = ()
    details: tuple[str, ...] = ()

    @property
    def finding(self) -> str:
        """Cause that this claim shares with others, so that one error counts once; else its id."""
        return self.cause[0] if self.cause else self.id

    @property
    def sides(self) -> list[tuple[tuple[Condition, ...], str]]:
        """Selections of rows that this claim looks at, each with its column."""
        found = [(self.select, self.column)]
        if self.quantity != "number":
            found.append((replaced(self.select, self.against), self.against_column))
        if self.corrected_statement:
            found.append((replaced(self.select, self.corrected_select), self.corrected_column))
        return found

    def within(self, columns: Container[str]) -> Claim:
        """Claim with the conditions of its paragraph that a table with some columns can meet."""
        shared = tuple(condition for condition in self.shared if condition.column in columns)
        return replace(self, select=(*self.select, *shared), shared=())


@dataclass(frozen=True)
class Cause:
    """One finding that explains why claims are not reproduced.

    `finding` says in one sentence what was found, `evidence` what shows it; both may hold
    references such as '{flipped-huber-2023/figure-3a.csv: epsilon=0.3 -> variance, .2f}'. `given`
    tells where each number of the text comes from that stands in no table of ours. `id` is unique
    over all papers.
    """

    id: str
    paper: str
    finding: str
    evidence: str
    given: dict[str, str]


def read_rows(
    path: Path, columns: Sequence[str], problems: Problems
) -> list[tuple[str, dict[str, str]]]:
    """Rows of a file with exactly some columns, in any order, each with words on its place.

    Cells have no spaces around them. Rows with too many are recorded; ValueError names columns that
    are unknown or missing.
    """
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file, restkey="", restval="")
        header = reader.fieldnames or []
        for name in sorted(set(header) - set(columns)):
            problems.add(f"unknown column {name!r}: expected {', '.join(columns)}")
        for name in [name for name in columns if name not in header]:
            problems.add(f"column {name!r} is missing")
        problems.raise_if_any()
        rows = list(reader)
    found = []
    for number, row in enumerate(rows, start=2):
        name = f"row {number} ({row[columns[0]] or f'no {columns[0]}'})"
        problems.require("" not in row, name, f"{len(columns)} cells", row.pop("", None))
        found.append((name, {key: value.strip() for key, value in row.items()}))
    return found
