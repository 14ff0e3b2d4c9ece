"""Evaluation of the trapezoidal rule of `inversion.trapezoid`, with bounds on its rounding."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from dpnoise._types import Array, ComplexArray
    from dpnoise.privacy.inversion.trapezoid import Plan, Rule

_EPS = np.finfo(float).eps
_CHUNK = 1 << 15  # stretches times points evaluated at once


class Sums(NamedTuple):
    """Truncated sums, with all aliases, and bounds on their rounding.

    `delta` belongs to the blurred loss, `density` to a^2 times e^(a^2 s (s + 1) / 2) M(s), the vega
    of the payoff times a.
    """

    delta: float
    rounding: float
    density: float
    density_rounding: float


def _log_power(z: ComplexArray, copies: Array) -> tuple[Array, Array]:
    """Log modulus and phase of the product of z ** copies over all groups."""
    log_z = np.log(np.where(z == 0.0, 1e-300, z))
    return copies @ log_z.real, copies @ log_z.imag


def truncated_sums(rule: Rule, plan: Plan) -> Sums:
    """The truncated sums of a plan on the line of a rule."""
    step, blur, c = 2.0 * math.pi / plan.period, plan.blur, rule.c
    size = max(_CHUNK // max(rule.transform.rows, 1), 256)
    total = np.zeros(4)
    for start in range(0, plan.points + 1, size):
        u = step * np.arange(start, min(start + size, plan.points + 1), dtype=float)
        factor, error = _product(rule, u, plan.level)
        if start == 0:
            factor[0] *= 0.5
            error[0] *= 0.5
        s = c + 1j * u
        pole = s * (s + 1.0)
        if blur > 0.0:
            factor = factor * np.exp((0.5 * blur) * pole)
            error = error * np.exp(0.5 * blur * (c * (c + 1.0) - u * u))
        term, doubt = factor / pole, error / np.abs(pole)
        total += (term.real.sum(), factor.real.sum(), doubt.sum(), error.sum())
    delta, density, doubt, density_doubt = (total * (step / math.pi)).tolist()
    doubt += 1e-14 * abs(delta)
    return Sums(delta, doubt, blur * density, blur * (density_doubt + 1e-14 * abs(density)))


def _product(rule: Rule, u: Array, level: int) -> tuple[ComplexArray, Array]:
    """exp(-i u epsilon) M(s) / M(c), less what is removed, and error bounds."""
    transform, line = rule.transform, rule.line
    copies, gaussian = transform.copies, transform.gaussian
    values = line.values(u)
    atoms, continuous = values.atoms / line.norm, values.continuous / line.norm
    doubt = values.error / line.norm + 4.0 * _EPS
    size, phase = _log_power(atoms + continuous, copies)
    size = size - 0.5 * gaussian * u * u
    turn = 0.5 * gaussian * (2.0 * rule.c + 1.0) * u - rule.epsilon * u
    factor = np.exp(size + 1j * (phase + turn))
    spins = 32.0 * _EPS * (np.abs(turn) + 4.0 * copies.sum() + 4.0)
    if level == 0:
        modulus = np.abs(atoms + continuous)
    else:
        size_atoms, phase_atoms = _log_power(atoms, copies)
        removed = np.exp(size_atoms + 1j * (phase_atoms + turn))
        if level == 2:
            ratio = continuous / np.where(atoms == 0.0, 1e-300, atoms)
            removed = removed * (1.0 + copies @ ratio)
        factor = factor - removed
        modulus, doubt = np.abs(atoms) + np.abs(continuous), 2.0 * doubt
    log_low = copies @ np.log(np.maximum(modulus, 1e-300)) - 0.5 * gaussian * u * u
    log_high = copies @ np.log(modulus + doubt) - 0.5 * gaussian * u * u
    high = np.exp(log_high)
    error = high * (-np.expm1(log_low - log_high) + spins)
    return factor, error * (1.0 if level == 0 else 3.0)
