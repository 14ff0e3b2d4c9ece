"""The import closure is what Python really loads, every rule uses it, and rooms stay in order."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dpnoise_papers import closure as module
from dpnoise_papers.closure import closure

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "dpnoise"
SCRIPTS = sorted((ROOT / "workflow" / "scripts").glob("*.py"))
RULES = sorted((ROOT / "workflow" / "rules").glob("*.smk"))

# A room may import only rooms of a lower floor. Modules that lie in no room are the ground.
FLOORS = {
    "noise": 1,
    "privacy": 2,
    "calibration": 3,
    "allocation": 4,
    "learn": 5,
    "data": 5,
    "denoise": 5,
    "experiments": 6,
    "claims": 7,
    "figures": 8,
    "cli": 9,
}
NOT_FROM = {"claims": {"experiments"}, "figures": {"experiments"}}

# Executes the imports of each script, the package unloaded before each. What a package
# resolves on first use is loaded by then, as it is when the script runs.
ORACLE = """
import ast, json, sys
from pathlib import Path
loaded = {}
for script in sys.argv[1:]:
    for name in [n for n in sys.modules if n.split(".")[0] == "dpnoise"]:
        del sys.modules[name]
    body = [n for n in ast.parse(Path(script).read_text()).body
            if isinstance(n, (ast.Import, ast.ImportFrom))]
    exec(compile(ast.Module(body, []), script, "exec"), {})
    loaded[script] = sorted(str(Path(m.__file__).resolve()) for n, m in sys.modules.items()
                            if n.split(".")[0] == "dpnoise")
print(json.dumps(loaded))
"""


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.fixture(scope="module")
def really_loaded():
    """Return for each script the files of the package that a fresh interpreter loads."""
    command = [sys.executable, "-c", ORACLE, *map(str, SCRIPTS)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {Path(script): set(files) for script, files in json.loads(done.stdout).items()}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a function that writes a package of this name and makes it the one looked at."""
    folder = tmp_path / "toy"
    monkeypatch.setattr(module, "PACKAGE", folder)
    monkeypatch.chdir(tmp_path)

    def write(**files):
        for name, text in {"__init__": "", **files}.items():
            path = folder / f"{name.replace('__in__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return folder

    return write


def of(folder, text):
    """Return the closure of a script, as names of modules below the package."""
    script = folder.parent / "script.py"
    script.write_text(text, encoding="utf-8")
    module._imports.cache_clear()
    module._homes.cache_clear()
    return [path.removeprefix("toy/").removesuffix(".py") for path in closure(script)]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_every_file_that_a_script_loads_is_in_its_closure(script, really_loaded):
    found = {str(Path(path).resolve()) for path in closure(script)}
    assert really_loaded[script] - found == set()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_the_closure_is_not_larger_than_what_may_be_loaded(script, really_loaded):
    found = {str(Path(path).resolve()) for path in closure(script)}
    late = set()
    if str(PACKAGE / "allocation" / "scales.py") in found:  # its search is for few requests
        search = closure(PACKAGE / "allocation" / "exact_search.py")
        late = {str(Path(path).resolve()) for path in search}
    assert len(found - really_loaded[script] - late) <= 2  # imports inside functions
    rooms = {Path(path).relative_to(PACKAGE).parts[0] for path in found}
    assert not {"figures", "experiments"} <= rooms or script.stem in {
        "table_3",
        "table_3_replicates",
    }


def test_a_sweep_lists_the_kernel_and_no_figure():
    found = closure("workflow/scripts/table_3_sweep.py")
    assert "src/dpnoise/learn/kernel.py" in found
    assert not [path for path in found if "figures" in path or "claims" in path]


def test_modules_that_a_script_is_told_to_import_count_with_all_that_they_import():
    script = "workflow/scripts/item_table.py"
    told = closure(script, "dpnoise_papers.flipped_huber_2023.tables.densities:fisher_information")
    assert set(closure(script)) < set(told)
    assert "src/dpnoise/experiments/densities.py" in told
    assert "src/dpnoise/noise/laplace.py" in told


def test_the_result_is_sorted_relative_and_without_the_script(monkeypatch, tmp_path):
    script = SCRIPTS[0]
    found = closure(script)
    assert found == sorted(set(found))
    assert str(script) not in found
    assert all((ROOT / path).is_file() and not Path(path).is_absolute() for path in found)
    assert closure(script.relative_to(ROOT)) == found
    monkeypatch.chdir(tmp_path)
    assert closure(script) == [str(ROOT / path) for path in found]


