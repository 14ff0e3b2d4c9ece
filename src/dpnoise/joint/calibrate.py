"""Joint noise of minimum variance for a privacy budget: the public `calibrate_joint`."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise._validation import Problems
from dpnoise.joint.base import check_ball
from dpnoise.joint.radial import RadialNoise
from dpnoise.joint.search import Search, best_power, pure_scale, staircase, truncated_scale
from dpnoise.joint.staircase import check_steps
from dpnoise.privacy.odometer.releases import spending_of
from dpnoise.sensitivity.convert import as_sensitivity

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


class _Request(NamedTuple):
    """A checked request for joint noise."""

    family: str
    ball: Sensitivity
    epsilon: float
    delta: float

    def search(self) -> Search:
        """The searches for this request."""
        return Search(self.ball, self.epsilon, self.delta)

    def found(self, noise: JointNoise, lower: float, upper: float) -> JointCalibration:
        """Noise with bounds on its delta."""
        return JointCalibration(self.family, noise, self.epsilon, upper, lower, self.ball)


def _pure(request: _Request) -> JointCalibration:
    """K-norm noise for delta = 0."""
    return request.found(RadialNoise(request.ball, pure_scale(request.epsilon)), 0.0, 0.0)


def _smallest(request: _Request, *candidates: Callable[[], JointCalibration]) -> JointCalibration:
    """The calibration of smallest variance, the one for delta = 0 included."""
    found = [_pure(request)] if request.epsilon > 0.0 else []
    for candidate in candidates:
        with suppress(RuntimeError):  # not verified, or no noise of the kind is private
            found.append(candidate())
    if not found:
        message = f"calibration of joint noise: no {request.family} noise was found"
        raise RuntimeError(message)
    return min(found, key=lambda one: one.variance)


def _k_norm(request: _Request) -> JointCalibration:
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


def _norm_staircase(request: _Request) -> JointCalibration:
    """The staircase of minimum variance, which makes no use of delta."""
    return request.found(staircase(request.ball, request.epsilon), 0.0, 0.0)


def _truncated_k_norm(request: _Request) -> JointCalibration:
    """Truncated K-norm noise of minimum variance, or its limit without a bound."""
    plain = _k_norm(request)
    search = request.search()
    # A scale below 1 / epsilon pays only where delta allows one that is clearly smaller.
    start = 1.001 * plain.noise.scale  # type: ignore[attr-defined]  # radial
    if start * request.epsilon > 0.999:
        start = pure_scale(request.epsilon)

    def truncated() -> JointCalibration:
        scale = truncated_scale(search, start)
        return request.found(*search.certified(search.bounds(scale), search.bound(scale)))

    return _smallest(request, lambda: plain, truncated)


def _generalised_gamma(request: _Request) -> JointCalibration:
    """Generalised gamma noise of minimum variance."""
    search = request.search()

    def above_1() -> JointCalibration:
        power = best_power(search)
        return request.found(*search.certified(search.scales(power), search.scale(power)))

    return _smallest(request, lambda: _k_norm(request), above_1)


class _Family(NamedTuple):
    """How a family is calibrated, whether it needs a positive delta, and its source."""

    calibrated: Callable[[_Request], JointCalibration]
    needs_delta: bool
    reference: str


JOINT_FAMILIES = {
    "k-norm": _Family(_k_norm, needs_delta=False, reference="Hardt & Talwar, STOC 2010"),
    "norm-staircase": _Family(
        _norm_staircase, needs_delta=False, reference="Geng & Viswanath, IEEE Trans. IT 2016"
    ),
    "truncated-k-norm": _Family(
        _truncated_k_norm,
        needs_delta=True,
        reference="Geng, Ding, Guo & Kumar, AISTATS 2020 (one coordinate)",
    ),
    "generalised-gamma": _Family(
        _generalised_gamma, needs_delta=True, reference="radial density exp(-(r / s)^p)"
    ),
}


def _checked(
    family: str, sensitivity: object, epsilon: float, delta: float, dimension: int | None
) -> _Request:
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
        if good and epsilon == 0 and (delta == 0 or family == "norm-staircase"):
            problems.add("epsilon: expected more than 0 with delta = 0, got 0")
    if family == "norm-staircase" and good and epsilon > 0 and ball is not None:
        check_steps(problems, ball.active_dimension, epsilon)
    problems.raise_if_any()
    assert ball is not None  # noqa: S101  (or refused)
    return _Request(family, ball, float(epsilon), float(delta))


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
    family : {"k-norm", "norm-staircase", "truncated-k-norm", "generalised-gamma"}
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
    same noise, or for "k-norm" and "generalised-gamma" that of an ellipsoid around the set, where
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
