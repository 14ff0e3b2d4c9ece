"""The part of a composed privacy loss that is a sum of atoms, in closed form.

If every coordinate's loss takes some values with positive mass, so does their sum; those
values do not fade on the line of inversion and are added up here instead. K copies of two
values are binomial. K copies of -l, 0, l (staircase noise) have the coefficients r_n of
(q_0 + q_1 x + q_2 x^2)^K, whose ratios rho_n = r_n / r_(n-1) obey

    n q_0 rho_n = (K + 1 - n) q_1 + (2 K + 2 - n) q_2 / rho_(n-1),

a recurrence of positive terms for n <= K, and from the other end for the rest.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import special

from dpnoise.privacy.inversion.continuous import VALUE_ERROR, continuous_delta

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise._types import Array
    from dpnoise.privacy.inversion.loss import Stretch

    Atoms = Sequence[tuple[float, float]]

# The relative error of a mass per unit of its logarithm, for each coordinate.
_MASS_ERROR = 5e-14


class AtomicLoss(NamedTuple):
    """A sub-probability on finitely many values of the loss, with their log masses.

    `value_error` bounds the error of each value, `mass_error` the relative error of each mass.
    """

    values: Array
    log_masses: Array
    value_error: float
    mass_error: float

    def log_delta_with(self, stretches: Sequence[Stretch], epsilon: float) -> tuple[float, float]:
        """The logarithms of delta and of a bound on its error, with one continuous loss added."""
        doubt = self.value_error + 4.0 * np.finfo(float).eps * abs(epsilon)
        delta, error, _ = continuous_delta(stretches, epsilon - self.values, doubt)
        error = error + self.mass_error * (delta + error)
        with np.errstate(divide="ignore"):  # nothing beyond epsilon
            terms = np.log(delta), np.log(error)
        log_delta, log_error = (np.logaddexp.reduce(self.log_masses + term) for term in terms)
        return float(log_delta), float(log_error)

    def log_delta(self, epsilon: float) -> tuple[float, float]:
        """The logarithms of the contribution to delta and of a bound on its error."""
        doubt = self.value_error + 4.0 * np.finfo(float).eps * abs(epsilon)
        near = self.values > epsilon - doubt
        gap, log_masses = self.values[near] - epsilon, self.log_masses[near]
        if not gap.size:
            return -math.inf, -math.inf
        with np.errstate(divide="ignore"):  # an atom at epsilon contributes nothing
            payoff = np.log(-np.expm1(-np.maximum(gap, 0.0)))
        log_delta = float(np.logaddexp.reduce(log_masses + payoff))
        slack = float(np.logaddexp.reduce(log_masses + np.minimum(-gap, 0.0)))
        return log_delta, float(
            np.logaddexp(log_delta + math.log(self.mass_error), slack + math.log(2.0 * doubt))
        )


def number_of_atoms(atoms: Atoms, copies: int) -> int:
    """Number of atoms that `powers` gives, or 0 where it knows no closed form."""
    if len(atoms) == 3:
        (a, _), (b, _), (c, _) = sorted(atoms)
        return 2 * copies + 1 if b == 0.0 and a == -c else 0
    return {1: 1, 2: copies + 1}.get(len(atoms), 0)


def _trinomial(first: float, middle: float, last: float, copies: int) -> Array:
    """Log r_0, ..., log r_K of (q_0 + q_1 x + q_2 x^2)^K from the log q."""
    log_ratios = np.empty(copies)
    one, two = math.exp(middle - first), math.exp(0.5 * (last - first))
    # In units of x sqrt(q_2 / q_0), so that no ratio is extreme.
    one /= two
    ratio = copies * one
    for n in range(1, copies + 1):
        if n > 1:
            ratio = ((copies + 1 - n) * one + (2 * copies + 2 - n) / ratio) / n
        log_ratios[n - 1] = ratio
    log_ratios = np.log(log_ratios) + math.log(two)
    return copies * first + np.concatenate([[0.0], np.cumsum(log_ratios)])


def powers(atoms: Atoms, copies: int) -> tuple[Array, Array]:
    """Values and log masses of the sum of `copies` independent losses."""
    ordered = sorted(atoms)
    values = np.array([value for value, _ in ordered])
    logs = [log_mass for _, log_mass in ordered]
    if len(ordered) == 1 or copies == 0:
        return copies * values[:1], copies * np.array(logs[:1])
    if len(ordered) == 2:
        n = np.arange(copies + 1.0)
        choose = -special.betaln(n + 1.0, copies - n + 1.0) - math.log(copies + 1.0)
        return (
            n * values[1] + (copies - n) * values[0],
            choose + n * logs[1] + (copies - n) * logs[0],
        )
    first, middle, last = logs
    lower = _trinomial(first, middle, last, copies)
    upper = _trinomial(last, middle, first, copies)
    return values[2] * np.arange(-copies, copies + 1.0), np.concatenate([lower, upper[-2::-1]])


def combine(groups: Sequence[tuple[Atoms, int]]) -> AtomicLoss:
    """The atoms of the sum of independent losses, given as pairs of atoms and copies."""
    values, logs = np.zeros(1), np.zeros(1)
    value_error = mass_error = 0.0
    for atoms, copies in groups:
        more, log_more = powers(atoms, copies)
        values = np.add.outer(values, more).ravel()
        logs = np.add.outer(logs, log_more).ravel()
        value_error += copies * max(abs(value) for value, _ in atoms)
        terms = max(abs(log_mass) for _, log_mass in atoms) + 1.0
        mass_error += copies * (terms + math.log(copies + 1.0))
    return AtomicLoss(values, logs, VALUE_ERROR * value_error, _MASS_ERROR * (mass_error + 1.0))
