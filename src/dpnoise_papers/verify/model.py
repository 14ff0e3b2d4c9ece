"""Row of a result table, the path that recomputes one of its cells, and the answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd

# Another vector width of the processor changes cells by at most this (relative), but for a few that
# are found with less accuracy (docs/cluster.md).
CLASS = 8.4e-7
DIGITS = 1e-9  # tables carry ten


class NoPathError(Exception):
    """A row that its path does not cover."""


class Answer(NamedTuple):
    """Value of a cell by an independent path, and how exact that path is.

    A cell agrees within a relative `rtol` of the value, or an absolute `atol`.
    """

    value: float
    rtol: float = CLASS
    atol: float = 0.0

    def agrees(self, cell: float) -> bool:
        """Whether a cell of a table says the same."""
        if cell == self.value:
            return True
        allowed = max((self.rtol + DIGITS) * abs(self.value), self.atol)
        return abs(cell - self.value) <= allowed


@dataclass(frozen=True)
class Row:
    """Row of a result table: its cells, the settings behind the table, and other tables."""

    cells: Mapping[Any, Any]
    settings: tuple[Any, ...] = ()
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    given: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, column: str) -> Any:  # noqa: ANN401
        """Cell of a column."""
        return self.cells[column]

    def number(self, column: str) -> float:
        """Cell of a column as a number."""
        return float(self.cells[column])


class Path(NamedTuple):
    """Recomputation of a column of a table and, in words, how it goes."""

    compute: Callable[[Row], Answer | float]
    how: str

    def answer(self, row: Row) -> Answer:
        """Answer for a row; a bare number is held to the class of reproducibility."""
        found = self.compute(row)
        return found if isinstance(found, Answer) else Answer(float(found))


Paths = dict[str, dict[str, Path]]
