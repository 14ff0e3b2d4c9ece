"""A copy of the repository in which Snakemake runs, apart from the one that is tested."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PARTS = [
    "Snakefile", "config.yaml", "config.quick.yaml", "pyproject.toml", "profiles", "published",
    "src", "workflow",
    "data/registry.yaml", "data/cities.yaml", "data/images.yaml",
]  # fmt: skip


def copy_into(folder: Path, *more: str) -> Path:
    """Copy what a run needs, and more, with its bytecode; the copy's own package is imported."""
    ignore = shutil.ignore_patterns("*.egg-info")
    for part in (*PARTS, *more):
        target = folder / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, target, ignore=ignore)
        else:
            shutil.copy(ROOT / part, target)
    (folder / "offline.yaml").write_text("data: {offline: true}\n", encoding="utf-8")
    return folder


def environment() -> dict[str, str]:
    """Variables for a run in a copy: no mirror, and no path of modules but what its Snakefile sets.

    The code of the copy runs all the same, though the environment has another one installed. The
    copy keeps its bytecode also where the caller's settings keep none: each start of Snakemake and
    each job would compile the package again, half of its time.
    """
    dropped = {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE"}
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return kept | {"DPNOISE_DATA_MIRROR": ""}


def command(*arguments: str, cores: int = 1, files: tuple[str, ...] = ()) -> list[str]:
    """Snakemake without network, with further config files."""
    start = [sys.executable, "-m", "snakemake", "--cores", str(cores)]
    return [*start, *arguments, "--configfile", "offline.yaml", *files]
