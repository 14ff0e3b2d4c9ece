"""Pages of the site that are made when it is built, in docs/api/: reference and gallery."""

from __future__ import annotations

import importlib
from pathlib import Path

import dpnoise

DOCS = Path(__file__).parent
_GROUPS = {  # subpackage of dpnoise: title of its part of the reference
    "mechanisms": "Which noise?",
    "sensitivity": "Sensitivity sets",
    "noise": "Noise families",
    "calibration": "Calibration",
    "joint": "Joint noise",
    "allocation": "Allocation",
    "privacy": "Privacy accounts",
    "releases": "Releases",
    "certificates": "Certificates",
    "auditing": "Audits",
}
_OWN_NAMES = ("dpnoise.learn",)  # subpackages whose public names are not those of dpnoise


def _section(title: str, names: list[str]) -> str:
    """Table of names, each with a page of its own."""
    listed = "\n".join(f"   {name}" for name in sorted(names, key=str.lower))
    return f"\n## {title}\n\n```{{eval-rst}}\n.. autosummary::\n   :toctree:\n\n{listed}\n```\n"


def reference() -> str:
    """Page that lists every public name, by the subpackage that defines it."""
    parts: dict[str, list[str]] = {}
    for name in dpnoise.__all__:
        group = getattr(dpnoise, name).__module__.split(".")[1]
        parts.setdefault(_GROUPS.get(group, group.capitalize()), []).append(f"dpnoise.{name}")
    order = [*_GROUPS.values(), *sorted(set(parts) - set(_GROUPS.values()))]
    text = "# Reference of public names\n"
    for title in order:
        if title in parts:
            text += _section(title, parts[title])
    for module in _OWN_NAMES:
        names = getattr(importlib.import_module(module), "__all__", ())
        if names:
            text += _section(module, [f"{module}.{name}" for name in names])
    return text


def write() -> None:
    """Write the pages."""
    (DOCS / "api").mkdir(exist_ok=True)
    (DOCS / "api" / "index.md").write_text(reference(), encoding="utf-8")
