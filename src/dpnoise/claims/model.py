"""A claim is one number, ordering or quantitative sentence that a paper prints, as data.

`published/claims.csv` holds one claim per row; this module reads it and refuses it as a
whole, naming every mistake, before anything is judged. The columns are explained in
`published/README.md`. Nothing here knows of any particular paper: a later claim is a
row, not code.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass, fields
from decimal import Decimal, InvalidOperation
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from dpnoise._check import Problems

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "id", "paper", "item", "where", "kind", "statement", "printed", "result", "select",
    "column", "against", "pair", "relation", "reduce", "rtol", "ordering", "corrected", "reason",
)  # fmt: skip
KINDS = ("number", "difference", "ratio", "ordering")
RELATIONS = ("<", "<=", ">", ">=")
REDUCTIONS = ("one", "all", "min", "max", "mean")
DEFAULT_RTOL = 0.1
LARGEST_RTOL = 0.25

_KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_CONDITION = re.compile(r"\s*(\w+)\s*(<=|>=|=|<|>)\s*(\S.*?)\s*")


@dataclass(frozen=True)
class Printed:
    """A number as a paper prints it.

    Attributes
    ----------
    text : str
        The string exactly as printed, such as '0.0391', '0.6371e-3' or '8.29%'.
    value : float
        What it says; a percentage is divided by 100.
    half_unit : float
        Half a unit of the last printed digit: how far rounding may have moved it.
    """

    text: str
    value: float
    half_unit: float

    @classmethod
    def parse(cls, text: str) -> Printed:
        """Read a printed number; raise ValueError if `text` is not one."""
        scale = Decimal("0.01") if text.endswith("%") else Decimal(1)
        try:
            number = Decimal(text.removesuffix("%").strip()) * scale
        except InvalidOperation:
            number = Decimal("nan")
        if not number.is_finite():
            message = f"expected a number such as 0.0391, 0.6371e-3 or 8.29%, got {text!r}"
            raise ValueError(message)
        half_unit = Decimal(5).scaleb(number.as_tuple().exponent - 1)
        return cls(text, float(number), float(half_unit))


@dataclass(frozen=True)
class Condition:
    """One condition on the rows of a table: a column, a relation and a value as text."""

    column: str
    relation: str
    value: str

    def __str__(self) -> str:
        """Return the condition as it is written in the claims."""
        return f"{self.column}{self.relation}{self.value}"

    def holds(self, column: pd.Series) -> np.ndarray:
        """Return for each entry of a column, shape (n,), whether the condition holds.

        Numbers compare as numbers (equality to a relative 1e-9), all else as text.
        """
        try:
            wanted, entries = float(self.value), column.to_numpy(dtype=float)
        except (TypeError, ValueError):
            texts = column.astype(str)
            return (texts == self.value).to_numpy() & (self.relation == "=")
        if self.relation == "=":
            return np.isclose(entries, wanted, rtol=1e-9, atol=0.0)
        return compare(entries, self.relation, wanted)


def compare(left: np.ndarray, relation: str, right: np.ndarray | float) -> np.ndarray:
    """Return `left` relation `right` for each entry; false wherever one is not a number."""
    functions = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
    return functions[relation](left, right)


@dataclass(frozen=True)
class Claim:
    """One claim of a paper and where to find our value for it.

    The attributes are the columns of `published/claims.csv`, parsed: `printed` and
    `corrected` are `Printed` or None, `select` and `against` tuples of `Condition`,
    `against_column` the column of the second selection and `pair` a tuple of names.
    """

    id: str
    paper: str
    item: str
    where: str
    kind: str
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
    rtol: float
    ordering: str
    corrected: Printed | None
    reason: str


def read_claims(path: str | Path) -> list[Claim]:
    """Read and validate a file of claims.

    Parameters
    ----------
    path : str or Path
        A CSV file with exactly the columns `COLUMNS`, in any order.

    Returns
    -------
    list of Claim
        In the order of the file.

    Raises
    ------
    ValueError
        One error that names every mistake with its row and value.
    """
    problems = Problems(Path(path).name)
    with Path(path).open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file, restkey="", restval="")
        header = reader.fieldnames or []
        for name in sorted(set(header) - set(COLUMNS)):
            problems.add(f"unknown column {name!r}: expected {', '.join(COLUMNS)}")
        for name in [name for name in COLUMNS if name not in header]:
            problems.add(f"column {name!r} is missing")
        problems.raise_if_any()
        rows = list(reader)
    claims = [_claim(row, number, problems) for number, row in enumerate(rows, start=2)]
    _check_ids(claims, problems)
    problems.raise_if_any()
    return claims


def _claim(row: dict, number: int, problems: Problems) -> Claim:
    """Parse one row, recording what is wrong with it."""
    name = f"row {number} ({row['id'] or 'no id'})"
    problems.require("" not in row, name, f"{len(COLUMNS)} cells", row.pop("", None))
    row = {key: value.strip() for key, value in row.items()}

    def require(ok: bool, column: str, expected: str) -> None:
        problems.require(bool(ok), f"{name}: {column}", expected, row[column])

    def printed(column: str) -> Printed | None:
        try:
            return Printed.parse(row[column]) if row[column] else None
        except ValueError as error:
            problems.add(f"{name}: {column}: {error}")
            return None

    def conditions(column: str) -> tuple[Condition, ...]:
        parts = [part for part in row[column].split(";") if part.strip()]
        matches = [_CONDITION.fullmatch(part) for part in parts]
        require(all(matches), column, "a list such as 'dataset=houses;epsilon<=1'")
        return tuple(Condition(*match.groups()) for match in matches if match)

    for column in ("paper", "item", "where", "statement", "column"):
        require(row[column], column, "some text")
    for column in ("id", "paper", "item"):
        require(_KEBAB.fullmatch(row[column]), column, "lower-case words joined by hyphens")
    kind, relation = row["kind"], row["relation"]
    require(kind in KINDS, "kind", f"one of {', '.join(KINDS)}")
    require(relation in ("", *RELATIONS), "relation", f"one of {', '.join(RELATIONS)}, or none")
    row["reduce"] = row["reduce"] or "one"
    require(row["reduce"] in REDUCTIONS, "reduce", f"one of {', '.join(REDUCTIONS)}")
    result = PurePosixPath(row["result"])
    inside = not result.is_absolute() and ".." not in result.parts and "\\" not in row["result"]
    require(inside and result.suffix == ".csv", "result", "a .csv file below results/")
    if kind == "ordering":
        require(relation, "relation", "the order that is claimed")
        for column in ("printed", "corrected", "ordering"):
            require(not row[column], column, "nothing, for an ordering")
    else:
        require(row["printed"], "printed", "the number as printed")
    require(bool(row["against"]) == (kind != "number"), "against",
            "nothing for a number, else the second selection")  # fmt: skip
    require(not (row["pair"] and kind == "number"), "pair", "nothing, for a number")
    try:
        rtol = float(row["rtol"] or DEFAULT_RTOL)
    except ValueError:
        rtol = np.nan
    require(0 < rtol <= LARGEST_RTOL, "rtol", f"a number in (0, {LARGEST_RTOL}]")
    against = conditions("against")
    other = [condition.value for condition in against if condition.column == "column"]
    return Claim(
        **{key: row[key] for key in _TEXTS},
        printed=printed("printed"),
        corrected=printed("corrected"),
        select=conditions("select"),
        against=tuple(condition for condition in against if condition.column != "column"),
        against_column=other[0] if other else row["column"],
        pair=tuple(part.strip() for part in row["pair"].split(";") if part.strip()),
        rtol=rtol,
    )


_TEXTS = tuple(
    field.name for field in fields(Claim) if field.type == "str" and field.name in COLUMNS
)


def _check_ids(claims: list[Claim], problems: Problems) -> None:
    """Record ids that occur twice and orderings that do not exist."""
    counts = Counter(claim.id for claim in claims)
    for name, count in counts.items():
        if count > 1:
            problems.add(f"id {name!r} occurs {count} times: expected once")
    orderings = {claim.id for claim in claims if claim.relation}
    for claim in claims:
        if claim.ordering and claim.kind != "ordering" and claim.ordering not in orderings:
            expected = "the id of an ordering or bound"
            problems.add(f"{claim.id}: ordering: expected {expected}, got {claim.ordering!r}")
