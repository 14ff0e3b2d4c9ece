"""Steps of any noise and sampling, for either relation, beside other releases.

`dpnoise.privacy.sampled.pairs` has the pairs of distributions; here are their losses as stretches,
and the composition of these. docs/sampling.md has the proofs.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from dpnoise.privacy.inversion.inversion import LogBounds
from dpnoise.privacy.sampled.composition import MOST_EPSILON, STEEP, Composition
from dpnoise.privacy.sampled.pairs import (
    ADDED,
    ATTAINED,
    FIXED,
    GAUSSIAN,
    LAPLACE,
    REMOVED,
    REPLACED,
    Kind,
    Pair,
    largest_loss,
    log_factor,
    pair_of,
)
from dpnoise.privacy.sampled.stretches import Factor, Stretch, StretchLoss
from dpnoise.privacy.sampled.transform import SampledGaussianLoss
from dpnoise.sensitivity.relation import ADD_REMOVE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpnoise._types import Array
    from dpnoise.privacy.inversion.transform import LossTransform


def loss_of(pair: Pair, log_rest: float, steep: float) -> StretchLoss | SampledGaussianLoss:
    """The loss of one step, cut as the arguments say where its outputs have no end."""
    if pair.noise == LAPLACE:
        return _laplace_loss(pair)
    form, _, m, q = pair
    if form in {REMOVED, ADDED}:
        rest = log_rest if form == REMOVED else -math.inf
        return SampledGaussianLoss(1.0 / m, q, removed=form == REMOVED, log_rest=rest, steep=steep)
    up = Factor(m, -0.5 * m * m, 1.0, 1.0)
    atoms: list[tuple[float, float]] = []
    if form == REPLACED:
        down = Factor(-m, -0.5 * m * m, 0.0, -1.0)
        parts = [Stretch(-math.inf, math.inf, True, (up, down), cut=True)]
    else:
        away = up._replace(power=0.0, turn=-1.0)
        parts = [
            Stretch(0.5 * m, math.inf, True, (up,), cut=True),
            Stretch(0.5 * m, math.inf, True, (away,)),
        ]
        same = float(special.erf(m / math.sqrt(8.0)))
        atoms = [(0.0, math.log1p(-q) + math.log(same))]
    return StretchLoss(q, parts, atoms, mean=m, log_rest=log_rest, steep=steep)


def _laplace_loss(pair: Pair) -> StretchLoss:
    form, _, m, q = pair
    up = Factor(2.0, -m, 1.0, 1.0)
    away = up._replace(power=0.0, turn=-1.0)
    top, low = log_factor(q, m), log_factor(q, -m)
    # Masses of the outputs beyond the record, without and with it.
    plain = -m - math.log(2.0)
    mixed = plain + top
    if form == REMOVED:
        parts = [Stretch(0.0, m, False, (up,))]
        atoms = [(top, mixed), (low, low - math.log(2.0))]
    elif form == ADDED:
        parts = [Stretch(0.0, m, False, (away,))]
        atoms = [(-low, -math.log(2.0)), (-top, plain)]
    elif form == REPLACED:
        parts = [
            Stretch(0.0, m, False, (up,), shift=-low),
            Stretch(0.0, m, False, (away,), log_scale=low, shift=low),
        ]
        atoms = [(top - low, mixed), (low - top, plain + low)]
    else:
        parts = [Stretch(0.5 * m, m, False, (one,)) for one in (up, away)]
        atoms = [(top, mixed), (-top, plain)]
        if q < 1.0:
            atoms.append((0.0, math.log1p(-q) + math.log(-math.expm1(-0.5 * m))))
    return StretchLoss(q, parts, atoms)


class PairComposition(Composition):
    """Steps of any noise and sampling for either relation, beside other releases."""

    _plain_pairs = False

    def __init__(
        self, kinds: Mapping[Kind, int], relation: str, other: LossTransform | None = None
    ) -> None:
        moved = {kind for kind in kinds if kind.rate == 1.0 and kind.noise == GAUSSIAN}
        first = REMOVED if relation == ADD_REMOVE else REPLACED
        # Gaussian noise on all data adds up, whatever the relation.
        whole = {Kind(1.0 / pair_of(kind, first).shift, 1.0): kinds[kind] for kind in moved}
        super().__init__(whole, other)
        self.relation = relation
        self.every = {kind: n for kind, n in kinds.items() if kind.rate > 0.0}
        self.steps = {kind: n for kind, n in self.every.items() if kind not in moved}

    @property
    def _largest(self) -> float:
        """Not looked at: `largest` tells it."""
        return math.inf

    def _plain(self, step: Kind, c: Array, direction: str) -> Array:
        pair = pair_of(step, direction)
        shift = 2.0 * pair.shift if pair.form == REPLACED else pair.shift
        square = 0.5 * c * (c + 1.0) * shift * shift
        if pair.noise == GAUSSIAN:
            return square
        # ((c + 1) e^(c shift) + c e^-((c + 1) shift)) / (2 c + 1), rounded up.
        first, second = np.log1p(c) + c * shift, np.log(c) - (c + 1.0) * shift
        exact = np.logaddexp(first, second) - np.log1p(2.0 * c)
        return np.minimum(exact + 1e-15 * (8.0 + np.abs(first) + np.abs(second)), square)

    def _largest_of(self, direction: str) -> float:
        if not self.alone or self.other.gaussian > 0.0:
            return math.inf
        return self.largest(direction) * (1.0 + 1e-12)

    def _single(self, step: Kind) -> PairComposition:
        return PairComposition({step: 1}, self.relation)

    def _cuts(self, direction: str) -> bool:
        """Whether a step has outputs that matter at large tilts only."""
        pairs = [pair_of(kind, direction) for kind in self.steps]
        return any(pair.noise == GAUSSIAN and pair.form != ADDED for pair in pairs)

    def _loss(
        self, step: Kind, direction: str, log_rest: float, steep: float
    ) -> StretchLoss | SampledGaussianLoss:
        return loss_of(pair_of(step, direction), log_rest, steep)

    def _variance(self, direction: str) -> float:
        """About the variance of the loss, where the record is rarely seen."""
        total = 1e-300
        if len(self.other.copies) or self.other.gaussian > 0.0:
            rise = float(self.other.log_real(np.array([1.0]))[0])
            total += min(rise, 1e6)
        y = np.linspace(-8.0, 8.0, 161)
        for kind, n in self.steps.items():
            form, noise, m, q = pair_of(kind, direction)
            if noise == LAPLACE:
                w = np.abs(y) - np.abs(y - m), np.abs(y) - np.abs(y + m)
                weight = 0.05 * np.exp(-np.abs(y))
            else:
                w = m * y - 0.5 * m * m, -m * y - 0.5 * m * m
                weight = 0.1 * np.exp(-0.5 * y * y) / math.sqrt(2.0 * math.pi)
            logs = [
                np.logaddexp(math.log1p(-q) if q < 1.0 else -math.inf, math.log(q) + x) for x in w
            ]
            loss = logs[0] - logs[1] if form == REPLACED else logs[0]
            loss = np.where(loss > 0.0, math.sqrt(2.0) * loss, 0.0) if form == FIXED else loss
            total += n * float(weight @ loss**2)
        return total

    def _tilt(self, epsilon: float, direction: str) -> float:
        return max(epsilon / self._variance(direction) - 0.5, 0.0)

    def _start(self, log_delta: float, direction: str) -> float:
        if not self._cuts(direction):
            return super()._start(log_delta, direction)
        variance = self._variance(direction)
        root = math.sqrt(-2.0 * log_delta)
        self._steep = STEEP * root / math.sqrt(variance)
        guess = 0.5 * variance + root * math.sqrt(variance)
        most, tilt = self._chernoff_epsilon(log_delta, direction)
        one = self._alone_epsilon(log_delta, direction)
        if sum(self.every.values()) == 1 or guess < one:  # large losses are rare
            self._steep, guess = STEEP * tilt, max(one, 0.5 * most)
        return min(max(guess, 1e-9), MOST_EPSILON)

    def bounds(self, epsilon: float, guess: float | None = None) -> LogBounds:
        """Bounds on log delta where one record is replaced."""
        found = self.log_delta(epsilon, REPLACED, guess)
        if self._is_attained:
            return found
        lower = min(self.log_delta(epsilon, ATTAINED, guess).lower, found.upper)
        return LogBounds(lower, max(found.estimate, lower), found.upper)

    def epsilons(self, log_delta: float) -> tuple[float, float]:
        """Bounds on the least epsilon where one record is replaced."""
        low, high = self.epsilon(log_delta, REPLACED)
        if not self._is_attained:
            low = self.epsilon(log_delta, ATTAINED)[0]
        return min(low, high), high

    @property
    def _is_attained(self) -> bool:
        """Whether the pair that dominates is attained."""
        fixed = any(kind.sampling == FIXED and kind.rate < 1.0 for kind in self.steps)
        return not fixed or (self.alone and sum(self.every.values()) == 1)

    def largest(self, direction: str) -> float:
        """The largest loss of all steps together, rounding included."""
        losses = [n * largest_loss(pair_of(kind, direction)) for kind, n in self.every.items()]
        return math.fsum(losses)
