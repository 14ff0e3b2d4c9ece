"""Transforms of the privacy loss of Gaussian noise on a Poisson sample, with error bounds.

In units of sigma the output is y ~ N(0, 1) without the record, and N(0, 1) or N(1 / sigma, 1) with
chances 1 - q and q with it. With w(y) = y / sigma - 1 / (2 sigma^2) and A(w) = 1 - q + q e^w the
loss is log A where the record is removed, -log A where it is added, and both transforms are values
of one function,

    G(z) = E A(w(Y))^z,  Y ~ N(0, 1):  M(s) = G(1 + s) (removed),  M(s) = G(-s) (added).

The integrand is analytic for |Im y| < pi sigma, so that the trapezoidal rule converges
geometrically, and on a shifted line it fades with Im z, which bounds G at all larger Im z.
docs/sampling.md has the proofs.

The transform of a sum of such losses and others has the interface of
`dpnoise.privacy.inversion.transform.LossTransform`, which holds all others, so that
`dpnoise.privacy.inversion.inversion.Inversion` takes either.

**Trigonometric sums at equally spaced points**, by the fast Fourier transform. For sum_n w_n e^(i k
x_n), |k| <= M / 4, each w_n is spread over M points of a circle with the weights g(x) = exp(-x^2 /
(4 tau)), tau = beta / M^2, whose transform is a Gaussian too. By Poisson's formula the transform of
length M gives the sums times sqrt(beta / pi) e^(-tau k^2), plus those at k + p M, p != 0, which
relative to it are at most e^(-beta (1 - 2 |k| / M)) sum |w_n| for p = +-1 and far less for others:
in all 2.1 e^(-beta / 2). Points further than m + 1/2 are left out, which hold at most 2 sqrt(pi /
beta) (1 + beta / (2 pi^2 m)) e^(beta / 16 - pi^2 (m + 1/2)^2 / beta) sum |w_n|. With beta = 76 and
m = 18 both together are below 1e-15 sum |w_n| (Dutt & Rokhlin, SIAM J. Sci. Comput. 14 (1993);
Greengard & Lee, SIAM Rev. 46 (2004)).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import fft, special

from dpnoise.privacy.inversion.transform import USABLE, LossTransform, Values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise._types import Array, ComplexArray, IntArray

_BETA, _HALF = 76.0, 18
_OFFSETS = np.arange(-_HALF, _HALF + 1)
_SPREAD_CHUNK = 1 << 14  # summands at once
SPREAD_ERROR = 1e-15  # of the method, relative to the sum of |w|
_FFT_ERROR = 8.0 * 2.0**-53  # for each factor of 2 in the length, relative to the 2-norm


def equispaced_sums(
    x: Array, weight: Array, first: float, count: int
) -> tuple[ComplexArray, float]:
    """Sums of weight e^(i (first + k) x) over all x, for k from 0 to count - 1, and their error.

    `weight` is not negative; the error does not count that of the products (first + k) x.
    """
    size = fft.next_fast_len(2 * count + 2)
    middle = count // 2
    turned = weight * np.exp(1j * ((first + middle) * x))
    place = x * (size / (2.0 * math.pi))
    nearest = np.round(place)
    off = place - nearest
    index = np.mod(nearest, size).astype(np.intp)
    grid = np.zeros(size, dtype=complex)
    for start in range(0, len(x), _SPREAD_CHUNK):
        some = slice(start, start + _SPREAD_CHUNK)
        share = np.exp((off[some, None] - _OFFSETS) ** 2 * (-(math.pi**2) / _BETA))
        at = np.mod(index[some, None] + _OFFSETS, size).ravel()
        real = (share * turned.real[some, None]).ravel()
        imaginary = (share * turned.imag[some, None]).ravel()
        grid.real += np.bincount(at, real, minlength=size)
        grid.imag += np.bincount(at, imaginary, minlength=size)
    k = np.arange(count) - middle
    raise_by = math.sqrt(math.pi / _BETA) * np.exp(_BETA * (k / size) ** 2)
    values = fft.ifft(grid, norm="forward")[k] * raise_by
    norm = float(np.linalg.norm(grid)) * float(raise_by.max())
    # So many numbers are added at each point, in turn.
    added = 8.0 * 2.0**-53 * math.sqrt(len(x) * len(_OFFSETS) / size + 1.0)
    error = (SPREAD_ERROR + added) * float(weight.sum()) + _FFT_ERROR * math.log2(size) * norm
    return values, error


_EPS = np.finfo(float).eps
_DIGITS = 44.0  # the rule is off by at most 2 e^-44 of G
_REACH = 11.0  # beyond, e^(-y^2 / 2) is below e^-60
_RARE = 50.0  # nodes of a weight below e^-50 of the largest do not count
_STRIP, _SHIFTED = 0.98 * math.pi, 0.49 * math.pi  # of Im w
_WIDEST = 16.0  # strip in units of sigma that is looked at
_SHARES = np.concatenate([np.geomspace(0.003, 0.1, 8), np.linspace(0.15, 1.0, 18)])
_STRIPS = np.geomspace(0.01, 1.0, 9)
_CELL = 0.2  # of y, for the integral along an edge
_EVEN, _WIDER = 400.0, 1.02  # beyond so many of y cells widen by this factor
_MOST_NODES = 8000
_MOST_TERMS = 400_000  # of a value with an imaginary part
_CLOSE = 0.1  # of log G
_NEAR = 40.0  # exponents of up to so many sigma have common nodes
_FACTORS = np.array([0.6, 1.0, 1.8])  # of the shift of the line that is best for large sigma
_WIDE = np.array([0.1, 0.3, 0.6, 1.0])  # and of the widest one
_BLOCK, _FADED = 12, -120.0  # bounds at once; log of a power of them that needs no smaller one
_CHUNK = 1 << 18  # terms at once
_MOST_TOGETHER, _HALVINGS = 2e6, 20  # terms for all losses
_MANY = 100  # equally spaced points from which on they are found by the fast Fourier transform
_FEW = 400  # points at once
_FEW_STEPS = 60
_CALL, _ENVELOPE = 500, 1e5  # evaluations as long as a call, as for other losses, or as bounds


class _Nodes(NamedTuple):
    """Nodes y of a trapezoidal rule: log A, its derivative in w, its error, and log weights."""

    y: Array
    loss: Array
    share: Array
    loss_error: Array
    log_weight: Array  # log of step times density


class TiltedMoments(NamedTuple):
    """Log M, bounds on its error, and mean and variance of the loss under each tilt, roughly."""

    log_m: Array
    error: Array
    mean: Array
    square: Array


class SampledGaussianLoss:
    """The loss of Gaussian noise with noise multiplier `sigma` on a Poisson sample of `rate`.

    `removed` says whether the record is in the data of the first distribution of the pair. The rate
    is in (0, 1). With `log_rest` an output y counts only with the chance erfc(y - cut) / 2, the
    rest, of probability at most e^log_rest, not: large tilts would see nothing else.
    """

    atoms: tuple[tuple[float, float], ...] = ()

    def __init__(
        self,
        sigma: float,
        rate: float,
        *,
        removed: bool,
        log_rest: float = -math.inf,
        steep: float = 1.0,
    ) -> None:
        self.sigma, self.rate, self.removed = sigma, rate, removed
        self.largest = math.inf if removed else -math.log1p(-rate)
        self.cut, self.log_rest, self.steep = math.inf, -math.inf, 0.0
        if log_rest > -math.inf:
            far = -float(special.ndtri_exp(min(log_rest, -1.0)))
            self.cut = math.sqrt(1.0 + 0.5 / steep) * far + (1.0 / sigma if removed else 0.0)
            self.log_rest, self.steep = log_rest + 1e-9, steep
        self.bend = 0.5 + self.steep
        odds = math.log((1.0 - rate) / rate) + 0.5 / sigma**2
        self._share = 1.0 / (1.0 + math.exp(min(odds, 700.0)))

    def exponent(self, c: Array) -> Array:
        """The argument of G at a tilt."""
        return 1.0 + c if self.removed else -c

    def strips(self, low: float) -> tuple[Array, Array]:
        """Widths of strips, and log bounds on the integrals along their edges for real z >= low."""
        wide = min(_STRIP * self.sigma, _WIDEST) * _SHARES
        cost = self.bend * wide * wide + max(-low, 0.0) * -np.log(np.cos(0.5 * wide / self.sigma))
        return wide, cost

    def step(self, low: float) -> float:
        """A step of the rule for real exponents >= `low`."""
        wide, cost = self.strips(low)
        return float(np.max(2.0 * math.pi * wide / (_DIGITS + cost)))

    def ends(self, low: float, high: float) -> tuple[float, float]:
        """Values of y between which all that matters is, for exponents from `low` to `high`."""
        left = min(low * self._share / self.sigma, 0.0) - _REACH
        right = max(high / self.sigma, 0.0)
        if right > self.cut:
            # Beyond, the logarithm falls with a slope of 1 + 2 steep times the distance.
            right = self.cut + (right - self.cut) / (1.0 + 2.0 * self.steep)
        return left, right + _REACH

    def log_kept(self, y: Array) -> Array:
        """The logarithm of the chance to count."""
        return special.log_ndtr(-math.sqrt(2.0 * self.steep) * (y - self.cut))

    def nodes(self, low: float, high: float, step: float) -> _Nodes:
        """The nodes for exponents from `low` to `high`."""
        left, right = self.ends(low, high)
        y = step * np.arange(math.ceil(left / step), math.floor(right / step) + 1.0)
        half = 0.5 / self.sigma
        w = (y - half) / self.sigma
        with np.errstate(over="ignore"):
            small = self.rate * np.expm1(w)
        near = np.abs(small) < 0.5
        far = np.logaddexp(math.log1p(-self.rate), math.log(self.rate) + w)
        loss = np.where(near, np.log1p(np.where(near, small, 0.0)), far)
        log_share = np.minimum(math.log(self.rate) + w - loss, 0.0)
        share = np.exp(log_share)
        off = np.abs(w) + (np.abs(y) + half) / self.sigma
        error = 4.0 * _EPS * (np.abs(loss) + share * off + np.where(near, 0.0, 8.0 + np.abs(w)))
        # Where the loss is not small, log(rate) + w is rounded as well.
        error += np.where(near, 0.0, 4.0 * _EPS * abs(math.log(self.rate)))
        log_weight = math.log(step) - 0.5 * y * y - 0.5 * math.log(2.0 * math.pi)
        if self.cut < math.inf:
            log_weight += self.log_kept(y)
        return _Nodes(y, loss, share, error, log_weight)

    def number(self, low: float, high: float, step: float) -> float:
        """How many nodes `nodes` has."""
        left, right = self.ends(low, high)
        return (right - left) / step if step > 0.0 else math.inf

    def log_real(self, c: Array) -> tuple[Array, Array]:
        """Log M at real arguments of shape (n,), and bounds on its error; infinite out of reach."""
        r = self.exponent(np.asarray(c, dtype=float))
        found, error = np.full(r.shape, math.inf), np.full(r.shape, math.inf)
        near = np.flatnonzero(np.abs(r) <= _NEAR * self.sigma)
        far = np.flatnonzero(np.abs(r) > _NEAR * self.sigma)
        for some in [near, *far[:, None]]:
            if some.size:
                self._log_values(r[some], some, found, error)
        return found, error

    def _log_values(self, r: Array, where: IntArray, found: Array, error: Array) -> None:
        known = self._moments(r)
        if known is not None:
            found[where], error[where] = known.log_m, known.error

    def moments(self, c: Array) -> TiltedMoments | None:
        """Log M at real arguments of shape (n,) with derivatives; None out of reach."""
        known = self._moments(self.exponent(c))
        return known if known is None or self.removed else known._replace(mean=-known.mean)

    def _moments(self, r: Array) -> TiltedMoments | None:
        """Log G at real arguments of shape (n,), with derivatives; None if it takes too long."""
        low, high = float(r.min()), float(r.max())
        step = self.step(low)
        if self.number(low, high, step) > _MOST_NODES:
            return None
        nodes = self.nodes(low, high, step)
        rises = np.outer(r, nodes.loss)
        terms = nodes.log_weight + rises
        top = terms.max(axis=1, keepdims=True)
        weight = np.exp(terms - top)
        total = weight.sum(axis=1)
        weight /= total[:, None]
        logs = top[:, 0] + np.log(total)
        # Near 1 the sum of the differences from 1 has more digits.
        close = np.flatnonzero(np.abs(logs) < _CLOSE)
        if close.size:
            less = np.expm1(np.minimum(rises[close], 300.0)) * np.exp(nodes.log_weight)
            far = np.exp(np.minimum(terms[close], 0.0))
            logs[close] = np.log1p(np.where(rises[close] > 300.0, far, less).sum(axis=1))
        sizes = nodes.loss_error + 4.0 * _EPS * np.abs(nodes.loss)
        spread = np.abs(r) * (weight @ sizes)
        spread += 4.0 * _EPS * (weight @ np.abs(nodes.log_weight) + 8.0)
        error = spread + 8.0 * math.exp(-_DIGITS) + 8.0 * _EPS * np.abs(logs)
        mean = weight @ nodes.loss
        square = np.maximum(weight @ nodes.loss**2 - mean * mean, 0.0)
        return TiltedMoments(logs, error, mean, square)

    def line(self, c: float) -> GaussianLine:
        """The transform on the vertical line through c."""
        return GaussianLine(self, c)


class GaussianLine:
    """The transform on a vertical line, relative to its value on the real axis.

    `log_norm` is log M(c), `norm_error` a bound on its error, `atoms` the share of the atoms.
    """

    def __init__(self, loss: SampledGaussianLoss, c: float) -> None:
        self.loss, self.r = loss, float(loss.exponent(np.asarray(c)))
        found, error = loss.log_real(np.array([c]))
        self.log_norm, self.norm_error = float(found[0]), float(error[0])
        self.turn = 1.0 if loss.removed else -1.0
        self.atoms = 0.0
        self._steps: dict[float, float] = {}

    def _weights(self, step: float) -> tuple[_Nodes, Array]:
        """Nodes that matter, with their weights relative to G."""
        nodes = self.loss.nodes(self.r, self.r, step)
        height = nodes.log_weight + self.r * nodes.loss
        some = height > height.max() - _RARE
        nodes = _Nodes(*(part[some] for part in nodes))
        return nodes, np.exp(height[some] - self.log_norm)

    def step(self, u: float) -> float:
        """A step of the rule for imaginary parts up to u."""
        if u not in self._steps:
            self._steps[u] = self._step(u)
        return self._steps[u]

    def _step(self, u: float) -> float:
        """A step of the rule for imaginary parts up to u.

        Along the edge y + i eta of a strip |A^z| exceeds |A|^r by e^(u arg A), at most, where arg A
        rises with y from 0 to b = eta / sigma; the integral is bounded cell by cell.
        """
        loss, r = self.loss, self.r
        wide, cost = loss.strips(r)
        b = wide / loss.sigma
        far = math.sqrt(2.0 * (u * float(b[-1]) + 60.0)) + max(r, 0.0) / loss.sigma
        left, right = loss.ends(r, r)
        y = left + _CELL * np.arange(math.ceil(min(max(far, right) - left, _EVEN) / _CELL) + 1.0)
        if far > y[-1]:
            # Further out cells may be wider; the last one starts beyond all that matters.
            further = math.ceil(math.log(max(far, right) / y[-1]) / math.log(_WIDER)) + 1.0
            y = np.append(y, y[-1] * _WIDER ** np.arange(1.0, further + 1.0))
        cell = np.diff(y, append=y[-1] * _WIDER)
        w = (y - 0.5 / loss.sigma) / loss.sigma
        value = np.logaddexp(math.log1p(-loss.rate), math.log(loss.rate) + w)
        share = np.exp(np.minimum(math.log(loss.rate) + w - value, 0.0))[1:, None]
        mass = r * value - 0.5 * y * y - self.log_norm + np.log(cell)
        mass += cell * (np.abs(y) + cell + abs(r) / loss.sigma)
        if loss.cut < math.inf:
            mass += loss.log_kept(y)
        angle = np.arctan2(share * np.sin(b), 1.0 - 2.0 * share * np.sin(0.5 * b) ** 2)
        height = mass[:-1, None] + u * angle
        top = np.maximum(height.max(axis=0), 0.0)
        # What lies beyond either end adds less than 1.
        extra = top + np.log(np.exp(height - top).sum(axis=0) + np.exp(-top))
        return float(np.max(2.0 * math.pi * wide / (_DIGITS + cost + extra)))

    def size(self, u: float) -> float:
        """Number of terms of a value at imaginary part u, at most."""
        return self.loss.number(self.r, self.r, self.step(u))

    @staticmethod
    def affords(points: int, size: float) -> bool:
        """Whether so many values of so many terms are not too many; points hardly matter."""
        del points
        return size <= _MOST_TERMS

    def values(self, u: Array) -> tuple[ComplexArray, ComplexArray, Array]:
        """Atoms, of which there are none, values at c + i u, u >= 0, and bounds on their errors."""
        found, error = np.empty(u.shape, dtype=complex), np.empty(u.shape)
        order = np.argsort(u)
        start = 0
        # ends: each pass takes at least one point
        while start < len(u):
            smallest = float(u[order[start]])
            limit = max(2.0 * smallest, 8.0 / self.loss.sigma)
            end = int(np.searchsorted(u[order], limit, side="right"))
            end = len(u) if len(u) - start <= _FEW else max(end, start + _FEW)
            some = order[start:end]
            self._values(u[some], some, found, error)
            start = end
        return np.zeros_like(found), found, error

    def _values(self, u: Array, where: IntArray, found: ComplexArray, error: Array) -> None:
        step = self.step(float(u.max()))
        number = self.loss.number(self.r, self.r, step)
        if number > _MOST_TERMS:
            message = f"sampled loss: expected at most {_MOST_TERMS} terms, got {number:.3g}"
            raise ValueError(message)
        nodes, weight = self._weights(step)
        loss = self.turn * nodes.loss
        gap = (u[-1] - u[0]) / max(len(u) - 1, 1)
        spread = 0.0
        if len(u) >= _MANY and np.ptp(u - gap * np.arange(len(u))) <= 1e-13 * u[-1]:
            found[where], spread = equispaced_sums(gap * loss, weight, u[0] / gap, len(u))
        else:
            size = max(_CHUNK // len(loss), 1)
            for first in range(0, len(u), size):
                some = slice(first, first + size)
                found[where[some]] = np.exp(1j * np.outer(u[some], loss)) @ weight
        exponents = np.abs(nodes.log_weight) + abs(self.r) * np.abs(nodes.loss)
        fixed = weight @ (exponents + abs(self.log_norm) + 8.0) * 4.0 * _EPS
        fixed += abs(self.r) * float(weight @ nodes.loss_error)
        slope = weight @ (nodes.loss_error + 4.0 * _EPS * np.abs(nodes.loss))
        error[where] = fixed + u * slope + 8.0 * math.exp(-_DIGITS) + spread

    def envelope(self, u: Array, copies: float) -> Array:
        """Bounds on the modulus at all Im s >= u, of increasing shape (n,), at most 1.

        Once their power to the number of copies is far below anything, they are not sharpened.
        """
        sigma = self.loss.sigma
        step = 0.5 * self.loss.step(self.r)
        nodes, weight = self._weights(step)
        total = float(weight.sum())
        mean = float(weight @ nodes.share) / total
        square = float(weight @ nodes.share**2) / total
        out, best = np.ones(u.shape), 1.0
        widest, p = min(_SHIFTED, _WIDEST / sigma), nodes.share
        rounding = 1e-13 + self.norm_error
        for first in range(0, len(u), _BLOCK):
            part = u[first : first + _BLOCK]
            spread = 2.0 * self.loss.bend * sigma * sigma + part * part * square
            shift = np.minimum(part * mean / spread, widest)
            b = np.concatenate([
                np.minimum(shift * _FACTORS[:, None], widest),
                widest * np.full((len(_WIDE), len(part)), _WIDE[:, None]),
            ])  # fmt: skip
            turn = b[..., None]
            # A(w + i b) / A(w) = 1 - p + p e^(i b), p the share of the second summand.
            less = 2.0 * p * np.sin(0.5 * turn) ** 2
            rise = 0.5 * np.log1p(-2.0 * (1.0 - p) * less)
            angle = np.arctan2(p * np.sin(turn), 1.0 - less)
            lift = self.r * rise - part[:, None] * angle + self.loss.bend * (sigma * turn) ** 2
            bound = np.exp(np.minimum(lift, 600.0)) @ weight + self._rule_error(b, step)
            lowest = bound.min(axis=0) * (1.0 + rounding) + rounding
            found = np.minimum.accumulate(np.append(best, lowest))
            out[first : first + _BLOCK] = found[1:]
            best = float(found[-1])
            if copies * math.log(best) < _FADED:
                out[first + _BLOCK :] = best
                break
        return out

    def _rule_error(self, b: Array, step: float) -> Array:
        """The error of the rule for the bound on the line shifted by b, relative to G."""
        sigma = self.loss.sigma
        strip = np.minimum(0.48 * math.pi * sigma, 9.0) * _STRIPS[:, None, None]
        cost = self.loss.bend * ((sigma * b) ** 2 + strip * strip)
        cost -= min(self.r, 0.0) * -np.log(np.cos(0.5 * (b + strip / sigma)))
        rest = 2.0 * math.pi * strip / step
        log_error = np.min(cost - rest - np.log(-np.expm1(-rest)), axis=0)
        return 2.0 * np.exp(np.minimum(log_error, 700.0)) + 1e-15


class MixedTransform:
    """The transform of sampled losses with their copies, beside that of other losses.

    Attributes are those of `LossTransform`; the groups of the other losses come first.
    """

    def __init__(
        self, other: LossTransform, sampled: Sequence[tuple[SampledGaussianLoss, int]]
    ) -> None:
        self.other, self.sampled = other, tuple(loss for loss, _ in sampled)
        self.counts = np.array([float(n) for _, n in sampled])
        few = self.counts.sum() <= _FEW_STEPS
        # Orders of atoms that may be subtracted; the second takes a profile for each atom.
        self.orders = 2 if few and all(getattr(loss, "single", False) for loss, _ in sampled) else 1
        self.losses = (*other.losses, *self.sampled)
        self.copies = np.concatenate([other.copies, self.counts])
        self.gaussian, self.infinite = other.gaussian, other.infinite
        self.atoms = np.array(
            [(g, *atom) for g, loss in enumerate(self.losses) for atom in loss.atoms]  # type: ignore[attr-defined]
        ).reshape(-1, 3)
        whole = sum(n * loss.largest for loss, n in sampled)
        self.largest = math.inf if other.gaussian > 0.0 else float(other.largest + whole)
        self._evaluations = 0.0
        self.continuous = True

    @property
    def evaluations(self) -> float:
        """As for other losses: terms asked for so far."""
        terms = sum(getattr(loss, "terms", 0.0) for loss in self.sampled)
        return self.other.evaluations + self._evaluations + terms / 15.0

    @property
    def rows(self) -> int:
        """Integrals that take as long as one value, roughly."""
        return self.other.rows + len(self.sampled)

    @property
    def log_cut(self) -> float:
        """The logarithm of a bound on the chance that any step is cut."""
        rests = np.array([loss.log_rest for loss in self.sampled])
        if not rests.size or rests.max() == -math.inf:
            return -math.inf
        return float(special.logsumexp(rests, b=self.counts)) + 1e-9

    def log_real(self, c: Array) -> Array:
        """Log M at real arguments, and infinity where it is not known or rounding hides it."""
        total, doubt = np.zeros(c.shape), np.zeros(c.shape)
        if len(self.other.copies) or self.gaussian > 0.0:
            total += self.other.log_real(c)
        for loss, n in zip(self.sampled, self.counts, strict=True):
            found, error = loss.log_real(c)
            total += n * found
            doubt += n * error
        self._evaluations += 10.0 * _CALL * len(self.sampled)
        return np.where(doubt < USABLE, total, math.inf)

    def line(self, c: float) -> _MixedLine:
        """The transform on the vertical line through c."""
        return _MixedLine(self, c)

    def spent(self, terms: float) -> None:
        """Record of terms that were asked for."""
        self._evaluations += terms / 15.0 + _CALL


class _MixedLine:
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
        self.norm = np.ones((len(self.sampled), 1))
        self.atoms = np.minimum([[line.atoms] for line in self.sampled], 1.0)
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
        self.transform.spent(
            sum(4.0 * len(u) + 8.0 * line.size(float(u[-1])) for line in self.sampled)
        )
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
        """Number of points of a step, up to `most`, for which no value has too many terms."""
        # ends: few points: what they leave out is bounded
        for _ in range(_HALVINGS):
            sizes = [line.size(step * most) for line in self.sampled]
            known = all(line.affords(most, n) for line, n in zip(self.sampled, sizes, strict=True))
            if known and sum(sizes) <= _MOST_TOGETHER:
                return most
            most //= 2
        return 50

    def envelope(self, u: Array) -> Array:
        """Bounds on the continuous parts at all |Im s| >= u > 0, relative to M(c)."""
        self.transform.spent(15.0 * _ENVELOPE * len(self.sampled))
        counts = self.transform.copies[len(self.transform.other.copies) :]
        rows = [line.envelope(u, float(n)) for line, n in zip(self.sampled, counts, strict=True)]
        if self._other is not None:
            rows = [*self._other.envelope(u), *rows]
        return np.minimum(np.array(rows), 1.0 - np.minimum(self.atoms, 1.0))
