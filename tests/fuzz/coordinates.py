"""The privacy loss of one coordinate in ordinary floating point, from the density alone.

Nothing here uses `dpnoise` beyond the parameters of the noise: -log density comes from the oracle
`exact_noise`, lengths are in units of the shift. Under P the noise has density g(t), under Q
g(t + 1), and the loss is log g(t) / g(t + 1).
"""

import math

import numpy as np
from scipy import special

from dpnoise.noise import Staircase, Subbotin
from exact_noise import exact_noise

_BISECTIONS = 70
_FLAT = 1e-17  # of -log density, which is then 0 to rounding


def _cell(tail, a, b):
    """Return P(a < T <= b), by the tail on the side of 0 where it does not cancel."""
    right, left = tail(np.abs(a)), tail(np.abs(b))
    return np.where(a >= 0, right - left, np.where(b <= 0, left - right, 1.0 - right - left))


class Rising:
    """Log-concave noise, whose loss rises along the line."""

    bound = greatest = math.inf

    def masses(self, levels):
        """Return P and Q of each cell levels[i] < loss <= levels[i + 1]."""
        t = self.crossing(levels)
        return (
            np.maximum(_cell(self.tail, t[:-1], t[1:]), 0.0),
            np.maximum(_cell(self.tail, t[:-1] + 1.0, t[1:] + 1.0), 0.0),
        )

    def beyond(self, level):
        """Return P of a loss above a level; of infinity, that of an infinite loss."""
        if level == math.inf:
            if self.bound == math.inf:
                return 0.0
            t = self.bound - 1.0
        else:
            t = float(self.crossing(np.array([level]))[0])
        tail = float(self.tail(np.array([abs(t)]))[0])
        return tail if t >= 0 else 1.0 - tail

    def sketch(self):
        """Return losses and their masses, roughly, down to masses of 1e-300."""
        reach = min(self.bound, self.reach())
        t = np.sinh(np.linspace(-1, 1, 801) * math.asinh(1e3)) / 1e3 * reach
        t = np.unique(np.concatenate([t, t - 1.0, self.cuts()]))
        if self.bound < math.inf:
            t = t[(t >= -self.bound) & (t <= self.bound - 1.0)]
        middle = 0.5 * (t[1:] + t[:-1])
        return self.loss(middle), np.maximum(_cell(self.tail, t[:-1], t[1:]), 0.0)


