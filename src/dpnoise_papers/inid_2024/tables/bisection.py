"""Algorithm 1 of Muthukrishnan & Kalyani (2024): bisection for mu_0, as printed.

Nothing in the library needs it; `dpnoise.gaussian_sigma` is what to use.

With phi(mu) = Q(epsilon/mu - mu/2) - e^epsilon Q(epsilon/mu + mu/2), the delta of Gaussian noise
at mu = sensitivity / sigma, mu_0 is the root of phi(mu) = delta. With y = Q^(-1)(delta) the paper
(Appendix B) brackets it by

    mu_l = R(y), R(y) = sqrt(y^2 + 2 epsilon) - y, and mu_u = R(Q^(-1)(delta')),
    delta' = delta + e^epsilon Q(sqrt(2 epsilon)),

and halves the bracket until it is no longer than a tolerance, which is not printed. mu_u exists
only while delta' < 1, e^epsilon overflows, and the tolerance is absolute although mu_0 may be
tiny. `printed_bracket` and `algorithm_1` are that, to measure and not to use.

A bracket that exists for all epsilon >= 0 and 0 < delta < 1 is

    max(mu_l, 2 z) <= mu_0 <= z + sqrt(z^2 + 2 epsilon), z = sqrt(2) erfinv(delta).

Above: mu = z + sqrt(z^2 + 2 epsilon) solves mu/2 - epsilon/mu = z; let h = mu/2 + epsilon/mu.
Then h^2 = z^2 + 2 epsilon, so that e^epsilon Q(h) = r(h) exp(-z^2/2)/sqrt(2 pi), where r is the
Mills ratio. It falls and h >= z, hence e^epsilon Q(h) <= Q(z) and phi(mu) >= 1 - 2 Q(z) = delta.
Below: phi(mu) <= Q(epsilon/mu - mu/2) gives mu_l, and phi falls with epsilon, where epsilon = 0
gives phi(mu) = erf(mu / sqrt 8), hence 2 z. At epsilon = 0 both ends meet.

`dpnoise.gaussian_sigma` gets the root from Newton's method in a few steps. The table `bisection`
says where the algorithm runs, how long and how well.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import special

from dpnoise.privacy.gaussian import gaussian_log_delta, gaussian_sigma
from dpnoise_papers.settings import values

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from dpnoise._types import Array
    from dpnoise_papers.inid_2024.settings import Bisection

_HALVINGS = 1100  # doubles leave none after so many


def _budget(epsilon: ArrayLike, delta: ArrayLike) -> tuple[Array, ...]:
    """Epsilon and delta of one shape."""
    return np.broadcast_arrays(np.asarray(epsilon, float), np.asarray(delta, float))


def _root(y: Array, epsilon: Array) -> Array:
    """Return R(y) as printed, with the cancellation that it has at large y."""
    return np.sqrt(y * y + 2.0 * epsilon) - y


def _printed_bracket(epsilon: Array, delta: Array) -> tuple[Array, Array]:
    low = _root(-special.ndtri(delta), epsilon)
    with np.errstate(over="ignore", invalid="ignore"):  # e^epsilon overflows as published
        raised = delta + np.exp(epsilon) * special.ndtr(-np.sqrt(2.0 * epsilon))
    exists = raised < 1.0
    high = np.full(epsilon.shape, np.nan)
    high[exists] = _root(-special.ndtri(raised[exists]), epsilon[exists])
    return low, high


def printed_bracket(epsilon: ArrayLike, delta: ArrayLike) -> tuple[Array, Array]:
    """Ends mu_l and mu_u of Algorithm 1 in double precision, right or wrong.

    mu_u is NaN where it does not exist: where delta' >= 1 or e^epsilon overflows. Both functions of
    a bracket take 0 <= epsilon <= 1e12 and 1e-300 <= delta < 1, which broadcast.
    """
    epsilon, delta = _budget(epsilon, delta)
    low, high = _printed_bracket(epsilon.ravel(), delta.ravel())
    return low.reshape(epsilon.shape)[()], high.reshape(epsilon.shape)[()]


def valid_bracket(epsilon: ArrayLike, delta: ArrayLike) -> tuple[Array, Array]:
    """Ends that mu_0 lies between for every epsilon >= 0 and delta in (0, 1).

    Both are positive and right up to the rounding of a few operations; the module says why.
    """
    epsilon, delta = _budget(epsilon, delta)
    y, z = -special.ndtri(delta), math.sqrt(2.0) * special.erfinv(delta)
    spread = np.sqrt(2.0 * epsilon)
    root = np.hypot(y, spread)
    total = np.where(y > 0.0, y + root, 1.0)
    tail = np.where(y > 0.0, 2.0 * epsilon / total, root - y)  # R(y), which would cancel
    return np.maximum(tail, 2.0 * z)[()], (z + np.hypot(z, spread))[()]


def algorithm_1(
    epsilon: ArrayLike, delta: ArrayLike, *, tolerance: float
) -> tuple[Array, NDArray[np.int64]]:
    """Parameter mu_0 of Algorithm 1 as printed, right or wrong, and how often it halved.

    mu is the lower end of the last bracket, no longer than `tolerance`, and may not be private. NaN
    where the algorithm has no bracket (0 halvings), never ends because two neighbouring doubles are
    further apart than the tolerance, or ends at 0, which means infinite noise. Budgets as for
    `printed_bracket`.
    """
    epsilon, delta = _budget(epsilon, delta)
    shape, epsilon, delta = epsilon.shape, epsilon.ravel(), delta.ravel()
    low, high = _printed_bracket(epsilon, delta)
    mu = np.full(epsilon.shape, np.nan)
    iterations = np.zeros(epsilon.shape, dtype=np.int64)
    left = np.flatnonzero(np.isfinite(high))
    # ends: NaN: what is printed is judged, not used
    for _ in range(_HALVINGS):  # 'repeat ... until': at least once
        e, middle = epsilon[left], 0.5 * (low[left] + high[left])
        beyond = (middle <= low[left]) | (middle >= high[left])
        iterations[left] += 1
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            a, h = e / middle, 0.5 * middle
            excess = special.ndtr(h - a) - np.exp(e) * special.ndtr(-a - h) - delta[left]
        above = excess > 0.0
        high[left] = np.where(above, middle, high[left])
        low[left] = np.where(above, low[left], middle)
        done = high[left] - low[left] <= tolerance
        mu[left[done]] = low[left[done]]
        left = left[~done & ~beyond]
        if left.size == 0:
            break
    mu[mu <= 0.0] = np.nan
    return mu.reshape(shape)[()], iterations.reshape(shape)[()]


def bisection(settings: Bisection) -> pd.DataFrame:
    """Results of Algorithm 1 for every pair of epsilon and delta on a grid.

    Columns epsilon, delta, mu_0 (exact), iterations (0 where there is no bracket), relative_error
    (mu / mu_0 - 1; below 0 there is too much noise) and log10_ratio (of the delta that mu really
    has to the delta asked for). The last two are NaN where there is no bracket, no end or mu = 0.
    """
    ratio = values(settings.odds)
    pairs = np.meshgrid(values(settings.epsilons), ratio / (1.0 + ratio))
    epsilon, delta = (x.ravel() for x in pairs)
    exact = 1.0 / gaussian_sigma(epsilon, delta)
    mu, iterations = algorithm_1(epsilon, delta, tolerance=settings.tolerance)
    ran = np.isfinite(mu)
    excess = np.full(epsilon.shape, np.nan)
    excess[ran] = gaussian_log_delta(mu[ran], epsilon[ran]) - np.log(delta[ran])
    return pd.DataFrame(
        {
            "epsilon": epsilon,
            "delta": delta,
            "mu_0": exact,
            "iterations": iterations,
            "relative_error": mu / exact - 1.0,
            "log10_ratio": excess / math.log(10.0),
        }
    ).sort_values(["delta", "epsilon"], ignore_index=True)
