"""Read and check the settings of all experiments, once, before anything runs.

The rules are the JSON schema in workflow/schemas; beside it stand the few conditions that
a schema cannot express. Every mistake is reported in one message.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.validators import extend

SCHEMA = Path("workflow") / "schemas" / "config.schema.yaml"
# JSON counts 5.0 as an integer; in Python it is another one than 5, with other random streams
_Validator = extend(
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)


class ConfigError(ValueError):
    """The settings are not usable; the message lists every mistake."""


def check(config: dict[str, Any], schema: str | Path) -> dict[str, Any]:
    """Return `config` unchanged if it is usable.

    Parameters
    ----------
    config : dict
        The merged settings.
    schema : path
        The JSON schema, as YAML.

    Raises
    ------
    ConfigError
        Listing every unknown key, wrong type and impossible value.
    """
    validator = _Validator(yaml.safe_load(Path(schema).read_text(encoding="utf-8")))
    errors = sorted(validator.iter_errors(config), key=lambda e: [str(p) for p in e.absolute_path])
    mistakes = [_line(error) for error in errors] + list(_beyond_schema(config, ()))
    if mistakes:
        listed = "\n".join(f"  - {mistake}" for mistake in mistakes)
        raise ConfigError(f"config: {len(mistakes)} mistake(s)\n{listed}")
    return config


def load(*paths: str | Path) -> dict[str, Any]:
    """Read settings from files, later ones over earlier ones, and check them.

    Parameters
    ----------
    *paths : path
        YAML files. The schema is looked up in workflow/schemas beside the first one.

    Raises
    ------
    ConfigError
        If a file cannot be read, is not a mapping, or the settings are not usable.
    """
    if not paths:
        raise ConfigError("config: no file given")
    schema = Path(paths[0]).resolve().parent / SCHEMA
    merged: dict[str, Any] = {}
    mistakes = []
    for path in paths:
        try:
            content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            mistakes.append(f"{path}: {error}")
            continue
        if isinstance(content, dict):
            merged = _merge(merged, content)
        else:
            mistakes.append(f"{path}: expected a mapping, got {type(content).__name__}")
    if not schema.exists():
        mistakes.append(f"no {SCHEMA} beside {paths[0]}")
    if mistakes:
        raise ConfigError("config: " + "; ".join(mistakes))
    return check(merged, schema)


def _merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Lay one mapping over another, as Snakemake does: mappings merge, all else is replaced."""
    merged = dict(base)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merge(merged[key], value) if both else value
    return merged


def _line(error: Any) -> str:  # noqa: ANN401
    """Word one schema error as 'where: what is wrong'."""
    where = ".".join(str(part) for part in error.absolute_path) or "top level"
    return f"{where}: {error.message}"


def _beyond_schema(node: Any, path: tuple[str, ...]) -> list[str]:  # noqa: ANN401
    """List grids that run backwards and numbers that are not finite, anywhere below `node`."""
    where = ".".join(path)
    if isinstance(node, float) and not math.isfinite(node):
        return [f"{where}: expected a finite number, got {node}"]
    if isinstance(node, list):
        return [m for i, item in enumerate(node) for m in _beyond_schema(item, (*path, str(i)))]
    if not isinstance(node, dict):
        return []
    found = [m for key, item in node.items() for m in _beyond_schema(item, (*path, str(key)))]
    for first, last in (("low", "high"), ("smallest", "largest")):
        low, high = node.get(first), node.get(last)
        if isinstance(low, int | float) and isinstance(high, int | float) and low > high:
            got = f"{first} = {low:g}, {last} = {high:g}"
            found.append(f"{where}: expected {first} <= {last}, got {got}")
    return found
