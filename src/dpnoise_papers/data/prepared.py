"""Data sets and cities on their way from one pipeline job to the next, present or not.

A missing set is a result like any other: an empty archive and a status that says why, so
that what depends on it can say 'not run' and the rest goes on. Both files are written in
one step each and hold neither time nor machine, so that equal content gives equal bytes. An archive
holds the digest of its arrays, and whoever reads it computes that again.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpnoise_papers.data.attempts import FIRST
from dpnoise_papers.data.dataset import Dataset, DatasetUnavailable
from dpnoise_papers.data.sets import load
from dpnoise_papers.data.tables import fingerprint
from dpnoise_papers.result_files import write_bytes, write_text

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    Arrays = Mapping[str, np.ndarray[Any, Any]]

_EXTRA = "extra/"
_DIGEST = "digest"


class Contents(NamedTuple):
    """What is stored of a data set or a city: arrays by name, and what the status says besides.

    `missing` is why a part could not be had, or ""; `refused` are copies that are there and not
    what they should be.
    """

    arrays: Arrays
    facts: Mapping[str, object]
    missing: str = ""
    refused: Sequence[str] = ()


def prepare(
    name: str,
    npz: str | os.PathLike[str],
    get: Callable[[], Contents],
    *,
    tried_with: Sequence[str] = (FIRST,),
    strict: bool = False,
) -> dict[str, Any]:
    """Write a data set or a city, or the reason why there is none, and return its status.

    `npz` gets compressed arrays without pickled objects, none for a missing set; the status is
    written beside it, as JSON of the same stem: name, status ("ok" or "missing"), reason, source
    (the place or address that served), the copies that were refused, fingerprint (of a city the
    digest of its arrays), shape and `tried_with`, see `dpnoise_papers.data.attempts.tried_with`.
    `get` returns the verified contents, or raises `DatasetUnavailable`. With `strict` a set of
    which something is missing raises that too, and nothing is written.
    """
    try:
        contents = get()
    except DatasetUnavailable as error:
        contents = Contents({}, {}, error.reason, error.refused)
    if strict and contents.missing:
        raise DatasetUnavailable(name, contents.missing)
    digest = _digest(contents.arrays) if contents.arrays else ""
    hint = f" (`dpnoise-papers data retry {name}` has the next run try again)"
    record = {
        "name": name,
        "status": "missing" if contents.missing else "ok",
        "reason": contents.missing and contents.missing + hint,
        "source": "",
        "refused": list(contents.refused),
        "fingerprint": digest,
        "shape": [],
        **contents.facts,
        "tried_with": list(tried_with),
    }
    archive = BytesIO()
    checked = {_DIGEST: np.array(digest)} if digest else {}
    np.savez_compressed(archive, **contents.arrays, **checked)  # type: ignore[arg-type]  # not allow_pickle
    write_bytes(archive.getvalue(), npz)
    text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
    write_text(text, Path(npz).with_suffix(".json"))
    return record


def dataset_contents(name: str, **where: Any) -> Contents:  # noqa: ANN401 - those of `load`
    """What is stored of a data set; `where` and errors are those of `load`."""
    data = load(name, **where)
    arrays = {  # without the source: the same data must give the same bytes wherever they came from
        "facts": np.array([data.name, data.title, data.task, data.fingerprint]),
        "features": np.ascontiguousarray(data.features),
        "target": data.target,
        "feature_names": np.array(data.feature_names),
        **{_EXTRA + name: np.ascontiguousarray(column) for name, column in data.extra.items()},
    }
    facts = {"source": data.source, "fingerprint": data.fingerprint,
             "shape": list(data.features.shape)}  # fmt: skip
    return Contents(arrays, facts, refused=data.refused)


def read_arrays(npz: str | os.PathLike[str]) -> dict[str, Any]:
    """Arrays that `prepare` wrote, by name, none for a missing set; ValueError if they are not what
    it wrote.
    """
    try:
        with Path(npz).open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
    except (ValueError, TypeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise _refusal(npz, f"not a readable archive: {error}") from None
    if not arrays:
        return {}
    written, found = str(arrays.pop(_DIGEST, "none")), _digest(arrays)
    if written != found:
        raise _refusal(npz, f"expected arrays with the digest {written[:12]}, got {found[:12]}")
    return arrays


def read_prepared(npz: str | os.PathLike[str]) -> Dataset:
    """Data set that `prepare` wrote; DatasetUnavailable if it was missing then, with the reason.

    ValueError if the file is not one that `prepare` wrote.
    """
    path = Path(npz)
    arrays = read_arrays(path)
    if not arrays:
        try:
            record = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
            name, reason = record["name"], record["reason"]
        except (OSError, ValueError, KeyError):
            name, reason = path.stem, "the status beside the empty archive cannot be read"
        raise DatasetUnavailable(name, reason)
    missing = [key for key in ("facts", "features", "target", "feature_names") if key not in arrays]
    if missing:
        raise _refusal(path, f"lacks {', '.join(missing)}")
    name, title, task, verified = arrays["facts"].tolist()
    names = arrays["feature_names"].tolist()
    found = fingerprint([*names, "target"], np.column_stack([arrays["features"], arrays["target"]]))
    if found != verified:
        raise _refusal(path, f"expected fingerprint {verified[:12]}, got {found[:12]}")
    return Dataset(
        name=name,
        title=title,
        task=task,
        features=arrays["features"],
        target=arrays["target"],
        feature_names=tuple(names),
        extra={k.removeprefix(_EXTRA): v for k, v in arrays.items() if k.startswith(_EXTRA)},
        fingerprint=found,
    )


def _digest(arrays: Arrays) -> str:
    """Digest (sha256) of names, types, shapes and values of arrays."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        found.update(json.dumps([name, array.dtype.str, list(array.shape)]).encode())
        found.update(array.tobytes())
    return found.hexdigest()


def _refusal(npz: str | os.PathLike[str], why: str) -> ValueError:
    """Error for a file that is not what was verified when it was made."""
    return ValueError(f"prepared data {npz}: {why}; delete the file and run again")
