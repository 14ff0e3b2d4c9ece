"""The distribution of a sum of losses on the lattice, by the fast Fourier transform."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import fft, special

from dpnoise.privacy.lattice.nodes import UNIT
from dpnoise.privacy.lattice.rounding import Masses, round_down, round_up

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.privacy.lattice.plan import AnyCoordinate, Plan

_TINY = -40.0  # from here on 1 - exp(-exp(x)) is exp(x)


class RoundedLoss(NamedTuple):
    """Copies of one coordinate on the lattice, in one direction."""

    copies: int
    log_infinite: float
    masses: Masses
    slack: float  # of the loss
    error: float  # relative, of the masses


def rounded_losses(part: AnyCoordinate, plan: Plan) -> tuple[RoundedLoss, RoundedLoss]:
    """One coordinate's loss rounded down and rounded up, with tilt and spacing of the plan."""
    h, tilt = plan.h, plan.tilt
    below, above, infinite, rounding, error = part.planned(h, tilt)
    log_factor = float(special.logsumexp(below.log_mass + tilt * below.loss))
    down, tolerance = round_down(below, h, tilt, log_factor, rounding)
    up = round_up(above, h, tilt, log_factor)
    # Rounding of the weights' exponents, and of their sums, beside that of psi or the masses.
    size = max(abs(float(below.loss[0])), abs(float(below.loss[-1])))
    error += UNIT * (8.0 * (tilt * (size + h) + abs(log_factor)) + 64.0)
    return (
        RoundedLoss(part.copies, part.log_infinite, down, tolerance + rounding, error),
        RoundedLoss(part.copies, infinite, up, rounding, error),
    )


def log_any_infinite(pairs: list[tuple[int, float]]) -> float:
    """Log of 1 - prod (1 - p)^copies for (copies, log p), also where that underflows."""
    if any(math.exp(log_p) >= 1.0 for _, log_p in pairs):
        return 0.0
    rates = [
        math.log(copies) + (log_p if log_p < _TINY else math.log(-math.log1p(-math.exp(log_p))))
        for copies, log_p in pairs
    ]
    log_rate = float(np.logaddexp.reduce(rates))
    return log_rate if log_rate < _TINY else math.log(-math.expm1(-math.exp(min(log_rate, 9.0))))


def sum_weights(parts: list[RoundedLoss], start: int, size: int) -> tuple[Array, float]:
    """The weights of the sum at `size` points from `start` on; a bound on their 2-norm error."""
    spectrum, norm = np.ones(size // 2 + 1, dtype=complex), 0.0
    for part in parts:
        index = (part.masses.start + np.arange(len(part.masses.weight))) % size
        wrapped = np.bincount(index, part.masses.weight, minlength=size)
        norm += part.copies * float(np.linalg.norm(wrapped))
        factor, power = fft.rfft(wrapped), part.copies
        while power:
            if power % 2:
                spectrum *= factor
            power //= 2
            if power:
                factor *= factor
    weights = np.roll(fft.irfft(spectrum, size), -(start % size))
    return weights, 3.0 * 8.0 * UNIT * math.log2(size) * norm


def log_outside(parts: list[RoundedLoss], plan: Plan, size: int) -> tuple[float, float]:
    """Log of Chernoff's bounds on the weight of the sum above and below the window."""
    up, down = plan.steps
    bounds = []
    for step, end in ((up, plan.start + size), (-down, plan.start)):
        total = -step * end * plan.h
        for part in parts:
            start, weight, _ = part.masses
            some = np.flatnonzero(weight > 0)
            exponent = np.log(weight[some]) + step * plan.h * (start + some)
            total += part.copies * float(special.logsumexp(exponent))
        bounds.append(total)
    return bounds[0], bounds[1]
