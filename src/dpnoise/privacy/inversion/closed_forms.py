"""Closed forms of delta: of the continuous part of one loss, and of sums of losses' atoms.

**One continuous loss.** On a stretch of noise values (see `inversion.loss`) zeta is monotone, so
that (1 - e^(x - zeta))_+ is positive from or up to one point. There the payoff integrates to the
transform of the rest of the stretch at s = 0 less that at s = -1, with zeta counted from x.

Where x is known up to a doubt, the profile is taken at x - doubt, the side on which it is
larger. It is convex in e^x, so that at x + doubt it has fallen by at most e^(2 doubt) - 1 times
its slope there.

**Atoms.** If every coordinate's loss takes some values with positive mass, so does their sum; those
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

from dpnoise.privacy.inversion.transform import integrate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise._types import Array
    from dpnoise.privacy.inversion.loss import Stretch

    Atoms = Sequence[tuple[float, float]]

# Relative errors for each coordinate, of a loss and of a mass per unit of its logarithm.
_VALUE_ERROR = 5e-14
_MASS_ERROR = 5e-14
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
        off = doubt + _VALUE_ERROR * (np.abs(x) + abs(cut.zeta_0))
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
    return AtomicLoss(values, logs, _VALUE_ERROR * value_error, _MASS_ERROR * (mass_error + 1.0))
