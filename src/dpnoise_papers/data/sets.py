"""Learning tasks of the papers: built from verified tables, and stored for the next pipeline job.

Features stay untouched here (no scaling, no intercept); experiments decide that. Recipes
follow the references of flipped-huber-2023, Table III and inid-2024, Figures 5 and 6:
scikit-learn's California ratios, OpenML 823 for Houses, red against white for Wine. A set whose
features and target are columns of one table needs no recipe.

Data sets, cities and images are prepared alike: an archive and a status beside it. A set that
cannot be had is an error of its job alone. Both files are written in one step each and hold neither
time nor machine, so that equal content gives equal bytes. An archive holds the digest of its
arrays, and whoever reads it computes that again.
A data set of one's own, delimited text with a header and a column to predict, gets an entry in the
words of the registry, a copy, and a config file.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import re
import zipfile
import zlib
from collections import Counter
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import yaml

from dpnoise_papers.data.copies import SHIPPED, obtain, places_of
from dpnoise_papers.data.registry import OWN, Registry, TableEntry, TaskEntry, read_registry
from dpnoise_papers.data.tables import DataTable, column_digests, fingerprint, read_table
from dpnoise_papers.result_files import write_bytes, write_text

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from dpnoise._types import Array

    Columns = dict[str, Array]
    Parts = tuple[Columns, Array, Columns]  # features, target, and what is kept beside
    Arrays = Mapping[str, np.ndarray[Any, Any]]

_EXTRA = "extra/"
_DIGEST = "digest"


@dataclass(frozen=True, eq=False)
class Dataset:
    """One supervised learning task with verified content.

    `features` are untouched columns in the units of the source, shape (n, p); `target`, shape (n,),
    is in those units for a regression, +1 and -1 for a classification. `extra` holds columns of the
    source that are neither. `source` tells where the copy came from, `refused` which other copies
    were not what they should be, each with the reason; `fingerprint` is the sha256 of names and
    values, see `dpnoise_papers.data.tables.fingerprint`.
    """

    name: str
    title: str
    task: str
    features: Array
    target: Array
    feature_names: tuple[str, ...]
    extra: Mapping[str, Array] = field(default_factory=dict)
    source: str = ""
    fingerprint: str = ""
    refused: tuple[str, ...] = ()


class DatasetUnavailable(Exception):  # noqa: N818 - a state of the world, not a mistake
    """A data set cannot be had here and now.

    `reason` names every place and why it failed; `refused` are the copies that are there and not
    what they should be.
    """

    def __init__(self, name: str, reason: str, refused: Iterable[str] = ()) -> None:
        super().__init__(f"data set {name!r} is not available: {reason}")
        self.refused = list(refused)
        self.name = name
        self.reason = reason


def load(
    name: str,
    *,
    registry: str | os.PathLike[str] | None = None,
    **where: Any,  # noqa: ANN401 - those of `places_of`
) -> Dataset:
    """Data set with verified content: features in the units of the source, labels +1 and -1.

    `where` are the keywords of `dpnoise_papers.data.copies.places_of`: cache, mirror, offline and
    source. DatasetUnavailable if no place has a good copy, with the reason of each; ValueError if
    the name is unknown or the registry is wrong.
    """
    entry, wanted = read_registry(registry).find(name)
    found = obtain(wanted, places_of(registry, **where))
    if found.reason:
        raise DatasetUnavailable(name, found.reason, found.refused)
    source = "; ".join(found.sources) or "scikit-learn"
    made = build(name, entry, list(found.tables.values()), source)
    return replace(made, refused=tuple(found.refused))


def build(name: str, entry: TaskEntry, tables: Sequence[DataTable], source: str) -> Dataset:
    """Data set that is made of tables, in the order of its entry in the registry.

    DatasetUnavailable if the result is not what the registry describes.
    """
    features, target, extra = parts(entry.recipe, entry.target, tables)
    X = np.column_stack(list(features.values()))
    found = fingerprint((*features, "target"), np.column_stack([X, target]))
    if list(X.shape) != entry.shape or found != entry.fingerprint:
        raise DatasetUnavailable(
            name,
            f"{source}: expected shape {entry.shape} and fingerprint "
            f"{entry.fingerprint[:12]}, got {list(X.shape)} and {found[:12]}",
        )
    return Dataset(name, entry.title, entry.task, X, target, tuple(features), extra, source, found)


def parts(recipe: str | None, target: str | None, tables: Sequence[DataTable]) -> Parts:
    """Features, target and other columns of a learning task, each of shape (n,).

    `recipe` is a key of `RECIPES`, or None for one table whose columns are taken as they stand;
    then `target` is the column to predict, by default the last.
    """
    if recipe is not None:
        return RECIPES[recipe](*tables)
    (table,) = tables
    target = target or table.columns[-1]
    features = {column: table[column] for column in table.columns if column != target}
    return features, table[target].copy(), {}


def _california(table: DataTable) -> Parts:
    """California as in scikit-learn: averages per household, value in units of 100,000."""
    households = table["households"]
    features = {
        "median_income": table["median_income"],
        "housing_median_age": table["housing_median_age"],
        "average_rooms": table["total_rooms"] / households,
        "average_bedrooms": table["total_bedrooms"] / households,
        "population": table["population"],
        "average_occupancy": table["population"] / households,
        "latitude": table["latitude"],
        "longitude": table["longitude"],
    }
    counts = {column: table[column] for column in ("total_rooms", "total_bedrooms", "households")}
    return features, table["median_house_value"] / 100_000.0, counts


def _houses(table: DataTable) -> Parts:
    """Houses as in OpenML 823: +1 (its class P) for a longitude below the mean longitude."""
    order = (
        "median_house_value",
        "median_income",
        "housing_median_age",
        "total_rooms",
        "total_bedrooms",
        "population",
        "households",
        "latitude",
    )
    longitude = table["longitude"]
    mean = math.fsum(longitude) / len(longitude)  # the same on every machine
    target = np.where(longitude < mean, 1.0, -1.0)
    return {column: table[column] for column in order}, target, {"longitude": longitude}


def _wine(red: DataTable, white: DataTable) -> Parts:
    """Wine with +1 for red and -1 for white; the tasters' quality is kept beside."""
    features = {c: np.concatenate([red[c], white[c]]) for c in red.columns if c != "quality"}
    target = np.repeat([1.0, -1.0], [len(red.values), len(white.values)])
    return features, target, {"quality": np.concatenate([red["quality"], white["quality"]])}


