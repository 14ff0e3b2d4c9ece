"""Text whose numbers come from result tables, so that no sentence contradicts a table.

A reference is `{table: conditions -> column, format}`, such as
`{flipped-huber-2023/figure-3a.csv: mechanism=gaussian;epsilon=0.3 -> variance, .2f}`. It
must select one row, unless a word before the column says what to do with several: `min`,
`max`, `mean`, `count` (of rows) or `distinct` (how many values). ` / ` or ` - ` joins a second
selection from the same table, whose conditions replace those of the first on the same columns:
`{...: epsilon=0.3 -> variance / epsilon=3 -> variance, .0f}`.

Some documents hold an account of what came out, made from a template with references. A mark
`<!-- from published/NAME.md -->` names the template, `<!-- end -->` ends the account.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from dpnoise_papers.claims.model import Condition, replaced
from dpnoise_papers.claims.quantity import NotRunError, chosen, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dpnoise._types import Array
    from dpnoise_papers.claims.published import Published

REFERENCE = re.compile(r"\{([^{}]*)\}")
_SIDE = r"(?:(.*?)\s*->\s*)?(?:(min|max|mean|count|distinct)\s+)?(\w+)"
_PARTS = re.compile(
    rf"\s*([\w./-]+\.csv)\s*:\s*{_SIDE}(?:\s+([/-])\s+{_SIDE})?\s*,\s*(\.?\d*[defg%])\s*"
)
_EXPONENT = re.compile(r"e([+-])0*(\d)")
_REDUCE: dict[str, Callable[[Array], Any]] = {"min": np.min, "max": np.max, "mean": np.mean}
NOT_RUN = "[not run]"
VERDICTS = "verdicts.csv"  # made of all the others
DOCUMENTS = ("README.md", "docs/fairness.md")
_ACCOUNT = re.compile(r"<!-- from (published/[\w-]+\.md) -->\n(.*?)<!-- end -->", re.DOTALL)


@dataclass(frozen=True)
class Reference:
    """One parsed reference.

    `text` stands between the braces; `sides` are one or two selections, joined by `operator` ('/'
    or '-', or '' for one): conditions, the word that reduces rows, and a column.
    """

    text: str
    table: str
    sides: tuple[tuple[tuple[Condition, ...], str, str], ...]
    operator: str
    form: str

    @classmethod
    def parse(cls, text: str) -> Reference:
        """Reference that stands between the braces as `text`; ValueError if it is none."""
        whole = _PARTS.fullmatch(text)
        if not whole:
            expected = "{table.csv: conditions -> column, .2f}"
            message = f"expected a reference such as {expected}, got {{{text}}}"
            raise ValueError(message)
        table, select, reduce, column, operator, *second, form = whole.groups(default="")
        sides = [(Condition.parse(select), reduce, column)]
        if operator:
            select, reduce, column = second
            sides.append((replaced(sides[0][0], Condition.parse(select)), reduce, column))
        return cls(text, table, tuple(sides), operator, form)

    def value(self, tables: Mapping[str, pd.DataFrame]) -> float:
        """Number of the reference; NotRunError if the table, a row or a value is missing."""
        if self.table not in tables:
            raise NotRunError(f"results/{self.table} does not exist yet")
        values = [self._side(tables[self.table], *side) for side in self.sides]
        if self.operator == "/":
            if values[1] == 0:
                raise NotRunError(f"{{{self.text}}} divides by 0")
            return values[0] / values[1]
        return values[0] - values[1] if self.operator else values[0]

    def _side(
        self, table: pd.DataFrame, select: tuple[Condition, ...], reduce: str, column: str
    ) -> float:
        if reduce == "count":
            return float(np.count_nonzero(chosen(table, select, self.table)))
        if reduce == "distinct":
            cells = table.loc[chosen(table, select, self.table), column]
            return float(cells.replace("", None).nunique())
        rows = rows_of(table, select, self.table)
        if column not in rows:
            raise NotRunError(f"results/{self.table} has no column {column!r}")
        values = pd.to_numeric(rows[column], errors="coerce").to_numpy(dtype=float)
        if not reduce and len(values) > 1:
            raise NotRunError(f"{{{self.text}}} selects {len(values)} rows where one is expected")
        if not np.isfinite(values).all():
            raise NotRunError(f"results/{self.table} lacks {column!r} in a selected row")
        return float(_REDUCE[reduce](values) if reduce else values[0])

    def show(self, tables: Mapping[str, pd.DataFrame]) -> str:
        """Number as the text shows it; NotRunError as for `value`."""
        return _EXPONENT.sub(r"e\1\2", format(self.value(tables), self.form)).replace("e+", "e")


def references(text: str) -> list[Reference]:
    """References of a text; ValueError if one is malformed."""
    return [Reference.parse(match[1]) for match in REFERENCE.finditer(text)]


def render(text: str, tables: Mapping[str, pd.DataFrame]) -> str:
    """Text with its references replaced by numbers; what has no value reads '[not run]'."""

    def shown(match: re.Match[str]) -> str:
        try:
            return Reference.parse(match[1]).show(tables)
        except NotRunError:
            return NOT_RUN

    return REFERENCE.sub(shown, text)


def named_tables(published: Published, *texts: str) -> list[str]:
    """Sorted paths of the result tables that a claim, a cause or a text names."""
    named = {claim.result for claim in published.claims if claim.result}
    causes = (f"{cause.finding} {cause.evidence}" for cause in published.causes)
    named |= {part.table for text in (*causes, *texts) for part in references(text)}
    return sorted(named - {VERDICTS})


class Account(NamedTuple):
    """Path of the template of an account, what the account says and where it starts in its page."""

    template: str
    text: str
    start: int


def account(document: str | Path) -> Account:
    """Account in a document; ValueError if the document does not have both marks once."""
    found = list(_ACCOUNT.finditer(Path(document).read_text(encoding="utf-8")))
    if len(found) != 1:
        wanted = "'<!-- from published/NAME.md -->' and '<!-- end -->'"
        raise ValueError(f"{document}: expected {wanted} once, found {len(found)} pairs")
    return Account(found[0][1], found[0][2], found[0].start(2))


def templates(root: str | Path = ".") -> dict[str, str]:
    """Path of the template by the path of its document, of those below a folder."""
    root = Path(root)
    kept = (name for name in DOCUMENTS if (root / name).is_file())
    named = {name: account(root / name).template for name in kept}
    return {name: path for name, path in named.items() if (root / path).is_file()}
