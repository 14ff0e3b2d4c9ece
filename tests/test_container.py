"""What the image of Containerfile copies: all that is in the repository, nothing that is made."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MADE = [  # by a run, by tools, or on the machine that builds the image
    ".venv/bin/python", ".venv-deep/ready", ".snakemake/log/a.log", "results/p/a.csv",
    "figures/p/a.svg", "logs/p/a.log", "quick/results/a.csv", "runs/mine/figures/a.svg",
    "data/raw/a.csv", "data/prepared/a.npz", "src/dpnoise/__pycache__/a.pyc",
    "src/dpnoise.egg-info/PKG-INFO", "build/lib/a.py", "papers/build/lib/a.py", "dist/a.whl",
    "report.html", "report-deep.html", "provenance.html", "report.zip",
    "site/index.html", "docs/api/a.rst",
    "benchmarks/peers/environments/a/ready", "runs/mine/checkpoints/a.pt", "ro-crate-metadata.json",
    ".mypy_cache/a", ".pytest_cache/a", ".ruff_cache/a", ".hypothesis/a", ".coverage",
]  # fmt: skip


def copied(path):
    """Whether the builder copies a path: by the last pattern that fits it or a folder above it."""
    parts = path.split("/")
    above = ["/".join(parts[: k + 1]) for k in range(len(parts))]
    kept = True
    for line in (ROOT / ".containerignore").read_text().splitlines():
        pattern = line.removeprefix("!")
        if pattern and not pattern.startswith("#"):
            words = re.escape(pattern).replace(r"\*\*/", "(.*/)?").replace(r"\*", "[^/]*")
            if any(re.fullmatch(words, one) for one in above):
                kept = line.startswith("!")
    return kept


def git(*arguments):
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode > 1:
        pytest.skip("no git repository")
    return done.stdout.splitlines()


def test_what_is_made_is_not_copied():
    assert [path for path in MADE if copied(path)] == []


def test_all_that_the_repository_has_is_copied_and_what_is_made_is_ignored():
    assert [path for path in git("ls-files") if not copied(path)] == []
    assert git("check-ignore", "--no-index", *MADE) == MADE


def test_both_tools_read_the_same_file_and_both_folders_are_mounted():
    assert (ROOT / ".dockerignore").readlink().name == ".containerignore"
    text = (ROOT / "Containerfile").read_text()
    for folder in ("results", "figures"):
        assert f"-v ./{folder}:/dpnoise/{folder}" in text