class Pieces(Rising):
    """Noise with -log density made of quadratics."""

    def __init__(self, noise, shift):
        pieces = [
            [float(v) for v in (a / shift, b / shift, r * shift, c * shift**2, o)]
            for a, b, r, c, o in ((*p,) for p in exact_noise(noise).pieces)
        ]
        self.pieces = np.array(pieces)
        self.bound = pieces[-1][1]
        self.half = 1.0
        self.half = float(self.tail(np.zeros(1))[0]) * 2.0
        self.ends = self.cuts()
        self.heights = np.maximum.accumulate(self.loss(self.ends))
        flat = self.bound < math.inf or self.pieces[-1][3] == 0.0
        self.greatest = float(self.heights[-1]) if flat else math.inf

    def loss(self, t):
        found = []
        for x in (np.abs(t), np.abs(t + 1.0)):
            index = np.searchsorted(self.pieces[:, 0], x, side="right") - 1
            _, _, rate, curvature, offset = self.pieces[index].T
            found.append((index, rate, curvature, offset + x * (rate + 0.5 * curvature * x)))
        (before, rate, curvature, low), (after, _, _, high) = found
        # Without cancellation where both are on one piece and one side.
        middle = t + 0.5
        direct = np.sign(middle) * (rate + curvature * np.abs(middle))
        return np.where((before == after) & (np.abs(middle) >= 0.5), direct, high - low)

    def cuts(self):
        edges = self.pieces[:, 0]
        edges = np.concatenate([edges, -edges])
        edges = np.unique(np.concatenate([edges, edges - 1.0]))
        far = 4.0 * self.reach() + 4.0
        low, high = (-far, far) if self.bound == math.inf else (-self.bound, self.bound - 1.0)
        if high < low:
            return np.array([low])
        return np.unique([low, *edges[(edges > low) & (edges < high)], high])

    def reach(self):
        _, _, rate, curvature, _ = self.pieces[-1]
        far = 1400.0 / (rate + math.sqrt(rate * rate + 1400.0 * curvature))
        return float(self.pieces[-1][0] + far)

    def tail(self, x):
        """Return P(T > x) for x >= 0."""
        total = np.zeros_like(x)
        for left, right, rate, curvature, offset in self.pieces:
            low = np.clip(x, left, min(right, 1e150))
            top = offset + low * (rate + 0.5 * curvature * low)
            if curvature == 0.0:
                part = np.exp(-top) * -np.expm1(-rate * (right - low)) / rate
            else:
                root = math.sqrt(2.0 * curvature)
                part = np.exp(-top) * special.erfcx((rate + curvature * low) / root)
                if right < math.inf:
                    end = offset + right * (rate + 0.5 * curvature * right)
                    part = part - np.exp(-end) * special.erfcx((rate + curvature * right) / root)
                part = part * math.sqrt(math.pi) / root
            total = total + np.where(low < right, np.maximum(part, 0.0), 0.0)
        return total / (2.0 * self.half)

    def crossing(self, levels):
        """Return the largest t with a loss of at most each level."""
        ends, heights = self.ends, self.heights
        if len(ends) == 1:
            return np.full_like(levels, ends[0])
        k = np.searchsorted(heights, levels, side="right") - 1
        inside = np.clip(k, 0, len(ends) - 2)
        a, b = ends[inside], ends[inside + 1]
        low, high = heights[inside], heights[inside + 1]
        # The quadratic through both ends and the middle; its slope at the ends is >= 0.
        middle = self.loss(0.5 * (a + b))
        second = 2.0 * (low - 2.0 * middle + high)
        second = np.where(np.abs(second) <= 1e-9 * (high - low), 0.0, second)
        first = np.maximum(high - low - second, 0.0)
        gap = levels - low
        root = np.sqrt(np.maximum(first * first + 4.0 * second * gap, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.nan_to_num(2.0 * gap / (first + root), nan=0.0)
        t = a + (b - a) * np.clip(share, 0.0, 1.0)
        t = np.where(k < 0, -math.inf if self.bound == math.inf else -self.bound, t)
        last = math.inf if self.bound == math.inf else self.bound - 1.0
        return np.maximum.accumulate(np.where(k >= len(ends) - 1, last, t))


class Powers(Rising):
    """Subbotin noise."""

    def __init__(self, noise, shift):
        self.p, self.scale = noise.p, noise.scale / shift

    def loss(self, t):
        with np.errstate(over="ignore", invalid="ignore"):
            a, b = np.abs(t + 1.0) / self.scale, np.abs(t) / self.scale
            found = (a**self.p - b**self.p) / self.p
        return np.where(np.isnan(found), np.where(t > -0.5, math.inf, -math.inf), found)

    def cuts(self):
        return np.array([-1.0, -0.5, 0.0])

    def reach(self):
        return self.scale * (700.0 * self.p) ** (1.0 / self.p)

    def tail(self, x):
        a = 1.0 / self.p
        with np.errstate(over="ignore", under="ignore"):
            u = (x / self.scale) ** self.p / self.p
        # Near 0 the density is flat and u may underflow.
        near = 0.5 - 0.5 * x / (self.scale * self.p**a * math.gamma(1.0 + a))
        return np.where(u < _FLAT, near, 0.5 * special.gammaincc(a, u))

    def crossing(self, levels):
        low, high = (np.full_like(levels, s * (2.0 * self.reach() + 2.0)) for s in (-1, 1))
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            below = self.loss(middle) <= levels
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return low


class Steps:
    """Staircase noise, whose loss has a few values."""

    def __init__(self, noise, shift):
        step = noise.epsilon
        last = int(60.0 / step) + int(shift / noise.sensitivity) + 3
        edges = (np.arange(last) + noise.gamma) * (noise.sensitivity / shift)
        cuts = np.concatenate([edges, -edges])
        # Rounding: two ends this close are one, and the cell between them has no mass.
        cuts = np.sort(np.concatenate([cuts, cuts - 1.0]))
        middle, width = 0.5 * (cuts[1:] + cuts[:-1]), np.diff(cuts)
        here, there = (np.searchsorted(edges, np.abs(t)) for t in (middle, middle + 1.0))
        keep = width > 1e-14 * (1.0 + np.abs(middle))
        mass = np.where(keep, width * np.exp(-step * here), 0.0)
        # Beyond the last edges both tails are geometric and below e^-60.
        self.values = step * (there - here)[mass > 0]
        self.p = mass[mass > 0] / mass.sum()
        self.greatest = float(self.values.max())

    def beyond(self, level):
        return float(self.p[self.values > level].sum())

    def sketch(self):
        return self.values, self.p

    def masses(self, levels):
        index = np.searchsorted(levels, self.values - 1e-12 * np.abs(self.values)) - 1
        index = np.clip(index, 0, len(levels) - 2)
        shape = len(levels) - 1
        q = self.p * np.exp(-self.values)
        return np.bincount(index, self.p, shape), np.bincount(index, q, shape)


def coordinate(noise, shift):
    """Return the loss of one coordinate."""
    if isinstance(noise, Staircase):
        return Steps(noise, float(shift))
    if isinstance(noise, Subbotin):
        return Powers(noise, float(shift))
    return Pieces(noise, float(shift))
