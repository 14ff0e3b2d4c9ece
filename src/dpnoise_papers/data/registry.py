"""Registries of data: what each raw table or archive must contain, and which set is made of which.

`data/registry.yaml` and `data/cities.yaml` have two parts. `tables` are raw files: where copies
lie and what they must contain. `sets` are made of tables: in the first file the learning tasks of
the papers (California and Houses share a table; Wine quality is made of two), in the second the
city whose maps are released. `data/images.yaml` lists labelled images: which copies there are, and
what is in them. A file with mistakes is refused with all of them.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from dpnoise._validation import Problems
from dpnoise_papers.strict_yaml import read_typed

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

REPOSITORY = Path(__file__).resolve().parents[3]
OWN = "own-registry.yaml"  # sets of one's own, beside the registry

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$")]
Text = Annotated[str, StringConstraints(min_length=1)]
# Relative to the mirror folder; never a way out of it.
File = Annotated[str, StringConstraints(pattern=r"^[^/\\.][^/\\]*(/[^/\\.][^/\\]*)*$")]
Web = Annotated[str, StringConstraints(pattern=r"^https?://[^/ ]+(/[^ ]*)?$")]
Digest = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
ShortDigest = Annotated[str, StringConstraints(pattern="^[0-9a-f]{12}$")]
Count = Annotated[int, Field(ge=1)]


class _Closed(BaseModel):
    """Model without unknown keys and without conversions."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Source(_Closed):
    """An official address, with the member to take where it is that of an archive.

    `seen` says which public code names the address, and when it was looked up there.
    """

    url: Web
    seen: Text | None = None
    member: Annotated[str, StringConstraints(pattern=r"^[^/\\]+(/[^/\\]+)*$")] | None = None


class TableEntry(_Closed):
    """A raw table: its copies, and the content that they must have.

    `files` are paths below a mirror folder, whose base names are looked for too; `sources` are
    official addresses, in the order in which they are tried. `columns` map names, in canonical
    order, to a short digest, which locates damage; `fingerprint` is the sha256 of the parsed
    content, see `dpnoise_papers.data.tables.fingerprint`. `labels` are, by column, the words that
    stand for numbers; `times` columns of dates, read as seconds since 1970 of the same clock;
    `gaps` columns that may be empty or beyond the end of a line, read as NaN. With `day`, a date of
    the first of `times`, rows of other days are left out.
    """

    files: Annotated[list[File], Field(min_length=1)]
    sources: list[Source]
    rows: Count
    columns: Annotated[dict[Text, ShortDigest], Field(min_length=1)]
    fingerprint: Digest
    labels: dict[Text, Annotated[dict[Text, float], Field(min_length=1)]] = {}
    times: list[Text] = []
    gaps: list[Text] = []
    day: Annotated[str, StringConstraints(pattern=r"^\d{4}-\d{2}-\d{2}$")] | None = None


class SetEntry(_Closed):
    """What is made of tables: its title, its origin, and what a reader should know of it.

    Of a set of one's own, origin and licence may be empty.
    """

    title: Text
    citation: str
    licence: str
    homepage: Web | Literal[""]
    tables: list[Name]
    note: Text | None = None


class TaskEntry(SetEntry):
    """A learning task.

    `target` is the column to predict, by default the last; all others are features. `recipe` says
    how to make features and target where they are not columns as they stand, see
    `dpnoise_papers.data.sets.RECIPES`. `shape` counts samples and features, `classes` samples by
    label; `fingerprint` is the sha256 of features and target.
    """

    task: Literal["regression", "classification"]
    target: Text | None = None
    recipe: Literal["california", "houses", "wine", "bundled-diabetes"] | None = None
    shape: Annotated[list[Count], Field(min_length=2, max_length=2)]
    classes: dict[Literal["-1", "+1"], Count] = {}
    fingerprint: Digest


Entry = TypeVar("Entry", bound=SetEntry)


class Registry(_Closed, Generic[Entry]):
    """Content of a registry: tables, and what is made of them."""

    tables: dict[Name, TableEntry]
    sets: dict[Name, Entry]

    def find(self, name: str) -> tuple[Entry, dict[str, TableEntry]]:
        """Entry of a set and the entries of its tables by name, in order.

        ValueError if there is no such set.
        """
        if name not in self.sets:
            raise ValueError(f"data set: expected one of {', '.join(self.sets)}, got {name!r}")
        entry = self.sets[name]
        return entry, {table: self.tables[table] for table in entry.tables}


def contents_digest(entry: BaseModel, *tables: TableEntry) -> str:
    """Digest (sha256) of what an entry and its tables say that is prepared of them.

    Words for readers, addresses and places of copies do not count.
    """
    words = {"citation", "licence", "homepage", "note", "files", "sources"}
    said = [one.model_dump(mode="json", exclude=words) for one in (entry, *tables)]
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def read_registry(
    path: str | os.PathLike[str] | None = None, *, own: bool = True
) -> Registry[TaskEntry]:
    """Validated registry of learning tasks, by default the repository's data/registry.yaml, with
    the sets of one's `own` that `dpnoise-papers data add` wrote beside it.

    ValueError names every mistake of the files and its place.
    """
    path = Path(REPOSITORY / "data" / "registry.yaml" if path is None else path)
    registry: Registry[TaskEntry] = _read(path, TaskEntry)
    if not own or not path.with_name(OWN).is_file():
        return registry
    more: Registry[TaskEntry] = _read(path.with_name(OWN), TaskEntry)
    twice = sorted((registry.sets.keys() & more.sets) | (registry.tables.keys() & more.tables))
    if twice:
        raise ValueError(f"{path.with_name(OWN)}: {', '.join(twice)} stands in {path} already")
    return Registry[TaskEntry](
        tables={**registry.tables, **more.tables}, sets={**registry.sets, **more.sets}
    )


