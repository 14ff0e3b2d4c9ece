"""Pages of the site that are made when it is built, in docs/api/: reference and gallery."""

from __future__ import annotations

import importlib
import inspect
import re
import shutil
from pathlib import Path

from dpnoise_papers.claims.findings import IMAGES
from dpnoise_papers.data.registry import attributions
from dpnoise_papers.papers import papers

DOCS = Path(__file__).parent
FIGURES = DOCS.parent / "figures"
_GROUPS = {  # subpackage of dpnoise: title of its part of the reference
    "mechanisms": "Which noise?",
    "sensitivity": "Sensitivity sets",
    "noise": "Noise families",
    "joint": "Joint noise",
    "calibration": "Calibration",
    "allocation": "Allocation",
    "privacy": "Privacy accounts",
    "releases": "Releases",
    "certificates": "Certificates",
    "auditing": "Audits",
    "optimality": "Optimality",
    "learn": "Learning",
    "denoise": "Denoising",
}
_PACKAGES = ("dpnoise", "dpnoise.noise", "dpnoise.learn", "dpnoise.denoise")  # with public names
_BY_FULL_NAME = (  # classes of what public functions return, and functions that pages explain
    "dpnoise.allocation.shares.resources",
    "dpnoise.auditing.audit.Audit",
    "dpnoise.calibration.budget.Calibration",
    "dpnoise.calibration.coordinate_noise.CoordinateNoise",
    "dpnoise.calibration.histogram.calibrate.HistogramCalibration",
    "dpnoise.calibration.variance_bound.VarianceBound",
    "dpnoise.certificates.verify.Verification",
    "dpnoise.denoise.largest_penalty.largest_penalty",
    "dpnoise.joint.calibrate.JointCalibration",
    "dpnoise.joint.radial.RadialNoise",
    "dpnoise.joint.staircase.NormStaircase",
    "dpnoise.learn.pca.PrivateComponents",
    "dpnoise.mechanisms.table.Comparison",
    "dpnoise.mechanisms.table.Mechanism",
    "dpnoise.mechanisms.vector_noise.IndependentNoise",
    "dpnoise.optimality.bounds.CostBounds",
    "dpnoise.optimality.bounds.minimum_cost",
    "dpnoise.optimality.floor.floor",
    "dpnoise.privacy.vector.VectorProfile",
    "dpnoise.privacy.zcdp.ZCDP",
    "dpnoise.releases.answers.Entry",
    "dpnoise.releases.answers.Released",
    "dpnoise.sensitivity.base.Sensitivity",
    "dpnoise.sensitivity.from_frame.BoundedCounts",
)
INTERNAL = frozenset({  # members that only the package itself reads
    "box_share", "cells", "continuous", "dispersion", "dominating", "edge", "exact_pieces",
    "from_dispersion", "largest_loss", "layer_moment", "mass_beyond", "masses_to", "pieces",
    "place", "split", "zcdp_pair",
})  # fmt: skip


def _named(name: str) -> object:
    """The object of a full name."""
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


def public_names() -> dict[str, object]:
    """Every name with a page: public classes and functions, methods of objects, results."""
    found: dict[str, object] = {}
    for package in _PACKAGES:
        for name in importlib.import_module(package).__all__:
            one = _named(f"{package}.{name}")
            if callable(one) and one not in found.values():
                found[f"{package}.{name}"] = one
    for name, one in list(found.items()):
        if not (inspect.isclass(one) or inspect.isroutine(one)):  # an object, as `release` is
            methods = inspect.getmembers(one, inspect.ismethod)
            found |= {f"{name}.{own}": bound for own, bound in methods if own[0] != "_"}
    return found | {name: _named(name) for name in _BY_FULL_NAME}


def _section(title: str, names: list[str]) -> str:
    """Table of names, each with a page of its own."""
    listed = "\n".join(f"   {name}" for name in sorted(names, key=str.lower))
    return f"\n## {title}\n\n```{{eval-rst}}\n.. autosummary::\n   :toctree:\n\n{listed}\n```\n"


def reference() -> str:
    """Page that lists every public name, by the subpackage that defines it."""
    parts: dict[str, list[str]] = {title: [] for title in _GROUPS.values()}
    for name, one in public_names().items():
        parts[_GROUPS[one.__module__.split(".")[1]]].append(name)
    text = "# Reference of public names\n"
    return text + "".join(_section(title, names) for title, names in parts.items() if names)


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
