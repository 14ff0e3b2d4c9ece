"""Imports of what an extra installs."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


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
