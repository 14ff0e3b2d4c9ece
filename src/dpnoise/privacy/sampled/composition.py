"""Two-sided bounds on the privacy of many steps on Poisson samples, beside other releases.

In each direction, the record removed or added in all steps, the losses are independent sums, whose
transform `dpnoise.privacy.inversion` inverts with bounds on everything it leaves out. One step
alone has a closed form. docs/sampling.md has the proofs.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import optimize, special

from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise.privacy.inversion.inversion import Inversion, LogBounds, Shares
from dpnoise.privacy.inversion.transform import LossTransform
from dpnoise.privacy.sampled.transform import MixedTransform, SampledGaussianLoss

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpnoise._types import Array

REMOVED, ADDED = "removed", "added"
_DEEP = 25.0  # the share beyond the cut is e^-25 of delta
_DEEPEST = -760.0  # of its logarithm
_RTOL, _SECONDS = 1e-8, 0.4  # relative gap to aim at, and time for one epsilon
_CLOSED = 1e-11  # relative error of the closed form of one step
_TRIES, _WIDENINGS = 3, 25
STEEP = 1.5
_SAME = 1e-10  # of log M with and without the cut
MOST_EPSILON = 1e6  # to begin with
_DOUBLINGS = 20  # of epsilon from 1, or as many tenths
_CLIP = 700.0
_STRIDE, _POLISH = 1e-4, 1  # relative, for a slope, and steps by it
_NOTHING = LogBounds(-math.inf, -math.inf, -math.inf)


class Step(NamedTuple):
    """Gaussian noise of a noise multiplier on a Poisson sample of a rate in (0, 1]."""

    sigma: float
    rate: float


def one_step(step: Step, epsilon: float, direction: str) -> float:
    """Log delta of one step, in closed form, of a relative error of at most 1e-11."""
    mu, q = 1.0 / step.sigma, step.rate
    rise = math.expm1(min(epsilon, 700.0))
    if direction == REMOVED or q == 1.0:
        inner = math.log1p(rise / q) if epsilon < 700.0 else epsilon - math.log(q)
        return math.log(q) + float(gaussian_log_delta(mu, inner))
    share = q - rise * (1.0 - q)  # 1 - (1 - q) e^epsilon
    if share <= 0.0:
        return -math.inf
    inner = max(math.log(q) + epsilon - math.log(share), 0.0)
    return math.log(share) + float(gaussian_log_delta(mu, inner))


class Composition:
    """Steps on Poisson samples with their numbers, beside other releases.

    `other` is the transform of the losses of all other releases, if there are any.
    """

    def __init__(self, steps: Mapping[Step, int], other: LossTransform | None = None) -> None:
        plain = math.fsum(n / step.sigma**2 for step, n in steps.items() if step.rate == 1.0)
        self.steps = {step: n for step, n in steps.items() if 0.0 < step.rate < 1.0}
        self.every = {step: n for step, n in steps.items() if step.rate > 0.0}
        if other is None:
            other = LossTransform([], [], plain)
        elif plain:
            other = LossTransform(
                other.losses, other.copies.astype(int).tolist(), other.gaussian + plain
            )
        self.other = other
        self.alone = not len(other.losses) and other.gaussian == plain
        self.uncut = False  # set where a cut makes no difference, which saves time
        self.wide = False  # set where the bounds were seen to say nothing
        self._steep: float | None = None  # of the cut for one delta
        self.shares, self.log_cut = Shares(), -math.inf  # of the last answer
        self._found: dict[tuple[str, float, float], Inversion] = {}

    def _transform(
        self, direction: str, log_rest: float, steep: float
    ) -> MixedTransform | LossTransform:
        if not self.steps:
            return self.other
        losses = []
        for step, n in self.steps.items():
            own = max(log_rest - math.log(n * len(self.steps)), _DEEPEST)
            bend = max(1.0, steep / (step.sigma**2 * max(-math.log(step.rate), 0.7)))
            rest = own if log_rest > -math.inf else -math.inf
            losses.append(self._loss(step, direction, rest, bend))
        return MixedTransform(self.other, list(zip(losses, self.steps.values(), strict=True)))

    def _one(self, step: Step, epsilon: float, direction: str) -> float:
        """Log delta of one step."""
        return one_step(step, epsilon, direction)

    def _loss(
        self, step: Step, direction: str, log_rest: float, steep: float
    ) -> SampledGaussianLoss:
        """The loss of one step, cut where `log_rest` is finite."""
        removed = direction == REMOVED
        rest = log_rest if removed else -math.inf
        return SampledGaussianLoss(*step, removed=removed, log_rest=rest, steep=steep)

    def _cuts(self, direction: str) -> bool:
        """Whether steps have outputs that matter at large tilts only."""
        return direction != ADDED and bool(self.steps)

    def _inversion(self, direction: str, log_rest: float, steep: float) -> Inversion:
        key = (direction, log_rest, steep)
        if key not in self._found:
            transform = self._transform(direction, log_rest, steep)
            self._found[key] = Inversion(transform, _RTOL, _SECONDS)  # type: ignore[arg-type]  # of its interface
        return self._found[key]

    def _known(self, epsilon: float, direction: str) -> tuple[float, float]:
        """Bounds on log delta without inversion.

        More releases never lower delta; a release that is not sampled shows nothing.
        """
        low = max(self._one(step, epsilon, direction) for step in self.every) - _CLOSED
        if not self.alone:
            return low, 0.0
        spared = math.fsum(
            n * math.log1p(-step.rate) if step.rate < 1.0 else -math.inf
            for step, n in self.every.items()
        )
        return low, min(math.log(-math.expm1(spared)) + _CLOSED, 0.0)

    def log_delta(self, epsilon: float, direction: str, guess: float | None = None) -> LogBounds:
        """Bounds on log delta in one direction; `guess` is what it is about, if that is known."""
        self.shares, self.log_cut = Shares(), -math.inf
        if not self.every and self.alone:
            return _NOTHING
        if self.alone and sum(self.every.values()) == 1:
            ((step, _),) = self.every.items()
            exact = self._one(step, epsilon, direction)
            return LogBounds(exact - _CLOSED, exact, min(exact + _CLOSED, 0.0))
        if not self.steps and self.alone:  # Gaussian noise on all data
            exact = float(gaussian_log_delta(math.sqrt(self.other.gaussian), epsilon))
            error = 1e-11 + 1e-15 * (10.0 - 3.0 * exact)
            return LogBounds(exact - error, exact, min(exact + error, 0.0))
        low, high = self._known(epsilon, direction) if self.every else (-math.inf, 0.0)
        try:
            found = self._inverted(epsilon, direction, guess)
        except ValueError:  # rounding hides the transform
            return LogBounds(low, high, high)
        upper = max(min(found.upper, high), low)
        lower = min(max(found.lower, low), upper)
        return LogBounds(lower, min(max(found.estimate, lower), upper), upper)

    def _inverted(self, epsilon: float, direction: str, guess: float | None) -> LogBounds:
        if self.uncut or not self._cuts(direction):
            return self._uncut_bounds(epsilon, direction)
        # The cut depends on delta, and on the tilt, which is about that of the other direction.
        aim = -60.0 if guess is None else guess - _DEEP
        steep = STEEP * self._tilt(epsilon, direction) if self._steep is None else self._steep
        best = LogBounds(-math.inf, 0.0, 0.0)
        for _ in range(_TRIES):
            cut = self._inversion(direction, aim, steep)
            tilt, _ = cut._saddle(epsilon)  # noqa: SLF001
            rest = self._log_cut(cut)
            if self._same(cut, tilt, direction):
                self.uncut = True
                return self._uncut_bounds(epsilon, direction)
            found = cut.bounds(epsilon)
            lower = _log_minus(found.lower, rest)
            upper = min(float(np.logaddexp(found.upper, rest)), 0.0)
            found = LogBounds(lower, max(found.estimate, lower), upper)
            if found.gap <= best.gap:
                best, self.shares, self.log_cut = found, cut.shares, rest
            deep = found.estimate - _DEEP
            deep = deep if guess is None else max(deep, guess - _DEEP)
            if rest <= max(deep + 5.0, _DEEPEST) and STEEP * tilt <= 1.5 * steep:
                break
            aim, steep = max(min(aim, deep), _DEEPEST), max(steep, STEEP * tilt)
        return best

    def _uncut_bounds(self, epsilon: float, direction: str) -> LogBounds:
        inversion = self._inversion(direction, -math.inf, 1.0)
        found = inversion.bounds(epsilon)
        self.shares, self.log_cut = inversion.shares, -math.inf
        return found

    def _tilt(self, epsilon: float, direction: str) -> float:  # noqa: ARG002  (of the other one)
        """The tilt at the saddle point with the record added; 0 where nothing is above epsilon."""
        try:
            inversion = self._inversion(ADDED, -math.inf, 1.0)
        except ValueError:
            return 0.0
        if epsilon >= inversion.transform.largest * (1.0 - 1e-6):
            return 0.0
        return inversion._saddle(epsilon)[0]  # noqa: SLF001

    @staticmethod
    def _log_cut(inversion: Inversion) -> float:
        """The logarithm of a bound on the chance that any step is cut."""
        transform = inversion.transform
        counts = transform.copies[len(transform.other.copies) :]  # type: ignore[attr-defined]
        rests = [loss.log_rest for loss in transform.sampled]  # type: ignore[attr-defined]
        return float(special.logsumexp(np.array(rests), b=counts)) + 1e-9

    def _same(self, cut: Inversion, tilt: float, direction: str) -> bool:
        """Whether the cut makes no difference at a tilt."""
        whole = self._transform(direction, -math.inf, 1.0)
        at = np.array([tilt, 1.5 * tilt])
        with np.errstate(invalid="ignore"):
            gap = whole.log_real(at) - cut.transform.log_real(at)
        return bool(np.all(np.abs(gap) <= _SAME))

    def epsilon(self, log_delta: float, direction: str) -> tuple[float, float]:
        """Bounds on the least epsilon in one direction; the upper one is infinite above 1e6."""

        def excess(epsilon: float) -> float:
            found = self.log_delta(epsilon, direction, log_delta)
            return min(max(found.estimate - log_delta, -_CLIP), _CLIP)

        low, high = 0.0, self._start(log_delta, direction)
        if excess(high) > 0.0:
            for _ in range(_DOUBLINGS):
                low, high = high, 2.0 * high
                if excess(high) <= 0.0:
                    break
            else:
                known = self.log_delta(low, direction, log_delta).lower >= log_delta
                return (low if known else 0.0), math.inf
        else:
            low = 0.5 * high
            if excess(low) <= 0.0:
                if self.log_delta(0.0, direction, log_delta).upper <= log_delta:
                    return 0.0, 0.0
                low, high = 0.0, low
                for _ in range(_DOUBLINGS):
                    low = 0.1 * high
                    if excess(low) > 0.0:
                        break
                    low, high = 0.0, low
        root = high
        if low < high:
            root = float(optimize.brentq(excess, low, high, xtol=1e-8 * high, rtol=1e-7))
        return self._certified(root, log_delta, direction)

    def _start(self, log_delta: float, direction: str) -> float:
        """An epsilon that is about the one sought, by Chernoff's inequality."""
        try:
            guide = ADDED if self._cuts(direction) else direction
            inversion = self._inversion(guide, -math.inf, 1.0)
        except ValueError:
            return 1.0
        c, log_m = tilts(), inversion.transform.log_real(tilts())
        bounds = (log_m - log_delta - c * np.log1p(1.0 / c) - np.log1p(c)) / c
        best = int(np.argmin(bounds))
        self._steep = STEEP * float(c[best]) if direction == REMOVED else None
        return min(max(float(bounds[best]), 1e-9), MOST_EPSILON)

    def _certified(self, root: float, log_delta: float, direction: str) -> tuple[float, float]:
        """Epsilons near a root at which the bounds on delta are on either side."""
        step, here = _STRIDE * root, self.log_delta(root, direction, log_delta)
        for _ in range(_POLISH):
            there = self.log_delta(root + step, direction, log_delta)
            slope = max((here.estimate - there.estimate) / step, 1e-9 / root)
            root = max(root + (here.estimate - log_delta) / slope, 0.0)
            here = self.log_delta(root, direction, log_delta)
        ends = []
        for side in (-1.0, 1.0):
            doubt = here.estimate - here.lower if side < 0.0 else here.upper - here.estimate
            end = 0.0 if side < 0.0 else math.inf
            move = 1.5 * min(doubt, 1e3) / slope + 1e-11 * root
            for _ in range(_WIDENINGS):
                at = root + side * move
                if at <= 0.0:
                    break
                bounds = self.log_delta(at, direction, log_delta)
                if bounds.lower >= log_delta if side < 0.0 else bounds.upper <= log_delta:
                    end = at
                    break
                move *= 2.0
            ends.append(end)
        return ends[0], ends[1]


def tilts() -> Array:
    """Tilts at which Chernoff's inequality is tried."""
    return np.geomspace(1e-4, 1e8, 73)


def _log_minus(first: float, second: float) -> float:
    """Log (e^first - e^second), or minus infinity."""
    return first + math.log(-math.expm1(second - first)) if first > second else -math.inf
