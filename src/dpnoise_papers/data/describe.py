"""Description of a file in the words of the registry: columns, digests, fingerprints.

For a new plain table, one with a header and a target column, the whole entry is written: to be
pasted into data/registry.yaml, or taken into a registry of one's own with a config file beside it.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import numpy as np
import yaml

from dpnoise_papers.data.registry import OWN, Registry, TableEntry, TaskEntry, read_registry
from dpnoise_papers.data.sets import parts
from dpnoise_papers.data.tables import DataTable, column_digests, fingerprint, read_table
from dpnoise_papers.result_files import write_bytes, write_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpnoise._types import Array

_MAXIMUM_CLASSES = 2
_TASKS = {"regression": ("squared", "l1", "0.01"), "classification": ("logistic", "l2", "0.1")}


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


def add(
    file: str, content: bytes, name: str, target: str | None, places: Mapping[str, str]
) -> list[str]:
    """Take a plain data set of one's own into the pipeline; return what was done, line by line.

    `file` is delimited text with a header, `target` the column to predict. A copy goes into the
    folder `cache` of the `places`, the entry into the registry of one's own beside `registry`, and
    `config` becomes a config file of a run of Table III of flipped-huber-2023 with this set alone.
    ValueError, and nothing is written, if the name is taken or the file is no such table.
    """
    known = read_registry(places["registry"])
    if name in {**known.sets, **known.tables}:
        raise ValueError(f"data add: expected a new name, got {name!r}")
    if Path(places["config"]).exists():
        raise ValueError(
            f"data add: {places['config']} exists; move it, or name another by --config"
        )
    described = yaml.safe_load(describe_new({file: content}, name, target))
    entry = described["sets"][name] | {"title": name, "citation": "", "licence": "", "homepage": ""}
    copy = Path(places["cache"]) / f"{name}{PurePath(file).suffix or '.csv'}"
    described["tables"][name]["files"] = [copy.name]
    own = Path(places["registry"]).with_name(OWN)
    listed = yaml.safe_load(own.read_text(encoding="utf-8")) if own.is_file() else {}
    tables = listed.get("tables", {}) | described["tables"]
    sets = listed.get("sets", {}) | {name: entry}
    Registry[TaskEntry].model_validate({"tables": tables, "sets": sets})
    write_bytes(content, copy)
    write_text(_yaml({"tables": tables, "sets": sets}) + "\n", own)
    write_text(_own_config(name, entry["task"]), places["config"])
    rows, columns = entry["shape"]
    run = f"snakemake --cores 2 --configfile {places['config']}"
    return [
        f"{copy}: the copy",
        f"{own}: {name}, a {entry['task']} of {rows} x {columns}",
        "homepage, licence and citation are empty: fill them in before you publish",
        f"{places['config']}: `{run}` makes its row of Table III and the figure, in runs/{name}",
    ]


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
