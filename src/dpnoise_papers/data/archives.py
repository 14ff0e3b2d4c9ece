"""One member of a downloaded archive, which need not be trusted.

Nothing is unpacked to disk: the wanted member is read into memory, after every name has
been checked (no absolute path, no '..', no link in its place) and with a bound on what
all members together may hold, so that a hostile archive can neither write a file nor
exhaust the memory.
"""

from __future__ import annotations

import lzma
import stat
import tarfile
import zipfile
import zlib
from io import BytesIO
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LIMIT = 64 * 2**20  # bytes; the largest table has 3 MB


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
