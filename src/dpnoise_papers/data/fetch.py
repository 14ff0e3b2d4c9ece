"""Raw tables: from the cache, else the mirror, else the repository, else an official address.

Whatever the place, the parsed content is verified; a place whose copy is refused is passed over for
the next, and the refusal is kept. Downloads go to a temporary folder beside the cache's files and
only a verified table is moved into the cache, under one name, in one step. pooch makes each
download (two tries, a progress bar on a terminal); it cannot resume one, so an interrupted download
starts again. A host that could not be reached is not asked again by the same process.

Copies that travel with the repository are compared with what the official addresses serve today:
each table is downloaded anew, in the order of its addresses, into a folder that is deleted again;
the cache and the mirror are not looked at. Both copies are read and compared by the fingerprint of
their content, as the registry states it.
"""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from dpnoise_papers.data.copies import (
    LIMIT,
    SHIPPED,
    Place,
    Places,
    copies_in,
    member_of,
    places_of,
    read_file,
)
from dpnoise_papers.data.tables import DataTable, RefusedError, read_table, verify_table

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping

    from dpnoise_papers.data.registry import Source, TableEntry

_TIMEOUTS = (3.0, 10.0)  # seconds to connect, and between two packets
_DEADLINE = 300.0  # seconds for one download, whatever the packets
_CELL = 64  # bytes that a number with its separator may take
_unreachable: set[str] = set()  # hosts
SAME = "same"


class NotFoundError(Exception):
    """No place has a good copy of a table.

    `reasons` say why, for each place; `refused` are those of copies that are there, `different`
    those of downloads that came and are not the registered table.
    """

    def __init__(
        self, reasons: list[str], refused: Iterable[str] = (), different: Iterable[str] = ()
    ) -> None:
        super().__init__("; ".join(reasons))
        self.reasons, self.refused, self.different = reasons, list(refused), list(different)


class Obtained(NamedTuple):
    """A verified table, where it came from (a label of `Places` or an address), and the copies
    that were refused on the way, each with the reason.
    """

    table: DataTable
    source: str
    refused: list[str]


def obtain(name: str, entry: TableEntry, places: Places) -> Obtained:
    """Verified table from the first place that has a good copy; NotFoundError if none has."""
    reasons: list[str] = []
    refused: list[str] = []
    different: list[str] = []
    for place in places.folders:
        table = _local(name, entry, place, reasons, refused)
        if table is not None:
            return Obtained(table, place.label, refused)
    if not entry.sources:
        reasons.append(f"table {name!r} has no official address")
    for source in entry.sources:
        host = urlsplit(source.url).netloc
        if places.offline or host in _unreachable:
            why = "not asked (offline)" if places.offline else "the host does not answer"
            reasons.append(f"{source.url}: {why}")
            continue
        try:
            return Obtained(_download(name, entry, source, places.cache), source.url, refused)
        except (ValueError, OSError) as error:  # RefusedError and requests' errors included
            reasons.append(f"{source.url}: {str(error)[:200] or type(error).__name__}")
            if isinstance(error, RefusedError):
                different.append(reasons[-1])
    raise NotFoundError(reasons, refused, different)


class ObtainedAll(NamedTuple):
    """The tables of a set that can be had, by name; where they came from, why others could not be
    had (or ""), and the copies that were refused. Each place and each reason stands there once.
    """

    tables: dict[str, DataTable]
    sources: list[str]
    reason: str
    refused: list[str]


def obtain_all(wanted: Mapping[str, TableEntry], places: Places) -> ObtainedAll:
    """Verified tables of a set, as far as they can be had."""
    tables, sources, reasons = {}, [], []
    refused: list[str] = []
    for name, entry in wanted.items():
        try:
            found = obtain(name, entry, places)
        except NotFoundError as error:
            reasons += error.reasons
            refused += error.refused
        else:
            tables[name] = found.table
            sources.append(found.source)
            refused += found.refused
    once = [list(dict.fromkeys(part)) for part in (sources, reasons, refused)]
    return ObtainedAll(tables, once[0], "; ".join(once[1]), once[2])


def _local(
    name: str, entry: TableEntry, place: Place, reasons: list[str], refused: list[str]
) -> DataTable | None:
    """First good copy in a folder, or None and why there is none."""
    label, folder, why_not = place
    if folder is None:
        reasons.append(f"{label}: {why_not}")
        return None
    try:
        paths = copies_in(folder, name, entry.files)
    except OSError as error:  # a folder that may not be read
        reasons.append(f"{label}: {error}")
        return None
    if not paths:
        gone = label == "mirror" and not folder.is_dir()
        shown = f"no folder {folder}" if gone else f"no file for table {name!r}"
        reasons.append(f"{label}: {shown}")
    for path in paths:
        try:
            return read_verified(path, entry)
        except (RefusedError, OSError) as error:
            refused.append(f"{label}, {path.relative_to(folder)}: {error}")
            reasons.append(refused[-1])
    return None


