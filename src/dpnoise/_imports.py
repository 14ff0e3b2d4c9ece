"""Imports on first use: public names of a package (PEP 562), and what an extra installs."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping


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


@contextmanager
def imports_of(extra: str) -> Iterator[None]:
    """Context for the imports that an extra of this package installs.

    Parameters
    ----------
    extra : str
        The extra's name, as in `pip install ".[extra]"`.

    Raises
    ------
    ModuleNotFoundError
        Naming the missing package and a command that works in a checkout: no index has dpnoise.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        message = f'{package} is not installed: pip install ".[{extra}]" in a checkout of dpnoise'
        raise ModuleNotFoundError(message, name=error.name) from error
