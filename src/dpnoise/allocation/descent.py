"""Descent to scales of minimum error on a privacy budget, by a smooth estimate of delta.

With the elasticities e_g = -d log delta / d log s_g a minimum of sum n_g w_g E|T_g|^p s_g^p on the
budget has n_g w_g E|T_g|^p s_g^p proportional to e_g. Each round takes e_g to fall like s_g^-2, as
it does for Gaussian noise, and log delta to be linear in log s, so that Gaussian noise is solved in
one round.

Where the largest losses of Laplace centres add up to epsilon, delta has a kink: beyond it they
cost delta with probability about 2^-K. Flipped Huber noise is often best right there. So a second
descent keeps the sum of l_g, the largest atoms of a group's loss, at epsilon or below; on its
boundary e_g + r l_g stands for e_g, with r >= 0 such that both constraints hold.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise.allocation.gradient import log_delta_and_slopes, maximum_atoms

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.allocation.groups import GroupedRequest

_ROUNDS, _SETTLED, _LONGEST = 30, 1e-5, 1.0  # steps of log s
_MAX_WORK = 1_000_000  # points of rules times transforms in one descent, a second or two
_DAMPING, _SLOW = 2.0, 0.7  # the power of s by which slopes fall, raised where steps hardly shrink
_NEGLIGIBLE = 1e-12  # slope relative to the largest
_BELOW = 1e-9  # by which the kink is kept away from
_RATIOS = 60.0  # maximum of |log r| relative to the slopes


class Found(NamedTuple):
    """Where a descent settled."""

    scales: Array  # shape (G,), on the budget as far as the estimate tells
    slope: float  # of log delta in the logarithm of the common factor
    kink: bool = False  # whether the largest atoms add up to epsilon


class _Model(NamedTuple):
    """Log delta near some scales: its excess over the budget, and how it falls."""

    scales: Array
    elasticity: Array
    excess: float
    damping: float
    work: int = 0


class Descent:
    """Rounds for one request, all of its noise made of quadratic pieces.

    `most` is the largest loss of all coordinates together that always suffices, `slopes` are the
    largest slopes of -log density, perhaps infinite, shape (G,).
    """

    def __init__(self, search: GroupedRequest, most: float, slopes: Array) -> None:
        self.search, self.most = search, most
        groups = search.groups
        self.spent = groups.counts * groups.sensitivities * slopes
        self.limit = search.epsilon * (1.0 - _BELOW)
        self.cost = np.log(groups.counts * groups.costs)

    def within_maximum_loss(self, scales: Array) -> Array:
        """Scales, reduced to the largest loss that always suffices if theirs is less."""
        return scales * min(1.0, math.fsum(self.spent / scales) / self.most)

    def on_budget(self, scales: Array) -> Found | None:
        """The multiple of scales on the budget."""
        return self._rounds(scales, free=False, below=False)

    def minimum(self, scales: Array) -> Found | None:
        """Scales of minimum error by a descent from `scales`."""
        return self._rounds(scales, free=True, below=False)

    def minimum_below_kink(self, scales: Array) -> Found | None:
        """Scales of minimum error whose largest atoms add up to at most epsilon."""
        if self.search.epsilon == 0.0 or not np.all(self._maximum_atoms(scales) > 0.0):
            return None
        found = self._rounds(scales, free=True, below=True)
        return found if found and np.all(self._maximum_atoms(found.scales) > 0.0) else None

    def _maximum_atoms(self, scales: Array) -> Array:
        groups = self.search.groups
        return maximum_atoms(groups.noises, scales / groups.sensitivities, groups.counts)

    def _below_kink(self, scales: Array) -> Array:
        """Scales, enlarged until their largest atoms add up to at most the limit."""
        return scales * max(1.0, float(self._maximum_atoms(scales).sum()) / self.limit)

    def _model(self, scales: Array, damping: float, *, below: bool) -> _Model | None:
        """What the estimate says at `scales`, or None if delta is too small to be seen."""
        search, groups = self.search, self.search.groups
        ratios = scales / groups.sensitivities
        try:
            found = log_delta_and_slopes(
                groups.noises, ratios, groups.counts, search.epsilon, atoms=not below
            )
        except RuntimeError:
            return None
        excess = found.log_delta - math.log(search.delta)
        return _Model(scales, np.maximum(-found.slopes, 0.0), excess, damping, found.work)

    def _rounds(self, scales: Array, *, free: bool, below: bool) -> Found | None:
        """Where the rounds settle, or None if they do not."""
        damping, before, work = _DAMPING, math.inf, 0
        seen = scales * math.exp(-2.0 * _LONGEST)
        for _ in range(_ROUNDS):
            if below:
                scales = self._below_kink(scales)
            model = self._model(scales, damping, below=below)
            if model is None:
                scales = np.sqrt(scales * seen)
                continue
            seen, work = scales, work + model.work
            if not np.any(model.elasticity > 0.0):  # delta is 1: far too little noise
                scales = scales * math.exp(_LONGEST)
                continue
            step, kink = self._step(model, free=free), False
            if below:
                tops = self._maximum_atoms(scales)
                kink = float(tops @ np.exp(-step)) > self.limit
                step = self._step_along(model, tops) if kink else step
            longest = float(np.max(np.abs(step)))
            if longest > _SLOW * before:
                damping *= 1.5
            before = longest
            scales = self.within_maximum_loss(scales * np.exp(step * min(1.0, _LONGEST / longest)))
            if longest < _SETTLED or work > _MAX_WORK:
                return Found(scales, -float(model.elasticity.sum()), kink)
        return None

    def _unconstrained_step(self, model: _Model, shares: Array) -> Array:
        """Step towards n w E|T|^p s^p proportional to `shares`."""
        shares = np.maximum(shares, _NEGLIGIBLE * shares.max())
        p = self.search.p
        return (np.log(shares) - self.cost - p * np.log(model.scales)) / (p + model.damping)

    def _step(self, model: _Model, extra: Array | float = 0.0, *, free: bool = True) -> Array:
        """Step onto the budget."""
        elasticity = model.elasticity
        step = (
            self._unconstrained_step(model, elasticity + extra)
            if free
            else np.zeros_like(elasticity)
        )
        return step + (model.excess - elasticity @ step) / elasticity.sum()

    def _step_along(self, model: _Model, tops: Array) -> Array:
        """Step to where the largest atoms add up to the limit."""
        step = self._unconstrained_step(model, tops)
        step += math.log(float(tops @ np.exp(-step)) / self.limit)
        if model.elasticity @ step >= model.excess:  # the budget is kept anyway
            return step
        from scipy.optimize import brentq  # noqa: PLC0415 - 0.1 s

        unit = model.elasticity.sum() / tops.sum() * tops

        def over(x: float) -> float:
            step = self._step(model, unit * math.exp(x))
            return float(np.log(tops @ np.exp(-step))) - math.log(self.limit)

        if over(-_RATIOS) <= 0.0:
            x = -_RATIOS
        elif over(_RATIOS) >= 0.0:
            x = _RATIOS
        else:
            x = brentq(over, -_RATIOS, _RATIOS, xtol=1e-9)
        return self._step(model, unit * math.exp(x))
