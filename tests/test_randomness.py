"""No code draws random numbers but from `dpnoise_papers.seeds` or a seed in plain sight.

Read from the syntax of every Python file. In the package and the workflow a generator is made by
`dpnoise_papers.seeds.generator`; the few functions whose `random_state` a user may leave out are
listed.
Tests and benchmarks name their seed. Whatever SciPy and scikit-learn offer with a random state
must be given one, unless its settings are known not to draw.
"""

import ast
import importlib
import inspect
import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

from document_pages import PAGES

ROOT = Path(__file__).parents[1]
STRICT = ("src", "workflow")
FILES = sorted(
    path.relative_to(ROOT).as_posix()
    for room in (*STRICT, "tests", "benchmarks", "docs")
    for path in (ROOT / room).rglob("*.py")
)
# Where `default_rng(random_state)` may meet None, which is entropy of the operating system.
ENTROPY = {
    "src/dpnoise/_validation.py": "draws",
    "src/dpnoise/learn/safeguards.py": "noise_generator",
}
SYSTEM = "src/dpnoise/noise/exact.py", "Entropy"  # of releases: the operating system alone
SEEDS = "src/dpnoise_papers/seeds.py"
TYPES = {"Generator", "SeedSequence", "default_rng"}
SOURCES = {"random", "secrets", "uuid", "numpy.random"}  # modules that draw
MAY_DRAW = re.compile(r"random|secrets|uuid|rvs|scipy|sklearn|given\(")  # else nothing is found
RANDOM = {"random_state", "rng", "seed", "v0"}  # what SciPy and scikit-learn call it
# These draw only with the settings in LOUD.
QUIET = {"Lasso", "LogisticRegression", "Ridge"}
LOUD = {"sag", "saga", "liblinear", "random", "lobpcg", "randomized"}


def aliases(nodes):
    """Full names of what a file imports, by the name it has there."""
    names = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for name in node.names:
                top = name.name.split(".")[0]
                names[name.asname or top] = name.name if name.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    return names


def dotted(node, names):
    """Full name of an expression such as np.random.default_rng, or ''."""
    if isinstance(node, ast.Name):
        return names.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value, names)}.{node.attr}"
    return ""


def given(call, name):
    """Whether a keyword is passed as something other than None."""
    return any(
        k.arg == name and not (isinstance(k.value, ast.Constant) and k.value.value is None)
        for k in call.keywords
    )


@cache
def parameters(name):
    """Names of the parameters of a function of SciPy or scikit-learn, {} for anything else."""
    if name.split(".")[0] not in {"scipy", "sklearn"}:
        return {}
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part, None)
        try:
            return dict(inspect.signature(found).parameters)
        except (TypeError, ValueError):
            return {}
    return {}


def stochastic(call, name):
    """Whether a call of SciPy or scikit-learn could draw from a generator that was not passed."""
    known = RANDOM & set(parameters(name))
    if not known or any(given(call, word) for word in known):
        return False
    loud = any(getattr(k.value, "value", None) in LOUD for k in call.keywords)
    return loud or name.split(".")[-1] not in QUIET


def imported(node, _):
    """What an import statement brings that draws."""
    if isinstance(node, ast.Import):
        return [f"import {a.name}" for a in node.names if a.name in SOURCES]
    if isinstance(node, ast.ImportFrom) and node.module in SOURCES:
        found = [a.name for a in node.names]
        return [n for n in found if node.module != "numpy.random" or n not in TYPES]
    return []


def named(node, context):
    """NumPy's global generator, its old classes, and entropy of the operating system."""
    name = dotted(node, context.names)
    allowed = TYPES if context.strict else TYPES | {"get_state"}
    old = name.startswith("numpy.random.") and name.split(".")[2] not in allowed
    system = name in {"os.urandom", "os.getrandom"} and id(node) not in context.system
    return [name] if old or system else []


def hypothetical(node, _):
    """Tests of hypothesis whose examples would differ from run to run."""
    marks = [ast.unparse(mark) for mark in node.decorator_list]
    drawn = any(mark.startswith("given(") for mark in marks)
    fixed = any("derandomize=True" in mark for mark in marks)
    return [f"@given on {node.name} without derandomize=True"] if drawn and not fixed else []


def called(node, context):
    """Calls that make a generator, or draw without one."""
    name = dotted(node.func, context.names)
    if name == "numpy.random.default_rng":
        seeded = bool(node.args) and getattr(node.args[0], "value", 0) is not None
        bad = id(node) not in context.listed if context.strict else not seeded
    elif getattr(node.func, "attr", None) == "rvs":
        nothing = len(node.args) == 1 and getattr(node.args[0], "value", None) == 0
        second = len(node.args) > 1 and not name.startswith("scipy.")
        bad = not (given(node, "random_state") or nothing or second)
    else:
        bad = stochastic(node, name)
    return [f"line {node.lineno}: {ast.unparse(node)[:60]}"] if bad else []


