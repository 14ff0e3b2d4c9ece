"""Names that a package resolves on first use, so that importing one of them costs only itself.

A package says `_HOME = {name: module}` and `__getattr__, __dir__ = lazy(__name__, _HOME)`.
`dpnoise.closure` reads `_HOME`, so that a pipeline rule reruns for the modules it uses and not
for their neighbours.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazy(
    package: str, home: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package.

    Parameters
    ----------
    package : str
        Its `__name__`.
    home : mapping of str to str
        For each public name the module below the package that holds it.
    """

    def resolve(name: str) -> object:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{home[name]}"), name)

    return resolve, lambda: sorted(home)
