"""Local copies of raw tables: where and in what archives, and when a missing set is tried again.

The places are, in order, the cache of verified downloads, a mirror folder if one is named, the
copies that travel with the repository (the folder `shipped` beside the registry) and the official
addresses. Only file names are looked at here. A table is known by the paths that the registry
lists, by their base names, and by its own name with any extension, so that a file saved by hand is
found.

Snakemake runs a job again when one of its params changes. The param `tried_with` lists what can be
known of a set's sources without network: the local copies, whether official sources may be asked or
are wanted, and how often a retry was requested. For a set that was had it stays what it was, so
that nothing is made again, unless the source that is wanted changes; for a missing one it is looked
up anew. Hence a copy that is put into the cache or the mirror is noticed by itself. That a network
has come back is not: planning asks no host. `dpnoise-papers data retry` requests the next attempt
then.

A downloaded archive need not be trusted. Nothing is unpacked to disk: the wanted member is read
into memory, after every name has been checked (no absolute path, no '..', no link in its place) and
with a bound on what all members together may hold, so that a hostile archive can neither write a
file nor exhaust the memory.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from functools import cache as remembered
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from dpnoise_papers.data.registry import REPOSITORY, find_images, read_cities, read_registry
from dpnoise_papers.result_files import write_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Preference = Literal["nearest", "official"]

MIRROR_VARIABLE = "DPNOISE_DATA_MIRROR"
SHIPPED = "shipped"
FIRST = "request 0"
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


# Snakemake asks again after it has deleted the outputs of the job, and must hear the same.
@remembered
def tried_with(
    name: str,
    status: str | os.PathLike[str],
    *,
    cache: str | os.PathLike[str],
    mirror: str | os.PathLike[str] | None = None,
    offline: bool = False,
    source: Preference = "nearest",
    strict: bool = False,
    registry: str | os.PathLike[str] | None = None,
    kind: Literal["task", "city", "images"] = "task",
) -> list[str]:
    """What a data set was tried with, or, for a missing one, would be tried with now.

    `status` is the path of the JSON that `dpnoise_papers.data.sets.prepare` writes; the places
    are those of `dpnoise_papers.data.copies.places_of`. With `strict` a missing set is an error;
    `kind` is that of the sets of the registry. The answer is the same for the life of the process.
    """
    last = _read_status(Path(status))
    official = source == "official"
    if last.get("status") == "ok" and official == (source in last["tried_with"]):
        return list(last["tried_with"])
    request = last["tried_with"][0] if last else FIRST
    files = _listed(kind, name, registry)
    places = places_of(registry, cache=cache, mirror=mirror, offline=offline, source=source)
    digests = {
        f"{table} {digest}"
        for place in places.folders
        if place.folder is not None
        for table, listed in files.items()
        for digest in _digests(place.folder, table, listed)
    }
    said = (("offline", offline), ("official", official), ("strict", strict))
    words = [word for word, holds in said if holds]
    return [request, *words, *sorted(digests)]


def _listed(kind: str, name: str, registry: str | os.PathLike[str] | None) -> dict[str, list[str]]:
    """Files that a registry lists for a set, by table or by copy."""
    if kind == "images":
        return {copy: entry.files for copy, entry in find_images(name, registry).copies.items()}
    _, tables = (read_cities(registry) if kind == "city" else read_registry(registry)).find(name)
    return {table: entry.files for table, entry in tables.items()}


def request_retry(status: str | os.PathLike[str]) -> bool:
    """Have the next run try a missing set again; return whether it was missing.

    Otherwise nothing is written.
    """
    last = _read_status(Path(status))
    if last.get("status") != "missing":
        return False
    first, *rest = last["tried_with"]
    last["tried_with"] = [f"request {int(first.split()[1]) + 1}", *rest]
    write_text(json.dumps(last, indent=2, ensure_ascii=False) + "\n", status)
    return True


def _read_status(path: Path) -> dict[str, Any]:
    """Status, or nothing if there is none that `prepare` wrote."""
    try:
        last = json.loads(path.read_text(encoding="utf-8"))
        int(last["tried_with"][0].split()[1])
        return last if last["status"] in ("ok", "missing") else {}
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        return {}


def _digests(folder: Path, table: str, files: Iterable[str]) -> Iterator[str]:
    """Digests (sha256) of the files of a folder that may hold a table."""
    try:
        for path in copies_in(folder, table, files):
            try:
                yield hashlib.sha256(read_file(path)).hexdigest()
            except (OSError, ValueError):  # the attempt itself will say why
                yield "unreadable"
    except OSError:
        yield "folder unreadable"


def read_file(path: Path, limit: int = LIMIT) -> bytes:
    """Content of a file; ValueError, before it is read, if it has more than `limit` bytes."""
    size = path.stat().st_size
    if size > limit:
        raise ValueError(f"expected at most {limit} bytes, got a file of {size}")
    return path.read_bytes()


def member_of(content: bytes, member: str, *, limit: int = LIMIT) -> bytes:
    """Member of a zip or tar archive, named by its path or the end of it ('folder/file' or 'file').

    `limit` bounds the bytes that all members together may hold. ValueError if this is no archive,
    is damaged, unsafe or too large, or lacks the member.
    """
    try:
        if content.startswith(b"PK"):
            return _from_zip(content, member, limit)
        return _from_tar(content, member, limit)
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError,
            NotImplementedError, RuntimeError) as error:  # fmt: skip
        raise ValueError(f"not a readable archive: {error}") from None


def check_zip(content: bytes, limit: int = LIMIT) -> None:
    """Refuse a zip archive with an unsafe name, or that would unpack to more than `limit` bytes.

    ValueError if it is unsafe, zipfile.BadZipFile if it is damaged.
    """
    with zipfile.ZipFile(BytesIO(content)) as archive:
        infos = archive.infolist()
    for info in infos:
        # ZipInfo cuts a name at a null byte; the original is the one to judge.
        _check_name(info.orig_filename)
        if stat.S_ISLNK(info.external_attr >> 16):
            raise ValueError(f"unsafe archive: {info.filename!r} is a link")
    _check_total(sum(info.file_size for info in infos), limit)


def _from_zip(content: bytes, member: str, limit: int) -> bytes:
    check_zip(content, limit)
    with zipfile.ZipFile(BytesIO(content)) as archive:
        name = _pick([info.filename for info in archive.infolist()], member)
        with archive.open(name) as stream:
            data = stream.read(limit + 1)  # the declared size may be a lie
    _check_total(len(data), limit)
    return data


def _from_tar(content: bytes, member: str, limit: int) -> bytes:
    total, found = 0, {}
    with tarfile.open(fileobj=BytesIO(content), mode="r:*") as archive:
        for info in archive:  # sizes are checked before the next header is decompressed
            _check_name(info.name)
            total += info.size
            _check_total(total, limit)
            if _ends_with(info.name, member):
                stream = archive.extractfile(info) if info.isfile() else None
                if stream is None:
                    raise ValueError(f"unsafe archive: {info.name!r} is not a regular file")
                found[info.name] = stream.read()
    return found[_pick(list(found), member)]


def files_of(path: Path, limit: int) -> Iterator[tuple[str, bytes]]:
    """Regular files of a tar archive on disk, by name, read one after the other.

    `limit` bounds the bytes that all members together may hold. ValueError if this is no archive,
    is damaged, unsafe or too large, or holds anything but files and folders.
    """
    total = 0
    try:
        with tarfile.open(path, mode="r:*") as archive:
            for info in archive:
                _check_name(info.name)
                total += info.size
                _check_total(total, limit)
                stream = archive.extractfile(info) if info.isfile() else None
                if stream is not None:
                    yield info.name, stream.read()
                elif not info.isdir():
                    raise ValueError(f"unsafe archive: {info.name!r} is not a regular file")
    except (tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError) as error:
        raise ValueError(f"not a readable archive: {error}") from None


def _pick(names: list[str], member: str) -> str:
    matching = [name for name in names if _ends_with(name, member)]
    if len(matching) != 1:
        shown = ", ".join(names[:5]) or "nothing"
        raise ValueError(f"expected one member {member!r} in the archive, which holds {shown}")
    return matching[0]


def _ends_with(name: str, member: str) -> bool:
    wanted = PurePosixPath(member).parts
    return PurePosixPath(name).parts[-len(wanted) :] == wanted


def _check_name(name: str) -> None:
    path = PurePosixPath(name.replace("\\", "/"))
    drive = name[1:2] == ":"
    if path.is_absolute() or ".." in path.parts or drive or "\0" in name:
        raise ValueError(f"unsafe archive: it holds a member named {name!r}")


def _check_total(total: int, limit: int) -> None:
    if total > limit:
        raise ValueError(f"unsafe archive: expected at most {limit} bytes unpacked, got {total}")
