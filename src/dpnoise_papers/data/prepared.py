"""Hand a data set from one pipeline job to the next, present or not.

A missing set is a result like any other: an empty archive and a status that says why, so
that what depends on it can say 'not run' and the rest goes on. Both files are written in
one step each and hold neither time nor machine, so that equal content gives equal bytes.
"""

from __future__ import annotations

import json
import zipfile
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dpnoise_papers.data.dataset import Dataset, DatasetUnavailable
from dpnoise_papers.data.retry import local_digests, twin
from dpnoise_papers.data.sets import load
from dpnoise_papers.result_files import write_bytes

if TYPE_CHECKING:
    import os

_EXTRA = "extra/"


def prepare(
    name: str,
    npz: str | os.PathLike,
    status: str | os.PathLike | None = None,
    *,
    cache: str | os.PathLike = "data/raw",
    mirror: str | os.PathLike | None = None,
    offline: bool = False,
    registry: str | os.PathLike | None = None,
    attempt: int = 0,
    strict: bool = False,
) -> dict:
    """Write a verified data set, or the reason why there is none.

    Parameters
    ----------
    name : str
        One of `dpnoise_papers.data.names()`.
    npz : path
        Compressed arrays without pickled objects; an empty archive for a missing set.
    status : path, optional
        JSON beside it, by default with the same stem. A hidden twin of it serves
        `dpnoise_papers.data.retry`.
    cache, mirror, offline, registry
        As for `dpnoise_papers.data.load`.
    attempt : int
        Kept in the status, see `dpnoise_papers.data.retry`.
    strict : bool
        Raise for a missing set instead of recording it.

    Returns
    -------
    dict
        The status: name, status ("ok" or "missing"), reason, source, fingerprint, shape,
        attempt and, for a missing set, seen (the local files that did not suffice).

    Raises
    ------
    DatasetUnavailable
        With `strict`, for a missing set; nothing is written then.
    ValueError
        If the name is unknown or the registry is wrong.
    """
    arrays: dict[str, np.ndarray] = {}
    record = {"name": name, "status": "missing", "reason": "", "source": "", "fingerprint": "",
              "shape": [], "attempt": int(attempt), "seen": []}  # fmt: skip
    try:
        data = load(name, cache=cache, mirror=mirror, offline=offline, registry=registry)
    except DatasetUnavailable as error:
        if strict:
            raise
        record |= {
            "reason": error.reason,
            "seen": sorted(local_digests(name, cache, mirror, registry)),
        }
    else:
        record |= {"status": "ok", "source": data.source, "fingerprint": data.fingerprint,
                   "shape": list(data.features.shape)}  # fmt: skip
        arrays = _as_arrays(data)
    archive = BytesIO()
    np.savez_compressed(archive, **arrays)
    write_bytes(archive.getvalue(), npz)
    text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
    path = _status_of(npz, status)
    for copy in (path, twin(path)):
        write_bytes(text.encode(), copy)
    return record


def read_prepared(npz: str | os.PathLike, status: str | os.PathLike | None = None) -> Dataset:
    """Return the data set that `prepare` wrote.

    Parameters
    ----------
    npz, status : path
        As for `prepare`.

    Raises
    ------
    DatasetUnavailable
        If it was missing then, with the recorded reason.
    ValueError
        If the file is not one that `prepare` wrote.
    """
    path = Path(npz)
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
    except (ValueError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"prepared data set {path}: not a readable archive: {error}") from None
    if not arrays:
        try:
            record = json.loads(_status_of(npz, status).read_text(encoding="utf-8"))
            name, reason = record["name"], record["reason"]
        except (OSError, ValueError, KeyError):
            name, reason = path.stem, "the status beside the empty archive cannot be read"
        raise DatasetUnavailable(name, reason)
    missing = [key for key in ("facts", "features", "target", "feature_names") if key not in arrays]
    if missing:
        raise ValueError(f"prepared data set {path}: lacks {', '.join(missing)}")
    name, title, task, fingerprint = arrays["facts"].tolist()
    return Dataset(
        name=name,
        title=title,
        task=task,
        features=arrays["features"],
        target=arrays["target"],
        feature_names=tuple(arrays["feature_names"].tolist()),
        extra={k.removeprefix(_EXTRA): v for k, v in arrays.items() if k.startswith(_EXTRA)},
        fingerprint=fingerprint,
    )


def _as_arrays(data: Dataset) -> dict[str, np.ndarray]:
    # Not the source: the same data must give the same bytes wherever they came from.
    return {
        "facts": np.array([data.name, data.title, data.task, data.fingerprint]),
        "features": np.ascontiguousarray(data.features),
        "target": data.target,
        "feature_names": np.array(data.feature_names),
        **{_EXTRA + name: np.ascontiguousarray(column) for name, column in data.extra.items()},
    }


def _status_of(npz: str | os.PathLike, status: str | os.PathLike | None) -> Path:
    return Path(npz).with_suffix(".json") if status is None else Path(status)
