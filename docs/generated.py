"""Pages of the site that are made when it is built, in docs/api/: reference and gallery."""

from __future__ import annotations

import importlib
import inspect
import re
import shutil
from pathlib import Path

import dpnoise
from dpnoise_papers.claims.findings import IMAGES, read_snapshot
from dpnoise_papers.claims.published import read_published, sentences_page
from dpnoise_papers.data.registry import attributions
from dpnoise_papers.item import papers

DOCS = Path(__file__).parent
FIGURES = DOCS.parent / "figures"
_NOUNS = {  # subpackages of dpnoise: the noun that the names at its front belong to
    "sensitivity": "Sensitivity sets",
    "noise": "Noise",
    "mechanisms": "Mechanisms",
    "releases": "Releases",
    "certificates": "Releases",
    "privacy": "Budget",
}
_GROUPS = {  # subpackage of dpnoise: title of the page of its other names
    "mechanisms": "Mechanisms",
    "sensitivity": "Sensitivity sets",
    "noise": "Noise families",
    "joint": "Joint noise",
    "calibration": "Calibration",
    "allocation": "Allocation",
    "privacy": "Privacy accounts",
    "releases": "Releases",
    "certificates": "Certificates",
    "auditing": "Audits",
    "optimality": "Floors",
    "learn": "Learning",
    "denoise": "Denoising",
}
_PACKAGES = ("dpnoise.noise", "dpnoise.learn", "dpnoise.denoise")  # with public names of their own
_BY_FULL_NAME = (  # classes of what public functions return, and functions that pages explain
    "dpnoise.auditing.audit.Audit",
    "dpnoise.auditing.audit.Judged",
    "dpnoise.calibration.budget.Calibration",
    "dpnoise.calibration.coordinate_noise.CoordinateNoise",
    "dpnoise.certificates.certificate.Verification",
    "dpnoise.joint.base.JointNoise",
    "dpnoise.joint.calibrate.JointCalibration",
    "dpnoise.joint.vectors.CorrelatedGaussian",
    "dpnoise.joint.noise.RadialNoise",
    "dpnoise.joint.noise.NormStaircase",
    "dpnoise.learn.pca.PrivateComponents",
    "dpnoise.mechanisms.integers.IntegerVector",
    "dpnoise.mechanisms.integers.RoundedNoise",
    "dpnoise.mechanisms.request.Request",
    "dpnoise.mechanisms.compare.Comparison",
    "dpnoise.mechanisms.noise.Mechanism",
    "dpnoise.mechanisms.noise.BlockNoise",
    "dpnoise.mechanisms.noise.IndependentNoise",
    "dpnoise.joint.base.VectorNoise",
    "dpnoise.optimality.bounds.CostBounds",
    "dpnoise.optimality.bounds.minimum_cost",
    "dpnoise.optimality.floor.Floor",
    "dpnoise.optimality.floor.floor",
    "dpnoise.privacy.odometer.ledger.Entry",
    "dpnoise.privacy.sampled.errors.SampledErrors",
    "dpnoise.privacy.sampled.mechanism.TwoSided",
    "dpnoise.privacy.vector.VectorProfile",
    "dpnoise.privacy.odometer.concentrated.ZCDP",
    "dpnoise.releases.released.Entry",
    "dpnoise.releases.release.ReleasedWorkload",
    "dpnoise.releases.released.Released",
    "dpnoise.sensitivity.base.Sensitivity",
    "dpnoise.sensitivity.contributions.BoundedCounts",
    "dpnoise.sensitivity.spheroid.RoundSet",
    "dpnoise.sensitivity.spheroid.Spheroid",
    "dpnoise.sensitivity.ellipsoid.TiltedEllipsoid",
)
# Pages of names that differ from others in the case of letters only, which some file systems lack.
FILES = {"dpnoise.optimality.floor.Floor": "dpnoise.optimality.floor.Floor-result"}
INTERNAL = frozenset({  # members that only the package itself reads
    "all_patterns", "attains", "ball_radius", "box_share", "cells", "continuous", "cut",
    "dispersion", "dominating", "edge", "exact_pieces", "exact_tail", "exchangeable", "facet_share",
    "factors", "free_cube", "has_closed_loss", "has_corner", "has_exact_draws",
    "holds_pattern", "image", "is_exact_for", "is_round", "kinds", "largest_loss",
    "largest_moments", "largest_norm_of", "largest_symmetric_form", "layer_moment", "log_axes",
    "mass_beyond", "masses_to", "mean_norm_of", "moments", "moments_size", "moves_apart",
    "patterns", "pieces", "place", "relative_axes", "restricted", "sampled_step", "sides", "source",
    "split", "spread", "step_width", "stepwise", "sums_to_zero", "title", "whole", "zcdp_pair",
})  # fmt: skip


def _named(name: str) -> object:
    """The object of a full name."""
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


def public_names() -> dict[str, object]:
    """Every name with a page: public classes and functions, methods of objects, results."""
    found = {f"dpnoise.{name}": getattr(dpnoise, name) for name in dpnoise._PUBLIC}  # noqa: SLF001
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


def _table(names: list[str]) -> str:
    """Table of names, each with a page of its own."""
    listed = "\n".join(f"   {name}" for name in sorted(names, key=str.lower))
    return f"\n```{{eval-rst}}\n.. autosummary::\n   :toctree:\n\n{listed}\n```\n"


def reference() -> dict[str, str]:
    """Pages of the reference by their names: the front, `index`, and one for each subpackage."""
    front: dict[str, list[str]] = {noun: [] for noun in _NOUNS.values()}
    rest: dict[str, list[str]] = {name: [] for name in _GROUPS}
    for name, one in public_names().items():
        subpackage = one.__module__.split(".")[1]
        if name.removeprefix("dpnoise.") in dpnoise.__all__:
            front[_NOUNS[subpackage]].append(name)
        else:
            rest[subpackage].append(name)
    pages = {
        name: f"# {_GROUPS[name]}\n\nFurther public names of `dpnoise.{name}`.\n{_table(names)}"
        for name, names in rest.items()
        if names
    }
    text = (
        "# Reference\n\nMost of what is needed is twenty names by five nouns, which `from dpnoise "
        "import ...` brings.\n"
    )
    text += "".join(f"\n## {noun}\n{_table(names)}" for noun, names in front.items())
    text += (
        "\n## Further names\n\nCases for one family or one number, conversions, results and what "
        "they consist of, by the\nsubpackage that defines them. Names that are listed as "
        "`dpnoise.NAME` are imported from `dpnoise`, too.\n\n```{toctree}\n"
    )
    return {"index": text + "\n".join(pages) + "\n```\n", **pages}


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


def coverage() -> dict[str, str]:
    """Pages of the papers' sentences, each with its verdict in the recorded run, by name."""
    claims, _, sentences = read_published(DOCS.parent / "published")
    verdicts = read_snapshot(DOCS / "snapshot").verdicts
    names = dict.fromkeys(one.paper for one in sentences)
    return {
        f"sentences-{name}": sentences_page(name, sentences, claims, verdicts) for name in names
    }


def write() -> None:
    """Write the pages."""
    (DOCS / "api").mkdir(exist_ok=True)
    for name, text in {**reference(), "gallery": gallery(), **coverage()}.items():
        (DOCS / "api" / f"{name}.md").write_text(text, encoding="utf-8")
