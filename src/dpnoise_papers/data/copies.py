"""Copies of raw tables: where they lie, in what archives, and how they are downloaded.

The places are, in order, the cache of verified downloads, a mirror folder if one is named, the
copies that travel with the repository (the folder `shipped` beside the registry) and the official
addresses. Only file names are looked at here. A table is known by the paths that the registry
lists, by their base names, and by its own name with any extension, so that a file saved by hand is
found.

Whatever the place, the parsed content is verified; a place whose copy is refused is passed over for
the next, and the refusal is kept. Downloads go to a temporary folder beside the cache's files and
only a verified table is moved into the cache, under one name, in one step. pooch makes each
download (two tries, a progress bar on a terminal). A host that could not be reached is not asked
again by the same process.

The job of a set has its local copies as inputs, so that a new or changed copy is noticed. That a
network has come back is not: planning asks no host.
"""

from __future__ import annotations

import lzma
import os
import sys
import tarfile
import tempfile
import zipfile
import zlib
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import urlsplit

from dpnoise_papers.data.registry import (
    REPOSITORY,
    contents_digest,
    read_cities,
    read_images_registry,
    read_registry,
)
from dpnoise_papers.data.tables import DataTable, RefusedError, read_table, verify_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dpnoise_papers.data.registry import Source, TableEntry

    Preference = Literal["nearest", "official"]

MIRROR_VARIABLE = "DPNOISE_DATA_MIRROR"
SHIPPED = "shipped"
LIMIT = 64 * 2**20  # bytes; the largest table has 3 MB


class Place(NamedTuple):
    """A folder of copies, or why it is not looked at."""

    label: str
    folder: Path | None
    why_not: str = ""


class Places(NamedTuple):
    """Where copies of raw tables are looked for: folders, in order, then official addresses.

    `cache` is the folder that downloads are moved to, the first of `folders`; with `offline` the
    official addresses are not asked.
    """

    cache: Path
    folders: tuple[Place, ...]
    offline: bool = False


def places_of(
    registry: str | os.PathLike[str] | None = None,
    *,
    cache: str | os.PathLike[str] = "data/raw",
    mirror: str | os.PathLike[str] | None = None,
    offline: bool = False,
    source: Preference = "nearest",
) -> Places:
    """Places for the tables of a registry, by default those of the repository.

    `mirror` is as for `mirror_folder`. With the source 'official' neither the mirror nor the copies
    beside the registry are looked at, so that what is not in the cache comes from an official
    address. ValueError if `source` is unknown.
    """
    if source not in ("nearest", "official"):
        raise ValueError(f"source of data: expected 'nearest' or 'official', got {source!r}")
    beside = REPOSITORY / "data" if registry is None else Path(registry).parent
    further = [
        Place("mirror", mirror_folder(mirror), "none given"),
        Place(SHIPPED, beside / SHIPPED),
    ]
    if source == "official":
        further = [Place(label, None, "not asked (source: official)") for label, *_ in further]
    return Places(Path(cache), (Place("cache", Path(cache)), *further), offline)


def mirror_folder(mirror: str | os.PathLike[str] | None) -> Path | None:
    """Mirror folder, if there is one: by default the one that DPNOISE_DATA_MIRROR names.

    The empty text is no mirror, whatever the environment says.
    """
    chosen = os.environ.get(MIRROR_VARIABLE, "") if mirror is None else os.fspath(mirror)
    return Path(chosen) if chosen else None


def check_mirror(mirror: str | os.PathLike[str] | None = None) -> None:
    """Refuse a mirror folder that does not exist, by default the one of DPNOISE_DATA_MIRROR.

    Asked where a run or a command begins: the nodes of a cluster need not see the folder.
    """
    folder = mirror_folder(mirror)
    if folder is not None and not folder.is_dir():
        whose = MIRROR_VARIABLE if mirror is None else "mirror"
        raise ValueError(
            f"{whose}: no folder {str(folder)!r}, expected one with copies of the raw tables; "
            "name another, or leave it out to use the copies in data/shipped"
        )


def copies_in(folder: Path, table: str, files: Iterable[str]) -> list[Path]:
    """Files of a folder that may hold a table, best first.

    `files` are the paths that the registry lists for it. The folder need not exist.
    """
    listed = [Path(file) for file in files]
    relative = dict.fromkeys([*listed, *(Path(file.name) for file in listed)])
    paths = [folder / path for path in relative]
    paths += sorted(folder.glob(f"{table}.*"))
    return list(dict.fromkeys(path for path in paths if path.is_file()))


# What is prepared, and who reads it, by the folder below data/prepared.
_FUNCTIONS = {
    "": ("sets.dataset_contents", "sets.read_prepared"),
    "city": ("city.city_contents", "city.read_city"),
    "images": ("images.images_contents", "images.read_images"),
}


