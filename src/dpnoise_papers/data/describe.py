"""A data set of one's own: its entry in the words of the registry, a copy, and a config file.

The data are delimited text with a header and a column to predict.
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
from dpnoise_papers.data.tables import column_digests, fingerprint, read_table
from dpnoise_papers.result_files import write_bytes, write_text

if TYPE_CHECKING:
    from collections.abc import Mapping

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
