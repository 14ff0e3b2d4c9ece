"""The continuous part of one coordinate's loss, as a privacy profile in closed form.

On a stretch of noise values (see `dpnoise.privacy.inversion.loss`) zeta is monotone, so that
(1 - e^(x - zeta))_+ is positive from or up to one point. There the payoff integrates to the
transform of the rest of the stretch at s = 0 less that at s = -1, with zeta counted from x.

Where x is known up to a doubt, the profile is taken at x - doubt, the side on which it is
larger. It is convex in e^x, so that at x + doubt it has fallen by at most e^(2 doubt) - 1 times
its slope there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpnoise.privacy.inversion.stretches import integrate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise._types import Array
    from dpnoise.privacy.inversion.loss import Stretch

# The relative error of a value of the loss, for each coordinate.
VALUE_ERROR = 5e-14
_POINTS = np.array([0.0, -1.0], dtype=complex)


def _beyond(cut: Stretch, x: Array) -> Array:
    """Return, as rows like `cut`, the parts of a stretch on which zeta exceeds x."""
    psi, zeta = cut[1:4], cut[4:7]
    start = zeta[0] - x  # zeta at y = 0, from x
    endless = np.isinf(cut.length)
    rise = zeta[1] if endless else zeta[1] + 0.5 * cut.length * zeta[2]
    root = np.sqrt(np.maximum(zeta[1] * zeta[1] - 2.0 * zeta[2] * start, 0.0))
    slope = abs(zeta[1]) + root
    # Where zeta is x. If that is at y = 0, zeta may be stationary there: 0 / 0 is 0. With no
    # slope elsewhere, zeta moves away from x.
    never = np.where(start == 0.0, 0.0, np.inf)
    turn = np.divide(2.0 * np.abs(start), slope, out=never, where=slope > 0.0)
    turn = np.minimum(turn, cut.length)
    if rise > 0.0:
        left = np.where(start >= 0.0, 0.0, turn)
        # An endless stretch on which zeta is linear always has a rest.
        length = np.full_like(x, np.inf) if endless else cut.length - left
    else:
        left = np.zeros_like(x)
        length = np.where(start > 0.0, turn, 0.0)
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


def continuous_delta(
    stretches: Sequence[Stretch], x: Array, doubt: float = 0.0
) -> tuple[Array, Array, Array]:
    """The profile E (1 - e^(x - L))_+ of the continuous part of a loss at x of any sign.

    Beside it, a bound on its error for all x within `doubt`, to which the error of zeta is added,
    and minus its derivative at the lowest of them, each of shape (points,).
    """
    delta, error, slope = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
    for cut in stretches:
        off = doubt + VALUE_ERROR * (np.abs(x) + abs(cut.zeta_0))
        rows = _beyond(cut, x - off)
        some = rows[:, 0] > 0.0
        value, rounding = integrate(rows[some], _POINTS)
        kept, lost = np.maximum(value.real.T, 0.0)
        most = np.maximum(kept - lost, 0.0)
        far = off[some]
        fall = np.where(far <= 1.0, np.expm1(2.0 * np.minimum(far, 1.0)) * lost, most)
        half = 0.5 * np.minimum(fall, most)
        delta[some] += most - half
        error[some] += rounding.sum(axis=1) + half
        slope[some] += lost
    return delta, error, slope