class Sources:
    """Local copies of the data sets, cities and images of a run, by name below data/prepared.

    A name is that of a task, or 'city/manhattan', 'images/cifar10'. Only file names are looked at:
    what a copy holds is seen when it is read.
    """

    def __init__(self, config: Any) -> None:  # noqa: ANN401 - the model is made at run time
        data, self._config = config.data, config
        self.told = {"cache": data.cache, "source": data.source, "offline": data.offline}
        self._places = places_of("data/registry.yaml", cache=data.cache, source=data.source)
        self._entries: dict[str, str] = {}
        self._asks = data.source == "official" and not data.offline
        self._files: dict[str, dict[str, Sequence[str]]] = {}
        for kind, registry in (("", read_registry()), ("city/", read_cities())):
            for name in registry.sets:
                entry, tables = registry.find(name)
                self._entries[f"{kind}{name}"] = contents_digest(entry, *tables.values())
                self._files[f"{kind}{name}"] = {table: one.files for table, one in tables.items()}
        for name, images in read_images_registry().items():
            self._entries[f"images/{name}"] = contents_digest(images)
            self._files[f"images/{name}"] = {c: one.files for c, one in images.copies.items()}

    @property
    def names(self) -> list[str]:
        """Sorted names of all data."""
        return sorted(self._files)

    def fetching(self, name: str) -> dict[str, Any]:
        """Call that prepares a set, with the digest of what the registry says of its content."""
        kind, _, short = name.rpartition("/")
        told: dict[str, Any] = {"name": short}
        if kind == "city":
            own = self._config.balle_wang_2018
            told = {"hours": own.hours, "passengers_per_trip": own.city.passengers_per_trip}
        function = f"dpnoise_papers.data.{_FUNCTIONS[kind][0]}"
        return {"function": function, "told": told, "entry": self._entries[name]}

    def reader(self, name: str) -> str:
        """Full name of the function that reads a prepared set."""
        return f"dpnoise_papers.data.{_FUNCTIONS[name.rpartition('/')[0]][1]}"

    def copies(self, name: str) -> list[str]:
        """Paths of the files that may hold the tables of a set."""
        found = (path for table in self._files[name] for path in self._found(name, table))
        return [str(path) for path in dict.fromkeys(found)]

    def missing(self) -> dict[str, str]:
        """Sets of which a table has no copy: the files that were looked for, and their place."""
        if self._asks:
            return {}
        folders = [f"{place.folder}" for place in self._places.folders if place.folder]
        found = {}
        for name, tables in self._files.items():
            lacking = [table for table in tables if not self._found(name, table)]
            if name.startswith("images/") and len(lacking) < len(tables):
                continue  # one of the archives is enough
            files = [file for table in lacking for file in tables[table]]
            if lacking:
                found[name] = (
                    f"no copy of {', '.join(map(repr, lacking))} in {', '.join(folders)}: put "
                    f"{' or '.join(PurePosixPath(file).name for file in files)} into {folders[0]}"
                )
        return found

    def _found(self, name: str, table: str) -> list[Path]:
        folders = (place.folder for place in self._places.folders if place.folder)
        files = self._files[name][table]
        return [path for folder in folders for path in copies_in(folder, table, files)]


def member_of(content: bytes, member: str) -> bytes:
    """Member of a zip or tar archive, named by its path or the end of it ('folder/file' or 'file').

    Nothing is unpacked to disk. ValueError if this is no archive, is damaged, or does not hold one
    such member of at most `LIMIT` bytes.
    """
    try:
        if content.startswith(b"PK"):
            with zipfile.ZipFile(BytesIO(content)) as archive:
                stream: IO[bytes] | None = archive.open(_pick(archive.namelist(), member))
                data = stream.read(LIMIT + 1) if stream else b""
        else:
            with tarfile.open(fileobj=BytesIO(content)) as tar:
                stream = tar.extractfile(_pick(tar.getnames(), member))
                data = stream.read(LIMIT + 1) if stream else b""
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError,
            KeyError, NotImplementedError, RuntimeError) as error:  # fmt: skip
        raise ValueError(f"not a readable archive: {error}") from None
    if len(data) > LIMIT:
        raise ValueError(f"expected a member of at most {LIMIT} bytes, got more")
    return data


def _pick(names: list[str], member: str) -> str:
    """The one name that ends with that of a member."""
    wanted = PurePosixPath(member).parts
    matching = [name for name in names if PurePosixPath(name).parts[-len(wanted) :] == wanted]
    if len(matching) != 1:
        shown = ", ".join(names[:5]) or "nothing"
        raise ValueError(f"expected one member {member!r} in the archive, which holds {shown}")
    return matching[0]


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
