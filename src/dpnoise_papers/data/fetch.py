"""Raw tables: from the cache, else the mirror, else the repository, else an official address.

Whatever the place, the parsed content is verified; a place whose copy is refused is passed over for
the next, and the refusal is kept. Downloads go to a temporary folder beside the cache's files and
only a verified table is moved into the cache, under one name, in one step. pooch makes each
download (two tries, a progress bar on a terminal). A host that could not be reached is not asked
again by the same process.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from dpnoise_papers.data.copies import LIMIT, Place, Places, copies_in, member_of
from dpnoise_papers.data.tables import DataTable, RefusedError, read_table, verify_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpnoise_papers.data.registry import Source, TableEntry

_TIMEOUTS = (3.0, 10.0)  # seconds to connect, and between two packets
_unreachable: set[str] = set()  # hosts


class Obtained(NamedTuple):
    """The tables of a set that can be had, by name.

    `sources` are where they came from (labels of `Places` or addresses), `reasons` say why others
    could not be had, `refused` which copies are there and are not what they should be. Each place
    and each reason stands there once.
    """

    tables: dict[str, DataTable]
    sources: list[str]
    reasons: list[str]
    refused: list[str]

    @property
    def reason(self) -> str:
        """All reasons, or nothing."""
        return "; ".join(self.reasons)


def obtain(wanted: Mapping[str, TableEntry], places: Places) -> Obtained:
    """Verified tables of a set, each from the first place that has a good copy."""
    found = Obtained({}, [], [], [])
    for name, entry in wanted.items():
        why: list[str] = []
        got = _local(name, entry, places, why, found.refused) or _official(name, entry, places, why)
        if got is None:
            found.reasons.extend(why)
        else:
            found.tables[name] = got[0]
            found.sources.append(got[1])
    return Obtained(found.tables, *(list(dict.fromkeys(part)) for part in found[1:]))


def _local(
    name: str, entry: TableEntry, places: Places, why: list[str], refused: list[str]
) -> tuple[DataTable, str] | None:
    """First good copy in a folder with the label of its place; else note why there is none."""
    for place in places.folders:
        for path in _paths(name, entry, place, why):
            try:
                return read_verified(path, entry), place.label
            except (RefusedError, OSError) as error:
                shown = path.relative_to(place.folder or path.anchor)
                refused.append(f"{place.label}, {shown}: {error}")
                why.append(refused[-1])
    return None


def _paths(name: str, entry: TableEntry, place: Place, why: list[str]) -> list[Path]:
    """Copies of a table in a place; else note why there is none."""
    label, folder, why_not = place
    if folder is None:
        why.append(f"{label}: {why_not}")
        return []
    try:
        paths = copies_in(folder, name, entry.files)
    except OSError as error:  # a folder that may not be read
        why.append(f"{label}: {error}")
        return []
    if not paths:
        gone = label == "mirror" and not folder.is_dir()
        why.append(f"{label}: no {f'folder {folder}' if gone else f'file for table {name!r}'}")
    return paths


def _official(
    name: str, entry: TableEntry, places: Places, why: list[str]
) -> tuple[DataTable, str] | None:
    """Table of the first address that serves it, with that address; else note why none does."""
    if not entry.sources:
        why.append(f"table {name!r} has no official address")
    for source in entry.sources:
        if places.offline or urlsplit(source.url).netloc in _unreachable:
            told = "not asked (offline)" if places.offline else "the host does not answer"
            why.append(f"{source.url}: {told}")
            continue
        try:
            return _download(name, entry, source, places.cache), source.url
        except (ValueError, OSError) as error:  # RefusedError and requests' errors included
            why.append(f"{source.url}: {str(error)[:200] or type(error).__name__}")
    return None


def read_verified(path: Path, entry: TableEntry) -> DataTable:
    """Table that a local file holds; RefusedError if its content is not that of the registry."""
    size = path.stat().st_size
    if size > LIMIT:
        raise RefusedError(f"expected at most {LIMIT} bytes, got a file of {size}")
    table = read_table(path.read_bytes(), entry)
    verify_table(table, entry)
    return table


def _download(name: str, entry: TableEntry, source: Source, cache: Path) -> DataTable:
    """Verified table of an official source, after moving it into the cache."""
    suffix = PurePosixPath(source.member or urlsplit(source.url).path).suffix or ".data"
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix=".download-") as folder:
        raw = retrieve(source.url, Path(folder))
        if source.member is not None:
            raw.write_bytes(member_of(raw.read_bytes(), source.member))
        table = read_verified(raw, entry)
        raw.replace(cache / f"{name}{suffix}")
    return table


def retrieve(url: str, folder: Path, digest: str | None = None) -> Path:
    """File that an address was downloaded to; ValueError if its sha256 is not the given one."""
    import pooch  # noqa: PLC0415 - only a download needs it
    from requests import ConnectionError as NoConnectionError  # noqa: PLC0415

    pooch.get_logger().setLevel("ERROR")
    keeper = pooch.create(
        path=folder, base_url="", registry={"raw": digest}, urls={"raw": url}, retry_if_failed=1
    )
    bar = sys.stderr.isatty()
    fetch = pooch.HTTPDownloader(progressbar=bar, chunk_size=2**16, timeout=_TIMEOUTS)
    try:
        return Path(keeper.fetch("raw", downloader=fetch))
    except NoConnectionError:
        _unreachable.add(urlsplit(url).netloc)
        raise ConnectionError("no connection to the host") from None
