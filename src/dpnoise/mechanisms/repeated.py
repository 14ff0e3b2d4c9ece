"""Noise for several releases of the same query: the least that keeps one promise for all of them.

All n releases have fresh noise of one distribution, and the account of a `Budget` says whether they
keep the promise together, beside what was spent before. Two kinds of noise are tried:

- Gaussian noise, by coordinate or for the ellipsoid around the set, in the shape that is best for
  one release: n releases are one of sqrt(n) times the set, so that the shape stays best;
- noise without delta, the best of it for a share of epsilon that is as large as the account allows:
  at least epsilon / n, and more with delta, as losses cancel.

A floor for the variance: the mean of n answers is an answer with n times less variance, so that no
independent noise of n releases has less than n times the floor of one release.

`Accuracy` asks for the noise of the least epsilon that keeps every number within a distance.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpnoise._validation import MAXIMUM_EPSILON
from dpnoise.joint.base import level_of_each
from dpnoise.mechanisms.integers import RoundedNoise
from dpnoise.mechanisms.methods import METHODS
from dpnoise.mechanisms.noise import Mechanism
from dpnoise.privacy.odometer.accounts import ExactAccount
from dpnoise.privacy.odometer.ledger import Ledger
from dpnoise.privacy.odometer.releases import ledger_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from dpnoise._validation import Problems
    from dpnoise.joint.base import VectorNoise
    from dpnoise.mechanisms.request import Request
    from dpnoise.privacy.odometer.budget import Budget

_GAUSSIAN = ("gaussian", "correlated-gaussian")
_CLOSE = 1e-9  # relative, of a factor of the scale, or of a share of epsilon
_FIRST, _GROWTH, _TRIES, _HALVINGS = 1e-6, 8.0, 60, 80
_ROUGH = 1e-5  # relative, of a share of epsilon, each of which takes a search for noise
_WORSE = 1e-3
_WHOLE = 1.01  # times the error, for noise on the integers where answers are whole numbers


class Account(NamedTuple):
    """What decides whether releases keep a promise.

    Attributes
    ----------
    keeps : callable
        Whether n releases of one ledger do, beside what was spent before.
    left : float
        The epsilon that is left for releases without delta.
    exact : ExactAccount
        The account of the planned releases by themselves.
    """

    keeps: Callable[[Ledger], bool]
    left: float
    exact: ExactAccount

    @classmethod
    def of(cls, request: Request) -> Account:
        """That of a request, with nothing spent before."""
        exact, n = ExactAccount(request.epsilon, request.delta), request.times
        return cls(lambda one: exact.keeps(Ledger().plus(one, n)), request.epsilon, exact)

    @classmethod
    def of_budget(cls, budget: Budget, times: int) -> Account:
        """That of a budget, beside what was spent of it."""
        assert budget.epsilon is not None  # noqa: S101  (or refused)
        exact = ExactAccount(budget.epsilon, budget.delta)
        return cls(lambda one: budget._allows(one, times), budget.remaining(), exact)  # noqa: SLF001

    def shared(self, request: Request) -> Request:
        """One release without delta, at a share of epsilon that basic composition allows."""
        share = self.left / request.times * (1.0 - 2.0**-48)
        return replace(request, epsilon=share, delta=0.0, times=1)

    def epsilon_of(self, row: Mechanism) -> float:
        """The epsilon of all releases of a row together, at the delta that was asked for."""
        return self.exact.epsilon_of(_total(row), row.request.delta)

    def certified(self, row: Mechanism) -> Mechanism:
        """A row with what is known of the delta of all releases together."""
        request = row.request
        delta = self.exact.delta_of(_total(row), request.epsilon, request.delta)
        return replace(row, delta=min(delta, request.delta))


def _total(row: Mechanism) -> Ledger:
    """What all releases of a row cost, by the noise alone."""
    cost = cost_of(row.noise, row.request)
    assert cost is not None  # noqa: S101  (or it was not found)
    return Ledger().plus(cost, row.times)


def first_of(request: Request, rows: Sequence[Mechanism]) -> Mechanism:
    """The row of the least error; RuntimeError if there is none."""
    if not rows:
        message = (
            f"noise for {request.sensitivity!r}: nothing found that keeps epsilon="
            f"{request.epsilon!r}, delta={request.delta!r} for {request.times} releases"
        )
        raise RuntimeError(message)
    return min(rows, key=lambda row: row.error)


def cost_of(noise: VectorNoise, request: Request) -> Ledger | None:
    """What one release costs, with its relation; None if the account knows nothing of it."""
    found = ledger_in(noise, request.sensitivity)
    return None if found is None else replace(found, relation=request.sensitivity.relation)


def smallest(keeps: Callable[[float], bool], start: float, close: float) -> float:
    """A factor that is seen to keep the promise, close to the least one; infinite if none is."""
    high, low, width = start, 0.0, _FIRST
    # ends: gives up, and no noise is promised
    for _ in range(_TRIES):
        if keeps(high):
            break
        low, high, width = high, high * (1.0 + width), min(_GROWTH * width, 1.0)
    else:
        return math.inf
    width = _FIRST
    # ends: the last factor that was seen to keep it is returned
    for _ in range(_TRIES):
        if low > 0.0:
            break
        below = high / (1.0 + width)
        low, high, width = (0.0, below, min(_GROWTH * width, 1.0)) if keeps(below) else (
            below, high, width
        )  # fmt: skip
    # ends: the last factor that was seen to keep it is returned
    for _ in range(_HALVINGS):
        if high <= low * (1.0 + close):
            break
        middle = math.sqrt(low) * math.sqrt(high)
        low, high = (low, middle) if keeps(middle) else (middle, high)
    return high


def gaussian_rows(request: Request, account: Account, family: str | None) -> list[Mechanism]:
    """Gaussian noise of the families that are asked for, if there is a delta for it."""
    if family not in (None, *_GAUSSIAN) or request.delta == 0.0:
        return []
    one = replace(request, times=1, integer=False)
    methods = [m for m in METHODS if m.family in ((family,) if family else _GAUSSIAN)]
    rows = []
    for method in methods:
        try:
            found = method.find(one)
        except (ValueError, RuntimeError, ArithmeticError):
            continue
        base: Any = None if found is None else found.noise

        def keeps(factor: float, base: Any = base) -> bool:  # noqa: ANN401
            noise = None if base is None else base.scaled(factor)
            cost = None if noise is None else cost_of(noise, request)
            return cost is not None and account.keeps(cost)

        factor = math.inf if base is None else smallest(keeps, math.sqrt(request.times), _CLOSE)
        noise = None if base is None or factor == math.inf else base.scaled(factor)
        if noise is not None:
            row = Mechanism(method.name, noise, request.delta, method.reference, request)
            rows.append(_whole(row))
    return rows


def _whole(row: Mechanism) -> Mechanism:
    """A mechanism rounded to integers, where this is asked for or costs next to nothing."""
    if not row.request.discrete:
        return row
    noise = RoundedNoise(row.noise)  # type: ignore[arg-type]  # real
    rounded = replace(row, name=f"{row.name}, rounded", noise=noise)
    return rounded if row.request.integer or rounded.error <= _WHOLE * row.error else row


def pure_rows(
    request: Request,
    account: Account,
    rivals: Sequence[Mechanism],
    without_delta: Callable[[Request], Sequence[Mechanism]],
) -> list[Mechanism]:
    """The best noise without delta for the largest share of epsilon; none if it is worse."""

    def at(share: float) -> Mechanism | None:
        one = replace(request, epsilon=share, delta=0.0, times=1)
        for row in without_delta(one):
            cost = cost_of(row.noise, request)
            if cost is not None and account.keeps(cost):
                return replace(row, request=request)
        return None

    share = account.shared(request).epsilon
    if share <= 0.0:
        return []
    first = at(share)
    if first is None or request.delta == 0.0:
        return [first] if first else []
    best = min((row.error for row in rivals), default=math.inf)
    power = 2.0 if request.error == "variance" else 1.0
    needed = share * (first.error / best) ** (1.0 / power) if best < math.inf else 0.0
    if needed > share and at(needed * (1.0 - _WORSE)) is None:
        return [first]
    inverse = smallest(lambda x: at(1.0 / x) is not None, 1.0 / max(share, needed), _ROUGH)
    return [row for row in (first, at(1.0 / inverse)) if row is not None]


LEVEL = 0.95
_NEAR = 1e-6  # relative, of epsilon
_MIN_LEVEL = 1e-3  # quantiles close to 0 are not known to 2^-40 of their value
_MIN_START = 1e-90  # of a search for epsilon


class Accuracy(NamedTuple):
    """What is asked of the noise in the place of an epsilon.

    Attributes
    ----------
    within : float
        The distance.
    level : float
        The probability.
    simultaneous : bool
        Whether it is that of all numbers together, by the union bound; else of each by itself.
    """

    within: float
    level: float
    simultaneous: bool

    def first(self, rows: Iterable[Mechanism]) -> Mechanism | None:
        """The first row whose noise keeps the distance, if there is any."""
        return next((row for row in rows if self.width(row) <= self.within), None)

    def width(self, row: Mechanism) -> float:
        """Upper bound on the largest half-width of the numbers."""
        level = max(self.level, _MIN_LEVEL)
        each = level_of_each(level, row.dimension if self.simultaneous else 1)
        return float(np.max(row.noise.upper_half_width(each)))

    def find(
        self, request: Request, rows: Callable[[Request, str | None], Sequence[Mechanism]]
    ) -> Mechanism:
        """The noise of the least epsilon, to 1e-6 of it, among those of `rows`, best first.

        Each mechanism by its name is first tried at an epsilon just below the least one found so
        far, and searched further where it keeps the distance there; `rows` is told which one. A
        RuntimeError is raised if none keeps it for any epsilon.
        """

        @cache
        def at(epsilon: float, name: str | None = None) -> Sequence[Mechanism]:
            try:
                return rows(replace(request, epsilon=min(epsilon, MAXIMUM_EPSILON)), name)
            except RuntimeError:  # nothing applies
                return ()

        zero = self.first(at(0.0)) if request.delta > 0.0 else None
        best = zero or self._search(at)
        if best is None:
            message = (
                f"noise for {request.sensitivity!r}: nothing found that is within {self.within!r} "
                f"with probability {self.level!r} for any epsilon up to {MAXIMUM_EPSILON:g}"
            )
            raise RuntimeError(message)
        return best

    def _search(self, at: Callable[..., Sequence[Mechanism]]) -> Mechanism | None:
        """The noise of the least epsilon above 0 from the rows at each epsilon; None if none."""

        def named(name: str, epsilon: float) -> Mechanism | None:
            return self.first(row for row in at(epsilon, name) if row.name == name)

        best: Mechanism | None = None
        tried: set[str] = set()
        left_out: dict[str, str] = {}
        below = 1.0
        # ends: each round tries a mechanism for the first time
        while fresh := [row for row in at(below) if row.name not in tried]:
            name, start = fresh[0].name, below
            tried.add(name)
            if best is None and (first := self.width(fresh[0])) > 0.0:
                start = first / self.within * below  # as of noise without delta
                start = min(max(start, _MIN_START), MAXIMUM_EPSILON)
            elif best is not None and named(name, below) is None:
                continue

            def keeps(epsilon: float, name: str = name) -> bool:
                return named(name, epsilon) is not None

            epsilon = smallest(keeps, start, _NEAR)
            if epsilon == math.inf and start < below:  # noise for so small an epsilon is not there
                epsilon = smallest(keeps, below, _NEAR)
            if epsilon < math.inf:
                best, below = named(name, epsilon), min(epsilon, MAXIMUM_EPSILON) * (1.0 - _NEAR)
                left_out = next((row.left_out for row in at(below)), {})
        return replace(best, left_out=left_out) if best else None


def read_accuracy(
    problems: Problems,
    epsilon: float | None,
    within: float | None,
    level: float,
    simultaneous: bool,
) -> Accuracy | None:
    """The accuracy that is asked for, None for an epsilon; problems are recorded."""
    one = (epsilon is None) != (within is None)
    problems.require(one, "epsilon, within", "one of them", (epsilon, within))
    if within is not None:
        problems.number("within", within, low=0.0, open_low=True)
    problems.number("level", level, low=0.0, high=1.0, open_low=True, open_high=True)
    known = isinstance(simultaneous, bool | np.bool_)
    problems.require(known, "simultaneous", "True or False", simultaneous)
    if within is None:
        unused = level == LEVEL and not simultaneous
        problems.require(unused, "within", "a distance beside level or simultaneous", within)
    if problems.found or within is None:
        return None
    return Accuracy(float(within), float(level), bool(simultaneous))
