"""Copies that travel with the repository, compared with what the official addresses serve today.

Each table is downloaded anew from its official addresses, in their order, into a folder that is
deleted again; the cache and the mirror are not looked at. Both copies are read and compared by the
fingerprint of their content, as the registry states it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dpnoise_papers.data.copies import SHIPPED, Place, Places, places_of
from dpnoise_papers.data.fetch import NotFoundError, Obtained, obtain

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping

    from dpnoise_papers.data.registry import TableEntry

SAME = "same"


class Compared(NamedTuple):
    """What was found of one set, in words, and whether every table of it is the same."""

    name: str
    words: str
    same: bool


def compare_official(
    sets: Mapping[str, Mapping[str, TableEntry]],
    registry: str | os.PathLike[str] | None = None,
) -> Iterator[Compared]:
    """Comparison of sets, given by their tables, one after the other.

    Words are 'same', or for each table 'differs' with the first column that does, 'unreachable'
    with the reason of each address, or that no address is known. A table that others replace is
    left out. `registry` is that of the sets, beside which the shipped copies lie.
    """
    known: dict[str, str] = {}
    for name, tables in sets.items():
        for table, entry in tables.items():
            if table not in known and not entry.replaced_by:
                known[table] = _compared(table, entry, registry)
        found = {table: known[table] for table in tables if table in known}
        same = all(words == SAME for words in found.values())
        told = [f"{table}: {words}" for table, words in found.items()]
        words = "; ".join(told) or "part of scikit-learn, no address is asked"
        yield Compared(name, SAME if same and told else words, same)


def _compared(name: str, entry: TableEntry, registry: str | os.PathLike[str] | None) -> str:
    """What is found of one table."""
    (shipped,) = (one for one in places_of(registry).folders if one.label == SHIPPED)
    copy = _found(name, entry, [shipped], sources=False)
    if copy.refused:
        return f"the shipped copy is not what it should be ({copy.refused[0]})"
    own = isinstance(copy, Obtained)
    if not entry.sources:
        return f"no official address is known{'' if own else ', and no copy is shipped'}"
    official = _found(name, entry, [], sources=True)
    if isinstance(official, Obtained):
        return SAME if own else "as registered at its official address, no copy is shipped"
    if official.different:
        return f"differs ({official.different[0]})"
    return f"unreachable ({'; '.join(official.reasons)})"


def _found(
    name: str, entry: TableEntry, folders: Iterable[Place], *, sources: bool
) -> Obtained | NotFoundError:
    """The table from one kind of place, or why no such place has a good copy."""
    with tempfile.TemporaryDirectory() as folder:
        asked = Places(Path(folder), tuple(folders), offline=not sources)
        try:
            return obtain(name, entry, asked)
        except NotFoundError as error:
            return error
