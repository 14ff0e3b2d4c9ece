"""The continuous part of one coordinate's loss, as a privacy profile in closed form.

On a stretch of noise values (see `dpnoise.privacy.loss`) zeta is monotone, so that
(1 - e^(x - zeta))_+ is positive from or up to one point. There the payoff integrates to the
transform of the rest of the stretch at s = 0 less that at s = -1, with zeta counted from x.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpnoise.privacy.loss_transform import integrate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dpnoise.privacy.loss import Stretch

    Array = NDArray[np.float64]

_POINTS = np.array([0.0, -1.0], dtype=complex)


def _beyond(cut: Stretch, x: Array) -> Array:
    """Return, as rows like `cut`, the parts of a stretch on which zeta exceeds x."""
    psi, zeta = cut[1:4], cut[4:7]
    start = np.full_like(x, zeta[0]) - x  # zeta at y = 0, from x
    rising = zeta[1] > 0.0 or (zeta[1] == 0.0 and zeta[2] > 0.0)
    root = np.sqrt(np.maximum(zeta[1] * zeta[1] - 2.0 * zeta[2] * start, 0.0))
    slope = abs(zeta[1]) + root
    turn = np.divide(2.0 * np.abs(start), slope, out=np.full_like(x, np.inf), where=slope > 0.0)
    inside = start > 0.0
    if rising:
        left = np.where(inside, 0.0, np.minimum(turn, cut.length))
        length = cut.length - left if np.isfinite(cut.length) else np.full_like(x, np.inf)
        if np.isinf(cut.length):
            left = np.where(inside, 0.0, turn)
    else:
        left = np.zeros_like(x)
        length = np.where(inside, np.minimum(turn, cut.length), 0.0)
    first = np.where(left > 0.0, 0.0, start)
    return np.stack(
        [
            length,
            psi[0] + left * (psi[1] + 0.5 * left * psi[2]),
            psi[1] + left * psi[2],
            np.full_like(x, psi[2]),
            first,
            zeta[1] + left * zeta[2],
            np.full_like(x, zeta[2]),
        ],
        axis=-1,
    )


def continuous_delta(stretches: Sequence[Stretch], x: Array) -> tuple[Array, Array, Array]:
    """Return the profile of the continuous part of a loss at many x.

    Parameters
    ----------
    stretches : sequence of Stretch
        Where the loss is continuous.
    x : numpy.ndarray, shape (points,)
        Where to take E (1 - e^(x - L))_+; of any sign.

    Returns
    -------
    delta, error, slope : numpy.ndarray, shape (points,)
        The profile, a bound on its error, and minus its derivative in x.
    """
    delta, error, slope = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
    for cut in stretches:
        rows = _beyond(cut, x)
        some = rows[:, 0] > 0.0
        value, doubt = integrate(rows[some], _POINTS)
        kept, lost = value.real.T
        delta[some] += np.maximum(kept - lost, 0.0)
        error[some] += doubt.sum(axis=1)
        slope[some] += lost
    return delta, error, slope
