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

**Zero-concentrated differential privacy: bounds that add up under composition.**
Bun & Steinke (TCC 2016): a mechanism is (xi, eta)-zCDP if its Renyi divergence of every order
s > 1 is at most xi + s eta. Muthukrishnan & Kalyani (IEEE TIFS 2023), Theorem 9, give the
pair for flipped Huber noise. The bound of a noise is `zcdp`.

That theorem rests on Lemma 2, E exp(s T) <= exp(gamma^2 s^2 / 2), which has a short proof: the
density of T over that of N(0, gamma^2) is even and falls with |t|, so by Anderson's inequality
its mean under N(gamma^2 s, gamma^2), which is E exp(s T) / exp(gamma^2 s^2 / 2), is largest at
s = 0. (The printed proof goes through a test of sub-Gaussianity whose equivalence is commonly
stated up to constants only.)
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise._validation import Problems, floats, is_integer
from dpnoise.noise.base import Noise, is_scalar
from dpnoise.noise.exact import as_double_above
from dpnoise.noise.exponential_power import Laplace
from dpnoise.noise.integers import DiscreteLaplace, IntegerNoise
from dpnoise.privacy.lattice.discrete import ListedLoss, integer_loss
from dpnoise.privacy.odometer.accounts import ExactAccount, log_moments
from dpnoise.privacy.profile import log_privacy_profile
from dpnoise.privacy.sampled.pairs import GAUSSIAN, REMOVED, REPLACED, Kind, pair_of
from dpnoise.privacy.shift import WHOLE, whole_shift
from dpnoise.sensitivity.relation import ADD_REMOVE

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.privacy.odometer.ledger import Ledger


_RELATIVE = 2.0**-49  # of the few operations of a conversion


class ZCDP(NamedTuple):
    """A bound xi + s eta on the Renyi divergence of every order s > 1.

    Bounds add under composition, also adaptive (Bun & Steinke, Lemma 2.3): `a + b`, `sum` of
    several and `3 * a` are the bounds of such compositions, rounded up. (Of the tuple only
    unpacking is left: `xi, eta = bound`.)

    Attributes
    ----------
    xi, eta : float
        Non-negative.

    Examples
    --------
    >>> from dpnoise.privacy.odometer.concentrated import ZCDP
    >>> ZCDP(0.0, 0.5) + 2 * ZCDP(0.25, 0.125)
    ZCDP(xi=0.5, eta=0.75)
    """

    xi: float
    eta: float

    def composed(self, times: int) -> ZCDP:
        """The bound after `times` >= 0 such mechanisms, also adaptively chosen ones."""
        problems = Problems("composition of zCDP")
        whole = is_integer(times) and times >= 0
        problems.require(whole, "times", "a non-negative integer", times)
        problems.raise_if_any()
        return ZCDP(*(as_double_above(int(times) * Fraction(part)) for part in self))

    def __add__(self, other: object) -> ZCDP:
        """The bound of both mechanisms together."""
        if not isinstance(other, ZCDP):
            raise TypeError(f"zCDP bound: expected another one to add, got {other!r}")
        sums = (Fraction(a) + Fraction(b) for a, b in zip(self, other, strict=True))
        return ZCDP(*map(as_double_above, sums))

    def __radd__(self, other: object) -> ZCDP:
        """The bound itself for the 0 that `sum` starts from."""
        if isinstance(other, int) and other == 0:
            return self
        raise TypeError(f"zCDP bound: expected another one to add, got {other!r}")

    def __mul__(self, times: int) -> ZCDP:  # type: ignore[override]  # no longer a tuple's
        """The bound after `times` such mechanisms."""
        return self.composed(times)

    def __rmul__(self, times: int) -> ZCDP:  # type: ignore[override]  # no longer a tuple's
        """The bound after `times` such mechanisms."""
        return self.composed(times)


