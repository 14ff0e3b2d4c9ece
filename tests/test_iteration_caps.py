"""No iteration cap is silent: each raises, or leaves a result that errs on the private side.

Loops over a constant range, `while` loops and calls of solvers that do not raise are found in the
source: the comment above each says `# ends: ` and why, or what bounds its error. Where a
computation may reach a cap, `CAPS` in caps_listed.py has a check that runs into it.
"""

import ast
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import dpnoise
import dpnoise_papers
from caps_listed import CAPS
from dpnoise.noise import (
    OffsetSymmetricGaussian,
    Subbotin,
)

PACKAGES = Path(dpnoise.__file__).parent, Path(dpnoise_papers.__file__).parent
_SOLVERS = {
    "minimize", "minimize_scalar", "linprog", "milp", "quad", "fsolve", "least_squares",
    "curve_fit", "LogisticRegression", "Lasso",
}  # fmt: skip
MAY_RUN_ON = re.compile("|".join([r"\bwhile\b", r"count\(", r"\brange\(", *_SOLVERS]))


def constant(node):
    """Whether an expression is made of literals and constants of the module."""
    parts = list(ast.walk(node))
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    kinds = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop)
    known = all(isinstance(part, (*kinds, ast.expr_context)) for part in parts)
    return known and all(name.lstrip("_").isupper() for name in names)


def unexplained(text):
    """Lines of loops and solvers that could run on, without `# ends: ...` in the comment above."""
    lines, found = text.splitlines(), []
    if not MAY_RUN_ON.search(text):
        return found

    def visit(node, line):
        for child in ast.iter_child_nodes(node):
            own = child.lineno if isinstance(child, ast.stmt) else line
            capped = isinstance(child, ast.While)
            if isinstance(child, ast.For) and isinstance(child.iter, ast.Call):
                name, given = ast.unparse(child.iter.func), child.iter.args
                capped = name.endswith("count") or (name == "range" and all(map(constant, given)))
            elif isinstance(child, ast.Call):
                capped = ast.unparse(child.func).rsplit(".", maxsplit=1)[-1] in _SOLVERS
            if capped:
                above = line_of_comment = own - 1
                while above and lines[above - 1].lstrip().startswith("#"):
                    above -= 1
                if not any("# ends: " in each for each in lines[above:line_of_comment]):
                    found.append(own)
            visit(child, own)

    visit(ast.parse(text), 0)
    return found


def test_every_loop_that_could_run_on_says_how_it_ends():
    offenders = [
        f"{file.relative_to(package)}:{line}"
        for package in PACKAGES
        for file in sorted(package.rglob("*.py"))
        for line in unexplained(file.read_text("utf-8"))
    ]
    assert offenders == []


def test_the_search_for_loops_finds_them():
    text = (
        "def f(n):\n for _ in range(_MOST):\n  break\n for _ in range(n): pass\n"
        " for k in range(2 * 30, 1, -1): pass\n while n: pass\n # ends: n falls\n while n: pass\n"
        " return optimize.minimize(f, 0)"
    )
    assert unexplained(text) == [2, 5, 6, 9]


class Cap:
    """A number of steps that counts how often it was asked for."""

    def __init__(self, steps):
        self.steps, self.asked = steps, 0

    def __index__(self):
        self.asked += 1
        return self.steps


@pytest.mark.parametrize(("module", "name", "values", "check"), CAPS)
def test_a_cap_that_is_reached_is_not_silent(module, name, values, check, monkeypatch):
    module = import_module(module)
    assert isinstance(getattr(module, name), int)
    for value in values:
        cap = Cap(value)
        monkeypatch.setattr(module, name, cap)
        check()
        assert cap.asked > 0  # the loop was reached


@pytest.mark.parametrize(
    "noise",
    [Subbotin(p, 1.0) for p in (1.0001, 1.01, 3.0, 294.0, 1000.0)]
    + [OffsetSymmetricGaussian(t, 1.0) for t in (0.0, 1e-9, 0.3, 5.0, 1e3, 1e100)],
    ids=repr,
)
def test_fixed_steps_of_quantiles_are_enough(noise):
    """From the centre to tails of 1e-300: log P(|T| > x) is the level that was asked for."""
    tail = np.concatenate(
        [10.0 ** -np.linspace(0.31, 300, 200), 0.5 - 10.0 ** -np.linspace(1, 9, 60)]
    )
    x = noise.isf(tail)
    log_tail = noise.logsf(x)
    # By a unit in the last place of x the logarithm moves by x g(x) / P(T > x) units.
    steep = x * np.exp(noise.logpdf(x) - log_tail)
    slack = 1e-13 * np.maximum(1.0, np.abs(log_tail)) + 2.0**-49 * steep
    assert np.all(np.abs(log_tail - np.log(tail)) <= slack)
