"""The data sets of the papers: where they come from, what they must contain, how to get one.

`load` returns a data set whose content has been verified; `prepare` and `read_prepared`
hand it from one pipeline job to the next. Names are resolved on first use, because the
Snakefile imports `dpnoise.data.retry` whenever it is parsed and must not pay for NumPy.
"""

from __future__ import annotations

from importlib import import_module

_HOME = {
    "Dataset": "dataset",
    "DatasetUnavailable": "dataset",
    "Table": "tables",
    "fingerprint": "tables",
    "load": "sets",
    "names": "registry",
    "prepare": "prepared",
    "read_prepared": "prepared",
}

__all__ = [  # noqa: PLE0604, RUF100
    "Dataset",
    "DatasetUnavailable",
    "Table",
    "fingerprint",
    "load",
    "names",
    "prepare",
    "read_prepared",
]


def __getattr__(name: str) -> object:
    """Import the module that holds `name` and return the object."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
