"""What the checks of a paper's theory share: random parameters, quadrature, verdicts.

A check draws its trials, compares two sides that were computed in different ways and
returns how far each trial is from violating the statement. Integrals are Gauss-Legendre
sums over stretches between the kinks of the integrand, for all trials at once.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict

from dpnoise_papers.seeds import generator
from dpnoise_papers.strict_yaml import read_typed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path
    from types import ModuleType

    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpnoise._types import Array

    Real = NDArray[np.floating[Any]] | float

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
# A Gaussian tail is followed for so many scales, to a density of exp(-72) of its start.
REACH = 12.0
MINIMUM_TRIALS = 20  # of the slow checks, which run a part of the trials


class Outcome(NamedTuple):
    """The n trials of one check.

    `margin`, shape (n,), is for 'left <= right' the slack right - left in a unit that suits it, for
    an identity minus the error; `tolerance` how negative a margin rounding and quadrature can
    explain; `parameters`, each of shape (n,), are what was drawn.
    """

    margin: Array
    tolerance: float
    parameters: Mapping[str, NDArray[Any]]


class Check(NamedTuple):
    """One statement, where it stands, what its proof is worth and how it is tested.

    `run` takes a generator and the number of trials and returns an Outcome. `share` is the part of
    the trials that a slow check makes do with; `cases`, if not 0, is how many cases there are in
    all, where they are gone through and not drawn.
    """

    id: str
    where: str
    statement: str
    proof: str
    run: Callable[..., Any]
    share: float = 1.0
    cases: int = 0


class _Statement(BaseModel):
    """Entry of a table of statements: a check whose function, 'module.name', has its keywords."""

    model_config = ConfigDict(extra="forbid", strict=True)

    where: str
    statement: str
    check: str
    proof: str = ""
    told: dict[str, Any] = {}
    share: float = 1.0
    cases: int = 0


def read_checks(path: Path, modules: Iterable[ModuleType]) -> tuple[Check, ...]:
    """Checks of a table of statements by their ids, such as theory/statements.yaml.

    The functions that it names are in the modules.
    """
    known = {module.__name__.rpartition(".")[2]: module for module in modules}
    found = []
    for name, one in read_typed(path, dict[str, _Statement]).items():
        module, _, function = one.check.partition(".")
        run = getattr(known[module], function)
        run = partial(run, **one.told) if one.told else run
        found.append(Check(name, one.where, one.statement, one.proof, run, one.share, one.cases))
    return tuple(found)


def run_checks(checks: Iterable[Check], seed: int, scope: str, trials: int) -> pd.DataFrame:
    """One row per check, each on its own random stream, whose scope is `scope` and the check's id.

    Columns id, where, statement, trials, violations, worst (the smallest slack beyond what rounding
    explains, in the unit of the check: negative if and only if there is a violation), tolerance,
    parameters (of the worst trial), ranges (of all that were drawn), drawn_by (the function that
    drew them), trials_are ('random trials', or 'cases' where none was drawn) and status_of_proof.
    `trials` are random parameters per statement; a check with a share below 1 makes do with that
    part, one with cases has these.
    """
    rows = []
    for check in checks:
        count = check.cases or max(MINIMUM_TRIALS, round(check.share * trials))
        outcome = check.run(generator(seed, scope, check.id), count)
        # A trial without a value does not speak for the statement.
        margin = np.where(np.isnan(outcome.margin), -np.inf, outcome.margin) + outcome.tolerance
        worst = int(np.argmin(margin))
        drawn = (f"{name}={values[worst]:.6g}" for name, values in outcome.parameters.items())
        ranges = (
            f"{name} from {np.min(values):.3g} to {np.max(values):.3g}"
            for name, values in outcome.parameters.items()
        )
        rows.append(
            {
                "id": check.id,
                "where": check.where,
                "statement": check.statement,
                "trials": len(margin),
                "violations": int(np.sum(margin < 0)),
                "worst": float(f"{margin[worst]:.3g}"),
                "tolerance": outcome.tolerance,
                "parameters": ", ".join(drawn),
                "ranges": ", ".join(ranges),
                "drawn_by": full_name(check.run),
                "trials_are": "cases" if check.cases else "random trials",
                "status_of_proof": check.proof,
            }
        )
    return pd.DataFrame(rows)


def full_name(function: Callable[..., Any]) -> str:
    """Full name of a function, also of one with arguments filled in."""
    whole = function.func if isinstance(function, partial) else function
    return f"{whole.__module__}.{whole.__qualname__}"


def log_uniform(
    rng: Generator, low: float, high: float, size: int | tuple[int, ...] | None = None
) -> Array:
    """Random numbers from low to high, uniform in log scale."""
    return np.exp(rng.uniform(np.log(low), np.log(high), size))


def at_most(left: Real, right: Real, unit: Real = 1.0) -> Array:
    """Slack of left <= right in a unit."""
    return np.asarray((right - left) / unit)


def equal(left: Real, right: Real, unit: Real = 1.0) -> Array:
    """Minus the error of left = right in a unit."""
    return np.asarray(-np.abs(left - right) / unit)


def column(x: Array) -> Array:
    """Array over trials in a shape that broadcasts with nodes, (trials, 1, 1)."""
    return np.asarray(x)[:, None, None]


def integrate(function: Callable[[Array], Array], edges: Array, parts: int = 4) -> Array:
    """Integrals of a function that is smooth between edges, one per trial.

    `function` takes and returns an array of shape (trials, stretches, nodes). `edges`, of shape
    (trials, m), stand in any order; the smallest and the largest are the ends. Each interval
    between edges is cut into `parts` stretches.
    """
    edges = np.sort(edges, axis=1)
    steps = np.diff(edges, axis=1)[:, :, None] * (np.arange(parts) / parts)
    starts = (edges[:, :-1, None] + steps).reshape(len(edges), -1)
    halves = np.repeat(np.diff(edges, axis=1) / (2 * parts), parts, axis=1)
    t = (starts + halves)[:, :, None] + halves[:, :, None] * _NODES
    return np.einsum("ijk,ij,k->i", function(t), halves, _WEIGHTS)
