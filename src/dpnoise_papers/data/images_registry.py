"""Registry of labelled images, `data/images.yaml`: which copies there are, and what is in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from dpnoise._validation import Problems
from dpnoise_papers.data.registry import REPOSITORY, Count, Digest, File, Name, Text, Web
from dpnoise_papers.strict_yaml import read_typed

if TYPE_CHECKING:
    import os


class _Closed(BaseModel):
    """Model without unknown keys and without conversions."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


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
