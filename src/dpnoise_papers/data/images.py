"""Labelled images from a verified archive: CIFAR-10.

An archive is accepted for its digest alone. It is read member by member, never unpacked to disk,
and nothing is ever unpickled: a record is a label and the pixels, by colour, then by row. Where the
original cannot be had, a lossy copy replaces it and says so in `note`.
"""

from __future__ import annotations

import hashlib
import lzma
import tarfile
import tempfile
import zlib
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise_papers.data.copies import copies_in, places_of, retrieve
from dpnoise_papers.data.registry import CopyEntry, ImagesEntry, find_images
from dpnoise_papers.data.sets import Contents, DatasetUnavailable, read_arrays
from dpnoise_papers.result_files import file_digest

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from numpy.typing import NDArray

_CHANNELS = 3


@dataclass(frozen=True, eq=False)
class ImageSet:
    """Labelled images.

    `train` and `test` have shape (n, 3, height, width), `train_labels` and `test_labels` (n,), all
    of uint8. `note` says what is not as in the original, or "". `fingerprint` is the sha256 of
    all pixels and labels.
    """

    name: str
    note: str
    train: NDArray[np.uint8]
    train_labels: NDArray[np.uint8]
    test: NDArray[np.uint8]
    test_labels: NDArray[np.uint8]
    fingerprint: str = ""


def load_images(
    name: str,
    *,
    registry: str | os.PathLike[str] | None = None,
    **where: Any,  # noqa: ANN401 - those of `places_of`
) -> tuple[ImageSet, str]:
    """Images of the best copy that can be had, and where it came from.

    `where` are the keywords of `dpnoise_papers.data.copies.places_of`, the registry is
    data/images.yaml. DatasetUnavailable with the reason of each copy and place if there is none;
    ValueError if the name is unknown.
    """
    entry, places = find_images(name, registry), places_of(registry, **where)
    reasons: list[str] = []
    for copy, listed in entry.copies.items():
        for label, folder, why_not in places.folders:
            if folder is None:
                reasons.append(f"{label}: {why_not}")
                continue
            paths = copies_in(folder, copy, listed.files)
            reasons += [] if paths else [f"{label}: no file for {copy!r}"]
            for path in paths:
                try:
                    return _verified(name, path, entry, listed), label
                except (ValueError, OSError) as error:
                    reasons.append(f"{label}, {path.relative_to(folder)}: {error}")
        if listed.url and places.offline:
            reasons.append(f"{listed.url}: not asked (offline)")
        elif listed.url:
            try:
                return _download(name, copy, entry, listed, places.cache), listed.url
            except (ValueError, OSError) as error:
                by_hand = f"download it ({listed.bytes} bytes, sha256 {listed.sha256}) and put it"
                put = f"{by_hand} into {places.cache} as {copy}.tar.gz"
                reasons.append(f"{listed.url}: {str(error)[:200] or type(error).__name__}; {put}")
    raise DatasetUnavailable(name, "; ".join(dict.fromkeys(reasons)))


def _download(name: str, copy: str, entry: ImagesEntry, listed: CopyEntry, cache: Path) -> ImageSet:
    """Images of an official archive, after moving it into the cache."""
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix=".download-") as folder:
        raw = retrieve(str(listed.url), Path(folder), listed.sha256)
        images = _verified(name, raw, entry, listed)
        raw.replace(cache / f"{copy}.tar.gz")
    return images


def _verified(name: str, path: Path, entry: ImagesEntry, listed: CopyEntry) -> ImageSet:
    """Images of a local archive; ValueError if it is not the one of the registry."""
    found = file_digest(path)
    if found != listed.sha256:
        raise ValueError(f"expected the sha256 {listed.sha256[:12]}..., got {found[:12]}...")
    return read_archive(name, path, entry, listed)


def read_archive(name: str, path: Path, entry: ImagesEntry, listed: CopyEntry) -> ImageSet:
    """Images of an archive of which nothing is known; ValueError if it is not as registered."""
    read = _records if listed.form == "records" else _jpegs
    parts = read(path, entry)
    train, test = (_joined(part, parts[part], entry) for part in ("train", "test"))
    digest = hashlib.sha256()
    for array in (*train, *test):
        digest.update(array.tobytes())
    return ImageSet(name, listed.note, *train, *test, digest.hexdigest())


def _files_of(path: Path) -> Iterator[tuple[str, bytes]]:
    """Regular files of a tar archive, by name, one after the other; ValueError if it is none."""
    try:
        with tarfile.open(path) as archive:
            for info in archive:
                stream = archive.extractfile(info) if info.isfile() else None
                if stream is not None:
                    yield info.name, stream.read()
    except (tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError) as error:
        raise ValueError(f"not a readable archive: {error}") from None


