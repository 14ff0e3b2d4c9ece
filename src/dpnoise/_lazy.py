"""Public names of a package that are imported on first use (PEP 562)."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


def lazy_names(
    package: str, modules: Mapping[str, str], shown: Iterable[str] | None = None
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """A package's `__getattr__` and `__dir__`, from the module that defines each public name.

    `shown` are the names that `dir` lists, all by default.
    """

    def get(name: str) -> object:
        """The object of a public name; its module is imported on first use."""
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(modules[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        """The names that are shown."""
        return sorted(modules if shown is None else shown)

    return get, names
