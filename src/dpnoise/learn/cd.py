"""Differentially private coordinate descent (DP-CD).

Algorithm 3 of flipped-huber-2023, which is that of Mangold, Bellet, Salmon & Tommasi (2022)
with the noise left open: L passes over K coordinates; each update takes the mean of the
clipped per-sample gradients of one coordinate, adds noise scaled to its sensitivity, steps,
and applies the proximal operator.

Privacy. Every update at coordinate i has sensitivity lambda_i = 2 C_i / N under replace-one
and gets lambda_i, rounding included (`dpnoise.learn.cd.ROUNDING`), times one unit noise, so
L K updates compose to the account that `dpnoise.calibration.coordinate_noise` certifies,
whatever the order of coordinates, as long as the order does not depend on the data. All iterates
are private, not only the last one.

**The compiled inner loop** takes many configurations at once. One pass over the data per coordinate
update does two things in the same sweep of memory: it applies the previous coordinate's update to
the fitted values, and it sums the clipped per-sample gradients of the next coordinate. Features are
float32, contiguous by coordinate; beside them only the fitted values and, for the logistic loss,
sums of gradients are held.

Samples lie in `ROWS` = 4 rows of H, with zeros after the last, whose gradients are zeros. Each
clipped gradient is at most C in size. The 4 of a place in the rows are added in single precision,
the H sums in double precision. Rounding moves a sum of 4 by at most 4 g C in whatever order,
g = 3 u / (1 - 3 u) and u = 2^-24 (Higham, Accuracy and Stability of Numerical Algorithms, 2002,
section 4.2). One replaced sample changes one of these sums, by at most 2 C + 2 (4 g C), which is
less than 2 C (1 + 2^-20) = 2 C `ROUNDING`, by which the noise is scaled. Double precision adds a
relative N^2 2^-53 at most, in whatever order. Were more gradients added in single precision, one
sample could move the sum of a million others by many times 2 C, since the rounding of a sum
depends on what was summed before (Casacuberta, Shoemate, Vadhan & Wagaman, CCS 2022).

LLVM keeps to vectors of 256 bits where a processor has 512, since wide ones slowed other code down
on early ones. These loops ask for the full width, which takes a quarter less time. They also say
that no array overlaps one that is written to, which LLVM would check at each call, in a third of
the time of a hundred samples.

`fastmath` leaves out 'nnan' and 'ninf': a run that diverges must show as inf or nan, not as
an arbitrary number. Users call `descend`, which checks its arguments.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, cast

import numpy as np

from dpnoise._imports import imports_of
from dpnoise._validation import Problems
from dpnoise.learn.problem import LOSSES, PENALTIES, ROWS, in_rows, zeros

with imports_of("learn"):
    from llvmlite.ir import FloatType
    from numba import njit, types
    from numba.extending import intrinsic

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from llvmlite.ir import IRBuilder, Value
    from numba.core.base import BaseContext
    from numba.core.typing.templates import Signature
    from numpy.typing import ArrayLike, NDArray

    from dpnoise._types import Array
    from dpnoise.learn.problem import Problem

    Floats = NDArray[np.float32]


def descend(
    problem: Problem,
    *,
    steps: ArrayLike,
    clips: ArrayLike,
    noise: ArrayLike,
    orders: ArrayLike | None = None,
    wanted: ArrayLike | None = None,
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
    tried = np.ones((taus.size, levels.size), dtype=bool) if wanted is None else np.asarray(wanted)
    seen = np.array(unit.shape[1:2] if ends is None else ends, dtype=np.int64)
    _check(problem, taus, levels, unit, given, tried, seen, threads)
    cyclic = np.arange(problem.coordinates)
    # a copy: what may not be written to is another type to the compiler
    visits = np.array(np.broadcast_to(cyclic if given is None else given, unit.shape), order="C")

    squared = problem.loss == "squared"
    start = in_rows(-problem.target if squared else np.zeros(problem.size))
    # repetitions first, so that each of them writes to one piece of memory
    shape = len(unit), len(taus), len(levels), 1, len(seen), problem.coordinates
    out = np.full(shape, np.nan)

    data = LOSSES.index(problem.loss), problem.size, problem.columns, start, taus, levels, tried
    constants = problem.smoothness, PENALTIES.index(problem.penalty), problem.strengths, seen

    def one(repetition: int) -> None:
        # a repetition is one unit of work, so that its result cannot depend on `threads`
        part = slice(repetition, repetition + 1)
        work = zeros(start.shape), zeros(start.shape[1:])
        run(*data, unit[part], visits[part], *constants, *work, out[repetition])

    if threads == 1:
        for repetition in range(len(unit)):
            one(repetition)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(one, range(len(unit))))
    found = np.ascontiguousarray(np.moveaxis(out[:, :, :, 0], 0, 2))
    return found[..., 0, :] if ends is None else found


def _check(  # noqa: PLR0917
    problem: Problem,
    steps: Array,
    clips: Array,
    noise: Array,
    orders: NDArray[np.int64] | None,
    wanted: NDArray[np.bool_],
    ends: NDArray[np.int64],
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
        rising = ends.ndim == 1 and ends.size > 0 and bool(np.all(np.diff(ends, prepend=0) > 0))
        expected = f"rising numbers of passes from 1 to {noise.shape[1]}"
        problems.require(rising and ends[-1] <= noise.shape[1], "ends", expected, ends.tolist())
    if orders is not None:
        alike = orders.shape == noise.shape
        problems.require(alike, "orders", f"shape {noise.shape}", orders.shape)
        inside = bool(np.all((orders >= 0) & (orders < last)))
        problems.require(inside, "orders", f"coordinates 0 to {last - 1}", "others")
    flags = wanted.dtype == np.bool_ and wanted.shape == (steps.size, clips.size)
    expected = f"bool of shape {steps.size, clips.size}"
    problems.require(flags, "wanted", expected, (wanted.dtype, wanted.shape))
    problems.require(threads >= 1, "threads", "at least 1", threads)
    problems.raise_if_any()


SQUARED, LOGISTIC = 0, 1
NO_PENALTY, L1, L2 = 0, 1, 2
ROUNDING = 1.0 + 2.0**-20

_FLOATS = FloatType().as_pointer()  # of the elements of an array, as Numba passes it
_FAST = {"reassoc", "contract", "arcp", "nsz", "afn"}


def _fast_loops(_: BaseContext) -> tuple[Signature, Callable[..., Value]]:
    """Ask LLVM for the widest vectors in the function that calls this, whose arrays lie apart."""

    def attributes(context: BaseContext, builder: IRBuilder, *_: object) -> Value:
        # past the check of llvmlite, which does not know attributes of one kind of processor
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        for argument in builder.function.args:
            if argument.type == _FLOATS:
                argument.add_attribute("noalias")
        return context.get_dummy_value()

    return types.none(), attributes


_ask_for_fast_loops = cast("Callable[[], None]", intrinsic(_fast_loops))


@njit(inline="always", cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def _twice_sigmoid_neg(u: np.float32) -> np.float32:
    """Twice the logistic function, 2/(1+exp(4 u)), in float32, absolute error below 8e-7.

    With t = tanh(u) the double-angle formula gives 1 - tanh(2 u) = (1 - t)^2 / (1 + t^2). For
    t = p/q that is (q - p)^2 / (p^2 + q^2): one division and no exp, so that the loop stays in
    SIMD registers. The coefficients of the odd rational function p/q make the largest error on
    [-4, 4] the least; beyond, 2/(1+exp(4 u)) is within 3e-7 of 0 or 2.
    """
    v = min(max(u, np.float32(-4.0)), np.float32(4.0))
    s = v * v
    p = v * (np.float32(1135.3266) + s * (np.float32(122.64111) + s))
    q = np.float32(1135.3274) + s * (np.float32(501.07522) + s * np.float32(16.667313))
    d = q - p
    return d * d / (p * p + q * q)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def _advance_squared(
    fit: Floats, previous: Floats, delta: np.float32, column: Floats, bound: np.float32
) -> float:
    """Add delta * previous to the residuals; return the sum of clipped gradients.

    Arrays have shape (ROWS, H).
    """
    _ask_for_fast_loops()
    total = 0.0
    for n in range(fit.shape[1]):
        few = np.float32(0.0)
        # ends: all rows of the samples
        for row in range(ROWS):
            r = fit[row, n] + delta * previous[row, n]
            fit[row, n] = r
            few += min(max(r * column[row, n], -bound), bound)
        total += np.float64(few)
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def _advance_logistic(  # noqa: PLR0917
    fit: Floats,
    previous: Floats,
    delta: np.float32,
    column: Floats,
    bound: np.float32,
    sums: Floats,
) -> float:
    """As `_advance_squared` for a quarter of the margins y x'w; columns carry the label's sign.

    The sums of ROWS gradients pass through `sums`, shape (H,), because one loop in both precisions
    would halve the width of the vectors in which the sigmoid is computed. They are of twice the
    gradients, clipped at twice the bound, which leaves rounding as it is.
    """
    _ask_for_fast_loops()
    twice = np.float32(2.0) * bound
    for n in range(fit.shape[1]):
        few = np.float32(0.0)
        # ends: all rows of the samples
        for row in range(ROWS):
            u = fit[row, n] + delta * previous[row, n]
            fit[row, n] = u
            few += min(max(_twice_sigmoid_neg(u) * column[row, n], -twice), twice)
        sums[n] = few
    total = 0.0
    for n in range(fit.shape[1]):
        total -= np.float64(sums[n])
    return 0.5 * total


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def _prox(value: float, step: float, penalty: int, strength: float) -> float:
    """Proximal operator of step * strength * |.| or of step * strength / 2 * |.|^2."""
    if penalty == L1:
        return np.sign(value) * max(abs(value) - step * strength, 0.0)
    if penalty == L2:
        return value / (1.0 + step * strength)
    return value


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def run(  # noqa: PLR0917
    loss: int,
    size: int,
    columns: Floats,
    start: Floats,
    steps: Array,
    clips: Array,
    wanted: NDArray[np.bool_],
    noise: Array,
    orders: NDArray[np.int64],
    smoothness: Array,
    penalty: int,
    strengths: Array,
    ends: NDArray[np.int64],
    fit: Floats,
    sums: Floats,
    out: Array,
) -> None:
    """Run the wanted (step, clip), every repetition; write parameters after some passes to `out`.

    Arguments as for `dpnoise.learn.cd.descend`. `start`, shape (ROWS, H), holds the fitted values
    of zero weights: minus the target (squared loss) or zeros (logistic loss). `columns`, shape
    (K, ROWS, H), `smoothness` and `strengths`, shape (K,), are those of a `Problem` of `size`
    samples; `out` has shape (S, C, R, E, K) for the rising numbers of passes `ends`, shape (E,).
    `fit`, of the shape of `start`, and `sums`, shape (H,), are for intermediate values. The unit
    noise of an update is scaled here by the sensitivity 2 C_i / N, rounding included.
    """
    coordinates = columns.shape[0]
    unit = 1.0 if loss == SQUARED else 0.25  # of the fitted values that are advanced
    share = np.sqrt(smoothness / np.sum(smoothness))
    weight = np.empty(coordinates)
    for s in range(steps.shape[0]):
        for c in range(clips.shape[0]):
            if not wanted[s, c]:
                continue
            for r in range(noise.shape[0]):
                fit[:] = start
                weight[:] = 0.0
                previous, delta, end = 0, np.float32(0.0), 0
                for k in range(ends[-1]):
                    for i in range(coordinates):
                        j = orders[r, k, i]
                        # the noise is scaled to the bound as rounded, not as asked for
                        bound = np.float32(clips[c] * share[j])
                        if loss == SQUARED:
                            total = _advance_squared(
                                fit, columns[previous], delta, columns[j], bound
                            )
                        else:
                            total = _advance_logistic(
                                fit, columns[previous], delta, columns[j], bound, sums
                            )
                        sensitivity = 2.0 * np.float64(bound) * ROUNDING
                        gradient = (total + sensitivity * noise[r, k, i]) / size
                        step = steps[s] / smoothness[j]
                        new = _prox(weight[j] - step * gradient, step, penalty, strengths[j])
                        delta = np.float32(unit * (new - weight[j]))
                        weight[j] = new
                        previous = j
                    if ends[end] == k + 1:
                        out[s, c, r, end] = weight
                        end += 1
