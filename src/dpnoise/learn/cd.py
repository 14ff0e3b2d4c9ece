"""Differentially private coordinate descent (DP-CD).

Algorithm 3 of flipped-huber-2023, which is that of Mangold, Bellet, Salmon & Tommasi (2022)
with the noise left open: L passes over K coordinates; each update takes the mean of the
clipped per-sample gradients of one coordinate, adds noise scaled to its sensitivity, steps,
and applies the proximal operator.

Privacy. Every update at coordinate i has sensitivity lambda_i = 2 C_i / N under replace-one
and gets lambda_i, rounding included (`dpnoise.learn.kernel.ROUNDING`), times one unit noise, so
L K updates compose to the account that `dpnoise.calibration.coordinate_noise` certifies,
whatever the order of coordinates, as long as the order does not depend on the data. All iterates
are private, not only the last one.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from dpnoise._validation import Problems
from dpnoise.learn import kernel
from dpnoise.learn.problem import LOSSES, PENALTIES, in_rows, zeros

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from dpnoise._types import Array
    from dpnoise.learn.problem import Problem

ORDERS = ("cyclic", "random")
ITERATES = ("last", "averaged")


def coordinate_orders(
    order: str, shape: tuple[int, int], random_state: np.random.Generator
) -> NDArray[np.int64]:
    """Coordinates that the updates take, shape (L, K) for `shape` = (passes L, coordinates K).

    The "cyclic" order is 0 .. K-1 in every pass, the "random" one draws each coordinate uniformly.
    """
    problems = Problems("coordinate descent")
    problems.require(order in ORDERS, "order", f"one of {', '.join(ORDERS)}", order)
    problems.raise_if_any()
    if order == "cyclic":
        return np.broadcast_to(np.arange(shape[1]), shape)
    return random_state.integers(shape[1], size=shape)


def descend(
    problem: Problem,
    *,
    steps: ArrayLike,
    clips: ArrayLike,
    noise: ArrayLike,
    orders: ArrayLike | None = None,
    wanted: ArrayLike | None = None,
    iterate: str = "last",
    ends: Sequence[int] | None = None,
    threads: int = 1,
) -> Array:
    """Weights of DP-CD, started at zero, for every (step, clip, repetition).

    Parameters
    ----------
    problem : Problem
    steps : array_like, shape (S,)
        Step factors tau > 0; coordinate i steps by tau / M_i.
    clips : array_like, shape (C,)
        Clipping levels > 0; coordinate i clips at clip * sqrt(M_i / sum M).
    noise : array_like, shape (R, L, K)
        Unit noise for R repetitions of L passes. All steps and clips share it, which makes
        their comparison paired. Zeros give plain (clipped) coordinate descent.
    orders : array_like of int, shape (R, L, K), optional
        The coordinate that each update takes; cyclic if left out.
    wanted : array_like of bool, shape (S, C), optional
        The combinations of step and clipping level to run, by default all.
    iterate : {"last", "averaged"}
        The last iterate or the mean of the iterates after each pass.
    ends : sequence of int, optional
        Rising numbers of passes, L at most: the last iterate after each of them instead of the
        final parameters. All of them together spend what L passes spend.
    threads : int
        Worker threads. The result does not depend on it.

    Returns
    -------
    float64 array, shape (S, C, R, K), with `ends` (S, C, R, E, K)
        The final parameters. A run that diverges holds inf or nan; what is not wanted holds nan.

    Raises
    ------
    ValueError
        Naming everything that is wrong with the settings.

    References
    ----------
    flipped-huber-2023, Algorithm 3; Mangold, Bellet, Salmon & Tommasi, "Differentially private
    coordinate descent for composite empirical risk minimization", ICML 2022.

    Examples
    --------
    Without noise and with a wide clipping level, the least-squares solution:

    >>> import numpy as np
    >>> from dpnoise.learn.problem import make_problem
    >>> problem = make_problem([[1.0], [2.0], [3.0]], [2.0, 4.0, 6.0], loss="squared")
    >>> descend(problem, steps=1.0, clips=1e3, noise=np.zeros((1, 20, 1))).round(4)
    array([[[[2.]]]])
    """
    taus, levels = (np.atleast_1d(np.asarray(grid, dtype=float)) for grid in (steps, clips))
    unit = np.ascontiguousarray(noise, dtype=float)
    given = None if orders is None else np.asarray(orders, dtype=np.int64)
    run = np.ones((taus.size, levels.size), dtype=bool) if wanted is None else np.asarray(wanted)
    _check(problem, taus, levels, unit, given, run, iterate, threads)
    seen = np.array(unit.shape[1:2] if ends is None else ends, dtype=np.int64)
    if ends is not None:
        _check_ends(seen, unit.shape[1], iterate)
    cyclic = np.arange(problem.coordinates)
    # a copy: what may not be written to is another type to the compiler
    visits = np.array(np.broadcast_to(cyclic if given is None else given, unit.shape), order="C")

    squared = problem.loss == "squared"
    start = in_rows(-problem.target if squared else np.zeros(problem.size))
    # repetitions first, so that each of them writes to one piece of memory
    shape = len(unit), len(taus), len(levels), 1, len(seen), problem.coordinates
    out = np.full(shape, np.nan)

    def one(repetition: int) -> None:
        # a repetition is one unit of work, so that its result cannot depend on `threads`
        part = slice(repetition, repetition + 1)
        kernel.run(
            LOSSES.index(problem.loss),
            problem.size,
            problem.columns,
            start,
            taus,
            levels,
            run,
            unit[part],
            visits[part],
            problem.smoothness,
            PENALTIES.index(problem.penalty),
            problem.strengths,
            iterate == "averaged",
            seen,
            zeros(start.shape),
            zeros(start.shape[1:]),
            out[repetition],
        )

    if threads == 1:
        for repetition in range(len(unit)):
            one(repetition)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(one, range(len(unit))))
    found = np.ascontiguousarray(np.moveaxis(out[:, :, :, 0], 0, 2))
    return found[..., 0, :] if ends is None else found


def _check_ends(ends: NDArray[np.int64], passes: int, iterate: str) -> None:
    """Refuse numbers of passes that no run of so many has, or the mean of iterates with them."""
    problems = Problems("coordinate descent")
    rising = ends.ndim == 1 and ends.size > 0 and bool(np.all(np.diff(ends) > 0))
    good = rising and bool(ends[0] >= 1 and ends[-1] <= passes)
    problems.require(good, "ends", f"rising numbers of passes from 1 to {passes}", ends.tolist())
    problems.require(iterate == "last", "iterate", "'last' with ends", iterate)
    problems.raise_if_any()


def _check(  # noqa: PLR0917
    problem: Problem,
    steps: Array,
    clips: Array,
    noise: Array,
    orders: NDArray[np.int64] | None,
    wanted: NDArray[np.bool_],
    iterate: str,
    threads: int,
) -> None:
    """Refuse settings that make no sense, all at once."""
    problems = Problems("coordinate descent")
    for name, grid in (("steps", steps), ("clips", clips)):
        good = grid.ndim == 1 and grid.size > 0 and bool(np.all(np.isfinite(grid) & (grid > 0)))
        problems.require(good, name, "a non-empty grid of finite numbers > 0", grid.tolist())
    last = problem.coordinates
    shaped = noise.ndim == 3 and noise.shape[2] == last and noise.size > 0
    if problems.require(shaped, "noise", f"shape (repetitions, passes, {last})", noise.shape):
        problems.require(bool(np.isfinite(noise).all()), "noise", "finite values", "NaN or inf")
    if orders is not None:
        problems.require(
            orders.shape == noise.shape, "orders", f"shape {noise.shape}", orders.shape
        )
        inside = bool(np.all((orders >= 0) & (orders < last)))
        problems.require(inside, "orders", f"coordinates 0 to {last - 1}", "others")
    flags = wanted.dtype == np.bool_ and wanted.shape == (steps.size, clips.size)
    problems.require(
        flags, "wanted", f"bool of shape {steps.size, clips.size}", (wanted.dtype, wanted.shape)
    )
    problems.require(iterate in ITERATES, "iterate", f"one of {', '.join(ITERATES)}", iterate)
    problems.require(threads >= 1, "threads", "at least 1", threads)
    problems.raise_if_any()
