"""Get one raw table: from the cache, else the mirror, else an official source.

Whatever the place, the parsed content is verified; a place whose copy is refused is passed
over for the next. Downloads go to a temporary folder beside the cache's files and only a
verified table is moved into the cache, under one name, in one step. pooch makes each
download (two tries, a progress bar on a terminal); it cannot resume one, so an interrupted
download starts again. A host that could not be reached is not asked again by the same process.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from dpnoise_papers.data.archives import LIMIT, member_of
from dpnoise_papers.data.copies import copies_in
from dpnoise_papers.data.formats import RefusedError
from dpnoise_papers.data.tables import Table, read_table, verify_table

if TYPE_CHECKING:
    from dpnoise_papers.data.registry import Source, TableEntry

_TIMEOUTS = (3.0, 10.0)  # seconds to connect, and between two packets
_DEADLINE = 300.0  # seconds for one download
_unreachable: set[str] = set()  # hosts


class NotFoundError(Exception):
    """No place has a good copy of a table; `reasons` say why, for each place."""

    def __init__(self, reasons: list[str]) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons


def obtain(
    name: str, entry: TableEntry, *, cache: Path, mirror: Path | None, offline: bool
) -> tuple[Table, str]:
    """Verified table and where it came from: 'cache', 'mirror' or the address.

    `cache` is the folder of verified downloads, `mirror` one of further copies that is only read.
    NotFoundError if no place has a good copy.
    """
    reasons: list[str] = []
    for label, folder in (("cache", cache), ("mirror", mirror)):
        table = _local(name, entry, label, folder, reasons)
        if table is not None:
            return table, label
    if not entry.sources:
        reasons.append(f"table {name!r} has no official address")
    for source in entry.sources:
        host = urlsplit(source.url).netloc
        if offline or host in _unreachable:
            why = "not asked (offline)" if offline else "the host does not answer"
            reasons.append(f"{source.url}: {why}")
            continue
        try:
            return _download(name, entry, source, cache), source.url
        except (ValueError, OSError) as error:  # RefusedError and requests' errors included
            reasons.append(f"{source.url}: {str(error)[:200] or type(error).__name__}")
    raise NotFoundError(reasons)


def _local(
    name: str, entry: TableEntry, label: str, folder: Path | None, reasons: list[str]
) -> Table | None:
    """First good copy in a folder, or None and why there is none."""
    if folder is None:
        reasons.append(f"{label}: none given")
        return None
    paths = copies_in(folder, name, entry.files)
    if not paths:
        gone = label == "mirror" and not folder.is_dir()
        shown = f"no folder {folder}" if gone else f"no file for table {name!r}"
        reasons.append(f"{label}: {shown}")
    for path in paths:
        try:
            return read_verified(path, entry)
        except (RefusedError, OSError) as error:
            reasons.append(f"{label}, {path.relative_to(folder)}: {error}")
    return None


def read_verified(path: Path, entry: TableEntry) -> Table:
    """Table that a local file holds; RefusedError if its content is not that of the registry."""
    size = path.stat().st_size
    if size > LIMIT:
        raise RefusedError(f"expected at most {LIMIT} bytes, got {size}")
    table = read_table(path.read_bytes(), entry)
    verify_table(table, entry)
    return table


def _download(name: str, entry: TableEntry, source: Source, cache: Path) -> Table:
    """Verified table of an official source, after moving it into the cache."""
    from requests import ConnectionError as NoConnectionError  # noqa: PLC0415 - for downloads only

    cache.mkdir(parents=True, exist_ok=True)
    suffix = PurePosixPath(source.member or urlsplit(source.url).path).suffix or ".data"
    with tempfile.TemporaryDirectory(dir=cache, prefix=".download-") as folder:
        try:
            raw = _retrieve(source.url, Path(folder), name)
        except NoConnectionError:
            _unreachable.add(urlsplit(source.url).netloc)
            raise
        if source.member is not None:
            raw.write_bytes(member_of(raw.read_bytes(), source.member))
        table = read_verified(raw, entry)
        raw.replace(cache / f"{name}{suffix}")
    return table


def _retrieve(url: str, folder: Path, label: str) -> Path:
    """File that an address was downloaded to."""
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
    def total(self) -> float | None:
        return self._bar.total

    @total.setter
    def total(self, size: float | None) -> None:
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
