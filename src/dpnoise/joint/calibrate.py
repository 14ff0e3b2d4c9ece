"""Joint noise of minimum variance for a privacy budget: the public `calibrate_joint`.

A search for a scale or a bound goes by an estimate of delta. What it finds is verified by
the proved bounds, and enlarged by what their gap needs: delta falls as the noise is stretched
(docs/joint-noise.md).
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise._validation import Problems
from dpnoise.joint.base import check_ball
from dpnoise.joint.noise import (
    CELLS,
    NormStaircase,
    RadialNoise,
    check_steps,
    k_norm_noise,
    pure_scale,
    staircase_layer_moment,
)
from dpnoise.joint.profile import radial_delta_bounds, radial_delta_estimate
from dpnoise.privacy.odometer.releases import spending_of
from dpnoise.sensitivity.balls import as_sensitivity

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.joint.base import JointNoise
    from dpnoise.privacy.odometer.ledger import Ledger
    from dpnoise.sensitivity.base import Sensitivity

_MIN_DELTA = 1e-250
_MIN_EPSILON, _MAX_EPSILON = 1e-9, 1e3
_MAX_COORDINATES = 10_000


@dataclass(frozen=True)
class JointCalibration:
    """Joint noise that keeps a privacy budget.

    Attributes
    ----------
    family : str
        One of `JOINT_FAMILIES`.
    noise : RadialNoise or NormStaircase
        The noise to add to the vector of answers; `noise.rvs()` draws it.
    epsilon : float
        The budget's epsilon.
    delta : float
        A certified upper bound on the delta of the noise at epsilon, at most the budget's.
    delta_lower : float
        A lower bound on the same delta.
    sensitivity : Sensitivity
        The sensitivity set.
    """

    family: str
    noise: JointNoise
    epsilon: float
    delta: float
    delta_lower: float
    sensitivity: Sensitivity

    @property
    def dimension(self) -> int:
        """The number K of coordinates."""
        return self.sensitivity.dimension

    @property
    def promise(self) -> str:
        """The guarantee in one sentence, with the relation that the set states."""
        return self.sensitivity.promise(self.epsilon, self.delta)

    def spending(self) -> Ledger:
        """What one release costs a `Budget`: by the account of the noise, and as certified."""
        return spending_of(self.noise, self.sensitivity, self.epsilon, self.delta)

    @property
    def variances(self) -> Array:
        """The variance of each coordinate, shape (K,)."""
        return self.noise.var()

    @property
    def variance(self) -> float:
        """The mean of the variances."""
        return float(np.mean(self.variances))

    @property
    def reference(self) -> str:
        """The source of the family."""
        return JOINT_FAMILIES[self.family].reference


class _JointRequest(NamedTuple):
    """A checked request for joint noise."""

    family: str
    ball: Sensitivity
    epsilon: float
    delta: float

    def found(self, noise: JointNoise, lower: float, upper: float) -> JointCalibration:
        """Noise with bounds on its delta."""
        return JointCalibration(self.family, noise, self.epsilon, upper, lower, self.ball)


def _pure(request: _JointRequest) -> JointCalibration:
    """K-norm noise for delta = 0."""
    return request.found(k_norm_noise(request.ball, request.epsilon), 0.0, 0.0)


def _smallest(
    request: _JointRequest, *candidates: Callable[[], JointCalibration]
) -> JointCalibration:
    """The calibration of smallest variance, the one for delta = 0 included."""
    found = [_pure(request)] if request.epsilon > 0.0 else []
    for candidate in candidates:
        with suppress(RuntimeError):  # not verified, or no noise of the kind is private
            found.append(candidate())
    if not found:
        message = f"calibration of joint noise: no {request.family} noise was found"
        raise RuntimeError(message)
    return min(found, key=lambda one: one.variance)


def _k_norm(request: _JointRequest) -> JointCalibration:
    """K-norm noise of minimum scale."""
    if request.delta == 0.0:
        return _pure(request)
    return _smallest(request, lambda: request.found(*_certified_k_norm(*request[1:])))


@lru_cache(maxsize=16)
def _certified_k_norm(
    ball: Sensitivity, epsilon: float, delta: float
) -> tuple[RadialNoise, float, float]:
    """K-norm noise of minimum scale, which the other families begin with, and its bounds."""
    search = Search(ball, epsilon, delta)
    return search.certified(search.scales(1.0), search.scale(1.0))


def _norm_staircase(request: _JointRequest) -> JointCalibration:
    """The staircase of minimum variance, which makes no use of delta."""
    return request.found(staircase(request.ball, request.epsilon), 0.0, 0.0)


def _truncated_k_norm(request: _JointRequest) -> JointCalibration:
    """Truncated K-norm noise of minimum variance, or its limit without a bound."""
    plain = _k_norm(request)
    search = Search(*request[1:])
    # A scale below 1 / epsilon pays only where delta allows one that is clearly smaller.
    start = 1.001 * plain.noise.scale  # type: ignore[attr-defined]  # radial
    if start * request.epsilon > 0.999:
        start = pure_scale(request.epsilon)

    def truncated() -> JointCalibration:
        scale = truncated_scale(search, start)
        return request.found(*search.certified(search.bounds(scale), search.bound(scale)))

    return _smallest(request, lambda: plain, truncated)


class _JointFamily(NamedTuple):
    """How a family is calibrated, whether it needs a positive delta, and its source."""

    calibrated: Callable[[_JointRequest], JointCalibration]
    needs_delta: bool
    reference: str


JOINT_FAMILIES = {
    "k-norm": _JointFamily(_k_norm, needs_delta=False, reference="Hardt & Talwar, STOC 2010"),
    "norm-staircase": _JointFamily(
        _norm_staircase, needs_delta=False, reference="Geng & Viswanath, IEEE Trans. IT 2016"
    ),
    "truncated-k-norm": _JointFamily(
        _truncated_k_norm,
        needs_delta=True,
        reference="Geng, Ding, Guo & Kumar, AISTATS 2020 (one coordinate)",
    ),
}


def _checked(
    family: str, sensitivity: object, epsilon: float, delta: float, dimension: int | None
) -> _JointRequest:
    """A request, refused with every problem named."""
    problems = Problems("calibration of joint noise")
    known = isinstance(family, str) and family in JOINT_FAMILIES
    problems.require(known, "family", f"one of {', '.join(JOINT_FAMILIES)}", family)
    ball = None
    try:
        ball = as_sensitivity(sensitivity, dimension)  # type: ignore[arg-type]  # checked there
    except ValueError as error:
        problems.add(str(error))
    if ball is not None:
        check_ball(problems, ball)
        fits = ball.active_dimension <= _MAX_COORDINATES
        expected = f"at most {_MAX_COORDINATES} coordinates that can change"
        problems.require(fits, "sensitivity", expected, ball.active_dimension)
    good = problems.number("epsilon", epsilon, low=0.0, high=_MAX_EPSILON)
    if good and epsilon > 0.0:
        good = problems.number("epsilon", epsilon, low=_MIN_EPSILON, high=_MAX_EPSILON)
    if problems.number("delta", delta, low=0.0, high=1.0, open_high=True):
        positive = delta == 0 or delta >= _MIN_DELTA
        problems.require(positive, "delta", f"0 or at least {_MIN_DELTA:g}", delta)
        if known and delta == 0 and JOINT_FAMILIES[family].needs_delta:
            problems.add(f"delta: expected more than 0 for {family}, got 0")
        if good and epsilon == 0 and (delta == 0 or (known and family == "norm-staircase")):
            problems.add("epsilon: expected more than 0 with delta = 0, got 0")
    if known and family == "norm-staircase" and good and epsilon > 0 and ball is not None:
        check_steps(problems, ball.active_dimension, epsilon)
    problems.raise_if_any()
    assert ball is not None  # noqa: S101  (or refused)
    return _JointRequest(family, ball, float(epsilon), float(delta))


def calibrate_joint(
    family: str,
    sensitivity: float | ArrayLike | Sensitivity,
    *,
    epsilon: float,
    delta: float = 0.0,
    dimension: int | None = None,
) -> JointCalibration:
    """Joint noise of minimum variance that keeps a privacy budget.

    The noise vector has a density that falls with the norm of the sensitivity set. For noise in
    the norm of another set that contains it, pass that set: an l2 ball or
    `enclosing_ellipsoid(sensitivity)` gives spherical noise.

    Parameters
    ----------
    family : {"k-norm", "norm-staircase", "truncated-k-norm"}
        Density exp(-r / s) of the norm r; the same in steps; cut off at a largest norm;
        exp(-(r / s)^p) with the best p from 1 to 16. The first two need no delta, the second
        makes no use of it.
    sensitivity : float, array_like of shape (K,), or Sensitivity
        The differences between neighbouring answers: a number for each coordinate, one number
        for all, or a set. At most 10,000 coordinates that can change.
    epsilon : float
        0, or from 1e-9 to 1000; 0 only together with a positive delta.
    delta : float
        0, or from 1e-250 to below 1.
    dimension : int, optional
        The number K of coordinates, if `sensitivity` is a number.

    Returns
    -------
    JointCalibration
        With attributes noise, delta, delta_lower, variance (the mean) and variances, shape (K,).

    Raises
    ------
    ValueError
        If an argument is out of range or the family cannot do what is asked; the message names
        every problem.
    RuntimeError
        If what was found could not be verified.

    Notes
    -----
    Proved (docs/joint-noise.md), for real-valued noise: delta of the noise returned is at most
    `delta`. Tested, not proved: that no noise of the family has less variance.

    A case of `best`: `best(sensitivity, epsilon=epsilon, delta=delta, family=family)` finds the
    same noise, or for "k-norm" that of an ellipsoid around the set, where
    it has less variance. For a number `sensitivity` the set is `LInf(sensitivity, of=dimension)`.

    References
    ----------
    Hardt & Talwar, "On the geometry of differential privacy", STOC 2010.

    Examples
    --------
    >>> from dpnoise import AtMost, calibrate_joint
    >>> found = calibrate_joint("k-norm", 1.0, epsilon=1.0, dimension=10)
    >>> round(found.variance, 6), found.delta
    (44.0, 0.0)
    >>> visits = AtMost(3, of=12, relation="add-remove")
    >>> found = calibrate_joint("k-norm", visits, epsilon=1.0)
    >>> round(found.variance, 2), found.promise.split(", ")[0]
    (17.0, 'one person more or less')
    """
    request = _checked(family, sensitivity, epsilon, delta, dimension)
    found = JOINT_FAMILIES[family].calibrated(request)
    if not found.delta <= request.delta:
        message = f"calibration of joint noise: {found.noise!r} exceeds delta: {found.delta!r}"
        raise RuntimeError(message)
    if not math.isfinite(found.variance):
        message = f"calibration of joint noise: the variance of {found.noise!r} is infinite"
        raise RuntimeError(message)
    return found


_FAR = 30.0  # of log delta - target: other values only say 'far'
_EVEN = 1e-7  # a log delta this close to the budget's is on it
_PROBE = 1e-3  # step for the slope of log delta
_COLD, _WARM = 0.25, 0.05  # first steps of log scale from a guess and from a neighbour's root
_CERTIFICATES = 8
_COARSER = 16  # cells of one before them: the gap falls like the inverse of their number,
_AIM = 1.04  # nearly: it was seen to be up to 3 % more than that
_LOG_FAR = 600.0  # logarithm of a bound that nothing reaches
_WIDEST = 4.0  # epsilon times the scale of truncated noise
_BELOW = 5.0  # of log gamma, where the minimum may be just beyond 1
_CLOSE = 5e-4  # of log scale and log power at a minimum, where the variance is flat


class Search:
    """One sensitivity set and one budget with delta > 0."""

    def __init__(self, ball: Sensitivity, epsilon: float, delta: float) -> None:
        self.ball, self.epsilon, self.delta = ball, epsilon, delta
        self.log_delta = math.log(delta)

    def spare(self, noise: RadialNoise) -> float:
        """About the budget's log delta less that of the noise."""
        about = radial_delta_estimate(noise, self.epsilon)
        return self.log_delta - math.log(about) if about > 0.0 else _FAR

    def root(self, curve: Callable[[float], RadialNoise], start: float, step: float) -> float:
        """Where noise on a curve has about the budget's delta."""
        from dpnoise.calibration.search import (  # noqa: PLC0415 - 0.1 s
            increasing_root,
        )

        def spare(x: float) -> float:
            try:
                return self.spare(curve(x))
            except ValueError:  # hardly any mass within the bound
                return -_FAR

        return increasing_root(spare, start, step, even=_EVEN)

    def certified(
        self, curve: Callable[[float], RadialNoise], x: float
    ) -> tuple[RadialNoise, float, float]:
        """The noise near `x` whose delta is proved to be within the budget, and its bounds.

        RuntimeError if there is none close by.
        """
        here, after = self.spare(curve(x)), self.spare(curve(x + _PROBE))
        if after >= _FAR:  # (epsilon, 0)-DP noise is next to it: the slope on the other side
            here, after = self.spare(curve(x - _PROBE)), here
        slope = max((after - here) / _PROBE, 1e-3)
        rough = radial_delta_bounds(curve(x), self.epsilon, cells=CELLS // _COARSER)
        if rough.upper > self.delta:
            x += _AIM * (math.log(rough.upper) - self.log_delta) / (_COARSER * slope)
        # ends: without a verified candidate the noise for delta = 0
        for _ in range(_CERTIFICATES):
            noise = curve(x)
            lower, upper, _ = noise.bounds_in(noise.ball, self.epsilon)
            if upper <= self.delta:
                return noise, lower, upper
            x += 1.01 * (math.log(upper) - self.log_delta) / slope + 1e-9
        message = f"calibration of joint noise: {curve(x)!r} could not be verified"
        raise RuntimeError(message)

    def scales(self, power: float) -> Callable[[float], RadialNoise]:
        """The noise of a power, by the logarithm of its scale."""
        return lambda x: RadialNoise(self.ball, math.exp(min(x, _LOG_FAR)), power)

    def scale(self, power: float, start: float | None = None) -> float:
        """The logarithm of the scale that a power needs."""
        step = _WARM
        if start is None:  # a loss of epsilon from the typical norm outwards
            K = self.ball.active_dimension
            step = _COLD
            start = math.log(K / max(self.epsilon, 1e-3)) - math.log(K / power) / power
        return self.root(self.scales(power), start, step)

    def bounds(self, scale: float) -> Callable[[float], RadialNoise]:
        """Truncated K-norm noise of a scale, by the logarithm of its bound."""
        return lambda x: RadialNoise(self.ball, scale, 1.0, math.exp(min(x, _LOG_FAR)))

    def bound(self, scale: float) -> float:
        """The logarithm of the bound that truncated K-norm noise of a scale needs."""
        K = self.ball.active_dimension
        return self.root(self.bounds(scale), math.log(scale * (K + 1.0) + 1.0), _COLD)


def minimum(function: Callable[[float], float], grid: Array) -> float:
    """The argument of the smallest value seen on a grid and between its best neighbours."""
    from scipy.optimize import minimize_scalar  # noqa: PLC0415 - 0.1 s, for these searches only

    cached = cache(function)
    values = [cached(float(x)) for x in grid]
    best = int(np.argmin(values))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    with np.errstate(invalid="ignore"):  # infinite where nothing was found
        # ends: a place to look; what is found is certified
        found = minimize_scalar(
            cached, bounds=(float(low), float(high)), method="bounded", options={"xatol": _CLOSE}
        )
    return float(found.x) if found.fun < values[best] else float(grid[best])


def best_gamma(dimension: int, epsilon: float, order: int = 2) -> float:
    """The gamma of the staircase of minimum E T^order, 2 for the variance.

    By Lipschitz's formula gamma moves that by a share of about 4 (1 + (2 pi / epsilon)^2)^(-n / 2)
    with n = K + 1: where this is below 1e-12, gamma is 1/2 without a search.
    """
    if (dimension + 1) * math.log1p((2.0 * math.pi / epsilon) ** 2) > 2.0 * math.log(4e12):
        return 0.5

    def moment(x: float) -> float:
        return staircase_layer_moment(dimension, epsilon, math.exp(x), order)

    low = -max(1.0, epsilon / (dimension + order)) - _BELOW  # gamma = 0 and gamma = 1 are the same
    return math.exp(minimum(moment, np.linspace(low, -1e-4, 49)))


def staircase(ball: Sensitivity, epsilon: float, order: int = 2) -> NormStaircase:
    """The staircase of minimum variance, or of the least mean norm with order 1."""
    return NormStaircase(ball, epsilon, best_gamma(ball.active_dimension, epsilon, order))


def truncated_scale(search: Search, start: float) -> float:
    """The scale of truncated K-norm noise of minimum variance, from `start` upwards."""

    def mean_square(x: float) -> float:
        scale = start * math.exp(x)
        try:
            return search.bounds(scale)(search.bound(scale)).layer_moment(2)
        except RuntimeError:  # private at no bound
            return math.inf

    widest = math.log(_WIDEST / (start * max(search.epsilon, 1e-3 / start)))
    grid = np.append(0.0, np.geomspace(1e-2, max(widest, 0.1), 5))
    return start * math.exp(minimum(mean_square, grid))
