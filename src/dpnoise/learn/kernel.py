"""Compiled inner loop of private coordinate descent, for many configurations at once.

One pass over the data per coordinate update does two things in the same sweep of memory: it
applies the previous coordinate's update to the fitted values, and it sums the clipped
per-sample gradients of the next coordinate. Features are float32, one contiguous row per
coordinate; beside them only the fitted values and, for the logistic loss, the clipped
gradients have length N.

The clipped gradients are summed in double precision. In single precision the rounding of a
sum depends on what was summed before, and one replaced sample can move the sum of a million
others by many times 2 C (Casacuberta, Shoemate, Vadhan & Wagaman, CCS 2022); in double
precision by a relative N^2 2^-53 more than 2 C at most, in whatever order.

`fastmath` leaves out 'nnan' and 'ninf': a run that diverges must show as inf or nan, not as
an arbitrary number. Users call `dpnoise.learn.cd.descend`, which checks its arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpnoise._extras import imports_of

with imports_of("learn"):
    from numba import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpnoise._types import Array

    Floats = NDArray[np.float32]

SQUARED, LOGISTIC = 0, 1
NO_PENALTY, L1, L2 = 0, 1, 2

_FAST = {"reassoc", "contract", "arcp", "nsz", "afn"}


@njit(inline="always", cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def _sigmoid_neg(m: np.float32) -> np.float32:
    """Logistic function 1/(1+exp(m)) in float32, absolute error below 4e-7 for every m.

    With tanh(m/4) = p/q (the [7/6] continued fraction of Lambert), the double-angle formula
    gives (1 - tanh(m/2))/2 = (q-p)^2 / (2 (p^2+q^2)): one division and no exp, so that the
    loop stays in SIMD registers.
    """
    u = np.float32(0.25) * min(max(m, np.float32(-20.0)), np.float32(20.0))
    s = u * u
    p = u * (np.float32(135135.0) + s * (np.float32(17325.0) + s * (np.float32(378.0) + s)))
    q = np.float32(135135.0) + s * (
        np.float32(62370.0) + s * (np.float32(3150.0) + s * np.float32(28.0))
    )
    d = q - p
    return np.float32(0.5) * d * d / (p * p + q * q)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def _advance_squared(
    fit: Floats, previous: Floats, delta: np.float32, column: Floats, bound: np.float32
) -> float:
    """Add delta * previous to the residuals; return the sum of clipped gradients."""
    total = 0.0
    for n in range(fit.shape[0]):
        r = fit[n] + delta * previous[n]
        fit[n] = r
        total += np.float64(min(max(r * column[n], -bound), bound))
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def _advance_logistic(  # noqa: PLR0917
    fit: Floats,
    previous: Floats,
    delta: np.float32,
    column: Floats,
    bound: np.float32,
    clipped: Floats,
) -> float:
    """As `_advance_squared` for margins y x'w; columns carry the label's sign.

    The gradients pass through `clipped`, shape (N,), because one loop in both precisions
    would halve the width of the vectors in which the sigmoid is computed.
    """
    for n in range(fit.shape[0]):
        m = fit[n] + delta * previous[n]
        fit[n] = m
        clipped[n] = min(max(_sigmoid_neg(m) * column[n], -bound), bound)
    total = 0.0
    for n in range(fit.shape[0]):
        total -= np.float64(clipped[n])
    return total


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
    averaged: bool,
    ends: NDArray[np.int64],
    out: Array,
) -> None:
    """Run the wanted (step, clip), every repetition; write parameters after some passes to `out`.

    Arguments as for `dpnoise.learn.cd.descend`. `start`, shape (N,), holds the fitted values of
    zero weights: minus the target (squared loss) or zeros (logistic loss). `columns`, shape (K, N),
    `smoothness` and `strengths`, shape (K,), are those of a `Problem`; `out` has shape
    (S, C, R, E, K) for the rising numbers of passes `ends`, shape (E,): the last pass alone where
    the mean is asked for. The unit noise of an update is scaled here by the sensitivity
    2 C_i / N.
    """
    size = columns.shape[1]
    coordinates = columns.shape[0]
    share = np.sqrt(smoothness / np.sum(smoothness))
    fit, clipped = np.empty(size, dtype=np.float32), np.empty(size, dtype=np.float32)
    weight = np.empty(coordinates)
    for s in range(steps.shape[0]):
        for c in range(clips.shape[0]):
            if not wanted[s, c]:
                continue
            for r in range(noise.shape[0]):
                fit[:] = start
                weight[:] = 0.0
                mean = out[s, c, r, -1]
                mean[:] = 0.0
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
                                fit, columns[previous], delta, columns[j], bound, clipped
                            )
                        gradient = (total + 2.0 * np.float64(bound) * noise[r, k, i]) / size
                        step = steps[s] / smoothness[j]
                        new = _prox(weight[j] - step * gradient, step, penalty, strengths[j])
                        delta = np.float32(new - weight[j])
                        weight[j] = new
                        previous = j
                    if averaged:
                        mean += weight / noise.shape[1]
                    elif ends[end] == k + 1:
                        out[s, c, r, end] = weight
                        end += 1
