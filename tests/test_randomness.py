"""No code draws random numbers but from `dpnoise_papers.seeds` or a seed in plain sight.

Where `random`, `secrets`, `uuid` and `os.urandom` may be used, and `default_rng` outside tests, is
said in pyproject.toml (ruff's banned-api); ruff refuses NumPy's global generator, too. Here: tests
and benchmarks name their seed, and whatever of SciPy, of scikit-learn and of noise draws is given
a random state, unless its settings are known not to draw.
"""

import ast
import importlib
import re
from functools import cache
from inspect import signature

from document_pages import PAGES, ROOT

FILES = sorted(
    path
    for room in ("src", "workflow", "tests", "benchmarks", "docs")
    for path in (ROOT / room).rglob("*.py")
)
MAY_DRAW = re.compile(r"default_rng|rvs|scipy|sklearn")  # else nothing is found
FALLBACK = "src/dpnoise/learn/safeguards.py"  # a generator that is never used
RANDOM = {"random_state", "rng", "seed", "v0"}  # what SciPy and scikit-learn call it
QUIET = {"Lasso", "LogisticRegression", "Ridge"}  # these draw only with the settings in LOUD
LOUD = {"sag", "saga", "liblinear", "random", "lobpcg", "randomized"}


def aliases(nodes):
    """Full names of what a file imports, by the name it has there."""
    names = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {a.asname or a.name.split(".")[0]: a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    return names


@cache
def random_parameters(name):
    """Names of the random states that a function of SciPy or scikit-learn takes."""
    module, _, function = name.rpartition(".")
    if module.split(".")[0] not in {"scipy", "sklearn"}:
        return set()
    try:
        found = getattr(importlib.import_module(module), function)
        return RANDOM & set(signature(found).parameters)
    except (ImportError, AttributeError, TypeError, ValueError):
        return set()


def is_unseeded(call, names):
    """Whether a call draws, or may draw, from a generator that it was not given."""
    first, _, rest = ast.unparse(call.func).partition(".")
    name = f"{names.get(first, first)}.{rest}".strip(".")
    values = {k.arg: getattr(k.value, "value", 0) for k in call.keywords}  # 0 if no literal
    if name == "numpy.random.default_rng":
        return not call.args or getattr(call.args[0], "value", 0) is None
    if getattr(call.func, "attr", None) == "rvs":
        nothing = len(call.args) == 1 and getattr(call.args[0], "value", None) == 0
        second = len(call.args) > 1 and not name.startswith("scipy.")
        return values.get("random_state") is None and not nothing and not second
    known = random_parameters(name)
    given = any(values.get(word) is not None for word in known)
    draws = name.split(".")[-1] not in QUIET or LOUD & set(map(str, values.values()))
    return bool(known and not given and draws)


def complaints(source):
    """Every call in a source that may draw without a seed."""
    nodes = list(ast.walk(ast.parse(source)))
    names = aliases(nodes)
    calls = [node for node in nodes if isinstance(node, ast.Call) and is_unseeded(node, names)]
    return [f"line {node.lineno}: {ast.unparse(node)[:60]}" for node in calls]


def test_every_draw_has_a_seed():
    texts = {path: path.read_text(encoding="utf-8") for path in FILES}
    found = {path: complaints(text) for path, text in texts.items() if MAY_DRAW.search(text)}
    assert len(found.pop(ROOT / FALLBACK)) == 1
    assert {path: said for path, said in found.items() if said} == {}


PRIVATE = sorted((ROOT / "src" / "dpnoise" / "learn").glob("*.py"))


def test_no_example_seeds_a_private_release():
    """Readers copy examples; `audit` runs mechanisms on data that need no protection."""
    lines = [
        (path.name, x.lstrip()) for path in PAGES + PRIVATE for x in path.read_text().splitlines()
    ]
    shown = [line for line in lines if line[1].startswith((">>>", "..."))]
    assert [x for x in shown if "random_state=" in x[1] and "audit(" not in x[1]] == []
    assert len({page for page, _ in shown}) > 20


UNSEEDED = [
    "import numpy as np\nr = np.random.default_rng()",
    "from numpy.random import default_rng\nr = default_rng(None)",
    "noise.rvs(10)",
    "noise.rvs(10, random_state=None)",
    "from scipy import stats\nstats.norm.rvs(0.0, 1.0, 10)",
    "from scipy import stats\nstats.bootstrap((x,), f)",
    "from scipy.optimize import dual_annealing\ndual_annealing(f, b)",
    "from scipy.sparse import linalg\nlinalg.eigsh(A, 2)",
    "from sklearn.linear_model import LogisticRegression as L\nL(solver='saga')",
    "from sklearn.model_selection import train_test_split\ntrain_test_split(X, random_state=None)",
]
SEEDED = [
    "import numpy as np\nr = np.random.default_rng(3)",
    "noise.rvs(10, 3)",
    "noise.rvs(0)",
    "from scipy import stats\nstats.norm.rvs(size=3, random_state=r)",
    "from sklearn.linear_model import LogisticRegression as L\nL(solver='saga', random_state=1)",
    "from sklearn.linear_model import LogisticRegression as L\nL(solver='newton-cholesky')",
    "from scipy import optimize\noptimize.brentq(f, 0, 1)",
]


def test_unseeded_draws_are_found_and_seeded_ones_pass():
    assert [source for source in UNSEEDED if not complaints(source)] == []
    assert all(MAY_DRAW.search(source) for source in UNSEEDED)
    assert [source for source in SEEDED if complaints(source)] == []
