"""Code inputs of a rule: what its functions import, directly or not, and nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest

from dpnoise_papers.code_inputs import code_inputs

ROOT = Path(__file__).parents[2]
TABLE = str(ROOT / "workflow" / "scripts" / "table.py")
DENSITIES = "dpnoise_papers.flipped_huber_2023.tables.densities.densities"


@pytest.fixture
def names():
    return lambda *functions: set(code_inputs(TABLE, *functions))


def test_whatever_an_import_loads_is_among_the_inputs(names):
    module = DENSITIES.rpartition(".")[0]
    code = (
        f"import sys, {module}; from pathlib import Path;"
        "print(*(m.__file__ for n, m in sys.modules.items()"
        " if n.startswith('dpnoise') and Path(m.__file__).stat().st_size))"
    )
    command = [sys.executable, "-c", code]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    loaded = {Path(file) for file in loaded if not file.endswith("__init__.py")}
    assert loaded <= {ROOT / name for name in names(DENSITIES)}


def test_unrelated_modules_are_not_among_the_inputs(names):
    found = names(DENSITIES)
    assert "src/dpnoise/noise/flipped_huber.py" in found
    assert "src/dpnoise_papers/call.py" in found
    assert not any("learn" in name or "inid_2024" in name or "/data/" in name for name in found)


def test_paths_are_relative_sorted_and_exist():
    found = code_inputs(TABLE, DENSITIES)
    assert found == sorted(found)
    assert all((ROOT / name).is_file() and not Path(name).is_absolute() for name in found)


def test_an_unknown_module_is_refused(names):
    with pytest.raises(ValueError, match=r"no module dpnoise_papers\.nothing"):
        names("dpnoise_papers.nothing.at_all")