def read_cities(path: str | os.PathLike[str] | None = None) -> Registry[SetEntry]:
    """Validated registry of cities, by default the repository's data/cities.yaml.

    ValueError names every mistake of the file and its place.
    """
    return _read(REPOSITORY / "data" / "cities.yaml" if path is None else path, SetEntry)


def attributions() -> list[SetEntry]:
    """Sets behind tables and figures, whose licences ask for attribution."""
    return [*read_registry().sets.values(), *read_cities().sets.values()]


def _read(path: str | os.PathLike[str], kind: type[Entry]) -> Registry[Entry]:
    """Registry of one kind of sets."""
    registry: Registry[Entry] = read_typed(path, Registry[kind])  # type: ignore[valid-type]  # at run time
    problems = Problems(str(path))
    _check_tables(registry, problems)
    for name, entry in registry.sets.items():
        if isinstance(entry, TaskEntry):
            _check_task(f"sets.{name}", entry, registry.tables, problems)
    problems.raise_if_any()
    return registry


def _check_tables(registry: Registry[Entry], problems: Problems) -> None:
    """Record columns and tables that are not there, and tables without use."""
    for name, table in registry.tables.items():
        named = {"labels": table.labels, "times": table.times, "gaps": table.gaps}
        for key, columns in named.items():
            for column in columns:
                expected = f"one of {', '.join(table.columns)}"
                problems.require(column in table.columns, f"tables.{name}.{key}", expected, column)
        day = table.day is None or bool(table.times)
        problems.require(day, f"tables.{name}.day", "none without times", table.day)
    for name, entry in registry.sets.items():
        for needed in entry.tables:
            known = needed in registry.tables
            problems.require(known, f"sets.{name}.tables", "a known table", needed)
    used = {table for entry in registry.sets.values() for table in entry.tables}
    for table_name in sorted(set(registry.tables) - used):
        problems.add(f"tables.{table_name}: expected to be used by a set, got none")


def _check_task(
    where: str, entry: TaskEntry, tables: Mapping[str, TableEntry], problems: Problems
) -> None:
    """Record classes that contradict the task, and a target that is no column."""
    if entry.task == "classification":
        good = len(entry.classes) == 2 and sum(entry.classes.values()) == entry.shape[0]
        expected = f"two counts that add up to {entry.shape[0]}"
    else:
        good, expected = not entry.classes, "none"
    problems.require(good, f"{where}.classes", expected, entry.classes)
    if entry.recipe is None:
        one = problems.require(len(entry.tables) == 1, f"{where}.tables", "one table", entry.tables)
        columns = list(tables[entry.tables[0]].columns) if one and entry.tables[0] in tables else []
        known = not columns or (entry.target or columns[-1]) in columns
        problems.require(known, f"{where}.target", f"one of {', '.join(columns)}", entry.target)
    else:
        problems.require(
            entry.target is None, f"{where}.target", "none beside a recipe", entry.target
        )


class CopyEntry(_Closed):
    """One archive that holds the images.

    `form` is 'records' (a label and the pixels of an image, one image after the other) or 'jpeg'
    (train/CLASS/NUMBER.jpg). `files` are paths below a mirror folder; `url` is an official address;
    `note` says what a result on a copy that is not the original must be read with, and is empty for
    the original.
    """

    form: Literal["records", "jpeg"]
    files: Annotated[list[File], Field(min_length=1)]
    url: Web | None = None
    bytes: Count
    sha256: Digest
    note: str = ""


class ImagesEntry(_Closed):
    """Labelled images: their classes in the order of the labels, their numbers, and the copies.

    `train` and `test` count images by class; `copies` are tried in their order.
    """

    title: Text
    citation: Text
    licence: Text
    homepage: Web
    classes: Annotated[
        list[Annotated[str, StringConstraints(pattern="^[a-z]+$")]], Field(min_length=2)
    ]
    height: Count
    width: Count
    train: Count
    test: Count
    train_files: list[Text]
    test_files: list[Text]
    copies: Annotated[dict[Name, CopyEntry], Field(min_length=1)]


def read_images_registry(path: str | os.PathLike[str] | None = None) -> dict[str, ImagesEntry]:
    """Validated registry of images by name, by default the repository's data/images.yaml.

    ValueError names every mistake of the file and its place.
    """
    where = REPOSITORY / "data" / "images.yaml" if path is None else path
    registry: dict[str, ImagesEntry] = read_typed(where, dict[Name, ImagesEntry])
    problems = Problems(str(where))
    for name, entry in registry.items():
        distinct = len(set(entry.classes)) == len(entry.classes)
        problems.require(distinct, f"{name}.classes", "different names", entry.classes)
        for part in ("train", "test"):
            images = getattr(entry, part) * len(entry.classes)
            files = len(getattr(entry, f"{part}_files"))
            even = files > 0 and images % files == 0
            problems.require(even, f"{name}.{part}_files", f"a divisor of {images} files", files)
    problems.raise_if_any()
    return registry


def find_images(name: str, path: str | os.PathLike[str] | None = None) -> ImagesEntry:
    """Entry of some images; ValueError if the registry has none of that name."""
    registry = read_images_registry(path)
    if name not in registry:
        raise ValueError(f"images: expected one of {', '.join(registry)}, got {name!r}")
    return registry[name]
