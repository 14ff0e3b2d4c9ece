"""Local copies of raw tables: where and in what archives, and when a missing set is tried again.

The places are, in order, the cache of verified downloads, a mirror folder if one is named, the
copies that travel with the repository (the folder `shipped` beside the registry) and the official
addresses. Only file names are looked at here. A table is known by the paths that the registry
lists, by their base names, and by its own name with any extension, so that a file saved by hand is
found.

The job of a set has its local copies as inputs, so that a new or changed copy is noticed. That a
network has come back is not: planning asks no host.
"""

from __future__ import annotations

import lzma
import os
import tarfile
import zipfile
import zlib
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple

from dpnoise_papers.data.registry import (
    REPOSITORY,
    contents_digest,
    read_cities,
    read_images_registry,
    read_registry,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
                self._files[f"{kind}{name}"] = {
                    table: one.files for table, one in tables.items() if not one.replaced_by
                }
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
            names = {"events_per_cab", "bandwidth", "reach", "passengers_per_trip"}
            told = {"hours": own.hours, **own.city.model_dump(include=names)}
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
