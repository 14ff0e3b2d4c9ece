"""Get one raw table: from the cache, else the mirror, else an official source.

Whatever the place, the parsed content is verified; a place whose copy is refused is passed
over for the next. Downloads go to a temporary folder beside the cache's files and only a
verified table is moved into the cache, under one name, in one step. pooch makes each
download (two tries, a progress bar on a terminal); it cannot resume one, so an interrupted
download starts again. Without network the hosts' silence is found out beforehand.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from dpnoise_papers.data.archives import LIMIT, member_of
from dpnoise_papers.data.places import answering, host_of, in_folder
from dpnoise_papers.data.tables import RefusedError, Table, read_table, verify_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Reader = Callable[[bytes, Mapping], Table]

PROBE_TIMEOUT = 2.0  # seconds for a host to accept a connection
_TIMEOUTS = (3.0, 10.0)  # seconds to connect, and between two packets
_DEADLINE = 300.0  # seconds for one download


class NotFoundError(Exception):
    """No place has a good copy of a table: `reasons` says why for each."""

    def __init__(self, reasons: list[str]) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons


def obtain(
    name: str,
    entry: Mapping,
    *,
    cache: Path,
    mirror: Path | None,
    offline: bool,
    read: Reader = read_table,
) -> tuple[Table, str]:
    """Return a verified table and where it came from.

    Parameters
    ----------
    name : str
        Name of the table in the registry.
    entry : mapping
        Its entry there.
    cache : Path
        Folder of verified downloads; created when a download succeeds.
    mirror : Path or None
        Folder of further copies, only read.
    offline : bool
        Do not ask the official sources.
    read : callable
        Parses the content of a copy: (bytes, entry) -> Table.

    Returns
    -------
    table : Table
        With the content that the registry describes.
    source : str
        'cache', 'mirror' or the address.

    Raises
    ------
    NotFoundError
        If no place has a good copy.
    """
    reasons = []
    for label, folder in (("cache", cache), ("mirror", mirror)):
        table = _local(name, entry, label, folder, read, reasons)
        if table is not None:
            return table, label
    addresses = [source["url"] for source in entry["sources"]]
    if not addresses:
        reasons.append(f"table {name!r} has no official address")
    if offline:
        reasons += [f"{url}: not asked (offline)" for url in addresses]
        raise NotFoundError(reasons)
    awake = answering(addresses, timeout=PROBE_TIMEOUT)
    for source in entry["sources"]:
        url = source["url"]
        if host_of(url) not in awake:
            reasons.append(f"{url}: the host does not answer")
            continue
        try:
            return _download(name, entry, source, cache, read), url
        except (ValueError, OSError) as error:  # RefusedError and requests' errors included
            reasons.append(f"{url}: {str(error)[:200] or type(error).__name__}")
    raise NotFoundError(reasons)


def _local(  # noqa: PLR0917
    name: str,
    entry: Mapping,
    label: str,
    folder: Path | None,
    read: Reader,
    reasons: list[str],
) -> Table | None:
    """Return the first good copy in a folder, or None and why there is none."""
    if folder is None:
        reasons.append(f"{label}: none given")
        return None
    paths = in_folder(name, entry["files"], folder)
    if not paths:
        gone = label == "mirror" and not folder.is_dir()
        shown = f"no folder {folder}" if gone else f"no file for table {name!r}"
        reasons.append(f"{label}: {shown}")
    for path in paths:
        try:
            return read_verified(path, entry, read)
        except (RefusedError, OSError) as error:
            reasons.append(f"{label}, {path.relative_to(folder)}: {error}")
    return None


def read_verified(path: Path, entry: Mapping, read: Reader = read_table) -> Table:
    """Return the table that a local file holds.

    Raises
    ------
    RefusedError
        If its content is not that of the registry.
    OSError
        If it cannot be read.
    """
    size = path.stat().st_size
    if size > LIMIT:
        raise RefusedError(f"expected at most {LIMIT} bytes, got {size}")
    table = read(path.read_bytes(), entry)
    verify_table(table, entry)
    return table


def _download(name: str, entry: Mapping, source: Mapping, cache: Path, read: Reader) -> Table:
    cache.mkdir(parents=True, exist_ok=True)
    member = source.get("member")
    suffix = PurePosixPath(member or urlsplit(source["url"]).path).suffix or ".data"
    with tempfile.TemporaryDirectory(dir=cache, prefix=".download-") as folder:
        raw = _retrieve(source["url"], Path(folder), name)
        if member is not None:
            raw.write_bytes(member_of(raw.read_bytes(), member))
        table = read_verified(raw, entry, read)
        os.replace(raw, cache / f"{name}{suffix}")  # noqa: PTH105 - the name says it is atomic
    return table


def _retrieve(url: str, folder: Path, label: str) -> Path:
    import pooch  # noqa: PLC0415 - only a download needs it

    pooch.get_logger().setLevel("ERROR")
    keeper = pooch.create(
        path=folder, base_url="", registry={"raw": None}, urls={"raw": url}, retry_if_failed=1
    )
    meter = _Meter(label)
    fetch = pooch.HTTPDownloader(progressbar=meter, chunk_size=2**16, timeout=_TIMEOUTS)
    try:
        return Path(keeper.fetch("raw", downloader=fetch))
    finally:
        meter.close()


class _Meter:
    """A progress bar, silent unless on a terminal, that ends what is too large or too slow."""

    def __init__(self, label: str) -> None:
        from tqdm import tqdm  # noqa: PLC0415 - only a download needs it

        self._bar = tqdm(desc=label, unit="B", unit_scale=True, disable=None)
        self._end = time.monotonic() + _DEADLINE
        self._seen = 0

    @property
    def total(self) -> int | None:
        return self._bar.total

    @total.setter
    def total(self, size: int) -> None:
        self._bar.total = size or None

    def update(self, size: int) -> None:
        self._seen += size
        # pooch tries again after ValueError, and these do not get better.
        if self._seen > LIMIT:
            raise OSError(f"expected a download of at most {LIMIT} bytes, got more")
        if time.monotonic() > self._end:
            raise OSError(f"not complete after {_DEADLINE:g} s")
        self._bar.update(size)

    def reset(self) -> None:
        self._seen = 0
        self._bar.reset()

    def close(self) -> None:
        self._bar.close()
