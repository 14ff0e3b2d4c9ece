"""Zero-concentrated differential privacy: bounds that add up under composition.

Bun & Steinke (TCC 2016): a mechanism is (xi, eta)-zCDP if its Renyi divergence of every order
s > 1 is at most xi + s eta. Muthukrishnan & Kalyani (IEEE TIFS 2023), Theorem 9, give the
pair for flipped Huber noise.

That theorem rests on Lemma 2, E exp(s T) <= exp(gamma^2 s^2 / 2), which has a short proof: the
density of T over that of N(0, gamma^2) is even and falls with |t|, so by Anderson's inequality
its mean under N(gamma^2 s, gamma^2), which is E exp(s T) / exp(gamma^2 s^2 / 2), is largest at
s = 0. (The printed proof goes through a test of sub-Gaussianity whose equivalence is commonly
stated up to constants only.)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise._check import Problems
from dpnoise.noise import FlippedHuber, Gaussian, Laplace
from dpnoise.noise._arrays import floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from dpnoise.noise import Noise

    Array = NDArray[np.float64]


class ZCDP(NamedTuple):
    """A bound xi + s eta on the Renyi divergence of every order s > 1.

    Attributes
    ----------
    xi, eta : float
        Non-negative.
    """

    xi: float
    eta: float

    def composed(self, times: int) -> ZCDP:
        """Return the bound after `times` such mechanisms, also adaptively chosen ones."""
        return ZCDP(times * self.xi, times * self.eta)


def transition_cost(alpha: ArrayLike, sensitivity: ArrayLike = 1.0) -> Array:
    """Return R_D(alpha) = alpha^2 - max(alpha - D, 0)^2 of Theorem 9.

    Parameters
    ----------
    alpha : array_like of float
        Transition parameter, non-negative.
    sensitivity : array_like of float
        D, positive.
    """
    alpha, d = np.asarray(alpha, dtype=float), np.asarray(sensitivity, dtype=float)
    return np.where(alpha <= d, alpha * alpha, d * (2.0 * alpha - d))[()]


def transition_for_cost(cost: ArrayLike, sensitivity: ArrayLike = 1.0) -> Array:
    """Return the alpha with `transition_cost(alpha, sensitivity)` = `cost`.

    Parameters
    ----------
    cost : array_like of float
        Non-negative.
    sensitivity : array_like of float
        D, positive.
    """
    cost, d = np.asarray(cost, dtype=float), np.asarray(sensitivity, dtype=float)
    return np.where(cost <= d * d, np.sqrt(cost), 0.5 * (cost / d + d))[()]


def zcdp(noise: Noise, sensitivity: float = 1.0) -> ZCDP:
    """Return the concentrated bound of adding `noise` to a scalar query.

    Parameters
    ----------
    noise : Gaussian, Laplace or FlippedHuber
        The noise.
    sensitivity : float
        The sensitivity D of the query, positive.

    Returns
    -------
    ZCDP
        Gaussian: (0, D^2 / (2 sigma^2)), which is exact. Laplace: (D / beta, 0), its pure DP.
        Flipped Huber: (R_D(alpha), D^2) / (2 gamma^2), Theorem 9.

    Raises
    ------
    ValueError
        If no bound is known for the family or `sensitivity` is out of range.
    """
    problems = Problems("zCDP")
    known = isinstance(noise, Gaussian | Laplace | FlippedHuber)
    problems.require(known, "noise", "Gaussian, Laplace or FlippedHuber", noise)
    problems.number("sensitivity", sensitivity, low=0.0, open_low=True)
    problems.raise_if_any()
    if isinstance(noise, Gaussian):
        return ZCDP(0.0, 0.5 * (sensitivity / noise.sigma) ** 2)
    if isinstance(noise, Laplace):
        return ZCDP(sensitivity / noise.beta, 0.0)
    alpha, d = noise.alpha / noise.gamma, sensitivity / noise.gamma
    return ZCDP(0.5 * float(transition_cost(alpha, d)), 0.5 * d * d)


def epsilon_from_zcdp(xi: ArrayLike, eta: ArrayLike, delta: ArrayLike) -> Array:
    """Return the epsilon that a concentrated bound implies at `delta`.

    Parameters
    ----------
    xi, eta : array_like of float
        The bound, non-negative.
    delta : array_like of float
        In (0, 1). The arguments broadcast.

    Returns
    -------
    numpy.ndarray or float
        xi + eta + sqrt(4 eta log(1 / delta)): Bun & Steinke, Lemma 3.5.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    problems = Problems("epsilon from zCDP")
    xi = floats(problems, "xi", xi, low=0.0)
    eta = floats(problems, "eta", eta, low=0.0)
    delta = floats(problems, "delta", delta, low=0.0, high=1.0, open_low=True, open_high=True)
    problems.raise_if_any()
    return (xi + eta + 2.0 * np.sqrt(eta) * np.sqrt(-np.log(delta)))[()]


def eta_from_dp(epsilon: float, delta: float, xi: ArrayLike = 0.0) -> Array:
    """Return the largest eta for which (xi, eta)-zCDP implies (epsilon, delta)-DP.

    Parameters
    ----------
    epsilon : float
        Positive.
    delta : float
        In (0, 1).
    xi : array_like of float
        In [0, epsilon].

    Returns
    -------
    numpy.ndarray or float
        The inverse of `epsilon_from_zcdp` in eta,
        ((epsilon - xi) / (sqrt(epsilon - xi + log(1 / delta)) + sqrt(log(1 / delta))))^2.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    problems = Problems("zCDP from epsilon")
    good = problems.number("epsilon", epsilon, low=0.0, open_low=True)
    problems.number("delta", delta, low=0.0, high=1.0, open_low=True, open_high=True)
    xi = floats(problems, "xi", xi, low=0.0, high=float(epsilon) if good else math.inf)
    problems.raise_if_any()
    rest, log_inverse = epsilon - xi, -math.log(delta)
    return ((rest / (np.sqrt(rest + log_inverse) + math.sqrt(log_inverse))) ** 2)[()]
