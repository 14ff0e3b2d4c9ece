"""The registry of data sets: read it once, refuse it with every mistake listed.

`data/registry.yaml` has two parts. `tables` are the raw files: where they lie and what
they must contain. `sets` are the tasks of the papers, each built from tables by a recipe.
California and Houses share a table; Wine quality is made of two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml
from jsonschema import Draft202012Validator

from dpnoise._validation import Problems
from dpnoise_papers.data.places import find_registry, read_yaml

if TYPE_CHECKING:
    import os

_TEXT = {"type": "string", "minLength": 1}
_NAME = {"type": "string", "pattern": "^[a-z][a-z0-9]*(-[a-z0-9]+)*$"}
_SHA = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_COUNT = {"type": "integer", "minimum": 1}


def _record(required: dict, optional: dict | None = None) -> dict:
    """Return the schema of a mapping with exactly these keys."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def _mapping(values: dict, names: dict = _NAME) -> dict:
    return {
        "type": "object",
        "propertyNames": names,
        "additionalProperties": values,
        "minProperties": 1,
    }


_SOURCE = _record(
    {"url": {"type": "string", "pattern": "^https?://[^/ ]+/[^ ]*$"}},
    {"member": {"type": "string", "pattern": r"^[^/\\]+(/[^/\\]+)*$"}},
)
_TABLE = _record(
    {
        # Relative to the mirror folder; never a way out of it.
        "files": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "string", "pattern": r"^(?!/)(?!.*\.\.)[^\\]+$"},
        },
        "sources": {"type": "array", "items": _SOURCE},
        "rows": _COUNT,
        "columns": _mapping({"type": "string", "pattern": "^[0-9a-f]{12}$"}, _TEXT),
        "fingerprint": _SHA,
    },
    {"labels": _mapping(_mapping({"type": "number"}, _TEXT), _TEXT)},
)
_SET = _record(
    {
        "title": _TEXT,
        "citation": _TEXT,
        "licence": _TEXT,
        "homepage": {"type": "string", "pattern": "^https?://"},
        "task": {"enum": ["regression", "classification"]},
        "tables": {"type": "array", "items": _NAME, "uniqueItems": True},
        "recipe": {"enum": ["last-column", "california", "houses", "wine", "bundled-diabetes"]},
        "shape": {"type": "array", "prefixItems": [_COUNT, _COUNT], "minItems": 2, "maxItems": 2},
        "fingerprint": _SHA,
    },
    {"classes": _record({"-1": _COUNT, "+1": _COUNT}), "note": _TEXT},
)
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    **_record({"tables": _mapping(_TABLE), "sets": _mapping(_SET)}),
}


def read_registry(registry: str | os.PathLike | None = None) -> dict:
    """Return the validated registry.

    Parameters
    ----------
    registry : path, optional
        By default the repository's data/registry.yaml.

    Raises
    ------
    ValueError
        With every mistake of the file.
    FileNotFoundError
        If there is none.
    """
    path = find_registry(registry)
    try:
        content = read_yaml(path)
    except yaml.YAMLError as error:
        raise ValueError(f"registry {path}: not YAML: {error}") from None
    problems = Problems(f"registry {path}")
    errors = Draft202012Validator(SCHEMA).iter_errors(content)
    for error in sorted(errors, key=lambda e: [str(part) for part in e.absolute_path]):
        where = ".".join(str(part) for part in error.absolute_path) or "top level"
        problems.add(f"{where}: {error.message}")
    if not problems.found:
        _cross_check(content, problems)
    problems.raise_if_any()
    return content


def _cross_check(content: dict, problems: Problems) -> None:
    tables, sets = content["tables"], content["sets"]
    for name, entry in tables.items():
        for column in entry.get("labels", {}):
            known = list(entry["columns"])
            problems.require(
                column in known, f"tables.{name}.labels", f"one of {', '.join(known)}", column
            )
    used = set()
    for name, entry in sets.items():
        used.update(entry["tables"])
        for table in entry["tables"]:
            problems.require(table in tables, f"sets.{name}.tables", "a known table", table)
        if entry["task"] == "classification":
            total = sum(entry.get("classes", {}).values())
            expected = f"two counts that add up to {entry['shape'][0]}"
            problems.require(
                total == entry["shape"][0], f"sets.{name}.classes", expected, entry.get("classes")
            )
        else:
            problems.require("classes" not in entry, f"sets.{name}.classes", "none", "some")
    for table in sorted(set(tables) - used):
        problems.add(f"tables.{table}: expected to be used by a set, got none")


def names(registry: str | os.PathLike | None = None) -> tuple[str, ...]:
    """Return the names of all data sets, in the order of the registry."""
    return tuple(read_registry(registry)["sets"])


def known_set(name: str, registry: str | os.PathLike | None = None) -> tuple[dict, dict]:
    """Return the entry of a set and the entries of its tables, in order.

    Raises
    ------
    ValueError
        If there is no such set.
    """
    content = read_registry(registry)
    if name not in content["sets"]:
        known = ", ".join(content["sets"])
        raise ValueError(f"data set: expected one of {known}, got {name!r}")
    entry = content["sets"][name]
    return entry, {table: content["tables"][table] for table in entry["tables"]}
