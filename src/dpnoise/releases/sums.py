"""Values plus noise for any noise that has an exact sampler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from dpnoise._validation import Problems
from dpnoise.mechanisms.noise import RoundedNoise
from dpnoise.releases.grid import check_range, read_grid, read_integers, read_values
from dpnoise.releases.parts import is_vector, read_parts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.noise.integers import IntegerNoise
    from dpnoise.releases.entropy import Entropy
    from dpnoise.releases.parts import Part


def noisy(values: ArrayLike, noise: object, grid: float | None, entropy: Entropy) -> Any:  # noqa: ANN401
    """Values plus noise, of the shape of the values; ValueError names every problem."""
    problems = Problems("release")
    rounds = isinstance(noise, RoundedNoise)
    noise = noise.real if isinstance(noise, RoundedNoise) else noise
    parts = read_parts(problems, noise)
    integer = bool(parts) and all(part.is_integer for part in parts)
    read = read_integers if integer or rounds else read_values
    checked: Any = read(problems, values)
    shape, dimension = checked.shape, 1
    if is_vector(noise):
        dimension = len(noise) if isinstance(noise, list | tuple) else noise.dimension  # type: ignore[attr-defined]
        good = bool(shape) and shape[-1] == dimension
        problems.require(good, "shape of values", f"a last axis of length {dimension}", shape)
    if integer:
        problems.require(grid is None, "grid", "none for noise on the integers", grid)
        problems.raise_if_any()
        return _with_integers(checked.reshape(-1, dimension), parts, entropy).reshape(shape)[()]
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
        check_range(problems, noised, np.broadcast_to(step[some], noised.shape))
    problems.raise_if_any()
    found = _with_reals(checked.reshape(-1, dimension).astype(float), parts, step, entropy)
    return (found.astype(np.int64) if rounds else found).reshape(shape)[()]


def _with_integers(values: Any, parts: list[Part], entropy: Entropy) -> Any:  # noqa: ANN401
    """Integers plus noise on the integers."""
    found = values.copy()
    for part in parts:
        count = values.shape[0] * part.indices.size
        draws = integer_draws(part.noise, count, entropy)
        found[:, part.indices] += draws.reshape(values.shape[0], -1)
    return found


def integer_draws(noise: IntegerNoise, count: int, entropy: Entropy) -> Any:  # noqa: ANN401
    """Independent draws of noise on the integers, int64; what is beyond is taken modulo 2^64."""
    found = np.empty(count, dtype=np.int64)
    filled = 0
    while filled < count:
        source = cast("np.random.Generator", entropy)  # it has the method that is used
        some = noise._exact_draws(source, count - filled)[: count - filled]  # noqa: SLF001
        found[filled : filled + some.size] = some
        filled += some.size
    return found


def _with_reals(values: Array, parts: list[Part], step: Array, entropy: Entropy) -> Array:
    """Values plus continuous noise, on the grid; values without noise stay as they are."""
    from dpnoise.releases.continuous import rounded_sums  # noqa: PLC0415 - brings flint
    from dpnoise.releases.vectors import rounded_vectors  # noqa: PLC0415

    found = values.copy()
    for part in parts:
        if part.is_joint:
            some = values[:, part.indices]
            found[:, part.indices] = rounded_vectors(some, part.noise, step[part.indices], entropy)
            continue
        keep = part.scales > 0.0
        indices, scales = part.indices[keep], part.scales[keep]
        some = values[:, indices]
        wide = [np.broadcast_to(x, some.shape).ravel() for x in (scales, step[indices])]
        sums = rounded_sums(some.ravel(), part.noise, wide[0], wide[1], entropy)
        found[:, indices] = sums.reshape(some.shape)
    return found
