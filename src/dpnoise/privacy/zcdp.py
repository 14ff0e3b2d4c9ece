"""Zero-concentrated differential privacy: bounds that add up under composition.

Bun & Steinke (TCC 2016): a mechanism is (xi, eta)-zCDP if its Renyi divergence of every order
s > 1 is at most xi + s eta. Muthukrishnan & Kalyani (IEEE TIFS 2023), Theorem 9, give the
pair for flipped Huber noise. The bound of a noise is `privacy.odometer.concentrated.zcdp`.

That theorem rests on Lemma 2, E exp(s T) <= exp(gamma^2 s^2 / 2), which has a short proof: the
density of T over that of N(0, gamma^2) is even and falls with |t|, so by Anderson's inequality
its mean under N(gamma^2 s, gamma^2), which is E exp(s T) / exp(gamma^2 s^2 / 2), is largest at
s = 0. (The printed proof goes through a test of sub-Gaussianity whose equivalence is commonly
stated up to constants only.)
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise._validation import Problems, floats, is_integer
from dpnoise.noise.exact import as_double_above

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array

_ROUNDING = 2.0**-49  # of the few operations of a conversion


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
    >>> from dpnoise.privacy.zcdp import ZCDP
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
        epsilon = np.where(more > 0.0, np.nextafter(xi + more * (1.0 + _ROUNDING), np.inf), xi)
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
    return np.nextafter(root**2 * (1.0 - _ROUNDING), 0.0)[()]
