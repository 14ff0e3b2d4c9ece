"""Private sums and means of bounded values, summed exactly.

Each value is clamped to the bounds and rounded to a multiple of a record unit, which depends on
the bounds alone. Multiples are integers: their sum has no rounding, whatever the order, and changes
by exactly the differences of the rounded bounds.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise._validation import Problems
from dpnoise.noise.exact import as_double_above
from dpnoise.releases.answers import Entry, Released, Request
from dpnoise.releases.counting import smallest
from dpnoise.releases.grid import power_below, read_grid
from dpnoise.sensitivity.balls import LInf
from dpnoise.sensitivity.relation import REPLACE_ONE

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array

_FINENESS = 2.0**-30  # of the record unit, over the distance of the bounds
_PRECISION = 2.0**-52  # over the larger bound
_FAMILIES = ("gaussian", "truncated-laplace", "flipped-huber")


def total(
    values: ArrayLike,
    bounds: tuple[float, float],
    request: Request,
    *,
    mean: bool,
) -> Released:
    """The private sum, or mean."""
    problems = Problems("release.mean" if mean else "release.sum")
    request.check(problems)
    low, high = read_bounds(problems, bounds)
    array = read_data(problems, values)
    if mean:
        problems.require(array.size > 0, "values", "at least one", values)
    problems.raise_if_any()
    if mean:
        expected = f"{REPLACE_ONE!r} (else the number of values is private: release sum and count)"
        problems.require(request.relation == REPLACE_ONE, "relation", expected, request.relation)
        problems.raise_if_any()
    unit = max(power_below(high - low) * _FINENESS, power_below(max(-low, high)) * _PRECISION)
    ends = [int(np.rint(end / unit)) for end in (low, high)]
    steps = np.rint(np.clip(array, low, high) / unit)
    exact = Fraction(_exact_sum(steps)) * Fraction(unit)
    change = ends[1] - ends[0] if request.relation == REPLACE_ONE else max(map(abs, ends))
    size = Fraction(change) * Fraction(unit)
    if mean:
        exact, size = exact / array.size, size / array.size
    return _released(exact, as_double_above(size), request)


def read_bounds(problems: Problems, bounds: Any) -> tuple[float, float]:  # noqa: ANN401
    """Two public bounds, the lower one first."""
    pair = isinstance(bounds, tuple | list) and len(bounds) == 2
    good = problems.require(pair, "bounds", "two numbers", bounds)
    found = [
        good and problems.number(f"bounds[{k}]", bounds[k], low=-1e100, high=1e100) for k in (0, 1)
    ]
    if not all(found):
        return 0.0, 1.0
    low, high = float(bounds[0]), float(bounds[1])
    wide = high - low >= 1e-100
    problems.require(wide, "bounds", "the lower one first, at least 1e-100 apart", bounds)
    return low, high


def read_data(problems: Problems, values: ArrayLike) -> Array:
    """Numbers, of which none is missing."""
    if not problems.unmasked("values", values):
        return np.zeros(1)
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        array = np.array(math.nan)
    flat = array.ndim == 1
    problems.require(flat, "values", "an array of numbers with one axis", array.shape)
    some = not bool(np.isnan(array).any())
    problems.require(some, "values", "no missing values (remove or replace them)", "NaN")
    return array


def _exact_sum(steps: Array) -> int:
    """The sum of integers up to 2^54 that are held as doubles, without rounding."""
    upper = np.floor(steps / 2.0**27)
    lower = steps - upper * 2.0**27
    return int(upper.astype(np.int64).sum()) * 2**27 + int(lower.astype(np.int64).sum())


def _released(
    exact: Fraction,
    sensitivity: float,
    request: Request,
) -> Released:
    """An exact rational number with continuous noise."""
    from dpnoise.releases.continuous import multiple  # noqa: PLC0415 - brings flint
    from dpnoise.releases.refining import Uniform  # noqa: PLC0415

    delta, entropy = request.delta, request.entropy
    asked = [("staircase", 0.0), *((family, delta) for family in _FAMILIES if delta > 0.0)]
    noise = smallest(asked, request.epsilon, sensitivity, 1)
    problems = Problems("release")
    step = float(read_grid(problems, np.array([noise.mean_abs()]), None)[0])
    problems.raise_if_any()
    entry = Entry(noise, sensitivity, relation=request.relation)
    request.charge(entry)
    number = multiple(
        exact,
        Fraction(step),
        noise,
        scale=Fraction(1),
        sign=1 - 2 * int(entropy.integers(0, 2)),
        uniform=Uniform(int(entropy.words(1)[0]), entropy),
    )
    value = float(number * Fraction(step))
    half = (float(noise.isf(0.025)) + step) * (1.0 + 2.0**-40)
    half += 2.0 * math.ulp(abs(value) + half)  # of the value and the ends as doubles
    promise = request.promise(LInf(sensitivity).words)
    return Released(value, noise, (value - half, value + half), entry, promise)
