"""The transform of a sum of privacy losses of which some are those of noise on Poisson samples.

It has the interface of `dpnoise.privacy.inversion.transform.LossTransform`, which holds all other
losses, so that `dpnoise.privacy.inversion.inversion.Inversion` takes either.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

import numpy as np

from dpnoise.privacy.inversion.transform import USABLE, LossTransform, Values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise._types import Array, ComplexArray

_EPS = np.finfo(float).eps
_CALL = 500  # as for other losses


class SampledLine(Protocol):
    """The transform of one sampled loss on a vertical line, relative to its value on the axis."""

    log_norm: float
    norm_error: float

    def size(self, u: float) -> float:
        """Number of terms of a value at imaginary part u."""

    def values(self, u: Array) -> tuple[ComplexArray, ComplexArray, Array]:
        """Atoms, the rest, and a bound on the error of their sum at imaginary parts u >= 0."""

    def envelope(self, u: Array, copies: float) -> Array:
        """Bounds on the modulus of the rest at all imaginary parts >= u, of increasing shape."""


class SampledLoss(Protocol):
    """The loss of noise on a Poisson sample, the record added or removed."""

    atoms: tuple[tuple[float, float], ...]
    largest: float

    def log_real(self, c: Array) -> tuple[Array, Array]:
        """Log M at real arguments, and a bound on its error; infinite where it is not known."""

    def line(self, c: float) -> SampledLine:
        """The transform on the vertical line through c."""


class MixedTransform:
    """The transform of sampled losses with their copies, beside that of other losses.

    Attributes are those of `LossTransform`; the groups of the other losses come first.
    """

    orders = 1

    def __init__(self, other: LossTransform, sampled: Sequence[tuple[SampledLoss, int]]) -> None:
        self.other, self.sampled = other, tuple(loss for loss, _ in sampled)
        self._counts = np.array([float(n) for _, n in sampled])
        self.losses = (*other.losses, *self.sampled)
        self.copies = np.concatenate([other.copies, self._counts])
        self.gaussian, self.infinite = other.gaussian, other.infinite
        whole = sum(n * loss.largest for loss, n in sampled)
        self.largest = math.inf if other.gaussian > 0.0 else float(other.largest + whole)
        self._evaluations = 0.0
        self._terms = 100.0 * len(sampled)
        self.continuous = True

    @property
    def evaluations(self) -> float:
        """As for other losses: terms asked for so far."""
        return self.other.evaluations + self._evaluations

    @property
    def rows(self) -> int:
        """Terms of one value, roughly: some 15 of those of sampled losses take as long as one."""
        return self.other.rows + int(self._terms / 15.0)

    def log_real(self, c: Array) -> Array:
        """Log M at real arguments, and infinity where it is not known or rounding hides it."""
        total, doubt = np.zeros(c.shape), np.zeros(c.shape)
        if len(self.other.copies) or self.gaussian > 0.0:
            total += self.other.log_real(c)
        for loss, n in zip(self.sampled, self._counts, strict=True):
            found, error = loss.log_real(c)
            total += n * found
            doubt += n * error
        self._evaluations += 10.0 * _CALL * len(self.sampled)
        return np.where(doubt < USABLE, total, math.inf)

    def line(self, c: float) -> MixedLine:
        """The transform on the vertical line through c."""
        found = MixedLine(self, c)
        self._terms = sum(line.size(0.0) for line in found.sampled)
        return found

    def spent(self, terms: float) -> None:
        """Record of terms that were asked for."""
        self._evaluations += terms / 15.0 + _CALL


class MixedLine:
    """A transform on a vertical line; attributes and methods as of `inversion.transform.Line`."""

    def __init__(self, transform: MixedTransform, c: float) -> None:
        self.transform, self.c = transform, c
        self._other = transform.other.line(c) if len(transform.other.copies) else None
        self.sampled = [loss.line(c) for loss in transform.sampled]
        counts = transform.copies[len(transform.other.copies) :]
        logs = np.array([line.log_norm for line in self.sampled])
        errors = np.array([line.norm_error for line in self.sampled])
        rounding = 8.0 * _EPS * float(counts @ np.abs(logs))
        self.log_transform = float(counts @ logs)
        self.norm_error = float(counts @ errors) + rounding
        first = [line.values(np.zeros(1))[0] for line in self.sampled]
        atoms = np.array([value.real for value in first])
        self.norm = np.ones((len(self.sampled), 1))
        self.atoms = np.minimum(atoms, 1.0)
        if self._other is not None:
            self.log_transform += self._other.log_transform
            self.norm_error += self._other.norm_error
            self.norm = np.concatenate([self._other.norm, self.norm])
            self.atoms = np.concatenate([self._other.atoms, self.atoms])
        else:
            gaussian = 0.5 * transform.gaussian * c * (c + 1.0)
            self.log_transform += gaussian
            self.norm_error += 32.0 * _EPS * gaussian

    def values(self, u: Array) -> Values:
        """The transform at c + i u, each group relative to its `norm`."""
        parts = [line.values(u) for line in self.sampled]
        self.transform.spent(sum(len(u) * line.size(float(u[-1])) for line in self.sampled))
        atoms, rest, error = (np.array(one) for one in zip(*parts, strict=True))
        if self._other is None:
            return Values(atoms, rest, error, rest[:0])
        found = self._other.values(u)
        return Values(
            np.concatenate([found.atoms, atoms]),
            np.concatenate([found.continuous, rest]),
            np.concatenate([found.error, error]),
            found.stretches,
        )

    def affordable(self, step: float, most: int) -> int:
        """Number of points of a step that take as long as `most` near the real axis."""
        near, far = (sum(line.size(u) for line in self.sampled) for u in (0.0, step * most))
        rise = 0.5 * max(far - near, 0.0) / most  # per point; the number of terms is convex in u
        count = 2.0 * near * most / (near + math.sqrt(near * near + 4.0 * rise * near * most))
        return max(int(count), 50)

    def envelope(self, u: Array) -> Array:
        """Bounds on the continuous parts at all |Im s| >= u > 0, relative to M(c)."""
        counts = self.transform.copies[len(self.transform.other.copies) :]
        rows = [line.envelope(u, float(n)) for line, n in zip(self.sampled, counts, strict=True)]
        if self._other is not None:
            rows = [*self._other.envelope(u), *rows]
        return np.minimum(np.array(rows), 1.0 - np.minimum(self.atoms, 1.0))
