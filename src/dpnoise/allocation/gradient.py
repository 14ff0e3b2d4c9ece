"""A smooth estimate of log delta for unequal noise on groups of coordinates, with its slopes.

With M(s) = prod M_g(s)^n_g the transform of the privacy loss (docs/vector-privacy.md),

    delta = 1 / (2 pi) int exp(-s epsilon) M(s) / (s (s + 1)) du,  s = c + i u,

so the slope of log delta in the logarithm of one group's scale is the same integral with the
factor n_g d log M_g(s), over delta. All slopes come from one pass over the points of a
trapezoidal rule. Atoms of the loss make the integrand fade slowly; we add a fictitious Gaussian
loss of small variance, which raises delta by about a tenth of a percent, and its slopes alike. This
serves to find a direction: what is handed out is certified elsewhere.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise.privacy.inversion.loss import coordinate_loss
from dpnoise.privacy.inversion.transform import LossTransform

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dpnoise._types import Array
    from dpnoise.noise.base import Noise
    from dpnoise.privacy.inversion.loss import CoordinateLoss

    Counts = NDArray[np.int64]

_STEP = 1e-3  # of c + 10 times the logarithm of a scale, for the slopes
_BLUR = 0.0005  # a^2 c (c + 1) of the added Gaussian loss
_FADED, _PERIOD = 6.0, 24.0  # where the rule ends and how far off its aliases are
_SLOPE_ERROR = 1e-3
_MAX_POINTS, _CHUNK = 20_000, 512
# Many groups fade early: fewer points, but at least so many; and an end where two chunks in a row
# add nothing.
_MAX_WORK, _FEWEST, _NOTHING = 300_000, 1024, 1e-9
_SEARCH = np.geomspace(1e-7, 1e6, 53)  # beyond, finite differences lose their digits


class Slopes(NamedTuple):
    """An estimate of delta."""

    log_delta: float
    slopes: Array  # shape (G,), derivatives in the logarithms of the scales
    work: int = 0  # points of the rule times transforms, the same on every machine


def maximum_atoms(noises: Sequence[Noise], ratios: Array, counts: Counts) -> Array:
    """n_g times the largest loss that a coordinate has with positive probability, or 0."""
    values = [
        max((value for value, _ in loss.atoms), default=0.0) for loss in _losses(noises, ratios)
    ]
    return counts * np.array(values)


def _log_m(transform: LossTransform, counts: Array, c: Array, *, atoms: bool) -> Array:
    """Log M at real c, with or without the product of the atoms."""
    log_m = transform.log_real(c)
    if atoms:
        return log_m
    peak = transform.peaks(c)
    # Far out the exponents lose all digits; such values are not used.
    with np.errstate(all="ignore"):
        values = transform.values(c.astype(complex), peak)
        log_ratio = counts @ np.log1p((values.continuous / values.atoms).real)
        rest = log_m + np.log(-np.expm1(-log_ratio))
    return np.where(np.isfinite(rest), rest, math.inf)


def _saddle(
    transform: LossTransform, counts: Array, epsilon: float, *, atoms: bool
) -> tuple[float, float]:
    """Contour c near the saddle point, and the curvature of the logarithm of the integrand."""
    c = _SEARCH
    for _ in range(3):
        log_m = _log_m(transform, counts, c, atoms=atoms)
        height = log_m - c * epsilon - np.log(c) - np.log1p(c)
        best = min(max(int(np.argmin(height)), 1), len(c) - 2)
        found, inner = float(c[best]), slice(best - 1, best + 2)
        x, y = c[inner], height[inner]
        c = np.geomspace(x[0], x[2], 13)
    (rise, fall), (left, right) = np.diff(y), np.diff(x)
    bend = 2.0 * (fall / right - rise / left) / (left + right)
    minimum = 1.0 / found**2 + 1.0 / (found + 1.0) ** 2
    return found, max(float(bend), minimum) if math.isfinite(bend) else minimum


def _losses(noises: Sequence[Noise], ratios: Array) -> list[CoordinateLoss]:
    return [
        coordinate_loss(noise.scaled(float(ratio)))
        for noise, ratio in zip(noises, ratios, strict=True)
    ]


def log_delta_and_slopes(
    noises: Sequence[Noise], ratios: Array, counts: Counts, epsilon: float, *, atoms: bool = True
) -> Slopes:
    """Estimate of log delta and its slopes, for groups of log-concave noise with quadratic pieces.

    `ratios` are scale over sensitivity. Without `atoms`, losses made of atoms alone do not count:
    they add nothing to delta where the sum of all largest atoms is at most epsilon, and blurred
    they would. RuntimeError if rounding hides the result.
    """
    losses = _losses(noises, ratios)
    squares = np.array([loss.gaussian for loss in losses])  # mu^2, 0 if not Gaussian
    others = np.flatnonzero(squares == 0.0)
    gaussian = float(counts @ squares)
    copies, some = counts[others].tolist(), counts[others].astype(float)
    middle = LossTransform([losses[g] for g in others], copies, gaussian)
    c, bend = _saddle(middle, some, epsilon, atoms=atoms)
    blur, change = _BLUR / (c * (c + 1.0)), _STEP / (10.0 + c)
    up, down = (_losses(noises, ratios * math.exp(x)) for x in (change, -change))
    three = LossTransform([each[g] for each in (losses, up, down) for g in others], 3 * copies, 0.0)
    step = 2.0 * math.pi / (_PERIOD * math.sqrt(bend + gaussian + blur))
    last = _FADED / math.sqrt(gaussian + blur)
    most = min(_MAX_POINTS, max(_MAX_WORK // (3 * len(losses)), _FEWEST))
    u = step * np.arange(min(math.ceil(last / step), most) + 1)
    weight = np.full(u.size, step / math.pi)
    weight[0] *= 0.5
    peak = three.peaks(np.array([c]))
    spread = 0.5 * (gaussian + blur)

    def transforms(s: NDArray[np.complex128], sign: int) -> list[NDArray[np.complex128]]:
        """Transforms of the losses, or of their atoms, at three scales."""
        values = three.values(s, peak)
        total = values.atoms if sign < 0 else values.atoms + values.continuous
        return [m * np.exp(p) for m, p in zip(np.split(total, 3), peaks, strict=True)]

    peaks = [p - peak[: others.size] for p in np.split(peak, 3)]
    # In units of its value at c a transform has no power that overflows.
    unit = transforms(np.array([c + 0j]), 1)[0].real
    log_scale = c * (spread * (c + 1.0) - epsilon)
    log_scale += float(some @ (peak[: others.size, 0] + np.log(unit[:, 0])))
    total, sums, quiet, work = 0.0, np.zeros(len(losses)), 0, 0
    for k in range(0, u.size, _CHUNK):
        s, w = np.asarray(c + 1j * u[k : k + _CHUNK], dtype=complex), weight[k : k + _CHUNK]
        product = s * (s + 1.0)
        base = np.exp(spread * (product - c * (c + 1.0)) - 1j * epsilon * s.imag) / product
        level, work = 0.0, work + 3 * len(losses) * u[k : k + _CHUNK].size
        for sign in (1,) if atoms or not others.size else (1, -1):
            part = sign * base
            if others.size:
                m, more, less = transforms(s, sign)
                with np.errstate(all="ignore"):  # refused below
                    part = part * np.exp(some @ np.log(m / unit))
                    change_of_m = (((more - less) / m) * part).real @ w
                sums[others] += some * change_of_m / (2.0 * change)
            total += float(part.real @ w)
            level += float(np.abs(part) @ w)
            sums -= counts * squares * float((product * part).real @ w)
        quiet = quiet + 1 if level < _NOTHING * abs(total) else 0
        if quiet == 2:
            break
    # More noise means less delta; what says otherwise is rounding.
    good = total > 0.0 and bool(np.all(sums <= _SLOPE_ERROR * np.max(np.abs(sums))))
    if not good:
        raise RuntimeError(f"allocation: rounding hides delta at epsilon={epsilon!r}")
    return Slopes(math.log(total) + log_scale, sums / total, work)
