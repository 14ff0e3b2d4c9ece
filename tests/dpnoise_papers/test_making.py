"""Digests of code, logs of jobs, and what jobs read."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from dpnoise_papers import making
from dpnoise_papers.making import (
    SOURCE,
    UNFINISHED,
    code_inputs,
    job,
    read_tables,
    resolve,
)
from dpnoise_papers.result_files import settings_digest, write_table

ROOT = Path(__file__).parents[2]
TABLES = str(ROOT / "workflow" / "scripts" / "tables.py")
DENSITIES = "dpnoise_papers.flipped_huber_2023.privacy.densities"


@pytest.fixture
def names():
    def found(*functions):
        return set(code_inputs(TABLES, *functions))

    return found


def test_whatever_an_import_loads_is_among_the_inputs(names):
    module = DENSITIES.rpartition(".")[0]
    code = (
        f"import sys, {module}; from pathlib import Path;"
        "print(*(m.__file__ for n, m in sys.modules.items()"
        " if n.startswith('dpnoise') and Path(m.__file__).stat().st_size))"
    )
    command = [sys.executable, "-c", code]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    # How a package finds its public names, and its version, change no result.
    no_result = ("__init__.py", "_version.py")
    loaded = {Path(file) for file in loaded if not file.endswith(no_result)}
    assert loaded <= {SOURCE / name for name in names(DENSITIES)}


def test_unrelated_modules_are_not_among_the_inputs(names):
    found = names(DENSITIES)
    assert "dpnoise/noise/grafted.py" in found
    assert "dpnoise_papers/making.py" in found
    assert not any("learn" in name or "inid_2024" in name or "/data/" in name for name in found)


def test_paths_are_sorted_and_exist():
    found = code_inputs(TABLES, DENSITIES)
    assert found == sorted(found)
    assert all((SOURCE / name).is_file() for name in found)


def test_an_unknown_module_is_refused(names):
    with pytest.raises(ValueError, match=r"no module dpnoise_papers\.nothing"):
        names("dpnoise_papers.nothing.at_all")


def test_a_folder_with_compiled_modules_only_is_no_package(tmp_path, monkeypatch):
    """An older commit's package leaves one beside the module that took its name."""
    (tmp_path / "toy" / "once" / "__pycache__").mkdir(parents=True)
    (tmp_path / "toy" / "once.py").touch()
    (tmp_path / "toy" / "__init__.py").touch()
    monkeypatch.setattr(making, "SOURCE", tmp_path)
    assert making._path.__wrapped__("toy.once") == "toy/once.py"
    assert making._path.__wrapped__("toy") == "toy/__init__.py"


def test_a_digest_depends_on_every_module_behind_the_functions(monkeypatch):
    found = making.code_digest.__wrapped__
    before, told = found(TABLES, DENSITIES), making._source_digest
    for name in [*code_inputs(TABLES, DENSITIES), TABLES]:
        with monkeypatch.context() as patch:
            changed = lambda path, name=name: "" if path == SOURCE / name else told(path)  # noqa: E731
            patch.setattr(making, "_source_digest", changed)
            assert found(TABLES, DENSITIES) != before


@pytest.fixture
def started(tmp_path, monkeypatch):
    """What Snakemake gives to a script."""
    monkeypatch.chdir(tmp_path)
    call = {"outputs": ["out.csv"], "function": "toy.grid"}
    params = {"calls": [call]}
    return SimpleNamespace(output=["out.csv"], log=["logs/paper/item.log"], params=params), call


def test_the_log_of_a_job_ends_with_the_digests_of_what_it_made_and_was_told(started):
    snakemake, call = started
    log = Path(snakemake.log[0])
    with job(snakemake) as lines:
        assert log.read_text() == UNFINISHED  # what a job that is killed leaves
        lines.append("one row")
        Path("out.csv").write_text("x\n1\n")
    digest = hashlib.sha256(b"x\n1\n").hexdigest()
    assert log.read_text() == f"one row\nmade {digest} {settings_digest(call)[:16]} out.csv\n"


def test_the_log_of_a_job_that_fails_holds_its_error(started):
    snakemake, _ = started
    with pytest.raises(ValueError, match="broken"), job(snakemake) as lines:  # noqa: PT012
        lines.append("began")
        raise ValueError("broken")
    text = Path(snakemake.log[0]).read_text()
    assert text.startswith("began\nTraceback")
    assert text.endswith("ValueError: broken\n")
    assert "made" not in text


def test_a_function_is_found_by_its_full_name():
    assert resolve("dpnoise_papers.result_files.write_table") is write_table
    with pytest.raises(AttributeError, match="nothing"):
        resolve("dpnoise_papers.result_files.nothing")


def test_tables_of_parts_arrive_as_one_dictionary_and_missing_ones_without_rows(tmp_path):
    paths = [str(tmp_path / f"{name}.csv") for name in "abc"]
    for place, path in enumerate(paths):
        write_table(pd.DataFrame({"x": [place]}), path)
    first, parts = read_tables([paths[0], {"p": paths[1], "q": paths[2], "r": ""}])
    assert first["x"].tolist() == [0]
    assert {part: table["x"].tolist() for part, table in parts.items()} == {
        "p": [1],
        "q": [2],
        "r": [],
    }


def test_an_edited_statement_is_an_edit_of_the_code(names):
    found = names("dpnoise_papers.inid_2024.theory.statements.inid_theory")
    assert "dpnoise_papers/inid_2024/theory/statements.yaml" in found
    assert not any(name.endswith(".yaml") for name in names(DENSITIES))
