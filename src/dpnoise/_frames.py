"""Columns and frames of pandas, polars and others: their public type, their records and labels.

Everything goes through narwhals, which is imported when such a column is given and not before.

**Types are public.** The type of a column is part of its schema: it is the same whatever a single
person's record is. So a column of numbers beside labels of text can be refused without a word about
any record. A list and a column of objects have no such type; there every record is read by itself.
"""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from numbers import Number, Real
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

_LIBRARIES = {"pandas", "polars", "pyarrow", "modin", "cudf", "narwhals"}
_KINDS = {**dict.fromkeys("biufc", "numbers"), "U": "text", "S": "bytes", "m": "durations"}
_DAYS = {"Y", "M", "W", "D"}  # units of numpy.datetime64 without a time
_MOST_SHOWN = 3
_NUMBERS: Any = (Real, Decimal, np.bool_)  # and a time of NumPy, which is none


def libraries(values: object) -> set[str]:
    """The libraries of columns that an object is from."""
    return {kind.__module__.partition(".")[0] for kind in type(values).__mro__} & _LIBRARIES


def native(values: object) -> Any:  # noqa: ANN401
    """A series or data frame as narwhals has it; None for anything else."""
    if not libraries(values):
        return None
    import narwhals as nw  # noqa: PLC0415 - when a column is given

    found = nw.from_native(values, allow_series=True, eager_only=True, pass_through=True)
    return found if isinstance(found, nw.Series | nw.DataFrame) else None


def _kind_of_time(dtype: np.dtype[Any]) -> str:
    """Whether NumPy's dates have a time of the day."""
    return "dates" if np.datetime_data(dtype)[0] in _DAYS else "times"


def _kind_of_dtype(dtype: Any) -> str | None:  # noqa: ANN401  (of narwhals)
    """The kind of a column by its type in narwhals; None for any other type."""
    import narwhals as nw  # noqa: PLC0415 - when a column is given

    if dtype.is_numeric() or dtype == nw.Boolean:
        return "numbers"
    kinds = {nw.String: "text", nw.Binary: "bytes", nw.Date: "dates", nw.Datetime: "times"}
    kinds[nw.Duration] = "durations"
    return next((kind for known, kind in kinds.items() if dtype == known), None)


def kind_of(values: Any) -> str | None:  # noqa: ANN401
    """The kind of the records of a column by its public type; None if it has none."""
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype):
        return _kind_of_time(dtype) if dtype.kind == "M" else _KINDS.get(dtype.kind)
    categories = getattr(dtype, "categories", None)
    if categories is not None:  # a type with labels
        return kind_of(getattr(categories, "to_series", lambda: categories)())
    column = None if str(dtype) == "object" else native(values)  # else it looks at the records
    return None if column is None or dtype is None else _kind_of_dtype(column.dtype)


def label_kind(label: object) -> str | None:
    """The kind of a public label; None where any record may be equal to it."""
    if isinstance(label, np.datetime64):
        return _kind_of_time(label.dtype)
    kinds: dict[Any, str] = {str: "text", bytes: "bytes", dt.datetime: "times"}
    kinds |= {dt.date: "dates", dt.timedelta: "durations", np.timedelta64: "durations"}
    kinds |= {Number: "numbers", Decimal: "numbers", np.bool_: "numbers"}
    return next((kind for type_, kind in kinds.items() if isinstance(label, type_)), None)


def misfits(labels: Iterable[object], values: Any) -> str:  # noqa: ANN401
    """How public labels are of another kind than a column, in words; empty if they are not."""
    kind = kind_of(values)
    if kind is None:
        return ""
    wrong = [one for one in labels if label_kind(one) not in (None, kind)]
    if not wrong:
        return ""
    shown = ", ".join(map(repr, wrong[:_MOST_SHOWN])) + ", ..." * (len(wrong) > _MOST_SHOWN)
    other = label_kind(wrong[0])
    return (
        f"{kind}, as all values of the column are by its type {values.dtype}, got {other}: {shown}"
    )


def key_of(label: object) -> object:
    """What a record has to be equal to for this label: of NumPy's dates, Python's own."""
    if isinstance(label, np.datetime64):
        dates = _kind_of_time(label.dtype) == "dates"
        return label.astype("datetime64[D]" if dates else "datetime64[us]").item()
    return label


def records_of(values: Any) -> list[Any] | None:  # noqa: ANN401
    """The records of a column or an array as Python's own objects; None for anything else."""
    if isinstance(values, np.ndarray):
        if values.dtype.kind == "M":
            values = values.astype(f"datetime64[{'D' if kind_of(values) == 'dates' else 'us'}]")
        return list(values.tolist())
    column = native(values)
    if column is None or not hasattr(column, "to_list"):
        return None
    # Of pandas its own list, in which dates are no integers.
    return list(getattr(values, "tolist", column.to_list)())


def column_like(values: object, answer: Any) -> Any:  # noqa: ANN401
    """The answer as a series or frame of the library of values; as it is beside anything else."""
    known = native(values)
    if known is None:
        return answer
    import narwhals as nw  # noqa: PLC0415 - when a column is given

    backend = known.implementation
    if isinstance(known, nw.DataFrame):
        columns = dict(zip(known.columns, np.asarray(answer).T, strict=True))
        return nw.from_dict(columns, backend=backend).to_native()
    return nw.new_series(known.name or "", np.asarray(answer), backend=backend).to_native()


def frame_like(values: object, columns: dict[str, Any]) -> Any:  # noqa: ANN401
    """Columns as a data frame of the library of values, which is not pandas; None if it is."""
    known = None if "pandas" in libraries(values) else native(values)
    if known is None:
        return None
    import narwhals as nw  # noqa: PLC0415 - when a column is given

    return nw.from_dict(columns, backend=known.implementation).to_native()


def is_whole(values: Any) -> bool:  # noqa: ANN401
    """Whether the records of a column are integers or bools by its public type."""
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype):
        return dtype.kind in "biu"
    column = native(values)
    if column is None or str(dtype) == "object" or dtype is None:
        return False
    return bool(column.dtype.is_integer()) or str(column.dtype) == "Boolean"


def number_of(record: Any) -> float:  # noqa: ANN401
    """The double next to a real number, infinite beyond all doubles; NaN for anything else."""
    if isinstance(record, np.timedelta64) or not isinstance(record, _NUMBERS):
        return math.nan
    try:
        try:
            return float(record)
        except OverflowError:  # of integers and fractions
            return math.inf if record > 0 else -math.inf
    except Exception:  # noqa: BLE001  (of a signalling NaN, or of a type of the user)
        return math.nan
