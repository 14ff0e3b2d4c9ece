"""What results share: equality by value, data frames, HTML and the labels of what was given.

pandas is imported where a user asks for what it makes, and nowhere else.
"""

from __future__ import annotations

import html
import sys
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise._frames import column_like, native
from dpnoise._imports import imports_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence


def _same(one: Any, other: Any) -> bool:  # noqa: ANN401  (values of fields)
    """Whether two values are equal; of arrays, in shape and every entry."""
    if hasattr(one, "equals") or hasattr(other, "equals"):  # of pandas: with the index
        return type(one) is type(other) and bool(one.equals(other))
    if isinstance(one, tuple | list):
        alike = type(one) is type(other) and len(one) == len(other)
        return alike and all(map(_same, one, other))
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return bool(np.array_equal(one, other))
    return bool(one == other)


def _key(value: Any) -> object:  # noqa: ANN401
    """Something hashable that is equal for equal values."""
    if isinstance(value, np.ndarray) or hasattr(value, "equals"):
        return np.shape(value)
    return tuple(map(_key, value)) if isinstance(value, tuple | list) else value


class EqualByValue:
    """A base of dataclasses with `eq=False`: equal if type and all compared fields are.

    The `==` of arrays, which they hold, answers with an array.
    """

    def __eq__(self, other: object) -> bool:
        """Whether the other has the same type and values."""
        if type(self) is not type(other):
            return NotImplemented
        names = [field.name for field in fields(self) if field.compare]  # type: ignore[arg-type]
        return all(_same(getattr(self, name), getattr(other, name)) for name in names)

    def __hash__(self) -> int:
        """A hash of the compared fields, of arrays of their shape only."""
        known = [field.name for field in fields(self) if field.compare]  # type: ignore[arg-type]
        return hash((type(self), *(_key(getattr(self, name)) for name in known)))


def data_frame(columns: Mapping[str, object], index: Any, name: Hashable) -> Any:  # noqa: ANN401
    """A data frame of pandas with a named index."""
    with imports_of("frames"):
        import pandas as pd  # noqa: PLC0415
    return pd.DataFrame(dict(columns), index=pd.Index(index, name=name, tupleize_cols=False))


def html_table(
    caption: str, header: Sequence[str], rows: Iterable[Sequence[str]], notes: Iterable[str] = ()
) -> str:
    """A table in HTML; all texts are escaped, the first cell of a row is its head."""

    def cells(texts: Sequence[str], tag: str) -> str:
        return "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts)

    body = "".join(f"<tr>{cells(row[:1], 'th')}{cells(row[1:], 'td')}</tr>" for row in rows)
    head = f"<thead><tr>{cells(header, 'th')}</tr></thead>" if header else ""
    below = "".join(f"<div>{html.escape(note)}</div>" for note in notes)
    title = f"<caption>{html.escape(caption)}</caption>"
    return f"<div><table>{title}{head}<tbody>{body}</tbody></table>{below}</div>"


class _Short(str):
    """A text that is shown as it is."""

    __slots__ = ()
    __repr__ = str.__str__


_LONGEST = 200


def shortened(value: object) -> object:
    """A public value for an error message, cut off where its text is long."""
    text = repr(value)
    return value if len(text) <= _LONGEST else _Short(f"{text[:_LONGEST]}...")


def labelled_cells(
    values: object,
    counts: Any,  # noqa: ANN401
    *,
    edges: object = None,
    categories: Iterable[object] = (),
    by: object = None,
) -> Any:  # noqa: ANN401
    """Numbers by cell or group, in the container of the records, or of what groups them.

    Of pandas a Series by category or interval, of others a Series in their order.
    """
    named: Any = next((one for one in (values, by) if native(one) is not None), None)
    pandas = sys.modules.get("pandas")  # which a Series has imported
    if named is None or pandas is None or not isinstance(named, pandas.Series):
        return column_like(named, counts)
    name = getattr(values if by is None else by, "name", None)
    if edges is None:
        index = pandas.Index(list(categories), name=name, tupleize_cols=False)
    else:
        index = pandas.IntervalIndex.from_breaks(edges, closed="left", name=name)
    return pandas.Series(counts, index=index, name=named.name)


def labelled_like(values: object, answer: Any) -> Any:  # noqa: ANN401
    """The answer in the container of values, with index and name, or columns."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(values, pandas.Series):
        return pandas.Series(answer, index=values.index, name=values.name)
    if pandas is not None and isinstance(values, pandas.DataFrame):
        return pandas.DataFrame(answer, index=values.index, columns=values.columns)
    return column_like(values, answer)
