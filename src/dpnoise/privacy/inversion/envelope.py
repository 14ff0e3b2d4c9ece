"""Bounds on the transform of a privacy loss that fall along a vertical line.

On the line s = c + i u the integral over a stretch is two end terms and, where the argument
of erfcx changes half planes along the stretch, a vertex term (see
`dpnoise.privacy.inversion.transform`). Each is at most an explicit function that falls with |u|:

    end:     e^(Re f) min(sqrt(pi) / (2 |r|), 1.33 / |f'|),  |r| and |f'| rise with |u|;
    vertex:  sqrt(pi) / |r| times |e^f| at the vertex, which the largest integrand bounds,

and the mass of the stretch bounds it too. docs/vector-privacy.md has the proof, in particular
that a vertex term, once gone, stays away.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.privacy.inversion.transform import LossTransform, Values

# |erfcx(z)| <= 1.33 / (sqrt(pi) |z|) on the right half plane.
REACH = 1.33
_MARGIN = 1.0 + 1e-9  # over the rounding of the bound itself


class Line:
    """A transform on the vertical line through c, relative to its value at c.

    `peak` holds the logarithms by which all values are scaled, `norm` M(c) exp(-peak) of each group
    and `atoms` the share of the atoms in M(c), each of shape (groups, 1). `log_transform` is log
    M(c) of the sum of all losses, and `norm_error` bounds the relative error of its exponential.
    """

    def __init__(self, transform: LossTransform, c: float) -> None:
        self.transform, self.c = transform, c
        self.peak = transform.peaks(np.array([c]))
        s = np.array([complex(c)])
        values = transform.values(s, self.peak)
        self.norm = (values.atoms + values.continuous).real
        self.atoms = values.atoms.real / self.norm
        log_groups = (self.peak + np.log(self.norm))[:, 0]
        gaussian = 0.5 * transform.gaussian * c * (c + 1.0)
        copies = transform.copies
        self.log_transform = float(copies @ log_groups + gaussian)
        rounding = float(copies @ np.abs(log_groups) + gaussian) * 32.0 * np.finfo(float).eps
        self.norm_error = float(copies @ (values.error / self.norm)[:, 0]) + rounding
        self._prepare(values.stretches.real)

    def values(self, u: Array) -> Values:
        """The transform at c + i u, divided by exp(peak)."""
        return self.transform.values(np.asarray(self.c + 1j * u, dtype=complex), self.peak)

    def affordable(self, step: float, most: int) -> int:  # noqa: ARG002
        """Number of points of a step, each of which takes the same time: `most`."""
        return most

    def _prepare(self, masses: Array) -> None:
        transform = self.transform
        owner, table = transform.owner, transform.table
        self._scale = 1.0 / self.norm[owner]
        self._mass = masses * self._scale
        length, psi, zeta = table[:, :1], table[:, 1:4], table[:, 4:7]
        # Real parts of f_0, f_1, f_2.
        f0, f1, f2 = (self.c * zeta[:, j : j + 1] - psi[:, j : j + 1] for j in range(3))
        f0 = f0 - self.peak[owner]
        self._endless = np.isinf(length)
        y = np.where(self._endless, 0.0, length)
        self._slope = f1, np.where(self._endless, -math.inf, f1 + y * f2)
        self._rate = zeta[:, 1:2], zeta[:, 1:2] + y * zeta[:, 2:3]
        self._bend, self._twist = f2, zeta[:, 2:3]
        self._curved = (psi[:, 2:3] != 0.0) | (zeta[:, 2:3] != 0.0)
        near = np.exp(f0)
        far = np.where(self._endless, 0.0, np.exp(f0 + y * (f1 + 0.5 * y * f2)))
        self._ends = near, far
        vertex = np.divide(-f1, f2, out=np.zeros_like(f1), where=f2 < 0.0)
        inside = (vertex > 0.0) & (vertex < length)
        top = np.exp(f0 + 0.5 * np.where(inside, vertex, 0.0) * f1)
        self._top = np.maximum(np.maximum(near, far), top)
        self._straddles = (f1 > 0.0) & (self._slope[1] < 0.0)

    def envelope(self, u: Array) -> Array:
        """Bounds on the continuous parts at all |Im s| >= u > 0, relative to M(c).

        Their shape is (groups, points); they are at most one minus the share of the atoms.
        """
        if not self.transform.owner.size:
            return np.zeros((len(self.norm), len(u)))
        bend = np.hypot(self._bend, u * self._twist)
        width = np.full(bend.shape, math.sqrt(math.pi / 2.0))  # sqrt(pi) / (2 |r|)
        width = np.divide(width, np.sqrt(bend), out=np.zeros_like(bend), where=bend > 0.0)
        reach = np.where(self._curved, REACH, 1.0)
        total = np.zeros(bend.shape)
        for end, slope, rate in zip(self._ends, self._slope, self._rate, strict=True):
            with np.errstate(divide="ignore"):  # a stationary end has its width
                fall = reach / np.hypot(slope, u * rate)
            total += end * np.where(self._curved, np.minimum(width, fall), fall)
        total += self._vertex(u, bend, width)
        rows = np.minimum(total * self._scale * _MARGIN, self._mass)
        groups = np.zeros((len(self.norm), len(u)))
        self.transform.gather(rows, groups)
        return np.minimum(groups, 1.0 - self.atoms)

    def _vertex(self, u: Array, bend: Array, width: Array) -> Array:
        """Bounds on the vertex terms."""
        # Without a twist: |e^f| at the vertex is known and falls like a Gaussian.
        flat = self._curved & (self._twist == 0.0)
        psi_2 = np.where(flat, -self._bend, 1.0)
        fall = np.exp(-0.5 * (u * self._rate[0]) ** 2 / psi_2)
        straight = np.where(flat & self._straddles, 2.0 * width * self._top * fall, 0.0)
        # With a twist: the sign of Re z at either end, in the direction in which it persists.
        twisted = self._twist != 0.0
        sign = np.sign(self._twist)
        rates = [sign * rate for rate in self._rate]
        lift = (bend + self._bend) / np.where(twisted, np.abs(self._twist), 1.0)
        near, far = (r * lift - q for r, q in zip(rates, self._slope, strict=True))
        gone = (rates[0] >= 0.0) & (rates[1] >= 0.0) & (near > 0.0) & (far > 0.0)
        gone |= (rates[0] <= 0.0) & (rates[1] <= 0.0) & (near < 0.0) & (far < 0.0)
        return straight + np.where(twisted & ~gone, 2.0 * width * self._top, 0.0)