def read_verified(path: Path, entry: TableEntry) -> DataTable:
    """Table that a local file holds; RefusedError if its content is not that of the registry.

    A file that is far larger than such a table is refused before it is read.
    """
    plausible = max(2**20, _CELL * entry.rows * len(entry.columns))
    limit = LIMIT if entry.day else min(LIMIT, plausible)  # other days' rows are not counted
    try:
        content = read_file(path, limit)
    except ValueError as error:
        raise RefusedError(f"{error} (a table of {entry.rows} rows)") from None
    table = read_table(content, entry, entry.rows)
    verify_table(table, entry)
    return table


def _download(name: str, entry: TableEntry, source: Source, cache: Path) -> DataTable:
    """Verified table of an official source, after moving it into the cache."""
    from requests import ConnectionError as NoConnectionError  # noqa: PLC0415 - for downloads only

    cache.mkdir(parents=True, exist_ok=True)
    suffix = PurePosixPath(source.member or urlsplit(source.url).path).suffix or ".data"
    with tempfile.TemporaryDirectory(dir=cache, prefix=".download-") as folder:
        try:
            raw = retrieve(source.url, Path(folder), name)
        except (NoConnectionError, TimeoutError) as error:
            _unreachable.add(urlsplit(source.url).netloc)
            if isinstance(error, TimeoutError):
                raise
            raise ConnectionError("no connection to the host") from None
        if source.member is not None:
            try:
                raw.write_bytes(member_of(raw.read_bytes(), source.member))
            except ValueError as error:  # it came, and is no such archive
                raise RefusedError(str(error)) from None
        table = read_verified(raw, entry)
        raw.replace(cache / f"{name}{suffix}")
    return table


def retrieve(
    url: str, folder: Path, label: str, *, limit: int | None = None, deadline: float | None = None
) -> Path:
    """File of at most `limit` bytes (64 MiB) that an address was downloaded to.

    TimeoutError after `deadline` seconds (300).

    The download runs beside, because a server that sends a byte now and then would hold its reader
    up within one packet for ever; late, it is left behind and ends with the process.
    """
    import pooch  # noqa: PLC0415 - only a download needs it

    deadline = _DEADLINE if deadline is None else deadline
    pooch.get_logger().setLevel("ERROR")
    keeper = pooch.create(
        path=folder, base_url="", registry={"raw": None}, urls={"raw": url}, retry_if_failed=1
    )
    meter = _Meter(label, LIMIT if limit is None else limit)
    fetch = pooch.HTTPDownloader(progressbar=meter, chunk_size=2**16, timeout=_TIMEOUTS)
    done: list[Path] = []
    failed: list[Exception] = []

    def download() -> None:
        try:
            done.append(Path(keeper.fetch("raw", downloader=fetch)))
        except Exception as error:  # noqa: BLE001 - raised again below
            failed.append(error)

    beside = threading.Thread(target=download, daemon=True)
    beside.start()
    beside.join(max(deadline, 0.0))
    meter.close()
    if failed:
        raise failed.pop()  # kept in no frame, so that its socket is closed at once
    if not done:
        raise TimeoutError(f"not complete after {deadline:g} s")
    return done[0]


class _Meter:
    """A progress bar, silent unless on a terminal, that ends what is too large or too late."""

    def __init__(self, label: str, limit: int) -> None:
        from tqdm import tqdm  # noqa: PLC0415 - only a download needs it

        self._bar = tqdm(desc=label, unit="B", unit_scale=True, disable=None)
        self._closed = False
        self._limit = limit
        self._seen = 0

    @property
    def total(self) -> float | None:
        return self._bar.total

    @total.setter
    def total(self, size: float | None) -> None:
        self._bar.total = size or None

    def update(self, size: int) -> None:
        self._seen += size
        # pooch tries again after ValueError, and these do not get better.
        if self._seen > self._limit:
            raise OSError(f"expected a download of at most {self._limit} bytes, got more")
        if self._closed:
            raise OSError("too late")
        self._bar.update(size)

    def reset(self) -> None:
        self._seen = 0
        self._bar.reset()

    def close(self) -> None:
        self._closed = True
        self._bar.close()


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
