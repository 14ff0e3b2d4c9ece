"""Two-sided bounds on the privacy of many steps on Poisson samples, beside other releases.

In each direction, the record removed or added in all steps, the losses are independent sums, whose
transform `dpnoise.privacy.inversion` inverts with bounds on everything it leaves out. One step
alone has a closed form. docs/sampling.md has the proofs.

**The least epsilon at which delta is a given one, by a search over bounds on delta.**
An estimate of log delta leads the search: by tangents from a saddle point approximation, or within
a bracket. Nothing rests on it. Every bound that was seen counts: epsilon is at least any at which
the lower bound on delta is too large, and at most any at which the upper one is not.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import optimize

from dpnoise.privacy.inversion.inversion import (
    Inversion,
    LogBounds,
    approximate,
    by_tangents,
    tilts,
)
from dpnoise.privacy.inversion.transform import USABLE, LossTransform
from dpnoise.privacy.inversion.trapezoid import log_payoff
from dpnoise.privacy.sampled.lines import (
    CLOSE,
    DEEP,
    DEEPEST,
    STEEP,
    UNKNOWN,
    Lines,
    sharper,
    with_rest,
)
from dpnoise.privacy.sampled.pairs import (
    ADDED,
    GAUSSIAN,
    NOTHING,
    REMOVED,
    Kind,
    Pair,
    one_step,
    pair_of,
)
from dpnoise.privacy.sampled.rounded import Rounded
from dpnoise.privacy.sampled.transform import MixedTransform, SampledGaussianLoss

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dpnoise._types import Array
    from dpnoise.privacy.sampled.stretches import StretchLoss


_DOUBLINGS = 20  # of epsilon from where it begins, or as many tenths
_CLIP = 700.0
_WIDENINGS = 25
_STRIDE, _POLISH = 1e-4, 1  # relative, for a slope, and steps by it
_MOST_GROWTH = 15.0  # of the distance of an end from the root
_SMALLEST = 1e-12  # epsilon next to which ends are looked for


class _SpentError(Exception):
    """No work is left for a search."""


class EpsilonSearch:
    """A search by `bounds`, on log delta at an epsilon, until `spent` says that it is enough."""

    def __init__(
        self, bounds: Callable[[float], LogBounds], log_delta: float, spent: Callable[[], bool]
    ) -> None:
        self._bounds, self._log_delta, self._spent = bounds, log_delta, spent
        self._known: dict[float, LogBounds] = {}

    def ends(
        self, start: float, known: tuple[float, float] | None, top: float
    ) -> tuple[float, float]:
        """Bounds on epsilon from about where it is; 0 and infinity where there are none.

        `known` is a better guess with the slope of log delta there, if there is one, below `top`.
        """
        try:
            root = None if known is None else by_tangents(self._excess, *known, top)
            root = self._bracketed(start) if root is None else root
            if root is not None:
                self._surround(root)
        except _SpentError:
            pass
        low = max(
            (at for at, one in self._known.items() if one.lower >= self._log_delta), default=0.0
        )
        high = min(
            (at for at, one in self._known.items() if one.upper <= self._log_delta),
            default=math.inf,
        )
        return min(low, high), high

    def _told(self, epsilon: float) -> LogBounds:
        if epsilon not in self._known:
            self._known[epsilon] = self._bounds(epsilon)
        return self._known[epsilon]

    def _excess(self, epsilon: float) -> float:
        if epsilon not in self._known and self._spent():
            raise _SpentError
        return min(max(self._told(epsilon).estimate - self._log_delta, -_CLIP), _CLIP)

    def _bracketed(self, start: float) -> float | None:
        """A root of the excess, None if there is none or 0 is enough."""
        low, high, excess = 0.0, start, self._excess
        if excess(high) > 0.0:
            # ends: no upper bound is known, or a bracket
            for _ in range(_DOUBLINGS):
                low, high = high, 2.0 * high
                if excess(high) <= 0.0:
                    break
            else:
                return None
        else:
            low = 0.5 * high
            if excess(low) <= 0.0:
                if self._told(0.0).upper <= self._log_delta:
                    return None
                low, high = 0.0, low
                # ends: a bracket down to 0
                for _ in range(_DOUBLINGS):
                    low = 0.1 * high
                    if excess(low) > 0.0:
                        break
                    low, high = 0.0, low
        # Where delta at 0 is what is asked for, give or take rounding, nothing changes its sign.
        above, below = excess(low), excess(high)
        if not above > 0.0 >= below:
            return high
        near, slope = (high if -below < above else low), (below - above) / (high - low)
        root = by_tangents(excess, near, slope, high) if near > 0.0 else None
        if root is None or not low <= root <= high:
            root = float(optimize.brentq(excess, low, high, xtol=1e-8 * high, rtol=1e-7))
        return root

    def _surround(self, root: float) -> None:
        """Bounds on either side of a root, as near as may be."""
        log_delta, root = self._log_delta, max(root, _SMALLEST)
        step, here = _STRIDE * root, self._told(root)
        # ends: bounds are taken on either side of wherever it ends
        for _ in range(_POLISH):
            there = self._told(root + step)
            fall = here.estimate - there.estimate
            if not math.isfinite(fall):  # next to the largest loss: what was seen is all there is
                return
            slope = max(fall / step, 1e-9 / root)
            root = max(root + (here.estimate - log_delta) / slope, _SMALLEST)
            here = self._told(root)
        if not math.isfinite(here.estimate):
            return
        root += min(max((here.estimate - log_delta) / slope, -step), step)
        for side in (-1.0, 1.0):
            doubt = here.estimate - here.lower if side < 0.0 else here.upper - here.estimate
            move = 1.5 * min(doubt, 1e3) / slope + 1e-11 * root
            # ends: what was seen is all there is
            for _ in range(_WIDENINGS):
                at = root + side * move
                if at <= 0.0:
                    break
                bounds = self._told(at)
                miss = log_delta - bounds.lower if side < 0.0 else bounds.upper - log_delta
                if miss <= 0.0:
                    break
                move += min(max(1.5 * miss / slope, move), _MOST_GROWTH * move)


_SECONDS, _ROUGH_SECONDS = 0.4, 0.1  # for one epsilon
_CLOSED = 1e-11  # relative rounding of the chance of a sample
_TRIES = 3
_SAME = 1e-10  # of log M with and without the cut
MOST_EPSILON = 1e6  # to begin with
_SHARP = 5e-7  # relative gap of delta up to which nothing else is tried
_SERVES = 5e-6  # and that of a line in a search for epsilon
_ROUGH = 1e-2  # and that of a rough delta
_MOST_ROUNDED = 64  # kinds of steps on a lattice
_FEW = 8  # kinds of steps, those of the greatest rate / sigma, looked at alone
_MOST_SQUARE = 50.0  # exponent of a second moment
_SMALLEST_SPREAD = 1e-150  # of a loss, for lines
_ROUGH_WORK = 3e5  # evaluations of a rough delta
MOST_WORK, _MOST_SEARCH = 2.2e6, 1.6e6  # evaluations of a direction, and of these for a search


class Composition:
    """Steps on Poisson samples with their numbers, beside other releases.

    `other` is the transform of the losses of all other releases, if there are any.
    """

    _plain_pairs = True  # of Gaussian noise, a record added or removed: lines and lattices serve

    def __init__(self, steps: Mapping[Kind, int], other: LossTransform | None = None) -> None:
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
        self.close = CLOSE  # the gap of log delta that is close enough
        self._lattices: dict[str, Rounded] = {}
        self._steep: float | None = None  # of the cut for one delta
        self._found: dict[tuple[str, float, float, float], Inversion] = {}
        self._hidden: dict[
            tuple[str, float, float, float], str
        ] = {}  # by rounding, with the message
        self._bounds: dict[str, Array] = {}  # on log M, by direction
        self._sharp: set[str] = set()  # directions in which these are sharp
        self._before = 0.0  # evaluations for earlier answers
        self._lost = 0.0  # evaluations of what is not kept
        # The root of about the variance of the loss; squares of the smallest rates are 0.
        parts = [
            step.rate * math.sqrt(n * math.expm1(min(step.sigma**-2, _MOST_SQUARE)))
            for step, n in self.steps.items()
        ]
        self._spread = math.hypot(*parts, math.sqrt(other.gaussian))
        simple = self._plain_pairs and self._spread > _SMALLEST_SPREAD and other.infinite == 0.0
        simple = simple and bool(self.steps)
        self._lines = Lines(self._transform, self._spread) if simple else None  # type: ignore[arg-type]  # steps give mixed ones

    @property
    def _lattice_serves(self) -> bool:
        """Whether all is steps on samples, few enough kinds of them."""
        few = len(self.steps) <= _MOST_ROUNDED
        return self._plain_pairs and few and self.alone and self.other.gaussian == 0.0

    def _rounded(self, direction: str) -> Rounded:
        if direction not in self._lattices:
            steps = [(step.sigma, step.rate, n) for step, n in self.steps.items()]
            self._lattices[direction] = Rounded(steps, removed=direction == REMOVED)
        return self._lattices[direction]

    def _transform(
        self, direction: str, log_rest: float, steep: float
    ) -> MixedTransform | LossTransform:
        if not self.steps:
            return self.other
        losses: list[SampledGaussianLoss] = []
        for step, n in self.steps.items():
            own = max(log_rest - math.log(n * len(self.steps)), DEEPEST)
            bend = max(1.0, steep / (step.sigma**2 * max(-math.log(step.rate), 0.7)))
            rest = own if log_rest > -math.inf else -math.inf
            losses.append(self._loss(step, direction, rest, bend))  # type: ignore[arg-type]  # or of its interface
        return MixedTransform(self.other, list(zip(losses, self.steps.values(), strict=True)))

    def _loss(
        self, step: Kind, direction: str, log_rest: float, steep: float
    ) -> SampledGaussianLoss | StretchLoss:
        """The loss of one step, cut where `log_rest` is finite."""
        removed = direction == REMOVED
        rest = log_rest if removed else -math.inf
        return SampledGaussianLoss(
            step.sigma, step.rate, removed=removed, log_rest=rest, steep=steep
        )

    def _cuts(self, direction: str) -> bool:
        """Whether steps have outputs that matter at large tilts only."""
        return direction != ADDED and bool(self.steps)

    def _inversion(self, direction: str, log_rest: float, steep: float) -> Inversion:
        if self._work > self._most:
            message = "sampled losses: out of reach: expected fewer steps or more noise"
            raise ValueError(message)
        key = (direction, log_rest, steep, self.close)
        if key in self._hidden:
            raise ValueError(self._hidden[key])
        if key not in self._found:
            transform = self._transform(direction, log_rest, steep)
            seconds = _SECONDS if self.close < _ROUGH else _ROUGH_SECONDS
            try:
                self._found[key] = Inversion(transform, self.close, seconds, kept=True)  # type: ignore[arg-type]  # of its interface
            except ValueError as error:
                self._hidden[key] = str(error)
                self._lost += transform.evaluations
                raise
        return self._found[key]

    def _known(self, epsilon: float, direction: str) -> tuple[float, float]:
        """Bounds on log delta without inversion.

        More releases never lower delta; a release that is not sampled shows nothing.
        """
        worst = sorted(self.every, key=lambda step: step.rate / step.sigma)[-_FEW:]
        low = max(one_step(pair_of(step, direction), epsilon).lower for step in worst)
        high = self._chernoff(epsilon, direction)
        return low, min(self.log_seen, high)

    @property
    def log_seen(self) -> float:
        """The log chance that any sample has the record, beyond which delta never is."""
        spared = math.fsum(
            n * math.log1p(-step.rate) if step.rate < 1.0 else -math.inf
            for step, n in self.every.items()
        )
        return min(math.log(-math.expm1(spared)) + _CLOSED, 0.0) if self.alone else 0.0

    def _plain(self, step: Kind, c: Array, direction: str) -> Array:  # noqa: ARG002
        """Log M at tilts of a step whose sample has the record in any case."""
        return 0.5 * c * (c + 1.0) / step.sigma**2

    def _moments(self, direction: str) -> Array:
        """Bounds on log M at `tilts()`, in closed form.

        Both distributions of a pair are mixtures of the same one, of weight 1 - q, and of those of
        the pair at rate 1. Moments are convex in pairs.
        """
        if direction not in self._bounds:
            c = tilts()
            total = np.zeros(c.shape)
            if len(self.other.copies) or self.other.gaussian > 0.0:
                total += self.other.log_real(c) + USABLE * len(self.other.copies)
            for step, n in self.steps.items():
                plain = self._plain(step, c, direction) * (1.0 + 1e-12)
                rise = step.rate * np.expm1(np.minimum(plain, _CLIP))
                spared = math.log1p(-step.rate) if step.rate < 1.0 else -math.inf
                far = np.logaddexp(spared, math.log(step.rate) + plain)
                total += n * np.where(plain < _CLIP, np.log1p(rise), far) * (1.0 + 1e-12)
            self._bounds[direction] = np.where(np.isnan(total), math.inf, total)
        return self._bounds[direction]

    def _sharpen(self, direction: str) -> None:
        """Sharper bounds on log M, by quadrature."""
        if direction in self._sharp or self._work > MOST_WORK:
            return
        self._sharp.add(direction)
        exact = self._transform(direction, -math.inf, 1.0).log_real(tilts()) + USABLE
        self._bounds[direction] = np.fmin(self._moments(direction), exact)

    def _largest_of(self, direction: str) -> float:
        """The largest loss in a direction, at least."""
        return self._largest if direction == ADDED else math.inf

    def _chernoff(self, epsilon: float, direction: str) -> float:
        """A bound on log delta by Chernoff's inequality and moments in closed form."""
        if self.other.infinite > 0.0:
            return 0.0
        c = tilts()
        bounds = self._moments(direction) - c * epsilon * (1.0 - 1e-12) + log_payoff(c)
        return min(float(bounds.min()) + 1e-9, 0.0)

    def _chernoff_epsilon(self, log_delta: float, direction: str) -> tuple[float, float]:
        """An epsilon that is large enough by the same inequality, and its tilt."""
        if self.other.infinite > 0.0:
            return math.inf, 1.0
        c = tilts()
        bounds = (self._moments(direction) + log_payoff(c) - log_delta + 1e-9) / c
        best = int(np.argmin(bounds))
        return max(float(bounds[best]) * (1.0 + 1e-9), 0.0), float(c[best])

    @property
    def _work(self) -> float:
        """Evaluations so far."""
        kept = sum(one.transform.evaluations for one in self._found.values())
        return kept + self._lost - self._before

    @property
    def _most(self) -> float:
        """Evaluations that may be used for a direction."""
        return MOST_WORK if self.close < _ROUGH else _ROUGH_WORK

    @property
    def work(self) -> float:
        """Evaluations in all."""
        return self._work + self._before + sum(one.work for one in self._lattices.values())

    def log_delta(
        self, epsilon: float, direction: str, guess: float | None = None, aim: float = 0.0
    ) -> LogBounds:
        """Bounds on log delta in one direction; `guess` is what it is about, if that is known.

        Lines serve where their gap is at most `aim`, or next to nothing.
        """
        if not self.every and self.alone:
            return NOTHING
        if self.alone and sum(self.every.values()) == 1:
            ((step, _),) = self.every.items()
            return one_step(pair_of(step, direction), epsilon)
        if not self.steps and self.alone:  # Gaussian noise on all data
            whole = Pair(REMOVED, GAUSSIAN, math.sqrt(self.other.gaussian), 1.0)
            return one_step(whole, epsilon)
        if direction == ADDED and epsilon >= self._largest:
            return NOTHING
        found = UNKNOWN
        if self._lines is not None:
            found = self._lines.log_delta(epsilon, direction, guess, max(aim, self.close))
            if found.gap <= max(aim, _SHARP, self.close):
                return found
        low, high = self._known(epsilon, direction) if self.every else (-math.inf, 0.0)
        if self._lattice_serves:
            found = sharper(found, self._rounded(direction).log_delta(epsilon, self.close))
        else:
            try:
                found = sharper(found, self._inverted(epsilon, direction, guess))
            except ValueError:  # rounding hides the transform
                found = found._replace(upper=min(found.upper, high))
        return self._within(found, low, high, epsilon, direction)

    def _within(
        self, found: LogBounds, low: float, high: float, epsilon: float, direction: str
    ) -> LogBounds:
        """Bounds within others, and within sharper ones where they are wide."""
        if found.upper - max(found.lower, low) > 1.0:
            self._sharpen(direction)
            high = min(high, self._chernoff(epsilon, direction))
        upper = max(min(found.upper, high), low)
        lower = min(max(found.lower, low), upper)
        return LogBounds(lower, min(max(found.estimate, lower), upper), upper)

    def _inverted(self, epsilon: float, direction: str, guess: float | None) -> LogBounds:
        if self.uncut or not self._cuts(direction):
            return self._uncut_bounds(epsilon, direction)
        # The cut depends on delta, and on the tilt, which is about that of the other direction.
        aim = -60.0 if guess is None else guess - DEEP
        steep = STEEP * self._tilt(epsilon, direction) if self._steep is None else self._steep
        best = LogBounds(-math.inf, 0.0, 0.0)
        # ends: the closest bounds so far, which hold
        for _ in range(_TRIES):
            if best.gap < math.inf and self._work > self._most:
                break
            cut = self._inversion(direction, aim, steep)
            tilt, _ = cut._saddle(epsilon)  # noqa: SLF001
            rest = cut.transform.log_cut  # type: ignore[attr-defined]  # of its interface
            if self._same(cut, tilt, direction):
                self.uncut = True
                return self._uncut_bounds(epsilon, direction)
            found = with_rest(cut.bounds(epsilon), rest)
            if found.gap <= best.gap:
                best = found
            deep = found.estimate - DEEP
            deep = deep if guess is None else max(deep, guess - DEEP)
            if rest <= max(deep + 5.0, DEEPEST) and STEEP * tilt <= 1.5 * steep:
                break
            aim, steep = max(min(aim, deep), DEEPEST), max(steep, STEEP * tilt)
        return best

    def _uncut_bounds(self, epsilon: float, direction: str) -> LogBounds:
        return self._inversion(direction, -math.inf, 1.0).bounds(epsilon)

    def _tilt(self, epsilon: float, direction: str) -> float:  # noqa: ARG002  (of the other one)
        """The tilt at the saddle point with the record added; 0 where nothing is above epsilon."""
        try:
            inversion = self._inversion(ADDED, -math.inf, 1.0)
        except ValueError:
            return 0.0
        if epsilon >= inversion.transform.largest * (1.0 - 1e-6):
            return 0.0
        return inversion._saddle(epsilon)[0]  # noqa: SLF001

    def _same(self, cut: Inversion, tilt: float, direction: str) -> bool:
        """Whether the cut makes no difference at a tilt."""
        whole = self._transform(direction, -math.inf, 1.0)
        at = np.array([tilt, 1.5 * tilt])
        with np.errstate(invalid="ignore"):
            gap = whole.log_real(at) - cut.transform.log_real(at)
        return bool(np.all(np.abs(gap) <= _SAME))

    def epsilon(self, log_delta: float, direction: str) -> tuple[float, float]:
        """Bounds on the least epsilon in one direction; the upper one is infinite above 1e6."""
        low, high = self._epsilon(log_delta, direction)
        largest = self._largest_of(direction)
        high = min(high, largest)
        return min(low, high), high if high <= MOST_EPSILON else math.inf

    def _epsilon(self, log_delta: float, direction: str) -> tuple[float, float]:
        """The same where the largest loss is not looked at."""
        if self.every and self._known(0.0, direction)[1] <= log_delta:
            return 0.0, 0.0
        self._before += self._work
        search = EpsilonSearch(
            lambda epsilon: self.log_delta(epsilon, direction, log_delta, _SERVES),
            log_delta,
            lambda: self._work > min(_MOST_SEARCH, self._most),
        )
        start, known = self._about(log_delta, direction)
        low, high = search.ends(start, known, self._largest_of(direction) * (1.0 - 1e-6))
        if high > (1.0 + _ROUGH) * low:
            self._sharpen(direction)
            most = self._chernoff_epsilon(log_delta, direction)[0]
            high = min(high, max(most, low) if most <= MOST_EPSILON else math.inf)
            low = min(max(low, self._alone_epsilon(log_delta, direction)), high)
        return low, high

    def _alone_epsilon(self, log_delta: float, direction: str) -> float:
        """The epsilon of the worst single step, at least."""
        worst = sorted(self.every, key=lambda step: step.rate / step.sigma)[-_FEW:]
        if sum(self.every.values()) == 1:
            return 0.0
        each = (self._single(step).epsilon(log_delta, direction)[0] for step in worst)
        return max(each, default=0.0)

    def _single(self, step: Kind) -> Composition:
        """One step alone."""
        return Composition({step: 1})

    def _about(self, log_delta: float, direction: str) -> tuple[float, tuple[float, float] | None]:
        """About where epsilon is; and by a saddle point approximation, with the slope, or None."""
        if self.alone and (sum(self.every.values()) == 1 or not self.steps):
            return self._start(log_delta, direction), None
        found = None if self._lines is None else self._lines.epsilon(log_delta, direction)
        if found is not None and found[0] > 0.0:
            return found[0], (found[0], -found[1])
        start = self._start(log_delta, direction)
        try:
            steep = STEEP * self._tilt(start, direction) if self._steep is None else self._steep
            cut = self._cuts(direction) and not self.uncut
            rest = (max(log_delta - DEEP, DEEPEST), steep) if cut else (-math.inf, 1.0)
            inversion = self._inversion(direction, *rest)
        except ValueError:
            return start, None
        return start, approximate(
            inversion, start, log_delta, inversion.transform.largest * (1.0 - 1e-6)
        )

    def saddle(self, epsilon: float) -> tuple[float, float] | None:
        """About log delta, by a saddle point approximation, and its tilt; None without one."""
        if self._lines is None or sum(self.every.values()) == 1:
            return None
        return self._lines.saddle(epsilon)

    def log_moment(self, c: float) -> float:
        """Log M at a tilt where the record is removed."""
        return float(self._transform(REMOVED, -math.inf, 1.0).log_real(np.array([c]))[0])

    def worst_log_delta(
        self, epsilon: float, directions: Sequence[str], guess: float | None = None
    ) -> LogBounds:
        """Bounds on log delta in the worst of some directions."""
        worst = LogBounds(-math.inf, -math.inf, -math.inf)
        for direction in directions:
            # Most often the other direction is seen to be better at once.
            if worst.lower > -math.inf and self._below(epsilon, direction, worst.lower):
                continue
            found = self.log_delta(epsilon, direction, guess)
            worst = LogBounds(*map(max, worst, found))
        return worst

    def _below(self, epsilon: float, direction: str, log_delta: float) -> bool:
        """Whether Chernoff's inequality shows at once that log delta is at most a number."""
        if self._lines is None:
            return False
        return self._lines.chernoff(epsilon, direction, log_delta) <= log_delta

    @property
    def _largest(self) -> float:
        """The largest loss with the record added."""
        if not self.alone or self.other.gaussian > 0.0:
            return math.inf
        total = math.fsum(-n * math.log1p(-step.rate) for step, n in self.steps.items())
        return total * (1.0 + 1e-12)

    def worst_epsilon(self, log_delta: float, directions: Sequence[str]) -> tuple[float, float]:
        """Bounds on the least epsilon in all of some directions."""
        low = high = 0.0
        for direction in directions:
            if direction == ADDED and self._largest <= low:
                continue
            if low > 0.0 and self._below(low, direction, log_delta):
                continue
            found = self.epsilon(log_delta, direction)
            low, high = max(low, found[0]), max(high, found[1])
        return low, high

    def _start(self, log_delta: float, direction: str) -> float:
        """An epsilon that is about the one sought, by Chernoff's inequality."""
        try:
            guide = ADDED if self._cuts(direction) else direction
            inversion = self._inversion(guide, -math.inf, 1.0)
        except ValueError:
            return 1.0
        c, log_m = tilts(), inversion.transform.log_real(tilts())
        bounds = (log_m - log_delta + log_payoff(c)) / c
        best = int(np.argmin(bounds))
        self._steep = STEEP * float(c[best]) if direction == REMOVED else None
        return min(max(float(bounds[best]), 1e-9), MOST_EPSILON)
