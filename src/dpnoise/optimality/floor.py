"""Lower bound on the variance of any additive noise for a vector query (docs/floor.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise._validation import Problems
from dpnoise.noise._arrays import floats
from dpnoise.noise.staircase import MAX_EPSILON
from dpnoise.optimality.candidates import candidates
from dpnoise.sensitivity.convert import as_sensitivity

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.optimality.certificates import Certificate
    from dpnoise.sensitivity.base import Sensitivity

METHODS = ("fast", "program")
_SMALLEST_EPSILON = 1e-6
_MOST_COORDINATES = 10**6
_TOLERANCE = 1e-9  # relative, between machines


@dataclass(frozen=True, eq=False)
class Floor:
    """Proved lower bound on sum w_i sigma_i^2 of additive noise, with its certificate.

    Parameters
    ----------
    value : float
        No additive noise that is (epsilon, delta)-DP for the set has a smaller
        sum w_i sigma_i^2; without weights, the mean variance per coordinate.
    method : str
        Kind of the certificate.
    certificate : Certificate
        What proves the bound: projections, multipliers or transport steps.
    sensitivity : Sensitivity
        Set of differences.
    epsilon, delta : float
        The budget.
    weights : array of float, shape (K,)
        The weights; 1 / K each without `weights`.
    """

    value: float
    method: str
    certificate: Certificate
    sensitivity: Sensitivity
    epsilon: float
    delta: float
    weights: Array

    def verify(self) -> float:
        """Lower bound recomputed from the certificate alone.

        Returns
        -------
        float
            The bound that the certificate proves, at least `value` (up to 1e-9).

        Raises
        ------
        ValueError
            If `value` is above it.
        """
        problem = (self.sensitivity, self.epsilon, self.delta, self.weights)
        proved = self.certificate.bound(*problem)
        problems = Problems("certificate of a floor")
        good = self.value <= proved * (1.0 + _TOLERANCE)
        problems.require(good, "value", f"at most {proved!r}, which it proves", self.value)
        problems.raise_if_any()
        return proved


def floor(
    sensitivity: float | ArrayLike | Sensitivity,
    *,
    epsilon: float,
    delta: float = 0.0,
    weights: ArrayLike | None = None,
    method: str = "fast",
) -> Floor:
    """Lower bound on the variance of any additive (epsilon, delta)-DP noise for a vector query.

    Parameters
    ----------
    sensitivity : float, array_like of shape (K,), or Sensitivity
        What one person can change: a number, a vector (the box) or a set; at most 1e6
        coordinates.
    epsilon : float
        From 1e-6 to 700.
    delta : float, optional
        In [0, 1).
    weights : array_like of float, shape (K,), optional
        Weights w_i >= 0 of the variances, one of them positive; by default 1 / K each, for
        the mean variance per coordinate.
    method : {"fast", "program"}, optional
        "fast" takes well under a second; "program" adds bounds that take seconds, for a cube at
        delta = 0 up to half a minute.

    Returns
    -------
    Floor
        `value`, and the `certificate` that proves it. Independent or joint, no additive noise
        of any distribution has a smaller sum w_i sigma_i^2.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names every problem.

    References
    ----------
    Geng & Viswanath, "The optimal noise-adding mechanism in differential privacy" (2016);
    Hardt & Talwar, "On the geometry of differential privacy" (2010). Proofs: docs/floor.md.

    Examples
    --------
    >>> from dpnoise.optimality.floor import floor
    >>> bound = floor([1.0, 1.0, 1.0], epsilon=1.0)
    >>> bound.value <= 20 / 3  # of K-norm noise
    True
    >>> bound.verify() >= bound.value
    True
    """
    problems = Problems("floor under additive noise")
    problems.number("epsilon", epsilon, low=_SMALLEST_EPSILON, high=MAX_EPSILON)
    problems.number("delta", delta, low=0.0, high=1.0, open_high=True)
    known = isinstance(method, str) and method in METHODS
    problems.require(known, "method", " or ".join(METHODS), method)
    shape: tuple[int, ...] | None = None
    try:
        found = as_sensitivity(sensitivity).geometry.plain
    except ValueError as refusal:
        problems.add(str(refusal))
    else:
        shape = (found.dimension,)
        fits = found.dimension <= _MOST_COORDINATES
        expected = f"at most {_MOST_COORDINATES:g} coordinates"
        problems.require(fits, "sensitivity", expected, found.dimension)
    w = _weights(problems, weights, shape)
    problems.raise_if_any()
    epsilon, delta = float(epsilon), float(delta)
    scale = float(np.max(w))  # sums of tiny weights would underflow
    best = max(
        candidates(found, epsilon, delta, w / scale, fine=method == "program"),
        key=lambda pair: pair[0],
    )
    certificate = best[1]
    value = certificate.bound(found, epsilon, delta, w)
    return Floor(value, certificate.method, certificate, found, epsilon, delta, w)


def _weights(problems: Problems, weights: Any, shape: tuple[int, ...] | None) -> Array:  # noqa: ANN401
    """Weights as an array of the given shape, if that is known; records problems."""
    if weights is None:
        return np.full(shape, 1.0 / shape[0]) if shape else np.ones(1)
    before = len(problems.found)
    w = floats(problems, "weights", weights, low=0.0, high=1e100)
    if len(problems.found) == before:
        if shape:
            problems.require(w.shape == shape, "shape of weights", f"{shape}", w.shape)
        positive = w.size > 0 and bool(np.any(w > 0.0))
        problems.require(positive, "weights", "at least one above 0", weights)
    return w
