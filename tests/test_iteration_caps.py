"""No iteration cap is silent: each raises, or leaves a result that errs on the private side.

The caps are found in the source: loops over a constant range, `while` loops and calls of iterative
solvers. Each has to be listed, with what exercises it or what bounds its error. A new loop goes to
`CAPS` (with a check that runs into it) or `FIXED`, both in caps_listed.py, or to `ENDS` in
caps_ends.py (with the reason).
"""

import ast
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import dpnoise
import dpnoise_papers
from caps_ends import ENDS, SEVERAL
from caps_listed import CAPS, FIXED
from dpnoise.noise import (
    OffsetSymmetricGaussian,
    Subbotin,
)

PACKAGES = Path(dpnoise.__file__).parent, Path(dpnoise_papers.__file__).parent
_SOLVERS = {
    "brentq", "minimize", "minimize_scalar", "linprog", "milp", "quad", "root_scalar", "fsolve",
    "least_squares", "newton", "bisect", "curve_fit", "LogisticRegression", "Lasso",
}  # fmt: skip


def constant(node):
    """Whether an expression is made of literals and constants of the module."""
    parts = list(ast.walk(node))
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    kinds = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop)
    known = all(isinstance(part, (*kinds, ast.expr_context)) for part in parts)
    return known and all(name.lstrip("_").isupper() for name in names)


def loops(tree):
    """Yield the place and the kind of each loop that a constant ends, or nothing but a test."""

    def visit(node, place):
        for child in ast.iter_child_nodes(node):
            named = isinstance(child, ast.FunctionDef | ast.ClassDef)
            inner = (*place, child.name) if named else place
            if isinstance(child, ast.While):
                yield ".".join(inner), "while"
            elif isinstance(child, ast.For) and isinstance(child.iter, ast.Call):
                name = ast.unparse(child.iter.func)
                if name == "range" and all(map(constant, child.iter.args)):
                    yield ".".join(inner), ast.unparse(child.iter)
                elif name.endswith("count"):
                    yield ".".join(inner), "count"
            if isinstance(child, ast.Call):
                name = ast.unparse(child.func).rsplit(".", maxsplit=1)[-1]
                if name in _SOLVERS and inner:
                    yield ".".join(inner), name
            yield from visit(child, inner)

    yield from visit(tree, ())


def found():
    """Return each place with its number of loops of that kind."""
    places = Counter()
    for file in (file for package in PACKAGES for file in sorted(package.rglob("*.py"))):
        package = next(package for package in PACKAGES if package in file.parents)
        module = ".".join(file.relative_to(package.parent).with_suffix("").parts)
        places.update((module, *loop) for loop in loops(ast.parse(file.read_text("utf-8"))))
    return {" ".join(place): number for place, number in places.items()}


def test_every_cap_is_listed():
    places = found()
    listed, present = {*CAPS, *FIXED, *ENDS}, set(places)
    assert present - listed == set(), "caps that are not listed"
    assert listed - present == set(), "caps that the source does not have"
    assert {place: n for place, n in places.items() if n > 1} == SEVERAL, "a new loop beside one"


def test_the_search_for_caps_finds_them():
    tree = ast.parse(
        "def f(n):\n for _ in range(_MOST):\n  break\n for _ in range(n): pass\n"
        " for k in range(2 * 30, 1, -1): pass\n while n: pass\n return optimize.brentq(f, 0, 1)"
    )
    kinds = [kind for _, kind in loops(tree)]
    assert kinds == ["range(_MOST)", "range(2 * 30, 1, -1)", "while", "brentq"]


class Cap:
    """A number of steps that counts how often it was asked for."""

    def __init__(self, steps):
        self.steps, self.asked = steps, 0

    def __index__(self):
        self.asked += 1
        return self.steps


@pytest.mark.parametrize("place", CAPS)
def test_a_cap_that_is_reached_is_not_silent(place, monkeypatch):
    module, _, kind = place.split(" ", maxsplit=2)
    module = import_module(module)
    values, check = CAPS[place]
    name = kind.removeprefix("range(").removesuffix(")")
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