def _bundled_diabetes() -> Parts:
    """Copy of scikit-learn in the units of measurement.

    Its scaled version is computed at load time, hence not the same to the last bit
    everywhere; after standardisation both agree to rounding.
    """
    from sklearn.datasets import load_diabetes  # noqa: PLC0415 - 1 s that only one set needs

    bundle = load_diabetes(scaled=False)
    features = dict(zip(bundle.feature_names, bundle.data.T, strict=True))
    return features, bundle.target.astype(float), {}


RECIPES: dict[str, Callable[..., Parts]] = {
    "california": _california,
    "houses": _houses,
    "wine": _wine,
    "bundled-diabetes": _bundled_diabetes,
}


class Contents(NamedTuple):
    """What is stored of a data set or a city: arrays by name, and what the status says besides.

    `missing` is why a part could not be had, or ""; `refused` are copies that are there and not
    what they should be.
    """

    arrays: Arrays
    facts: Mapping[str, object]
    missing: str = ""
    refused: Sequence[str] = ()


def prepare(name: str, npz: str | os.PathLike[str], get: Callable[[], Contents]) -> dict[str, Any]:
    """Write a data set or a city, and return its status.

    `npz` gets compressed arrays without pickled objects; the status is written beside it, as JSON
    of the same stem: name, status ("ok"), reason (""), source (the place or address that served),
    the copies that were refused, fingerprint (of a city the digest of its arrays) and shape.
    `get` returns the verified contents. DatasetUnavailable, and nothing is written, if something of
    the set is missing, or a copy that travels with the repository is not what it should be.
    """
    contents = get()
    wrong = [one for one in contents.refused if one.startswith(f"{SHIPPED}, ")]
    if contents.missing or wrong:
        raise DatasetUnavailable(name, contents.missing or "; ".join(wrong), contents.refused)
    digest = _digest(contents.arrays)
    record = {
        "name": name,
        "status": "ok",
        "reason": "",
        "source": "",
        "refused": list(contents.refused),
        "fingerprint": digest,
        "shape": [],
        **contents.facts,
    }
    archive = BytesIO()
    checked = {_DIGEST: np.array(digest)}
    np.savez_compressed(archive, **contents.arrays, **checked)  # type: ignore[arg-type]  # not allow_pickle
    write_bytes(archive.getvalue(), npz)
    text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
    write_text(text, Path(npz).with_suffix(".json"))
    return record


