"""What is installed: wheel and source distribution of the library, and the wheel of the papers."""

import importlib.util
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections import Counter
from email import message_from_bytes
from pathlib import Path

import pytest

import dpnoise
from document_pages import ROOT, blocks

FILES = ["LICENSE", "MANIFEST.in", "README.md", "pyproject.toml"]
FOLDERS = ["papers", "src", "tests"]
CORE = ["filelock", "lazy_loader", "numpy", "scipy", "flint"]
LIBRARIES = ["numpy.libs", "scipy.libs", "python_flint.libs"]  # beside them in their wheels
BUILD = "import setuptools.build_meta as b, sys; [getattr(b, x)({!r}) for x in {!r}]"


def build(folder, *hooks):
    """The files that the build backend makes of a folder, without network."""
    made = Path(tempfile.mkdtemp(prefix="made", dir=folder))
    command = [sys.executable, "-c", BUILD.format(str(made), hooks)]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return sorted(made.iterdir())


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The files of a checkout that a build looks at, in a folder to write to."""
    folder = tmp_path_factory.mktemp("checkout")
    left = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "dist")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=left)
    for name in FILES:
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def library(copy):
    """The wheel and the source distribution of the library."""
    source, wheel = sorted(build(copy, "build_sdist", "build_wheel"), key=lambda path: path.suffix)
    return wheel, source


def contents(wheel):
    """The names in a wheel, without its own metadata, and these."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        own = next(name for name in names if name.endswith(".dist-info/METADATA"))
        metadata = message_from_bytes(archive.read(own))
        scripts = archive.read(own.replace("METADATA", "entry_points.txt")).decode()
    return {name for name in names if ".dist-info/" not in name}, metadata, scripts


def sources(package, copy):
    """The files of a package, as a wheel names them."""
    found = (copy / "src" / package).rglob("*")
    return {path.relative_to(copy / "src").as_posix() for path in found if path.is_file()}


def test_the_wheel_holds_the_library_and_nothing_else(library, copy):
    names, metadata, scripts = contents(library[0])
    assert names == sources("dpnoise", copy)
    assert "dpnoise/py.typed" in names
    assert metadata["Version"] == dpnoise.__version__
    assert "dpnoise-papers" not in scripts
    assert "dpnoise = dpnoise.cli.__main__:main" in scripts
    needed = [one for one in metadata.get_all("Requires-Dist") if "extra ==" not in one]
    names = ["filelock", "lazy-loader", "narwhals", "numpy", "python-flint", "scipy"]
    assert [one.split(">")[0] for one in needed] == names


def test_the_source_distribution_holds_what_builds_the_same_wheel(library, copy, tmp_path):
    with tarfile.open(library[1]) as archive:
        files = [one.name.partition("/")[2] for one in archive if one.isfile()]
        archive.extractall(tmp_path, filter="data")
    kept = {name for name in files if ".egg-info/" not in name}
    assert kept == {*FILES, "PKG-INFO", "setup.cfg"} | {
        f"src/{name}" for name in sources("dpnoise", copy)
    }
    (again,) = build(next(tmp_path.iterdir()), "build_wheel")
    assert contents(again)[0] == contents(library[0])[0]


def test_the_papers_have_a_wheel_of_their_own(library, copy):
    del library  # one build at a time
    (wheel,) = build(copy / "papers", "build_wheel")
    names, metadata, scripts = contents(wheel)
    assert names == sources("dpnoise_papers", copy)
    assert (metadata["Name"], metadata["Version"]) == ("dpnoise-papers", dpnoise.__version__)
    assert "dpnoise-papers = dpnoise_papers.cli:main" in scripts


def test_editable_installations_of_both_lead_to_the_sources(copy):
    """As the Makefile has them: two distributions, one folder of sources."""
    for folder in (copy, copy / "papers"):
        (wheel,) = build(folder, "build_editable")
        with zipfile.ZipFile(wheel) as archive:
            (path,) = [name for name in archive.namelist() if name.endswith(".pth")]
            assert Path(archive.read(path).decode().strip()) == copy / "src"


def test_the_first_block_of_the_readme_runs_after_its_line_of_installation(library, tmp_path):
    """In an interpreter that finds the wheel and the packages which it needs, and no others."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "\n    pip install . " in text
    with zipfile.ZipFile(library[0]) as archive:
        archive.extractall(tmp_path)  # noqa: S202 - ours
    for name in CORE:
        place = Path(importlib.util.find_spec(name).origin).parent
        for part in (place, *(place.parent / other for other in LIBRARIES)):
            if part.exists() and not (tmp_path / part.name).exists():
                (tmp_path / part.name).symlink_to(part)
    (tmp_path / "block.txt").write_text(blocks(ROOT / "README.md", "python")[0])
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import doctest, dpnoise\n"
        f"assert dpnoise.__file__.startswith({str(tmp_path)!r})\n"
        "found = doctest.testfile('block.txt', module_relative=False)\n"
        "print(found.attempted, found.failed)"
    )
    command = [sys.executable, "-I", "-S", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert not done.stderr
    attempted, failed = done.stdout.split()[-2:]
    assert int(attempted) >= 4
    assert failed == "0", done.stdout


def crowded(folder, most=15):
    """Folders below this one with more modules than `most`."""
    modules = Counter(path.parent for path in folder.rglob("*.py"))
    return [folder.name for folder, number in modules.items() if number > most]


def test_no_folder_of_the_sources_has_more_than_15_modules(tmp_path):
    for number in range(16):
        (tmp_path / f"module_{number}.py").touch()
    assert crowded(tmp_path) == [tmp_path.name]
    assert crowded(ROOT / "src") == []
