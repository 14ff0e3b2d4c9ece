import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from dpnoise_papers import making as code
from dpnoise_papers.making import code_inputs

ROOT = Path(__file__).parents[3]
TABLE = str(ROOT / "workflow" / "scripts" / "table.py")
DENSITIES = "dpnoise_papers.flipped_huber_2023.tables.privacy.densities"


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
    # How a package finds its public names, and its version, change no result.
    no_result = ("__init__.py", "_version.py")
    loaded = {Path(file) for file in loaded if not file.endswith(no_result)}
    assert loaded <= {ROOT / name for name in names(DENSITIES)}


def test_unrelated_modules_are_not_among_the_inputs(names):
    found = names(DENSITIES)
    assert "src/dpnoise/noise/grafted.py" in found
    assert "src/dpnoise_papers/making.py" in found
    assert not any("learn" in name or "inid_2024" in name or "/data/" in name for name in found)


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Return what the digest of a script is when it holds a text."""
    script = tmp_path / "script.py"
    monkeypatch.setattr(code, "CACHE", str(tmp_path / "digests.json"))

    def digest(text):
        script.write_text(text, encoding="utf-8")
        code._digests.cache_clear()
        return code.code_digest(str(script))

    yield digest
    code._digests.cache_clear()
    code._known.cache_clear()
    code._new.clear()


SAID = "def f(x):\n    return x + 1\n"


@pytest.mark.parametrize(
    "same",
    [
        SAID + "# a comment\n",
        '"""Words."""\n\n\n' + SAID,
        'def f(x):\n    """Words."""\n    return (x  # one more\n        + 1)\n',
    ],
)
def test_comments_docstrings_and_layout_leave_the_digest_as_it_is(module, same):
    assert module(same) == module(SAID)


@pytest.mark.parametrize(
    "other", [SAID.replace("1", "1.0"), SAID.replace("x", "y"), SAID + "f(2)\n"]
)
def test_whatever_the_code_says_is_in_its_digest(module, other):
    assert module(other) != module(SAID)


def test_a_digest_depends_on_every_module_behind_the_functions(monkeypatch):
    before = code.code_digest(TABLE, DENSITIES)
    told = code._digests
    for name in code_inputs(TABLE, DENSITIES):
        changed = lambda path, name=name: ("", "") if path == name else told(path)  # noqa: E731
        with monkeypatch.context() as patch:
            patch.setattr(code, "_digests", changed)
            assert code.code_digest(TABLE, DENSITIES) != before


def test_digests_are_remembered_by_content(module, tmp_path):
    first = module(SAID)
    code.remember_digests()
    code._known.cache_clear()
    assert hashlib.sha256(SAID.encode()).hexdigest() in code._known()
    assert module(SAID) == first
    (tmp_path / "digests.json").write_text("{broken", encoding="utf-8")
    code._known.cache_clear()
    assert module(SAID) == first


def test_paths_are_relative_sorted_and_exist():
    found = code_inputs(TABLE, DENSITIES)
    assert found == sorted(found)
    assert all((ROOT / name).is_file() and not Path(name).is_absolute() for name in found)


def test_an_unknown_module_is_refused(names):
    with pytest.raises(ValueError, match=r"no module dpnoise_papers\.nothing"):
        names("dpnoise_papers.nothing.at_all")
