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
from dpnoise_papers.data.fetch import NotFoundError, obtain

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
    own, own_refused = _found(name, entry, [shipped], sources=False)
    if own_refused:
        return f"the shipped copy is not what it should be ({own_refused[0]})"
    if not entry.sources:
        return f"no official address is known{'' if own else ', and no copy is shipped'}"
    official, refused = _found(name, entry, [], sources=True)
    if official:
        return SAME if own else "as registered at its official address, no copy is shipped"
    # A download whose content is refused says which column differs; others say why there is none.
    different = [reason for reason in refused if "expected" in reason]
    return f"differs ({different[0]})" if different else f"unreachable ({'; '.join(refused)})"


def _found(
    name: str, entry: TableEntry, folders: Iterable[Place], *, sources: bool
) -> tuple[bool, list[str]]:
    """Whether one kind of place has a good copy, and which copies or addresses failed."""
    with tempfile.TemporaryDirectory() as folder:
        asked = Places(Path(folder), tuple(folders), offline=not sources)
        try:
            found = obtain(name, entry, asked)
        except NotFoundError as error:
            return False, error.reasons if sources else error.refused
    return True, found.refused
