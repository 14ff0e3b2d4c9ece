"""Values plus noise for any noise that has an exact sampler.

The noise is split into independent parts, each of which has an exact sampler. The grid of released
values is chosen from the noise alone: rounding value + noise to a grid that does not depend on the
data is post-processing. Grids are powers of two, so that every multiple of one within range is a
double.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import starmap
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from dpnoise._validation import Problems
from dpnoise.joint.base import VectorNoise
from dpnoise.joint.noise import NormStaircase, RadialNoise
from dpnoise.joint.vectors import CorrelatedGaussian, KNorm
from dpnoise.mechanisms.integers import RoundedNoise
from dpnoise.mechanisms.summed import SummedNoise
from dpnoise.noise.base import is_scalar
from dpnoise.sensitivity.contributions import power_below

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike

    from dpnoise._types import Array, IntArray
    from dpnoise.noise.exact import Entropy
    from dpnoise.noise.integers import IntegerNoise

_FINENESS = 2**10  # steps of the grid in the mean size of the noise
_FINEST = 2.0**-40  # of the mean size
_MOST_STEPS = 2.0**52  # of the grid in a value: half a step has a double
_SMALLEST, _LARGEST = 1e-290, 1e290  # mean sizes
_JOINT = (KNorm, RadialNoise, NormStaircase, CorrelatedGaussian)
_EXPECTED = (
    "noise with an exact sampler (the families of dpnoise.noise, lists of them, or the noise that "
    "best and calibrate_joint find)"
)


def noisy(values: ArrayLike, noise: object, grid: float | None, entropy: Entropy) -> Any:  # noqa: ANN401
    """Values plus noise, of the shape of the values; ValueError names every problem."""
    return prepared(Problems("release"), values, noise, grid)(entropy)


def prepared(
    problems: Problems, values: ArrayLike, noise: object, grid: float | None
) -> Callable[[Entropy], Any]:
    """The draw of values plus noise, which is checked now; ValueError names every problem."""
    rounds = isinstance(noise, RoundedNoise)
    noise = noise.real if isinstance(noise, RoundedNoise) else noise
    if isinstance(noise, SummedNoise):
        return _summed(problems, values, noise, grid, rounds=rounds)
    parts = _read_parts(problems, noise)
    integer = bool(parts) and all(part.noise.whole for part in parts)
    read = _read_integers if integer or rounds else read_values
    checked: Any = read(problems, values)
    shape, dimension = checked.shape, 1
    if _is_vector(noise):
        dimension = len(noise) if isinstance(noise, list | tuple) else noise.dimension  # type: ignore[attr-defined]
        good = bool(shape) and shape[-1] == dimension
        problems.require(good, "shape of values", f"a last axis of length {dimension}", shape)
    if integer:
        problems.require(grid is None, "grid", "none for noise on the integers", grid)
        problems.raise_if_any()
        rows = checked.reshape(-1, dimension)
        return lambda entropy: _with_integers(rows, parts, entropy).reshape(shape)[()]
    if rounds:
        problems.require(grid is None, "grid", "none for noise rounded to integers", grid)
        grid = 1.0
    mean_abs = np.zeros(dimension)
    for part in parts:
        mean_abs[part.indices] = part.mean_abs
    step = read_grid(problems, mean_abs, grid)
    if not problems.found:
        some = mean_abs > 0.0
        noised = checked.reshape(-1, dimension)[:, some]
        _check_range(problems, noised, np.broadcast_to(step[some], noised.shape))
    problems.raise_if_any()
    plain = checked.reshape(-1, dimension).astype(float)

    def drawn(entropy: Entropy) -> Any:  # noqa: ANN401
        found = _with_reals(plain, parts, step, entropy)
        return (found.astype(np.int64) if rounds else found).reshape(shape)[()]

    return drawn


def _summed_step(noise: SummedNoise) -> float:
    """A power of two, at most 1, that is small beside the noise of every answer, 1 for integers."""
    if noise.whole:
        return 1.0
    sizes = np.asarray(abs(noise.workload.questions).sum(axis=1)).ravel()
    return min(power_below(float(np.min(np.sqrt(noise.var()) / sizes))) / _FINENESS, 1.0)


def _summed(
    problems: Problems, values: ArrayLike, noise: SummedNoise, grid: float | None, *, rounds: bool
) -> Callable[[Entropy], Any]:
    """The draw of answers W x plus W N, N rounded to a grid that divides 1.

    Cells change by whole numbers e, so that W e + W round(N) = W round(e + N): the answers hide
    what a rounded table hides. With `rounds` the sums are rounded to integers; those beyond 2^53
    steps are clipped.
    """
    W = noise.workload.questions
    answers = read_values(problems, values)
    good = answers.ndim > 0 and answers.shape[-1] == noise.dimension
    expected = f"a last axis of length {noise.dimension}"
    problems.require(good, "shape of values", expected, answers.shape)
    whole = bool(np.all(W.data == np.rint(W.data)))
    expected = "whole numbers (else give the table: release.workload(x, found))"
    problems.require(whole, "entries of W", expected, "others")
    problems.require(grid is None, "grid", "none for noise of a workload", grid)
    problems.raise_if_any()
    step = _summed_step(noise)
    steps = answers.reshape(-1, noise.dimension) / step
    fits = bool(np.all((steps == np.rint(steps)) & (np.abs(steps) <= 0.5 * _MOST_STEPS)))
    expected = f"multiples of {step:g} up to {0.5 * _MOST_STEPS * step:g}, as whole numbers are"
    problems.require(fits, "values", expected, "others")
    nothing = np.zeros((len(steps), W.shape[1]), dtype=np.int64)
    draw = prepared(problems, nothing, noise.inner, None if noise.whole else step)
    size = float(np.max(abs(W).sum(axis=1)))

    def drawn(entropy: Entropy) -> Any:  # noqa: ANN401
        cells = np.asarray(draw(entropy), dtype=float) / step
        if float(np.max(np.abs(cells))) * size <= 0.5 * _MOST_STEPS:
            found = steps + noise.answers(cells)  # integers that doubles hold
        else:
            exact = [[int(x) for x in row] for row in cells.tolist()]
            rows = W.toarray().astype(np.int64).astype(object)
            sums = steps.astype(np.int64).astype(object) + np.array(exact, dtype=object) @ rows.T
            found = np.clip(sums, -int(2 * _MOST_STEPS), int(2 * _MOST_STEPS)).astype(float)
        found = (found * step).reshape(answers.shape)
        return np.rint(found).astype(np.int64) if rounds or noise.whole else found

    return drawn


def grid_of(noise: object) -> Array:
    """The step of the default grid of each coordinate, shape (K,); 0 for noise on the integers."""
    problems = Problems("release")
    if getattr(noise, "whole", False):
        return np.zeros(noise.dimension)  # type: ignore[attr-defined]  # of vectors
    if isinstance(noise, SummedNoise):
        return np.full(noise.dimension, _summed_step(noise))
    parts = _read_parts(problems, noise)
    mean_abs = np.zeros(noise.dimension if _is_vector(noise) else 1)  # type: ignore[attr-defined]
    for part in parts:
        mean_abs[part.indices] = part.mean_abs
    step = read_grid(problems, mean_abs, None)
    problems.raise_if_any()
    return step


def _with_integers(values: Any, parts: list[Part], entropy: Entropy) -> Any:  # noqa: ANN401
    """Integers plus noise on the integers."""
    found = values.copy()
    for part in parts:
        count = values.shape[0] * part.indices.size
        draws = integer_draws(part.noise, count, entropy)
        found[:, part.indices] += draws.reshape(-1, part.indices.size)
    return found


def integer_draws(noise: IntegerNoise, count: int, entropy: Entropy) -> Any:  # noqa: ANN401
    """Independent draws of noise on the integers, int64; what is beyond is taken modulo 2^64."""
    found = np.empty(count, dtype=np.int64)
    filled = 0
    # ends: each pass draws most of what is missing
    while filled < count:
        source = cast("np.random.Generator", entropy)  # it has the method that is used
        some = noise._exact_draws(source, count - filled)[: count - filled]  # noqa: SLF001
        found[filled : filled + some.size] = some
        filled += some.size
    return found


def _with_reals(values: Array, parts: list[Part], step: Array, entropy: Entropy) -> Array:
    """Values plus continuous noise, on the grid; values without noise stay as they are."""
    from dpnoise.releases import continuous  # noqa: PLC0415 - brings flint

    found = values.copy()
    for part in parts:
        if part.is_joint:
            some = values[:, part.indices]
            found[:, part.indices] = continuous.rounded_vectors(
                some, part.noise, step[part.indices], entropy
            )
            continue
        keep = part.scales > 0.0
        indices, scales = part.indices[keep], part.scales[keep]
        some = values[:, indices]
        wide = [np.broadcast_to(x, some.shape).ravel() for x in (scales, step[indices])]
        sums = continuous.rounded_sums(some.ravel(), part.noise, wide[0], wide[1], entropy)
        found[:, indices] = sums.reshape(some.shape)
    return found


def read_grid(problems: Problems, mean_abs: Array, grid: object) -> Array:
    """The step of the grid of each coordinate, from the mean size of its noise or as given."""
    some = mean_abs > 0.0
    good = bool(np.all((mean_abs[some] >= _SMALLEST) & (mean_abs[some] <= _LARGEST)))
    problems.require(good, "E|noise|", f"from {_SMALLEST:g} to {_LARGEST:g}", mean_abs.tolist())
    if grid is not None and problems.number("grid", grid, low=0.0, open_low=True):
        step = float(grid)  # type: ignore[arg-type]  # a number
        low = float(np.max(mean_abs, initial=0.0)) * _FINEST
        expected = f"a power of two of at least 2^-40 E|noise| = {low:g}, at most {_LARGEST:g}"
        even = math.frexp(step)[0] == 0.5 and low <= step <= _LARGEST
        problems.require(even, "grid", expected, grid)
        return np.full(mean_abs.shape, step)
    if problems.found:
        return np.ones(mean_abs.shape)
    found = [power_below(x) / _FINENESS if x > 0.0 else 1.0 for x in mean_abs.ravel().tolist()]
    return np.array(found).reshape(mean_abs.shape)


def read_values(problems: Problems, values: ArrayLike) -> Array:
    """Finite values as the doubles that they are; none is rounded."""
    array = _array(problems, values)
    kind = array.dtype.kind
    if not problems.require(kind in "iuf", "values", "real numbers", array.dtype):
        return np.zeros(array.shape)
    with np.errstate(over="ignore"):
        doubles = array.astype(float)
    bad = ~np.isfinite(doubles)
    expected = "finite numbers (an error that depends on the data: docs/release.md)"
    _refuse(problems, bad, expected)
    with np.errstate(over="ignore", invalid="ignore"):
        same = doubles.astype(array.dtype) == array
    if kind in "iu":  # an integer next to 2^63 or 2^64 rounds beyond its type
        same &= doubles < 2.0 ** (8 * array.itemsize - (kind == "i"))
    _refuse(problems, ~same & ~bad, "numbers that doubles hold exactly")
    return doubles


def _read_integers(problems: Problems, values: ArrayLike) -> Any:  # noqa: ANN401  (int64)
    """Values that are integers below 2^62, as int64."""
    array = _array(problems, values)
    kind = array.dtype.kind
    if not problems.require(kind in "iuf", "values", "integers", array.dtype):
        return np.zeros(array.shape, dtype=np.int64)
    with np.errstate(over="ignore", invalid="ignore"):
        good = (np.abs(array.astype(float)) <= 2.0**62) & (array == np.floor(array))
    _refuse(problems, ~good, "integers up to 2^62")
    return np.where(good, array, 0).astype(np.int64)


def _refuse(problems: Problems, bad: Any, expected: str) -> None:  # noqa: ANN401  (of bools)
    """Record of values that are out of range: how many, as the message may be published."""
    count = int(np.count_nonzero(bad))
    if count:
        problems.add(f"values: expected {expected}, got {count} that are not")


def _array(problems: Problems, values: ArrayLike) -> Any:  # noqa: ANN401  (of any type)
    problems.unmasked("values", values)
    problems.raise_if_any()  # no check behind this one may look below the mask
    try:
        return np.asarray(values)
    except ValueError:  # ragged nesting
        return np.asarray(None)


def _check_range(problems: Problems, values: Array, step: Array) -> None:
    """Record of values that have too many steps of the grid."""
    with np.errstate(over="ignore"):
        most = np.minimum(step * _MOST_STEPS, 1e300)
    expected = f"at most 2^52 steps of the grid, {float(np.min(most, initial=1e300)):g}"
    _refuse(problems, np.abs(values) > most, expected)


class Part(NamedTuple):
    """Coordinates with noise of their own.

    Attributes
    ----------
    indices : numpy.ndarray of int, shape (k,)
        Which coordinates.
    noise : Noise, IntegerNoise or noise of k coordinates
        Its type is one that has an exact sampler.
    scales : numpy.ndarray, shape (k,)
        By which independent noise is multiplied, 0 for no noise; ones for joint noise.
    """

    indices: IntArray
    noise: Any
    scales: Array

    @property
    def is_joint(self) -> bool:
        """Whether its coordinates are drawn together."""
        return type(self.noise) in _JOINT

    @property
    def mean_abs(self) -> Array:
        """E|X_i| of each coordinate, shape (k,)."""
        return np.broadcast_to(self.scales * self.noise.mean_abs(), self.scales.shape)


def _read_parts(problems: Problems, noise: object) -> list[Part]:
    """The parts of a noise; what has no exact sampler is recorded."""
    found = list(_parts(problems, noise))
    if len({part.noise.whole for part in found}) > 1:
        problems.add("noise: expected noise on the integers in all coordinates or in none")
    return found


def _is_vector(noise: object) -> bool:
    """Whether noise is for vectors of a given number of coordinates."""
    return isinstance(noise, VectorNoise | Sequence) and not isinstance(noise, str)


def _parts(problems: Problems, noise: object) -> Iterator[Part]:
    """The parts, their coordinates counted from 0."""
    if isinstance(noise, Sequence) and not isinstance(noise, str):
        yield from _listed(problems, noise)
        return
    alone = [(np.array([0]), noise, np.ones(1))]
    for part in starmap(Part, noise.parts() if isinstance(noise, VectorNoise) else alone):
        known = part.is_joint or _is_scalar(part.noise)
        if problems.require(known, "noise", _EXPECTED, noise):
            yield part


def _listed(problems: Problems, noises: Sequence[Any]) -> Iterator[Part]:
    """One part for all coordinates with the same noise of one number."""
    problems.require(len(noises) > 0, "noise", "at least one coordinate", noises)
    alike: dict[object, list[int]] = {}
    for k, one in enumerate(noises):
        if isinstance(one, Sequence) or not _is_scalar(one):
            problems.require(False, f"noise of coordinate {k + 1}", _EXPECTED, one)
        else:
            alike.setdefault(one, []).append(k)
    for one, places in alike.items():
        yield Part(np.array(places), one, np.ones(len(places)))


def _is_scalar(noise: object) -> bool:
    """Whether independent noise of one number has an exact sampler."""
    return is_scalar(noise) and noise.has_exact_draws
