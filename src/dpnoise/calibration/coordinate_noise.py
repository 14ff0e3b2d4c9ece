"""The noise of private coordinate descent, through zero-concentrated privacy or exactly.

Muthukrishnan & Kalyani (IEEE TIFS 2023), section VI-B: L passes over K coordinates release
K L updates, each a scalar whose sensitivity lambda_i is known. Giving every release the same
share of the budget makes the noise at coordinate i lambda_i times one unit noise.

Neighbouring data sets differ by the replacement of one record, which may move every
coordinate's update by up to its lambda_i.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from dpnoise._validation import MINIMUM_DELTA, Problems, floats, is_integer
from dpnoise.noise.exponential_power import Gaussian
from dpnoise.noise.grafted import FlippedHuber, flipped_huber_variance
from dpnoise.privacy.gaussian import gaussian_log_delta, gaussian_sigma
from dpnoise.privacy.odometer.concentrated import (
    epsilon_from_zcdp,
    eta_from_dp,
    transition_for_cost,
    zcdp,
)
from dpnoise.privacy.odometer.ledger import Ledger, stated

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.noise.base import Noise

MECHANISMS = ("gaussian", "flipped-huber", "gaussian-tight")

# Relative slack of the unit noise: it pays for the roundings of `scaled` and of the account.
_SLACK = 2.0**-48
_MAXIMUM_PASSES, _MAXIMUM_DIMENSION = 1e15, 1e8


@dataclass(frozen=True)
class CoordinateNoise:
    """One unit noise for all releases of a private coordinate descent, with its account.

    Attributes
    ----------
    mechanism : str
        "gaussian", "flipped-huber" or "gaussian-tight".
    unit : Noise
        The noise of a release whose sensitivity is 1.
    xi, eta : float
        The concentrated bound of all releases together.
    epsilon : float
        What is certified at `delta`: by conversion of (xi, eta), or for "gaussian-tight" by
        the exact profile of the composition. At most the epsilon asked for.
    delta : float
        As asked for.
    releases : int
        The number K L of releases that the account is for.
    """

    mechanism: str
    unit: Noise
    xi: float
    eta: float
    epsilon: float
    delta: float
    releases: int = field(kw_only=True)

    def __post_init__(self) -> None:
        """A unit noise that no `Budget` takes for a release by itself."""
        object.__setattr__(self, "unit", self._part(self.unit))

    def _part(self, noise: Noise) -> Noise:
        """A noise that says of how many releases it is one."""
        noise = copy(noise)
        object.__setattr__(noise, "one_of", self.releases)
        return noise

    def spending(self) -> Ledger:
        """What all releases together cost a `Budget`."""
        return Ledger({(self.unit, 1.0): self.releases}, stated=stated(self.epsilon, self.delta))

    def scaled(self, sensitivity: float) -> Noise:
        """The noise of a release with this sensitivity: lambda_i times the unit noise."""
        return self._part(self.unit.scaled(sensitivity))


def coordinate_noise(
    mechanism: str,
    *,
    epsilon: float,
    delta: float,
    coordinates: int,
    passes: int,
    sensitivities: ArrayLike | None = None,
    grid: int = 1000,
) -> CoordinateNoise:
    """Unit noise of a private coordinate descent.

    Parameters
    ----------
    mechanism : str
        "gaussian": Gaussian noise, eta from Lemma 3.5 of Bun & Steinke with xi = 0.
        "flipped-huber": the paper's; (xi, eta) by grid search for the minimum variance.
        "gaussian-tight": Gaussian noise by the exact profile of the composition, which is
        one Gaussian with mu = sqrt(K L) / sigma.
    epsilon : float
        In [1e-100, 1e12].
    delta : float
        In [1e-300, 1).
    coordinates, passes : int
        K and L, at least 1, at most 1e8 and 1e15.
    sensitivities : array_like of float, shape (K,), optional
        lambda_i, positive; equal by default. Only the grid search looks at them: it weighs
        the variance of identical noise on all coordinates, as the paper does.
    grid : int
        Number of values of xi that the grid search tries, in [0, epsilon).

    Returns
    -------
    CoordinateNoise
        Calibrated so that noise `scaled(lambda_i)` at every coordinate of every pass is
        (epsilon, delta)-DP. By Theorem 9 a release with alpha = lambda_i R_1^-1(xi / eta),
        gamma = lambda_i sqrt(K L / (2 eta)) is (xi, eta) / (K L)-zCDP for every lambda_i, so
        the paper's formula keeps its budget; rounding is paid for by slightly more noise.

    Raises
    ------
    ValueError
        If an argument is out of range.
    RuntimeError
        If the account of the result exceeds the budget.

    Notes
    -----
    "gaussian-tight" is a case of `best`: K L releases of sensitivity 1 are one vector, and the
    standard deviation is that of `best(LInf(1.0, of=K * L), epsilon=epsilon, delta=delta,
    family="gaussian")` to 1e-11. The other two keep the paper's concentrated bounds, which `best`
    does not use: its noise of the same family for this set, by the exact profile, has no more
    variance.

    References
    ----------
    Muthukrishnan & Kalyani (IEEE TIFS 2023), Theorem 9 and Section VI-B; Bun & Steinke,
    "Concentrated differential privacy" (2016), Lemma 3.5.

    Examples
    --------
    >>> from dpnoise import coordinate_noise
    >>> noise = coordinate_noise("gaussian", epsilon=1.0, delta=1e-6, coordinates=8, passes=10)
    >>> round(noise.unit.sigma, 3)
    47.852
    """
    problems = Problems("coordinate noise")
    expected = "one of " + ", ".join(MECHANISMS)
    known = isinstance(mechanism, str) and mechanism in MECHANISMS
    problems.require(known, "mechanism", expected, mechanism)
    problems.number("epsilon", epsilon, low=1e-100, high=1e12)
    problems.number("delta", delta, low=MINIMUM_DELTA, high=1.0, open_high=True)
    problems.require(is_integer(grid) and grid >= 1, "grid", "a whole number of at least 1", grid)
    few = is_integer(passes) and 1 <= int(passes) <= _MAXIMUM_PASSES
    expected = f"a whole number from 1 to {_MAXIMUM_PASSES:g}"
    problems.require(few, "passes", expected, passes)
    few = is_integer(coordinates) and 1 <= int(coordinates) <= _MAXIMUM_DIMENSION
    expected = f"a whole number from 1 to {_MAXIMUM_DIMENSION:g}"
    if problems.require(few, "coordinates", expected, coordinates):
        given = np.ones(coordinates) if sensitivities is None else sensitivities
        lambdas = floats(problems, "sensitivities", given, low=0.0, open_low=True)
        shape = np.shape(lambdas)
        problems.require(shape == (coordinates,), "sensitivities", f"shape ({coordinates},)", shape)
    problems.raise_if_any()
    releases = int(coordinates) * int(passes)
    unit: Noise
    if mechanism == "gaussian-tight":
        sigma = math.sqrt(releases) * float(gaussian_sigma(epsilon, delta)) * (1.0 + _SLACK)
        mu = math.sqrt(releases) / sigma * (1.0 + _SLACK / 2.0)
        kept = bool(gaussian_log_delta(mu, epsilon) <= math.log(delta))
        unit, certified = Gaussian(sigma), float(epsilon)
        bound = zcdp(unit).composed(releases)
    else:
        if mechanism == "gaussian":
            eta = float(eta_from_dp(epsilon, delta))
            unit = Gaussian(math.sqrt(releases / (2.0 * eta)) * (1.0 + _SLACK))
        else:
            xi, eta = _minimum_variance(epsilon, delta, lambdas, int(passes), int(grid))
            gamma = math.sqrt(releases / (2.0 * eta)) * (1.0 + _SLACK)
            unit = FlippedHuber(float(transition_for_cost(xi / eta)), gamma)
        bound = zcdp(unit).composed(releases)
        certified = float(epsilon_from_zcdp(bound.xi, bound.eta, delta)) * (1.0 + _SLACK / 4.0)
        kept = certified <= epsilon
    if not kept:
        message = f"{mechanism} noise: the account of {unit!r} exceeds epsilon={epsilon!r}"
        raise RuntimeError(message)
    return CoordinateNoise(
        mechanism, unit, bound.xi, bound.eta, certified, float(delta), releases=releases
    )


def _minimum_variance(
    epsilon: float, delta: float, lambdas: Array, passes: int, grid: int
) -> tuple[float, float]:
    """The (xi, eta) that implies (epsilon, delta)-DP with the minimum variance in one pass.

    One pass spends (xi, eta) / L. The same noise FH(alpha, gamma^2) on all coordinates does
    so if K R_D(alpha) = 2 gamma^2 xi / L with D the largest sensitivity, and
    D_2^2 = 2 gamma^2 eta / L with D_2 the l2 norm of the sensitivities.
    """
    xi = epsilon * np.arange(grid) / grid
    eta = eta_from_dp(epsilon, delta, xi)
    largest = lambdas.max()
    norm = largest * math.sqrt(float(np.sum((lambdas / largest) ** 2)))
    alpha = transition_for_cost((norm * norm / lambdas.size) * (xi / eta), largest)
    gamma = norm * np.sqrt(passes / (2.0 * eta))
    best = int(np.argmin(flipped_huber_variance(alpha, gamma)))
    return float(xi[best]), float(eta[best])