def complaints(source, path):
    """Everything in a file that draws, or may draw, random numbers without a seed."""
    nodes = list(ast.walk(ast.parse(source)))
    functions = [n for n in nodes if isinstance(n, ast.FunctionDef)]
    free = [f for f in functions if f.name == ENTROPY.get(path)]
    listed = {id(node) for f in (functions if path == SEEDS else free) for node in ast.walk(f)}
    strict = path.split("/")[0] in STRICT
    bits = [n for n in nodes if isinstance(n, ast.ClassDef) and (path, n.name) == SYSTEM]
    system = {id(node) for one in bits for node in ast.walk(one)}
    context = SimpleNamespace(names=aliases(nodes), strict=strict, listed=listed, system=system)
    rules = {
        ast.Import: imported,
        ast.ImportFrom: imported,
        ast.Attribute: named,
        ast.FunctionDef: hypothetical,
        ast.Call: called,
    }
    checked = [node for node in nodes if type(node) in rules]
    return [c for node in checked for c in rules[type(node)](node, context)]


def test_every_draw_has_a_seed():
    texts = {path: (ROOT / path).read_text() for path in FILES}
    found = {path: complaints(text, path) for path, text in texts.items() if MAY_DRAW.search(text)}
    assert {path: said for path, said in found.items() if said} == {}


def test_listed_exceptions_exist_and_say_what_happens_without_a_seed():
    for path, function in ENTROPY.items():
        tree = ast.parse((ROOT / path).read_text())
        [found] = [n for n in ast.walk(tree) if getattr(n, "name", None) == function]
        assert "default_rng(" in ast.unparse(found)


PRIVATE = sorted((ROOT / "src" / "dpnoise" / "learn").glob("*.py"))


def test_no_example_seeds_a_private_release():
    """Readers copy examples; `audit` runs mechanisms on data that need no protection."""
    lines = [
        (path.name, x.lstrip()) for path in PAGES + PRIVATE for x in path.read_text().splitlines()
    ]
    shown = [line for line in lines if line[1].startswith((">>>", "..."))]
    assert [x for x in shown if "random_state=" in x[1] and "audit(" not in x[1]] == []
    assert len({page for page, _ in shown}) > 20


ALWAYS = [
    "import random",
    "from random import shuffle",
    "import secrets",
    "import numpy as np\nnp.random.seed(0)",
    "import numpy as np\nx = np.random.normal(size=3)",
    "import numpy as np\nr = np.random.RandomState(1)",
    "from numpy.random import rand",
    "import numpy as np\nr = np.random.default_rng()",
    "import numpy as np\nr = np.random.default_rng(None)",
    "from numpy.random import default_rng\nr = default_rng()",
    "import os\nos.urandom(8)",
    "noise.rvs(10)",
    "noise.rvs(10, random_state=None)",
    "from scipy import stats\nstats.norm.rvs(0.0, 1.0, 10)",
    "from scipy import stats\nstats.bootstrap((x,), f)",
    "from scipy import optimize\noptimize.differential_evolution(f, b)",
    "from scipy.optimize import dual_annealing\ndual_annealing(f, b)",
    "from scipy.sparse import linalg\nlinalg.eigsh(A, 2)",
    "from sklearn.linear_model import LogisticRegression as L\nL(solver='saga')",
    "from sklearn.linear_model import Lasso\nLasso(selection='random')",
    "from sklearn.cluster import KMeans\nKMeans(3)",
    "from sklearn.model_selection import train_test_split\ntrain_test_split(X, random_state=None)",
    "@given(x)\ndef test(x): ...",
]
SEEDED = [
    "import numpy as np\nr = np.random.default_rng(3)",
    "import numpy as np\nx: np.random.Generator",
    "noise.rvs(10, 3)",
    "from scipy import stats\nstats.norm.rvs(size=3, random_state=r)",
    "from sklearn.linear_model import LogisticRegression as L\nL(solver='saga', random_state=1)",
    "from sklearn.linear_model import LogisticRegression as L\nL(solver='newton-cholesky')",
    "from scipy import optimize\noptimize.brentq(f, 0, 1)",
    "@given(x)\n@settings(derandomize=True)\ndef test(x): ...",
]


@pytest.mark.parametrize("path", ["src/dpnoise/x.py", "tests/test_x.py"])
def test_unseeded_draws_are_found(path):
    assert [source for source in ALWAYS if not complaints(source, path)] == []
    assert all(MAY_DRAW.search(source) for source in ALWAYS)


def test_seeded_draws_pass():
    assert [source for source in SEEDED if complaints(source, "tests/test_x.py")] == []


@pytest.mark.parametrize("path", ["src/dpnoise/x.py", "workflow/scripts/x.py"])
def test_the_package_makes_generators_in_one_place(path):
    assert complaints("import numpy as np\nr = np.random.default_rng(3)", path)
    assert not complaints("from dpnoise_papers.seeds import generator\nr = generator(3, 'x')", path)
