"""Transforms of privacy losses on Poisson samples that are analytic on stretches of outputs.

On a stretch the output y has a density proportional to a base density, phi(y) or e^-y / 2, times
A_1^(p_1) A_2^(p_2), and the loss is L = v + t_1 log A_1 + t_2 log A_2, where

    A_i = 1 - q + q e^(w_i),  w_i = k_i y + a_i,  q the rate.

Each A_i has no zero for |Im w_i| < pi, which bounds the error of quadrature: of the trapezoidal
rule on the whole line, of Gauss-Legendre rules on panels elsewhere. Beside stretches the loss has
atoms. `dpnoise.privacy.sampled.relations` has the pairs; docs/sampling.md has the proofs. The
interface is that of `dpnoise.privacy.sampled.transform.SampledGaussianLoss`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import special

from dpnoise.privacy.sampled.stretch_line import MOST_NODES, WIDEST, StretchLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise._types import Array

_EPS = np.finfo(float).eps
_DIGITS = 40.0  # a rule is off by about e^-40 of the integral, and by what it states
_REACH = 11.0  # beyond, e^(-y^2 / 2) is below e^-60
_RARER = 60.0  # outputs of a weight below e^-60 of the largest do not count at a large tilt
_ORDER = 24  # nodes of a panel
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(_ORDER)
_RHO = np.array([1.2, 1.4, 1.7, 2.0, 2.5, 3.2, 4.0, 5.5, 8.0])  # of Bernstein's ellipses
_PANEL = math.log(64.0 / 15.0) - 2.0 * _ORDER * np.log(_RHO) - np.log1p(-(_RHO**-2.0))
_WIDE = 0.98 * math.pi  # of Im w
_SHARES = np.append(np.geomspace(0.003, 0.1, 6), np.linspace(0.15, 1.0, 14))
# Shares of a stretch, closer at its ends, by which what matters is found.
_GRADES = np.concatenate([np.linspace(0.0, 1.0, 129), 2.0 ** -np.arange(1.0, 44.0)])
_GRADES = np.concatenate([_GRADES, 1.0 - _GRADES])
_CELL = 0.2  # of y
_MOST_CELLS = 30_000
_GROWTHS, _GROWTH = 20, 1.5  # of the number of panels
_NEAR = 40.0  # tilts times slopes that have common nodes
_CLOSE = 0.1  # of log M
_CALLS = 5e3  # terms that take as long as a call
_FINITE = 700.0


class Factor(NamedTuple):
    """A = 1 - q + q e^(slope y + start), to `power` in the density, `turn` times in the loss."""

    slope: float
    start: float
    power: float
    turn: float


class Stretch(NamedTuple):
    """Outputs from `left` to `right`, of base density phi or e^-y / 2 times e^log_scale.

    `shift` is a constant of the loss, and `cut` says whether a cut concerns these outputs.
    """

    left: float
    right: float
    gaussian: bool
    factors: tuple[Factor, ...]
    log_scale: float = 0.0
    shift: float = 0.0
    cut: bool = False


class Fields(NamedTuple):
    """At outputs: log A, its share q e^w / A and its error, shape (factors, n); base and slope."""

    log_a: Array
    share: Array
    error: Array
    base: Array
    base_slope: Array


class _Rule(NamedTuple):
    """Nodes with their losses, errors of these, log weights by tilt, and log error by tilt."""

    loss: Array
    loss_error: Array
    log_weight: Array
    heights: Array
    log_error: Array


def _sums(weight: Array, values: Array) -> Array:
    """The sum of values with the weights of each row, by one thread."""
    return np.einsum("ij,j->i", weight, values)


class StretchLoss:
    """A loss on stretches of outputs and at atoms, pairs of a value and a log mass.

    With `log_rest` outputs y on stretches with a cut count only with a chance that falls near it,
    the rest, of probability at most e^log_rest, not; `mean` is that of the outermost component.
    """

    def __init__(
        self,
        rate: float,
        stretches: Sequence[Stretch],
        atoms: Sequence[tuple[float, float]],
        *,
        mean: float = 0.0,
        log_rest: float = -math.inf,
        steep: float = 1.0,
    ) -> None:
        self.rate, self.stretches = rate, tuple(stretches)
        self.terms = 0.0  # asked for so far
        self.atoms = tuple(sorted(atoms))
        self._values = np.array([value for value, _ in self.atoms])
        self._log_masses = np.array([log_mass for _, log_mass in self.atoms])
        endless = any(part.right == math.inf and part.factors[0].turn > 0 for part in stretches)
        self.largest = math.inf if endless else max(value for value, _ in self.atoms)
        self.cut, self.log_rest, self.steep = math.inf, -math.inf, 0.0
        if log_rest > -math.inf:
            far = -float(special.ndtri_exp(min(log_rest, -1.0)))
            self.cut = math.sqrt(1.0 + 0.5 / steep) * far + mean
            self.log_rest, self.steep = log_rest + 1e-9, steep

    def _bend(self, part: Stretch) -> float:
        if not part.gaussian:
            return 0.0
        return 0.5 + (self.steep if part.cut else 0.0)

    def fields(self, part: Stretch, y: Array) -> Fields:
        """What a stretch has at outputs."""
        q = self.rate
        k = np.array([[one.slope] for one in part.factors])
        a = np.array([[one.start] for one in part.factors])
        w = k * y + a
        log_q = math.log(q)
        with np.errstate(over="ignore"):
            small = q * np.expm1(w)
        near = (np.abs(small) < 0.5) & (q < 1.0)
        far = np.logaddexp(math.log1p(-q), log_q + w) if q < 1.0 else w
        log_a = np.where(near, np.log1p(np.where(near, small, 0.0)), far)
        share = np.exp(np.minimum(log_q + w - log_a, 0.0))
        off = np.abs(w) + np.abs(k * y) + np.abs(a)
        rough = np.where(near, 0.0, 8.0 + np.abs(w) + abs(log_q))
        error = 4.0 * _EPS * (np.abs(log_a) + share * off + rough)
        if not part.gaussian:
            base = part.log_scale - y - math.log(2.0)
            return Fields(log_a, share, error, base, np.full_like(y, -1.0))
        base = part.log_scale - 0.5 * y * y - 0.5 * math.log(2.0 * math.pi)
        slope = -y
        if part.cut and self.cut < math.inf:
            root = math.sqrt(2.0 * self.steep)
            x = -root * (y - self.cut)
            kept = special.log_ndtr(x)
            base = base + kept
            ratio = np.exp(np.minimum(-0.5 * x * x - 0.5 * math.log(2.0 * math.pi) - kept, 600.0))
            slope = slope - root * ratio
        return Fields(log_a, share, error, base, slope)

    def _heights(self, part: Stretch, at: Fields, c: Array) -> tuple[Array, Array, Array]:
        """Log integrands at tilts, shape (tilts, n), slopes, bounds on second derivatives."""
        power = np.array([one.power for one in part.factors])
        turn = np.array([one.turn for one in part.factors])
        slope = np.array([one.slope for one in part.factors])
        r = power + np.multiply.outer(c, turn)
        height = at.base + part.shift * c[:, None] + r @ at.log_a
        rise = at.base_slope + (r * slope) @ at.share
        curve = np.abs(r) @ (0.25 * slope * slope) + 2.0 * self._bend(part)
        return height, rise, curve

    def _ends(self, part: Stretch, c: Array) -> tuple[float, float, Array]:
        """Outputs between which all that matters is, and a log bound on the integrals beyond."""
        left, right = part.left, part.right
        log_rest = np.full(c.shape, -math.inf)
        if math.isfinite(left) and math.isfinite(right):
            return self._narrowed(part, c, left, right, log_rest)
        edge = np.array([c.min(), c.max()])
        pull = np.array([[(f.power + x * f.turn) * f.slope for f in part.factors] for x in edge])
        steep = self.steep if part.cut else 0.0
        drift = float(np.maximum(pull, 0.0).sum(axis=1).max())
        if steep and drift > self.cut:
            # Beyond the cut the logarithm falls with a slope of 1 + 2 steep times the distance.
            drift = (drift + 2.0 * steep * self.cut) / (1.0 + 2.0 * steep)
        ends = [max(drift, left) + _REACH]
        if left == -math.inf:
            left = float(np.minimum(pull, 0.0).sum(axis=1).min()) - _REACH
            ends.append(left)
        for y in ends:
            height, _, _ = self._heights(part, self.fields(part, np.array([y])), c)
            # The slope is at least _REACH, and no step of a rule is above 0.9.
            log_rest = np.logaddexp(log_rest, height[:, 0])
        return self._narrowed(part, c, left, ends[0], log_rest)

    def _narrowed(
        self, part: Stretch, c: Array, left: float, right: float, log_rest: Array
    ) -> tuple[float, float, Array]:
        """The same at one large tilt, where nearly all that matters is on few outputs.

        From 0 on the base density falls and each log A is monotone, so that their ends bound the
        integrand between two outputs.
        """
        steepest = max(abs(one.slope) for one in part.factors)
        if len(c) != 1 or left < 0.0 or abs(float(c[0])) * steepest <= _NEAR:
            return left, right, log_rest
        y = np.unique(np.clip(left + (right - left) * _GRADES, left, right))
        at = self.fields(part, y)
        r = np.array([one.power + float(c[0]) * one.turn for one in part.factors])
        powers = r[:, None] * at.log_a
        height = at.base + part.shift * float(c[0]) + powers.sum(axis=0)
        most = np.maximum(powers[:, :-1], powers[:, 1:]).sum(axis=0)
        most += at.base[:-1] + part.shift * float(c[0])
        # Rounding of the sums of such sizes.
        most += 1e-14 * (np.abs(at.base[:-1]) + abs(part.shift * float(c[0])) + np.abs(most))
        kept = np.flatnonzero(most > float(height.max()) - _RARER)
        if not kept.size:  # too large for doubles
            return left, right, log_rest
        first, last = int(kept[0]), int(kept[-1]) + 1
        out = np.append(
            most[:first] + np.log(np.diff(y)[:first]), most[last:] + np.log(np.diff(y)[last:])
        )
        if out.size:
            log_rest = np.logaddexp(log_rest, float(special.logsumexp(out)))
        return float(y[first]), float(y[last]), log_rest

    def _turned(
        self, part: Stretch, at: Fields, reach: Array | float, eta: Array, *, lowest: bool = False
    ) -> Array:
        """Bounds on |turn arg A| summed over factors, y + i eta, within `reach` of y."""
        total = np.zeros(np.broadcast_shapes(at.base[:, None].shape, eta.shape))
        sign = -1.0 if lowest else 1.0
        for k, one in enumerate(part.factors):
            share, b = at.share[k][:, None], abs(one.slope) * eta
            odds = np.exp(np.minimum(sign * abs(one.slope) * reach, 600.0))
            with np.errstate(over="ignore"):
                p = np.minimum(share * odds / (1.0 - share + share * odds), 1.0)
            angle = np.arctan2(p * np.sin(b), 1.0 - 2.0 * p * np.sin(0.5 * b) ** 2)
            total += abs(one.turn) * angle
        return total

    def _cost(self, part: Stretch, c: Array, eta: Array) -> Array:
        """Log by how much the integrand may rise at y + i eta, shape (tilts, *eta)."""
        total = np.broadcast_to(self._bend(part) * eta * eta, (*c.shape, *eta.shape)).copy()
        ones = (1,) * eta.ndim
        for one in part.factors:
            less = -np.log(np.cos(np.minimum(0.5 * abs(one.slope) * eta, 0.5 * _WIDE)))
            r = (one.power + c * one.turn).reshape(-1, *ones)
            total += np.maximum(-r, 0.0) * less
        return total

    def rule(self, part: Stretch, c: Array, u: float = 0.0) -> _Rule | None:
        """A rule for tilts and imaginary parts up to u; None if it needs too many nodes."""
        ends = self._ends(part, c)
        self.terms += _CALLS
        whole = part.left == -math.inf
        found = (self._trapezoid if whole else self._panels)(part, c, u, ends)
        if found is None:
            return None
        y, log_step, log_error = found
        self.terms += len(y) * (2.0 + len(c))
        at = self.fields(part, y)
        turn = np.array([one.turn for one in part.factors])
        loss = part.shift + turn @ at.log_a
        loss_error = np.abs(turn) @ at.error + 4.0 * _EPS * (abs(part.shift) + np.abs(loss))
        power = np.array([one.power for one in part.factors])
        log_weight = at.base + log_step + power @ at.log_a
        heights = log_weight + np.multiply.outer(c, loss)
        return _Rule(loss, loss_error, log_weight, heights, np.logaddexp(log_error, ends[2]))

    def _trapezoid(
        self, part: Stretch, c: Array, u: float, ends: tuple[float, float, Array]
    ) -> tuple[Array, Array | float, Array] | None:
        left, right, log_rest = ends
        steepest = max(abs(one.slope) for one in part.factors)
        eta = min(_WIDE / steepest, WIDEST) * _SHARES
        more = math.sqrt(4.0 * u * float(eta[-1]) * steepest)
        cell = _CELL / math.sqrt(1.0 + 2.0 * self.steep)
        if not right - left + 2.0 * more <= _MOST_CELLS * cell:
            return None
        y = np.arange(left - more, right + more + cell, cell)
        self.terms += len(y) * len(c) * (2.0 + (len(eta) if u > 0.0 else 0.0))
        at = self.fields(part, y)
        height, rise, curve = self._heights(part, at, c)
        height = height + 0.5 * cell * np.abs(rise) + (0.125 * cell * cell) * curve[:, None]
        log_mass = special.logsumexp(height, axis=1) + math.log(cell)
        cost = self._cost(part, c, eta)
        if u > 0.0:
            angle = u * self._turned(part, at, 0.5 * cell, eta)
            edge = special.logsumexp(height[..., None] + angle, axis=1) + math.log(cell)
            most = u * sum(abs(one.turn * one.slope) for one in part.factors) * eta
            tails, _, _ = self._heights(part, self.fields(part, y[[0, -1]]), c)
            edge = np.logaddexp(edge, special.logsumexp(tails, axis=1)[:, None] + most)
        else:
            edge = np.logaddexp(log_mass, log_rest)[:, None]
        edge = edge + cost + math.log(2.0)
        target = np.maximum(edge - log_mass[:, None] + _DIGITS, 1.0)
        step = min(float(np.min(np.max(2.0 * math.pi * eta / target, axis=1))), 0.9)
        if not 0.0 < right - left <= MOST_NODES * step:
            return None
        power = 2.0 * math.pi * eta / step
        log_error = np.min(edge - power - np.log(-np.expm1(-power)), axis=1)
        nodes = step * np.arange(math.ceil(left / step), math.floor(right / step) + 1.0)
        return nodes, math.log(step), log_error

    def _panels(
        self, part: Stretch, c: Array, u: float, ends: tuple[float, float, Array]
    ) -> tuple[Array, Array | float, Array] | None:
        left, right, _ = ends
        width = right - left
        turns = u * sum(abs(one.turn * one.slope) for one in part.factors)
        steepest = max(abs(one.slope) for one in part.factors)
        turns += float(np.abs(c).max()) * steepest
        count = max(math.ceil(min(width * (0.4 + turns / (3.0 * _ORDER)), 1e9)), 1)
        # ends: the bound on the error of the last rule counts, whatever it is
        for _ in range(_GROWTHS):
            if count * _ORDER > MOST_NODES:
                return None
            half = 0.5 * width / count
            middle = left + half * (2.0 * np.arange(float(count)) + 1.0)
            self.terms += 9.0 * count * (1.0 + len(c))
            reach, eta = 0.5 * half * (_RHO + 1.0 / _RHO), 0.5 * half * (_RHO - 1.0 / _RHO)
            at = self.fields(part, middle)
            height, rise, curve = self._heights(part, at, c)
            tops = height[..., None] + np.abs(rise)[..., None] * reach
            tops = tops + 0.5 * np.multiply.outer(curve, reach * reach)[:, None, :]
            tops = tops + self._cost(part, c, eta)[:, None, :] + _PANEL + math.log(half)
            if u > 0.0:
                tops = tops + u * self._turned(part, at, reach, eta)
            tops = np.where(steepest * eta < _WIDE, tops, math.inf)
            log_error = special.logsumexp(tops.min(axis=2), axis=1)
            log_mass = special.logsumexp(height, axis=1) + math.log(2.0 * half)
            if np.all(log_error <= log_mass - _DIGITS + 2.0):
                break
            count = math.ceil(_GROWTH * count)
        nodes = (middle[:, None] + half * _NODES).ravel()
        return nodes, np.tile(np.log(half * _WEIGHTS), count), log_error

    def log_real(self, c: Array) -> tuple[Array, Array]:
        """Log M at real arguments of shape (n,), and bounds on its error; infinite out of reach."""
        c = np.asarray(c, dtype=float)
        found, error = np.full(c.shape, math.inf), np.full(c.shape, math.inf)
        slope = max((abs(f.slope) for part in self.stretches for f in part.factors), default=1.0)
        near = np.flatnonzero(np.abs(c) * slope <= _NEAR)
        far = np.flatnonzero(np.abs(c) * slope > _NEAR)
        # So far out that exponents overflow, nothing is known.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for some in [near, *far[:, None]]:
                if some.size:
                    self._log_values(c, some, found, error)
        unknown = ~(np.isfinite(found) & np.isfinite(error))
        return np.where(unknown, math.inf, found), np.where(unknown, math.inf, error)

    def _log_values(self, c: Array, some: Array, found: Array, error: Array) -> None:
        c = c[some]
        rules = [self.rule(part, c) for part in self.stretches]
        if any(rule is None for rule in rules):
            return
        loss = np.concatenate([*(rule.loss for rule in rules if rule), self._values])
        off = np.concatenate([
            *(rule.loss_error for rule in rules if rule), 8.0 * _EPS * np.abs(self._values),
        ])  # fmt: skip
        log_weight = np.concatenate([*(r.log_weight for r in rules if r), self._log_masses])
        heights = log_weight + np.multiply.outer(c, loss)
        top = heights.max(axis=1, keepdims=True)
        weight = np.exp(heights - top)
        total = weight.sum(axis=1)
        weight /= total[:, None]
        logs = top[:, 0] + np.log(total)
        missed = special.logsumexp([rule.log_error for rule in rules if rule], axis=0)
        missed = np.exp(np.minimum(missed - logs, 0.0))
        # Near 1 the sum of the differences from 1 has more digits; what is cut counts as loss 0.
        close = np.flatnonzero(np.abs(logs) < _CLOSE)
        rises = np.multiply.outer(c[close], loss)
        less = np.expm1(np.minimum(rises, 300.0)) * np.exp(log_weight)
        less = np.where(rises > 300.0, np.exp(np.minimum(heights[close], 0.0)), less)
        logs[close] = np.log1p(less.sum(axis=1))
        spread = np.abs(c) * _sums(weight, off + 4.0 * _EPS * np.abs(loss))
        spread += 4.0 * _EPS * (_sums(weight, np.abs(log_weight)) + 8.0)
        found[some] = logs
        error[some] = spread + missed + math.exp(self.log_rest) + 8.0 * _EPS * np.abs(logs)

    def continuous_delta(self, x: Array, doubt: float = 0.0) -> tuple[Array, Array, Array]:
        """The profile of the continuous part, for stretches with one factor.

        As `dpnoise.privacy.inversion.inversion.continuous_delta` for other losses: beside it a
        bound on its error for all values within `doubt`, and minus its derivative.
        """
        delta, error, slope = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
        off = doubt + 16.0 * _EPS * (1.0 + np.abs(x))
        c = np.array([0.0, -1.0])
        for part in self.stretches:
            for k, value in enumerate((x - off).tolist()):
                above = self._above(part, value)
                rule = None if above is None else self.rule(above, c)
                if rule is None:
                    error[k] += 0.0 if above is None else 1.0
                    continue
                both = np.array([0.0, value])
                weight = np.exp(np.minimum(rule.heights + both[:, None], _FINITE))
                kept, lost = weight.sum(axis=1)
                sizes = 4.0 * _EPS * (np.abs(rule.log_weight) + np.abs(rule.loss) + 8.0)
                rounding = float(weight.sum(axis=0) @ (sizes + rule.loss_error))
                missed = np.exp(np.minimum(rule.log_error + both, _FINITE)).sum()
                far, most = float(off[k]), max(kept - lost, 0.0)
                half = 0.5 * min(math.expm1(2.0 * far) * lost if far <= 1.0 else most, most)
                delta[k] += most - half
                error[k] += rounding + missed + half
                slope[k] += lost
        return delta, error, slope

    def _above(self, part: Stretch, x: float) -> Stretch | None:
        """The part of a stretch on which the loss exceeds x, if there is any."""
        (one,) = part.factors
        level, q = one.turn * (x - part.shift), self.rate
        inner = math.expm1(min(level, _FINITE)) / q + 1.0  # e^w where log A is the level
        if inner > 0.0:
            w = level - math.log(q) if level > _FINITE else math.log(inner)
            if q < 1.0 and abs(level) < 0.1:
                w = math.log1p(math.expm1(level) / q)
            y = (w - one.start) / one.slope
        else:
            y = -math.inf
        left, right = (max(y, part.left), part.right) if one.turn > 0.0 else (
            part.left, min(y, part.right)
        )  # fmt: skip
        return part._replace(left=left, right=right) if left < right else None

    @property
    def single(self) -> bool:
        """Whether `continuous_delta` knows the profile."""
        return all(len(part.factors) == 1 for part in self.stretches)

    def line(self, c: float) -> StretchLine:
        """The transform on the vertical line through c."""
        return StretchLine(self, c)