def transition_cost(alpha: ArrayLike, sensitivity: ArrayLike = 1.0) -> Array:
    """R_D(alpha) = alpha^2 - max(alpha - D, 0)^2 of Theorem 9, alpha >= 0, sensitivity D > 0.

    A ValueError is raised if an argument is out of range, or the cost has no double.
    """
    problems = Problems("transition cost")
    alpha = floats(problems, "alpha", alpha, low=0.0)
    d = floats(problems, "sensitivity", sensitivity, low=0.0, open_low=True)
    problems.raise_if_any()
    with np.errstate(over="ignore", invalid="ignore"):  # of the branch not taken, or refused
        cost = np.where(alpha <= d, alpha * alpha, d * (2.0 * alpha - d))
    return _finite(problems, "cost", cost)


def transition_for_cost(cost: ArrayLike, sensitivity: ArrayLike = 1.0) -> Array:
    """The alpha with `transition_cost(alpha, sensitivity)` = `cost` >= 0.

    A ValueError is raised if an argument is out of range, or alpha has no double.
    """
    problems = Problems("transition for a cost")
    cost = floats(problems, "cost", cost, low=0.0)
    d = floats(problems, "sensitivity", sensitivity, low=0.0, open_low=True)
    problems.raise_if_any()
    with np.errstate(over="ignore"):  # of the branch not taken, or refused
        alpha = np.where(np.sqrt(cost) <= d, np.sqrt(cost), 0.5 * (cost / d + d))
    return _finite(problems, "alpha", alpha)


def _finite(problems: Problems, name: str, value: Array) -> Array:
    """A result, or refuse one that has no double."""
    good = bool(np.all(np.isfinite(value)))
    problems.require(good, name, "a result below 1.8e308", float(np.max(value, initial=0.0)))
    problems.raise_if_any()
    return value[()]


def epsilon_from_zcdp(xi: ArrayLike, eta: ArrayLike, delta: ArrayLike) -> Array:
    """The epsilon that a concentrated bound implies at `delta` in (0, 1), rounded up.

    xi + eta + sqrt(4 eta log(1 / delta)): Bun & Steinke, Lemma 3.5. The arguments broadcast; a
    ValueError is raised if one is out of range or epsilon has no double.
    """
    problems = Problems("epsilon from zCDP")
    xi = floats(problems, "xi", xi, low=0.0)
    eta = floats(problems, "eta", eta, low=0.0)
    delta = floats(problems, "delta", delta, low=0.0, high=1.0, open_low=True, open_high=True)
    problems.raise_if_any()
    with np.errstate(over="ignore"):  # refused
        more = eta + 2.0 * np.sqrt(eta) * np.sqrt(-np.log(delta))
        epsilon = np.where(more > 0.0, np.nextafter(xi + more * (1.0 + _RELATIVE), np.inf), xi)
    return _finite(problems, "epsilon", epsilon)


def eta_from_dp(epsilon: float, delta: float, xi: ArrayLike = 0.0) -> Array:
    """The largest eta for which (xi, eta)-zCDP implies (epsilon, delta)-DP, rounded down.

    The inverse of `epsilon_from_zcdp` in eta, for delta in (0, 1) and 0 <= xi <= epsilon, is
    ((epsilon - xi) / (sqrt(epsilon - xi + log(1 / delta)) + sqrt(log(1 / delta))))^2. A ValueError
    is raised if an argument is out of range.
    """
    problems = Problems("zCDP from epsilon")
    good = problems.number("epsilon", epsilon, low=0.0, open_low=True)
    problems.number("delta", delta, low=0.0, high=1.0, open_low=True, open_high=True)
    xi = floats(problems, "xi", xi, low=0.0, high=float(epsilon) if good else math.inf)
    problems.raise_if_any()
    rest, log_inverse = np.maximum(np.nextafter(epsilon - xi, 0.0), 0.0), -math.log(delta)
    root = rest / (np.sqrt(rest + log_inverse) + math.sqrt(log_inverse))
    return np.nextafter(root**2 * (1.0 - _RELATIVE), 0.0)[()]


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


def _sample_rho(part: Kind, relation: str | None) -> float:
    """An upper bound on the rho of a release of a sample: that of the noise without sampling."""
    side = REMOVED if (relation or ADD_REMOVE) == ADD_REMOVE else REPLACED
    shift = pair_of(part._replace(rate=1.0), side).shift
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
