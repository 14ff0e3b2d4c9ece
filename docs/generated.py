"""Pages of the site that are made when it is built, in docs/api/: reference and gallery."""

from __future__ import annotations

import importlib
import re
import shutil
from pathlib import Path

import dpnoise
from dpnoise_papers.claims.findings import IMAGES
from dpnoise_papers.data.registry import attributions
from dpnoise_papers.papers import papers

DOCS = Path(__file__).parent
FIGURES = DOCS.parent / "figures"
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


def _picture(name: str) -> str:
    """Where the picture of a figure is, as seen from docs/api: the last run's, else one in docs.

    The run's is copied below docs/, because Sphinx reads no picture from outside.
    """
    if (FIGURES / f"{name}.png").is_file():
        copy = DOCS / "api" / "figures" / f"{name}.png"
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(FIGURES / f"{name}.png", copy)
        return f"figures/{name}.png"
    kept = {figure: short for short, figure in IMAGES.items()}
    found = {f"../snapshot/{name}.png": DOCS / "snapshot" / f"{name}.png"}
    if name in kept:
        found[f"../images/{kept[name]}.png"] = DOCS / "images" / f"{kept[name]}.png"
    return next((link for link, path in found.items() if path.is_file()), "")


def gallery() -> str:
    """Page of the figures of each paper, with their captions."""
    text = (
        "# Gallery\n\nFigures recomputed from the papers, and our own beside them. Without a run "
        "(`make reproduce`) only those that the repository keeps are here.\n"
    )
    for paper in papers():
        shown = [(item, _picture(f"{paper.id}/{item.id}")) for item in paper.items if item.figure]
        parts = [
            f"\n### {item.id}\n\n![{paper.id}, {item.id}]({link})\n\n{_plain(item.caption)}\n"
            for item, link in shown
            if link
        ]
        if parts:
            text += f"\n## {paper.id}\n" + "".join(parts)
    told = (f"{one.title}. {one.citation}. Licence: {one.licence}." for one in attributions())
    return text + "\n## Data\n\n" + "".join(f"- {_plain(words)}\n" for words in told)


def _plain(text: str) -> str:
    """Text without markup, for Markdown."""
    return re.sub(r"([|*_<\\])", r"\\\1", text)


def write() -> None:
    """Write the pages."""
    (DOCS / "api").mkdir(exist_ok=True)
    for name, text in {"index": reference(), "gallery": gallery()}.items():
        (DOCS / "api" / f"{name}.md").write_text(text, encoding="utf-8")
