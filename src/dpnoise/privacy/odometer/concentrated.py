"""The rho of zero-concentrated privacy: the least one with D_s <= s rho at every order s > 1.

With M(c) = E exp(c loss) of a dominating pair (P, Q), D_(c + 1) = log M(c) / c, so that rho is the
supremum of log M(c) / (c (c + 1)) over c > 0 (Bun & Steinke, TCC 2016). At c -> 0 that is the
Kullback-Leibler divergence. For these noises it is never exceeded (arXiv 2510.25746 has the Laplace
case; proofs of all three in docs/budget.md):

- Laplace noise of loss at most e: rho = e + exp(-e) - 1;
- discrete Laplace noise: rho = sum of p L (1 - exp(-L)) over the losses L > 0 of probability p;
- randomized response, and all that is known to be e-private: rho = e tanh(e / 2).

**Staircases** no narrower than the sensitivity have losses -e, 0 and e, and rho = e delta(0) unless
the loss 0 is likely. Then, and for flipped Huber noise, the supremum is bounded over
cells of c: log M(c) / c rises, so that over [a, b] the ratio is at most log M(b) / (b (a + 1)).

**Samples** count by the noise without sampling, as divergences are quasi-convex in pairs.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise._validation import Problems, is_integer
from dpnoise.noise.base import Noise, is_scalar
from dpnoise.noise.exact import as_double_above
from dpnoise.noise.exponential_power import Laplace
from dpnoise.noise.integers import DiscreteLaplace, IntegerNoise
from dpnoise.privacy.lattice.discrete import ListedLoss, integer_loss
from dpnoise.privacy.odometer.accounts import ExactAccount
from dpnoise.privacy.odometer.moments import log_moments
from dpnoise.privacy.profile import log_privacy_profile
from dpnoise.privacy.sampled.pairs import GAUSSIAN, REMOVED, REPLACED, Kind, pair_of
from dpnoise.privacy.scalar.shift import WHOLE, whole_shift
from dpnoise.privacy.zcdp import ZCDP, epsilon_from_zcdp
from dpnoise.sensitivity.relation import ADD_REMOVE

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array
    from dpnoise.privacy.odometer.ledger import Ledger, Sampled

_ROUNDING = 1.0 + 1e-12  # over a few operations, and over delta in closed form
_SMALLEST = 1e-290  # below, a product of doubles may have lost digits
_SERIES = 0.5  # below, of a loss, e + exp(-e) - 1 loses digits
_TERMS = 20
_LOWEST, _MOST_TILT = 1e-5, 1e6  # tilts of the cells
_CELLS, _PARTS, _ROUNDS, _MOST_CELLS = 300, 8, 12, 60_000
_ROUGH, _FINE = 1e-3, 1e-7  # relative gap of a supremum: by quadrature, and in closed form
_LISTED = 10**5  # losses one by one
_HALVINGS = 100


def laplace_rho(loss: float) -> float:
    """The rho of Laplace noise by its largest loss, rounded up: loss + exp(-loss) - 1."""
    if loss >= _SERIES:
        return (loss + math.expm1(-loss)) * _ROUNDING
    rest = 0.0
    # ends: an alternating series of falling terms, far below rounding after the last
    for k in range(_TERMS, 1, -1):
        rest = (1.0 - rest) * loss / (k + 1.0)
    return 0.5 * loss * loss * (1.0 - rest) * _ROUNDING


def response_rho(loss: float) -> float:
    """The rho of randomized response, and of all that is loss-private, rounded up."""
    return loss * math.tanh(0.5 * loss) * _ROUNDING


@lru_cache(maxsize=1024)
def rho_of(noise: Noise | IntegerNoise | ListedLoss, size: float) -> float:
    """An upper bound on the rho of one coordinate, infinite where none is known."""
    loss = as_double_above(noise.largest_loss(size))
    known = response_rho(loss) if loss < math.inf else math.inf
    found = known if noise.listed else min(_own_rho(noise, size, loss), known)
    return max(found, _SMALLEST if loss > 0.0 else 0.0)


def zcdp(noise: Noise | IntegerNoise, sensitivity: float = 1.0) -> ZCDP:
    """The concentrated bound of adding `noise` to a scalar query.

    Parameters
    ----------
    noise : Noise or IntegerNoise
        The noise.
    sensitivity : float
        The sensitivity D of the query, positive; an integer for noise on the integers.

    Returns
    -------
    ZCDP
        (0, rho), rounded up: exact for Gaussian and Laplace noise and for discrete Laplace noise,
        the sensitivity squared over 2 sigma^2 for discrete Gaussian noise (Canonne, Kamath &
        Steinke 2020, Proposition 5). Flipped Huber: (R_D(alpha), D^2) / (2 gamma^2), Theorem 9.

    Raises
    ------
    ValueError
        If no bound is known for the noise, `sensitivity` is out of range or the bound has no
        double.

    Examples
    --------
    >>> from dpnoise import Gaussian, Laplace
    >>> from dpnoise.privacy.odometer.concentrated import zcdp
    >>> zcdp(Gaussian(2.0), sensitivity=1.0)
    ZCDP(xi=0.0, eta=0.125)
    >>> print(f"{zcdp(Laplace(1.0)).eta:.4f}")          # epsilon + exp(-epsilon) - 1
    0.3679
    """
    problems = Problems("zCDP")
    known = problems.require(is_scalar(noise), "noise", "one of the noise families", noise)
    good = problems.number("sensitivity", sensitivity, low=0.0, open_low=True)
    if good and known and noise.whole:
        whole = bool(whole_shift(np.asarray(float(sensitivity))))
        problems.require(whole, "sensitivity", WHOLE, sensitivity)
    problems.raise_if_any()
    exact = int if is_integer(sensitivity) else float
    pair = noise.zcdp_pair(Fraction(exact(sensitivity)))
    if pair is None or pair[1] == 0:  # nothing but the loss, or pure privacy
        bound = ZCDP(0.0, rho_of(noise, exact(sensitivity)))
    else:
        bound = ZCDP(*map(as_double_above, pair))
    finite = math.isfinite(bound.xi) and math.isfinite(bound.eta)
    expected = "noise and a sensitivity with a known bound below 1.8e308"
    problems.require(finite, "noise", expected, noise)
    problems.raise_if_any()
    return bound


def _own_rho(noise: Noise | IntegerNoise, size: float, loss: float) -> float:
    """The same by the noise itself."""
    pair = noise.zcdp_pair(Fraction(size))
    if pair is not None and pair[0] == 0:  # Gaussian loss
        return as_double_above(pair[1])
    if isinstance(noise, Laplace):
        return laplace_rho(loss)
    if isinstance(noise, DiscreteLaplace) and size <= _LISTED:
        listed = integer_loss(noise, size)
        values = listed.values[listed.values > 0.0]
        masses = np.exp(listed.log_masses[listed.values > 0.0])
        return float(np.sum(masses * values * -np.expm1(-values))) * _ROUNDING
    if noise.stepwise and size <= noise.step_width and loss < math.inf:
        return _three_losses(noise, size, loss)
    xi, eta = (loss, 0.0) if pair is None else map(as_double_above, pair)
    if xi == math.inf or not getattr(noise, "has_closed_loss", False):
        return math.inf
    return _supremum(lambda c: log_moments(noise, size, c), eta, xi, _ROUGH)


def _three_losses(noise: Noise | IntegerNoise, size: float, loss: float) -> float:
    """The rho of noise whose losses are -loss, 0 and loss; more of the largest one is no less.

    M(c) = 1 + a (cosh((c + 1 / 2) loss) - cosh(loss / 2)) with a = 2 p exp(-loss / 2), and p the
    probability of the largest one.
    """
    distance = math.exp(float(log_privacy_profile(noise, size, 0.0))) * _ROUNDING
    p = min(distance / -math.expm1(-loss), 1.0 / (1.0 + math.exp(-loss)))
    zero = max(1.0 - p * (1.0 + math.exp(-loss)), 0.0)
    if zero <= 2.0 * p * math.exp(-0.5 * loss) / _ROUNDING:
        return loss * distance * _ROUNDING

    def log_m(c: Array) -> Array:
        with np.errstate(over="ignore"):
            up = p * np.exp(-0.5 * loss) * 4.0 * np.sinh(0.5 * c * loss)
            rise = up * np.sinh(0.5 * (c + 1.0) * loss)
        return np.minimum(np.log1p(rise), c * loss) * _ROUNDING

    return _supremum(log_m, 0.0, loss, _FINE)


def _supremum(log_m: Callable[[Array], Array], eta: float, xi: float, close: float) -> float:
    """An upper bound on the supremum of log M(c) / (c (c + 1)); D_s <= xi + s eta is known."""
    ends = np.concatenate([[0.0], np.geomspace(_LOWEST, _MOST_TILT, _CELLS)])
    known = int(np.argmin(np.isfinite(np.append(log_m(ends[1:]), math.inf))))
    low, high = ends[:known], ends[1 : known + 1]
    closed = eta + xi / (1.0 + float(ends[known]))
    if not known:
        return math.inf
    # ends: the cells that are left bound the supremum, however wide
    for _ in range(_ROUNDS):
        values = log_m(high)
        bounds = values / (high * (low + 1.0))
        reached = float(np.max(values / (high * (high + 1.0))))
        some = (bounds > reached * (1.0 + close)) & (low > 0.0)
        closed = max(closed, float(np.max(bounds[~some], initial=0.0)))
        if not some.any() or np.count_nonzero(some) > _MOST_CELLS // _PARTS:
            closed = max(closed, float(bounds.max()))
            break
        shares = np.linspace(0.0, 1.0, _PARTS + 1)
        cells = low[some, None] + (high - low)[some, None] * shares
        low, high = cells[:, :-1].ravel(), cells[:, 1:].ravel()
    else:
        closed = max(closed, float(bounds.max()))
    return closed * _ROUNDING


def _sample_rho(part: Sampled, relation: str | None) -> float:
    """An upper bound on the rho of a release of a sample: that of the noise without sampling."""
    side = REMOVED if (relation or ADD_REMOVE) == ADD_REMOVE else REPLACED
    shift = pair_of(Kind(*part)._replace(rate=1.0), side).shift
    found = 0.5 * shift * shift if part.noise == GAUSSIAN else laplace_rho(shift)
    return max(found * _ROUNDING, _SMALLEST)


class Rho(NamedTuple):
    """An upper bound on the rho of everything, infinite where none is known."""

    value: Fraction | float

    def with_release(self, one: Ledger, times: int) -> Rho:
        """That of everything with so many further releases."""
        return Rho(self.value + times * rho_of_ledger(one).value)


def rho_of_ledger(ledger: Ledger) -> Rho:
    """The rho of everything, kept with the ledger."""
    if ledger.rho is None:
        ledger.__dict__["rho"] = _sum_of(ledger)
    assert ledger.rho is not None  # noqa: S101  (or summed)
    return ledger.rho


def _sum_of(ledger: Ledger) -> Rho:
    """The rho of everything, from those of its parts."""
    if ledger.failure:
        return Rho(math.inf)
    parts = [(rho_of(noise, size), count) for (noise, size), count in ledger.shares.items()]
    parts += [(_sample_rho(one, ledger.relation), count) for one, count in ledger.sampled.items()]
    if any(rho == math.inf for rho, _ in parts):
        return Rho(math.inf)
    return Rho(sum((count * Fraction(rho) for rho, count in parts), Fraction(0)))


class ConcentratedAccount(ExactAccount):
    """A limit on the sum of rho, whatever is chosen with earlier results at hand.

    Questions about epsilon are answered by the profile of everything.
    """

    def __init__(self, rho: float, delta: float) -> None:
        super().__init__(math.inf, delta)
        self.rho = rho

    def keeps_quickly(self, ledger: Ledger) -> bool:
        """Whether the sum is within the limit."""
        return rho_of_ledger(ledger).value <= self.rho

    def keeps(self, ledger: Ledger) -> bool:
        """The same."""
        return self.keeps_quickly(ledger)

    def left(self, ledger: Ledger) -> float:
        """What the limit leaves, rounded down."""
        rest = -as_double_above(rho_of_ledger(ledger).value - Fraction(self.rho))
        return max(0.0, rest)  # not -0.0

    def pure_left(self, ledger: Ledger) -> float:
        """Epsilon of a release without delta that still fits: epsilon tanh(epsilon / 2) at most."""
        rest = self.left(ledger)
        low, high = 0.0, max(rest + 2.0, 2.0 * math.sqrt(rest))
        # ends: below the largest one
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if response_rho(middle) <= rest else (low, middle)
        return low


def concentrated(ledger: Ledger, delta: float) -> ZCDP:
    """A concentrated bound of everything; infinite where none is known.

    (0, rho), or the sum of pure epsilons where epsilon at `delta` is smaller by that.
    """
    found = ZCDP(0.0, as_double_above(rho_of_ledger(ledger).value))
    pure = ZCDP(as_double_above(ledger.pure), 0.0)
    if ledger.failure or pure.xi == math.inf:
        return found if found.eta < math.inf else ZCDP(math.inf, math.inf)
    if delta == 0.0 or found.eta == math.inf:
        return pure
    return min(pure, found, key=lambda one: float(epsilon_from_zcdp(one.xi, one.eta, delta)))