def _joined(
    part: str, records: list[NDArray[np.uint8]], entry: ImagesEntry
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Pixels and labels of one part, after a check of the labels."""
    rows = np.concatenate(records) if records else np.zeros((0, 1), np.uint8)
    labels = rows[:, 0].copy()
    counts = np.bincount(labels, minlength=len(entry.classes)).tolist()
    wanted = [getattr(entry, part)] * len(entry.classes)
    if counts != wanted:
        raise ValueError(f"expected {wanted[0]} images of each class for {part}ing, got {counts}")
    return rows[:, 1:].reshape(-1, _CHANNELS, entry.height, entry.width).copy(), labels


def _records(path: Path, entry: ImagesEntry) -> dict[str, list[NDArray[np.uint8]]]:
    """Records of each part of the original, in the order of its files."""
    length = 1 + _CHANNELS * entry.height * entry.width
    classes = len(entry.classes)
    listed = {"train": entry.train_files, "test": entry.test_files}
    where = {file: part for part, files in listed.items() for file in files}
    found = {}
    for name, content in _files_of(path):
        file = PurePosixPath(name).name
        if file not in where:
            continue
        part = where[file]
        expected = getattr(entry, part) * classes // len(listed[part]) * length
        if len(content) != expected:
            raise ValueError(f"{name}: expected {expected} bytes, got {len(content)}")
        if file in found:
            raise ValueError(f"{name}: expected one file of that name, got a second one")
        found[file] = np.frombuffer(content, np.uint8).reshape(-1, length)
        largest = int(found[file][:, 0].max())
        if largest >= classes:
            raise ValueError(f"{name}: expected labels from 0 to {classes - 1}, got {largest}")
    missing = [file for file in where if file not in found]
    if missing:
        raise ValueError(f"expected {', '.join(missing)} in the archive")
    return {part: [found[file] for file in files] for part, files in listed.items()}


def _jpegs(path: Path, entry: ImagesEntry) -> dict[str, list[NDArray[np.uint8]]]:
    """Records of each part of a copy in folders train/CLASS and test/CLASS, in order of name."""
    from PIL import Image, UnidentifiedImageError  # noqa: PLC0415 - for a lossy copy only

    found: dict[str, dict[str, NDArray[np.uint8]]] = {"train": {}, "test": {}}
    for name, content in _files_of(path):
        part, kind, *_ = (*PurePosixPath(name).parts, "", "")
        if part not in found:  # such as a note on the copy
            continue
        if kind not in entry.classes:
            raise ValueError(f"expected {part}/CLASS/NUMBER.jpg in the archive, got {name!r}")
        try:
            with Image.open(BytesIO(content), formats=["JPEG"]) as image:
                size, mode = image.size, image.mode
                pixels = np.asarray(image) if size == (entry.width, entry.height) else None
        except (UnidentifiedImageError, OSError) as error:
            raise ValueError(f"{name}: not a readable image: {error}") from None
        if pixels is None or mode != "RGB":
            raise ValueError(
                f"{name}: expected {entry.width} x {entry.height} RGB, got {size} {mode}"
            )
        label = np.array([entry.classes.index(kind)], np.uint8)
        found[part][name] = np.concatenate([label, pixels.transpose(2, 0, 1).ravel()])
    return {
        part: [np.stack([records[name] for name in sorted(records)])] if records else []
        for part, records in found.items()
    }


def images_contents(name: str, **where: Any) -> Contents:  # noqa: ANN401 - those of `load_images`
    """What is stored of some images; `where` and errors are those of `load_images`."""
    images, source = load_images(name, **where)
    arrays = {
        "facts": np.array([images.name, images.note, images.fingerprint]),
        "train": images.train,
        "train_labels": images.train_labels,
        "test": images.test,
        "test_labels": images.test_labels,
    }
    facts = {"source": source, "fingerprint": images.fingerprint, "note": images.note,
             "shape": [len(images.train) + len(images.test), images.train[0].size]}  # fmt: skip
    return Contents(arrays, facts)


def read_images(npz: str | os.PathLike[str]) -> ImageSet:
    """Images that `dpnoise_papers.data.sets.prepare` wrote; ValueError if they are not those."""
    arrays = read_arrays(npz)
    name, note, fingerprint = arrays.pop("facts").tolist()
    return ImageSet(name=name, note=note, fingerprint=fingerprint, **arrays)
