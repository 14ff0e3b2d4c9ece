"""Description of a file in the words of the registry: columns, digests, fingerprints.

For a new plain table, one with a header and a target column, the whole entry is written, so that a
new data set needs a paste into data/registry.yaml and no code.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np
import yaml

from dpnoise_papers.data.registry import TableEntry
from dpnoise_papers.data.sets import parts
from dpnoise_papers.data.tables import DataTable, column_digests, fingerprint, read_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpnoise._types import Array
    from dpnoise_papers.data.registry import TaskEntry

_MAXIMUM_CLASSES = 2


def describe_known(
    contents: Mapping[str, bytes], entry: TaskEntry, tables: Mapping[str, TableEntry]
) -> str:
    """What the files of a set of the registry say, as YAML.

    `contents` maps the name of each file to its bytes, in the order of the set's tables. Rows,
    columns and fingerprint of each table, shape and fingerprint of the set. ValueError if files are
    not as many as tables, or one is no such table.
    """
    if len(contents) != len(tables):
        expected = f"{len(tables)} file(s), for {', '.join(tables) or 'no table'}"
        raise ValueError(f"data fingerprint: expected {expected}, got {len(contents)}")
    read = [
        _read(file, content, table)
        for (file, content), table in zip(contents.items(), tables.values(), strict=True)
    ]
    found = dict(zip(tables, map(_told, read), strict=True))
    features, target, _ = parts(entry.recipe, entry.target, read)
    return _yaml({"tables": found, "set": _set_told(features, target)})


def describe_new(contents: Mapping[str, bytes], name: str, target: str | None) -> str:
    """Entries of a new plain data set as YAML, with '...' where a person has to say something.

    `contents` holds one file: delimited text whose first line names the columns. Words of a column
    become numbers: two classes -1 and +1, in alphabetical order. `name` is that of the set and of
    its table, `target` the column to predict, by default the last. ValueError if there is not one
    file, or it is no such table.
    """
    if len(contents) != 1:
        raise ValueError(f"data fingerprint: expected one file for a new set, got {len(contents)}")
    ((file, content),) = contents.items()
    lines = content.decode("utf-8-sig", errors="replace").splitlines()
    first = lines[0] if lines else ""
    mark = next((mark for mark in ";,\t" if mark in first), " ")
    header, *rows = csv.reader(lines, delimiter=mark, skipinitialspace=True) if first else ([],)
    if target is not None and target not in header:
        raise ValueError(f"{file}: expected a target among {', '.join(header)}, got {target!r}")
    target = target or header[-1]
    labels: dict[str, dict[str, float]] = {}
    for place, column in enumerate(header):
        words = sorted({row[place] for row in rows if len(row) == len(header)})
        two = column == target and len(words) == _MAXIMUM_CLASSES
        if two and words != ["-1", "1"]:
            labels[column] = {words[0]: -1, words[1]: 1}
    draft = TableEntry(
        files=[PurePath(file).name],
        sources=[],
        rows=1,
        columns=dict.fromkeys(header, "0" * 12),
        labels=labels,
        fingerprint="0" * 64,
    )
    table = _read(file, content, draft)
    features, values, _ = parts(None, target, [table])
    classes = Counter(f"{value:+g}" for value in values.tolist())
    task = "classification" if set(classes) == {"-1", "+1"} else "regression"
    entry = {"files": draft.files, "sources": [], **_told(table)}
    if labels:
        entry["labels"] = labels
    kept = dict.fromkeys(("title", "citation", "licence", "homepage"), "...")
    told: dict[str, object] = {**kept, "task": task, "tables": [name]}
    if target != header[-1]:
        told["target"] = target
    told |= _set_told(features, values)
    if task == "classification":
        told["classes"] = {word: classes[word] for word in ("-1", "+1")}
    return _yaml({"tables": {name: entry}, "sets": {name: told}})


def _read(file: str, content: bytes, entry: TableEntry) -> DataTable:
    """Table that a file holds; an error names the file."""
    try:
        return read_table(content, entry)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None


def _told(table: DataTable) -> dict[str, object]:
    """What the registry says of a table."""
    found = fingerprint(table.columns, table.values)
    return {"rows": len(table.values), "columns": column_digests(table), "fingerprint": found}


def _set_told(features: Mapping[str, Array], target: Array) -> dict[str, object]:
    """What the registry says of features and target."""
    X = np.column_stack(list(features.values()))
    found = fingerprint((*features, "target"), np.column_stack([X, target]))
    return {"shape": list(X.shape), "fingerprint": found}


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
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True).rstrip()
