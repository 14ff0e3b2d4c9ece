"""Estimates of the delta of equal coordinates, for many kinds of noise at once, without bounds.

The trapezoidal rule of `inversion.trapezoid` on a line of its own for each kind of noise, with all
lines evaluated together: a search over shapes asks for dozens of values, which take hardly more
time than one. Nothing is claimed of them: they say where to look, and what is found there is
certified by the account itself. A value whose sum is not seen to fade within the points at hand, as
where atoms of the loss decide, is NaN.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.privacy.inversion.transform import LossTransform

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise._types import Array
    from dpnoise.privacy.inversion.loss import CoordinateLoss

_SEARCH, _NEAR = np.geomspace(1e-4, 1e8, 49), np.exp(np.linspace(-1.2, 1.2, 9))  # for c
_AROUND = np.linspace(-1.0, 1.0, 9)
_PERIOD = 12.0  # in units of the spread: aliases of e^-17 of the sum
_CHUNK, _CHUNKS = 16, 4  # points of the rule
_FADED = 1e-8  # of the sum: a bound on what is left out
_HOPELESS = math.log(1e-6)  # of the atoms' power, from which on they do not fade in time


def _height(transform: LossTransform, c: Array, copies: int, epsilon: float) -> Array:
    """Log |exp(-c epsilon) M(c) / (c (c + 1))| of each kind, infinite where it has no digits."""
    peak = transform.peaks(c)
    values = transform.values(c.astype(complex), peak)
    sums = (values.atoms + values.continuous).real
    good = (sums > 0.0) & (values.error < 1e-6 * sums)
    log_m = copies * (peak + np.log(np.where(good, sums, 1.0)))
    return np.where(good, log_m - c * epsilon - np.log(c) - np.log1p(c), math.inf)


def log_deltas(
    losses: Sequence[CoordinateLoss], copies: int, epsilon: float, near: float = math.nan
) -> tuple[Array, float]:
    """Estimates of log delta for `copies` coordinates with each of the losses, NaN if not found.

    And where the lines are, in the middle: for the next call, if its losses are not far from these.
    """
    with np.errstate(all="ignore"):  # what is no number is left out in the end
        return _log_deltas(losses, copies, epsilon, near)


def _log_deltas(
    losses: Sequence[CoordinateLoss], copies: int, epsilon: float, near: float
) -> tuple[Array, float]:
    transform = LossTransform(losses, [1] * len(losses), 0.0)
    every, c = np.arange(len(losses)), np.broadcast_to(near * _NEAR, (len(losses), _NEAR.size))
    height = _height(transform, near * _NEAR, copies, epsilon)
    best = np.argmin(height, axis=1)
    if math.isnan(near) or not np.all((best > 0) & (best < _NEAR.size - 1)):
        best = np.argmin(_height(transform, _SEARCH, copies, epsilon), axis=1)
        c = _SEARCH[best][:, None] * (_SEARCH[1] / _SEARCH[0]) ** _AROUND
        height = _height(transform, c, copies, epsilon)
    # The saddle point and the curvature there, by the parabola through three heights.
    inner = np.clip(np.argmin(height, axis=1), 1, c.shape[1] - 2)
    x, y = (np.stack([z[every, inner + k] for k in (-1, 0, 1)]) for z in (c, height))
    slopes = np.diff(y, axis=0) / np.diff(x, axis=0)
    turn = 2.0 * (slopes[1] - slopes[0]) / (x[2] - x[0])
    c = np.clip(0.5 * (x[0] + x[1] - 2.0 * slopes[0] / turn), x[0], x[2])
    # The sum of the rule with a step for each kind, relative to its value at c.
    line = transform.line(c)
    step = 2.0 * math.pi / (_PERIOD * np.sqrt(turn))
    total, log_atoms = np.zeros(len(losses)), copies * np.log(line.atoms[:, 0])
    for chunk in range(_CHUNKS):
        u = step[:, None] * np.arange(chunk * _CHUNK, (chunk + 1) * _CHUNK)
        s, end = c[:, None] + 1j * u, u[:, -1:]
        values = line.transform.values(s, line.peak)
        log_z = np.log((values.atoms + values.continuous) / line.norm)
        term = np.exp(copies * log_z - 1j * epsilon * u) / (s * (s + 1.0))
        total += term.real.sum(axis=1) - (0.5 * term[:, 0].real if chunk == 0 else 0.0)
        most = (line.atoms + line.envelope(end))[:, 0] ** copies / (end[:, 0] * step)
        faded = most <= _FADED * total
        if np.all(faded | ~(log_atoms < _HOPELESS)):
            break
    found = copies * line.log_groups - c * epsilon + np.log(total * step / math.pi)
    infinite = np.log(-np.expm1(copies * np.log1p([-loss.infinite for loss in losses])))
    return np.where(faded, np.logaddexp(found, infinite), math.nan), float(np.median(c))
