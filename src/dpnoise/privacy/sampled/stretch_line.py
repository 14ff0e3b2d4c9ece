"""The transform of a loss on stretches of outputs, on a vertical line.

Values come from the rules of `dpnoise.privacy.sampled.stretches`. Bounds at all larger imaginary
parts follow a path that leaves the real axis at the finite ends of a stretch; nearer, the modulus
is bounded between points by tangents. docs/sampling.md has the proofs.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dpnoise._types import Array, ComplexArray
    from dpnoise.privacy.sampled.stretches import Fields, Stretch, StretchLoss

WIDEST = 16.0  # of Im y
MOST_NODES = 60_000
_EPS = np.finfo(float).eps
_RARE = 50.0  # nodes of a weight below e^-50 of the largest do not count
_PATH = np.geomspace(1e-8, 1.0, 110)  # of the way up, of which some are tried
_KEPT = np.arange(4, 110, 5)
_FINE = 0.05  # cells of y
_CHUNK = 1 << 18  # terms at once
_EVEN = 20  # points from which on even spacing pays
_SUB, _TURN = 4, 0.3  # of an interval of an envelope, and of its phase
_MOST_SUB, _LOW = 4000, 0.5
_ROWS, _ALONE = 4, 1 << 16  # of a matrix product: rows at once, and multiplications by one thread
_MOST_TERMS = 2e8  # for equally spaced points
_MOST_ENVELOPE = 5e6  # terms of an envelope
_FINITE = 700.0


def _product(first: Array | ComplexArray, second: Array | ComplexArray) -> ComplexArray:
    """A matrix product in parts so small that each is done by one thread; rows are in fours."""
    parts = first.reshape(-1, _ROWS, first.shape[1])
    size = max(_ALONE // (_ROWS * second.shape[1]), 1)
    total = np.zeros((*parts.shape[:2], second.shape[1]), dtype=complex)
    for k in range(0, first.shape[1], size):
        total += parts[..., k : k + size] @ second[k : k + size]
    return total.reshape(len(first), -1)


class StretchLine:
    """The transform on a vertical line, relative to its value on the real axis.

    `log_norm` is log M(c), `norm_error` a bound on its error, `atoms` the share of the atoms.
    """

    def __init__(self, loss: StretchLoss, c: float) -> None:
        self.loss, self.c = loss, c
        found, error = loss.log_real(np.array([c]))
        self.log_norm, self.norm_error = float(found[0]), float(error[0])
        self._weights = np.exp(loss._log_masses + c * loss._values - self.log_norm)  # noqa: SLF001
        self.atoms = float(self._weights.sum())
        self._rules: dict[float, tuple[Array, Array, Array, float]] = {}
        value, _, weight, _ = self._rule(0.0)
        self._mass = float(weight.sum())
        self._mean = float(weight @ value) / max(self._mass, 1e-300)
        self._square = float(weight @ (value - self._mean) ** 2)
        deviation = math.sqrt(self._square / max(self._mass, 1e-300))
        self._spread = max(deviation, 1e-300)
        self._extent = float(np.ptp(value)) if len(value) else 0.0
        self._more = 0.0  # terms for each unit of an imaginary part, roughly
        for part in loss.stretches:
            left, right, _ = loss._ends(part, np.array([c]))  # noqa: SLF001
            turns = sum(abs(one.turn * one.slope) for one in part.factors)
            self._more += (right - left) * turns / 3.0

    def _rule(self, u: float) -> tuple[Array, Array, Array, float]:
        """Losses, their errors and weights for imaginary parts up to u, and the error left."""
        if u in self._rules:
            return self._rules[u]
        c = np.array([self.c])
        rules = [self.loss.rule(part, c, u) for part in self.loss.stretches]
        if any(rule is None for rule in rules):
            message = f"sampled loss: expected at most {MOST_NODES} terms, got more"
            raise ValueError(message)
        loss = np.concatenate([rule.loss for rule in rules if rule])
        off = np.concatenate([rule.loss_error for rule in rules if rule])
        exponents = np.concatenate(
            [np.abs(rule.log_weight) + abs(self.c) * np.abs(rule.loss) for rule in rules if rule]
        )
        height = np.concatenate([rule.heights[0] for rule in rules if rule]) - self.log_norm
        some = height > height.max() - _RARE
        weight = np.exp(height[some])
        missed = sum(math.exp(min(float(r.log_error[0]) - self.log_norm, 0.0)) for r in rules if r)
        missed += len(height) * math.exp(float(height.max()) - _RARE)
        fixed = float(weight @ (exponents[some] + abs(self.log_norm) + 8.0)) * 4.0 * _EPS
        fixed += missed + abs(self.c) * float(weight @ off[some])
        self._rules[u] = loss[some], off[some], weight, fixed
        return self._rules[u]

    def _block(self, u: Array) -> Array:
        """Powers of two, in units of the loss, from u on."""
        base = 1.0 / max(self._extent, 1e-12)
        return np.asarray(
            base * np.exp2(np.maximum(np.ceil(np.log2(np.maximum(u / base, 1.0))), 0))
        )

    def size(self, u: float) -> float:
        """Number of terms of a value at imaginary part u, roughly."""
        return len(self._rule(0.0)[0]) + self._more * u

    @staticmethod
    def affords(points: int, size: float) -> bool:
        """Whether so many values of so many terms are not too many."""
        return size <= MOST_NODES / 3 and size * points <= _MOST_TERMS

    def values(self, u: Array) -> tuple[ComplexArray, ComplexArray, Array]:
        """Atoms, continuous part at c + i u, u >= 0, and bounds on the errors of their sum."""
        loss = self.loss
        atoms = np.exp(1j * np.multiply.outer(u, loss._values)) @ self._weights  # noqa: SLF001
        values, masses = np.abs(loss._values), np.abs(loss._log_masses)  # noqa: SLF001
        sizes = np.multiply.outer(u + abs(self.c), values) + masses + abs(self.log_norm) + 2.0
        error = (8.0 * _EPS) * (sizes @ self._weights)
        found, _, doubt = self._continuous(u)
        return np.asarray(atoms, dtype=complex), found, error + doubt

    def _continuous(self, u: Array, *, slope: bool = False) -> tuple[ComplexArray, Array, Array]:
        """The continuous part; with `slope` turned back by its mean, and its derivative."""
        found, rise = np.zeros((2, *u.shape), dtype=complex)
        error = np.zeros(u.shape)
        blocks = self._block(u)
        for block in np.unique(blocks):
            value, off, weight, fixed = self._rule(float(block))
            where = np.flatnonzero(blocks == block)
            centred = value - self._mean if slope else value
            size = max(_CHUNK // len(value), 1)
            step = (u[where[-1]] - u[where[0]]) / max(len(where) - 1, 1)
            even = len(where) > _EVEN
            even = even and bool(np.all(np.abs(np.diff(u[where]) - step) <= 1e-12 * u[where[-1]]))
            self.loss.terms += len(where) * len(value) / (20.0 if even else 1.0)
            if even:
                # Points a rows of b each: their terms are products.
                few = math.ceil(math.sqrt(len(where)))
                starts = u[where[::few]]
                starts = np.append(starts, np.zeros(-len(starts) % _ROWS))  # to be left out
                rows = np.exp(1j * np.multiply.outer(starts, centred)) * weight
                turns = np.exp(1j * np.multiply.outer(centred, step * np.arange(float(few))))
                found[where] = _product(rows, turns).ravel()[: len(where)]
                if slope:
                    rise[where] = _product(rows * (1j * centred), turns).ravel()[: len(where)]
            for first in range(0, 0 if even else len(where), size):
                some = where[first : first + size]
                turned = np.exp(1j * np.multiply.outer(u[some], centred))
                found[some] = turned @ weight
                if slope:
                    rise[some] = turned @ (weight * 1j * centred)
            error[where] = fixed + u[where] * float(weight @ (off + 16.0 * _EPS * np.abs(value)))
        return found, rise, error

    def envelope(self, u: Array, copies: float) -> Array:
        """Bounds on the continuous part at all Im s >= u, of increasing shape (n,), at most 1."""
        del copies
        top = min(self._mass * (1.0 + 1e-9) + 1e-13, 1.0)
        far = np.minimum(self._far(u), top)
        near = np.full(u.shape, top)
        last, most = 0, self.loss.terms + _MOST_ENVELOPE
        for k in range(len(u) - 1):
            count = max(_SUB, math.ceil((u[k + 1] - u[k]) * self._spread / _TURN))
            if far[k] <= _LOW * top or count > _MOST_SUB or self.loss.terms > most:
                break
            d = (u[k + 1] - u[k]) / count
            at = u[k] + d * (np.arange(float(count)) + 0.5)
            try:
                value, slope, error = self._continuous(at, slope=True)
            except ValueError:
                break
            # The second derivative is at most the second moment.
            rise = np.maximum(np.abs(value + 0.5 * d * slope), np.abs(value - 0.5 * d * slope))
            rise = rise + 0.125 * d * d * self._square * (1.0 + 1e-9) + error * (2.0 + d)
            near[k], last = float(rise.max()), k + 1
        near[last:] = far[last:]
        return np.minimum(np.maximum.accumulate(near[::-1])[::-1], far) * (1.0 + 1e-12)

    def _far(self, u: Array) -> Array:
        """Bounds that fall with u, by a path that leaves the real axis at finite ends."""
        total = np.zeros(u.shape)
        for part in self.loss.stretches:
            total += self._shifted(part, u)
        return total

    def _cells(self, part: Stretch, width: float) -> tuple[Fields, Array, float, float]:
        """Fields at the middles of cells, log integrands bounded over these, and what is beyond."""
        left, right, log_rest = self.loss._ends(part, np.array([self.c]))  # noqa: SLF001
        count = min(max(math.ceil((right - left) / width), 40), MOST_NODES)
        half = 0.5 * (right - left) / count
        y = left + half * (2.0 * np.arange(float(count)) + 1.0)
        at = self.loss.fields(part, y)
        height, rise, curve = self.loss._heights(part, at, np.array([self.c]))  # noqa: SLF001
        height = height[0] + half * np.abs(rise[0]) + 0.5 * half * half * curve[0]
        return at, height - self.log_norm, half, float(np.exp(log_rest[0] - self.log_norm))

    def _shifted(self, part: Stretch, u: Array) -> Array:
        loss, c = self.loss, np.array([self.c])
        at, height, half, rest = self._cells(part, _FINE)
        steepest = max(abs(one.slope) for one in part.factors)
        loss.terms += len(at.base) * len(_KEPT) * (2.0 + 0.5 * len(u))
        steps = min(0.49 * math.pi / steepest, WIDEST) * _PATH
        eta = steps[_KEPT]
        cost = loss._cost(part, c, eta)[0]  # noqa: SLF001
        angle = np.maximum(loss._turned(part, at, half, eta, lowest=True), 0.0)  # noqa: SLF001
        base = np.exp(np.minimum(height[:, None] + cost, _FINITE)) * (2.0 * half)
        out = np.array([(base * np.exp(-x * angle)).sum(axis=0) for x in u])
        out += rest * np.exp(np.minimum(cost, _FINITE))
        for y in (part.left, part.right):
            if math.isfinite(y):
                end = loss.fields(part, np.array([y]))
                top = float(loss._heights(part, end, c)[0][0, 0]) - self.log_norm  # noqa: SLF001
                before = np.append(0.0, steps[:-1])
                turn = loss._turned(part, end, 0.0, before)[0]  # noqa: SLF001
                rise = top + loss._cost(part, c, steps)[0]  # noqa: SLF001
                pieces = np.exp(np.minimum(rise - np.multiply.outer(u, turn), _FINITE))
                out += np.cumsum(pieces * np.diff(steps, prepend=0.0), axis=1)[:, _KEPT]
        return out.min(axis=1)