def test_imports_are_followed_through_modules_packages_and_functions(package):
    folder = package(
        a="import toy.b\n",
        b="def late():\n    from toy.room import c\n",
        room__in____init__="",
        room__in__c="import os\n",
        room__in__unused="",
        unused="",
    )
    assert of(folder, "from toy import a\n") == ["__init__", "a", "b", "room/__init__", "room/c"]
    assert of(folder, "import toy.room.c as c\n") == ["__init__", "room/__init__", "room/c"]
    assert of(folder, "import numpy\nfrom os import path\nimport toyish\n") == []


def test_relative_imports_are_resolved_where_they_stand(package):
    folder = package(
        room__in____init__="from .c import x\n",
        room__in__c="from . import d\nfrom ..a import y\n",
        room__in__d="",
        a="from .room.e import z\n",
        room__in__e="",
    )
    every = ["__init__", "a", *(f"room/{name}" for name in ("__init__", "c", "d", "e"))]
    assert of(folder, "import toy.room\n") == every


def test_imports_for_type_checkers_are_left_out_and_their_else_is_not(package):
    folder = package(
        a="from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import toy.b\n",
        b="",
        c="import typing\nif typing.TYPE_CHECKING:\n    import toy.b\nelse:\n    import toy.d\n",
        d="",
    )
    assert of(folder, "import toy.a\n") == ["__init__", "a"]
    assert of(folder, "import toy.c\n") == ["__init__", "c", "d"]


def test_a_circle_of_imports_ends(package):
    folder = package(a="import toy.b\n", b="import toy.a\n")
    assert of(folder, "import toy.a\n") == ["__init__", "a", "b"]


def test_names_resolved_on_first_use_count_as_the_module_that_holds_them(package):
    folder = package(
        __init__='_HOME = {"Thing": "room", "other": "b"}\n',
        room__in____init__='_HOME: dict = {}\n_HOME = {"Deep": "c", "Thing": "d"}\n',
        room__in__c="",
        room__in__d="",
        b="",
    )
    assert of(folder, "from toy import Thing\n") == ["__init__", "room/__init__", "room/d"]
    assert of(folder, "from toy.room import Deep\n") == ["__init__", "room/__init__", "room/c"]
    assert of(folder, "from toy import other, unknown\n") == ["__init__", "b"]


def rules_with_scripts():
    """Return name, script and text of every rule that runs a script."""
    found = []
    for path in RULES:
        for block in re.split(r"^rule ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            script = re.search(r'^    script:\s*"\.\./scripts/([^"]+)"', block, re.MULTILINE)
            if script:
                found.append((block.split(":")[0], script[1], block))
    return found


def test_every_script_has_a_rule():
    assert {script.name for script in SCRIPTS} == {name for _, name, _ in rules_with_scripts()}


@pytest.mark.parametrize(("rule", "script", "text"), rules_with_scripts(), ids=lambda x: x[:30])
def test_every_rule_declares_the_closure_of_its_own_script(rule, script, text):
    code = re.search(r'code=(?:lambda w: )?closure\(\s*f"\{SCRIPTS\}/([^"]+)"', text)
    assert code, rule
    assert code[1] == script
    # A script that is told what to import: the rule must say the same to the closure.
    for kind in re.findall(r'(\w+)=lambda w: ITEMS\[w.item\]\["(?:experiment|figure)"\]', text):
        assert f'ITEMS[w.item]["{kind}"]' in re.search(r"code=.*\n", text)[0]


def imported_rooms(path):
    """Return the rooms that one file imports, for type checkers as well."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (name.split(".")[1] for name in names if name.startswith("dpnoise."))


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.stem)
def test_a_room_imports_only_rooms_below_it(path):
    room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if path.parent != PACKAGE:
        assert room in FLOORS, f"{room}: which floor is it on?"
    floor = FLOORS.get(room, 0)
    for other in imported_rooms(path):
        assert other == room or FLOORS.get(other, 0) < floor or floor == FLOORS.get(other, 0) == 0
        assert other not in NOT_FROM.get(room, ())


def test_experiments_neither_write_nor_draw():
    for path in (PACKAGE / "experiments").glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        text = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        text |= {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
        roots = {name.split(".")[0] for name in text}
        assert roots.isdisjoint({"matplotlib", "pathlib", "os", "io", "csv"})
        assert "tables" not in set(imported_rooms(path))