def status_table(paths: Iterable[str], missing: Mapping[str, str]) -> pd.DataFrame:
    """Data sets of a run by name: which were at hand, and why others, the `missing`, were not.

    ValueError names a file that is no status, and what to do.
    """
    rows = [{"name": name, "status": "missing", "reason": why} for name, why in missing.items()]
    for path in paths:
        try:
            status = json.loads(Path(path).read_text(encoding="utf-8"))
            samples, features = status["shape"]
            rows.append({**status, "samples": samples, "features": features})
        except (ValueError, LookupError, TypeError) as error:
            again = f"delete it and {Path(path).with_suffix('.npz')} and run again"
            raise ValueError(
                f"{path}: expected the status of a data set: {error}; {again}"
            ) from None
    columns = ["name", "status", "samples", "features", "fingerprint", "reason"]
    table = pd.DataFrame(rows, dtype=object).reindex(columns=columns)
    return table.fillna("").sort_values("name", ignore_index=True)


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
    """Arrays that `prepare` wrote, by name; ValueError if they are not what it wrote."""
    again = "delete the file and run again"
    try:
        with Path(npz).open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
    except (ValueError, TypeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        message = f"prepared data {npz}: not a readable archive: {error}; {again}"
        raise ValueError(message) from None
    written, found = str(arrays.pop(_DIGEST, "none")), _digest(arrays)
    if written != found:
        what = f"expected arrays with the digest {written[:12]}, got {found[:12]}"
        raise ValueError(f"prepared data {npz}: {what}; {again}")
    return arrays


def read_prepared(npz: str | os.PathLike[str]) -> Dataset:
    """Data set that `prepare` wrote; ValueError if the file is not what it wrote."""
    arrays = read_arrays(npz)
    name, title, task, verified = arrays["facts"].tolist()
    return Dataset(
        name=name,
        title=title,
        task=task,
        features=arrays["features"],
        target=arrays["target"],
        feature_names=tuple(arrays["feature_names"].tolist()),
        extra={k.removeprefix(_EXTRA): v for k, v in arrays.items() if k.startswith(_EXTRA)},
        fingerprint=verified,
    )


def _digest(arrays: Arrays) -> str:
    """Digest (sha256) of names, types, shapes and values of arrays."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        found.update(json.dumps([name, array.dtype.str, list(array.shape)]).encode())
        found.update(array.tobytes())
    return found.hexdigest()


_MAXIMUM_CLASSES = 2
_TASKS = {"regression": ("squared", "l1", "0.01"), "classification": ("logistic", "l2", "0.1")}


def add(file: str, name: str, target: str, places: Mapping[str, str]) -> list[str]:
    """Take a plain data set of one's own into the pipeline; return what was done, line by line.

    `file` is delimited text with a header, `target` the column to predict. A copy goes into the
    folder `cache` of the `places`, the entry into the registry of one's own beside `registry`, and
    `config` becomes a config file of a run of Table III of flipped-huber-2023 with this set alone.
    ValueError, and nothing is written, if the name is taken or the file is no such table.
    """
    known, own = read_registry(places["registry"]), Path(places["registry"]).with_name(OWN)
    if name in {**known.sets, **known.tables}:
        raise ValueError(f"data add: expected a new name, got {name!r}")
    if Path(places["config"]).exists():
        raise ValueError(
            f"data add: {places['config']} exists; move it, or name another by --config"
        )
    content = Path(file).read_bytes()
    copy = Path(places["cache"]) / f"{name}{PurePath(file).suffix or '.csv'}"
    try:
        table, entry = describe(content, name, target, copy.name)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None
    listed = yaml.safe_load(own.read_text(encoding="utf-8")) if own.is_file() else {}
    tables = listed.get("tables", {}) | {name: table}
    sets = listed.get("sets", {}) | {name: entry}
    Registry[TaskEntry].model_validate({"tables": tables, "sets": sets})
    write_bytes(content, copy)
    write_text(_yaml({"tables": tables, "sets": sets}), own)
    write_text(_own_config(name, entry["task"]), places["config"])
    rows, columns = entry["shape"]
    run = f"snakemake --cores 2 --configfile {places['config']}"
    return [
        f"{copy}: the copy",
        f"{own}: {name}, a {entry['task']} of {rows} x {columns}",
        "homepage, licence and citation are empty: fill them in before you publish",
        f"{places['config']}: `{run}` makes its row of Table III and the figure, in runs/{name}",
    ]


def describe(content: bytes, name: str, target: str, file: str) -> tuple[dict, dict]:
    """Entries of the table and of the set that the text of a file is, with origin left empty.

    Words of a column become numbers: two classes -1 and +1, in alphabetical order. ValueError if it
    is no such table.
    """
    lines = content.decode("utf-8-sig", errors="replace").splitlines() or [""]
    mark = next((mark for mark in ";,\t" if mark in lines[0]), " ")
    header, *rows = csv.reader(lines, delimiter=mark, skipinitialspace=True)
    if target not in header:
        raise ValueError(f"expected a target among {', '.join(header)}, got {target!r}")
    place = header.index(target)
    words = sorted({row[place] for row in rows if len(row) == len(header)})
    two = len(words) == _MAXIMUM_CLASSES and words != ["-1", "1"]
    labels = {target: {words[0]: -1.0, words[1]: 1.0}} if two else {}
    columns = dict.fromkeys(header, "0" * 12)
    draft = TableEntry(files=[file], sources=[], rows=1, columns=columns, labels=labels,
                       fingerprint="0" * 64)  # fmt: skip
    table = read_table(content, draft)
    features, values, _ = parts(None, target, [table])
    X = np.column_stack(list(features.values()))
    told = {
        "files": [file], "sources": [], "rows": len(table.values),
        "columns": column_digests(table),
        "fingerprint": fingerprint(table.columns, table.values), "labels": labels,
    }  # fmt: skip
    classes = Counter(f"{value:+g}" for value in values.tolist())
    classified = set(classes) == {"-1", "+1"}
    entry = {
        "title": name, "citation": "", "licence": "", "homepage": "",
        "task": "classification" if classified else "regression",
        "tables": [name], "target": target, "shape": list(X.shape),
        "fingerprint": fingerprint((*features, "target"), np.column_stack([X, values])),
        "classes": {word: classes[word] for word in ("-1", "+1")} if classified else {},
    }  # fmt: skip
    return told, entry


def _own_config(name: str, task: str) -> str:
    """Config file of a run of Table III with one data set: null takes the others away."""
    loss, penalty, strength = _TASKS[task]
    settings = yaml.safe_load(Path("config.yaml").read_text(encoding="utf-8"))
    others = settings["flipped_huber_2023"]["table_3"]["tasks"]
    gone = "".join(f"      {other}: null\n" for other in others)
    return (
        f"# One row of Table III of flipped-huber-2023: {name}. Settings lie over config.yaml.\n"
        f"folder: runs/{name}\n"
        "items: [flipped-huber-2023/table-3]\n\n"
        "flipped_huber_2023:\n  table_3:\n    tasks:\n"
        f"      {name}: {{loss: {loss}, penalty: {penalty}, strength: {strength}}}\n{gone}"
    )


class _Dumper(yaml.SafeDumper):
    """Writer that quotes digests: `12e456789012` would be read as a number."""


_Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style='"' if re.fullmatch("[0-9a-f]{12,}", text) else None
    ),
)


def _yaml(content: object) -> str:
    """YAML in the given order."""
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True)
