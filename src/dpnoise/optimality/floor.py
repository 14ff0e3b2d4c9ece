"""Lower bound on the error of any additive noise for a vector query (docs/floor.md).

Of all certificates that apply to a sensitivity set the one that proves most is taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise._validation import Problems, floats
from dpnoise.noise.stepwise import MAX_EPSILON
from dpnoise.optimality.certificates import (
    Blocks,
    FloorCertificate,
    Layers,
    Projection,
    Subsets,
    count_projection,
    exchangeable,
    free_cube,
    largest_moments,
    star_shaped,
    unconditional,
)
from dpnoise.optimality.closed_forms import best_step, radial_certificate
from dpnoise.optimality.error_floor import ERRORS, OwnCoordinates, error_candidates
from dpnoise.optimality.factorisation import MixtureProjection, factorisation_of
from dpnoise.optimality.few_entries import few_entries
from dpnoise.optimality.radial_test import radial_test
from dpnoise.optimality.rearrangement import projected_cubes, rearrangements
from dpnoise.optimality.scalar_floor import scalar_certificate, whole_certificate
from dpnoise.sensitivity.balls import LInf, as_sensitivity
from dpnoise.sensitivity.product import Product

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.sensitivity.base import Sensitivity

_SMALLEST_EPSILON = 1e-6
_MOST_COORDINATES = 10**6
_TOLERANCE = 1e-9  # relative, between machines

# Of the certificates that are tried.
_MOST_LAYERS = 4  # sizes of subvectors that are tried for unequal weights
_LARGEST_EPSILON, _MOST_DIMENSIONS = 300.0, 100_000  # of radial tests
_SMALLEST_STEP_EPSILON = 3.0  # of one step outwards, which needs mass near 0


@dataclass(frozen=True, eq=False)
class Floor:
    """Proved lower bound on an error of additive noise, with its certificate.

    Parameters
    ----------
    value : float
        No additive noise that is (epsilon, delta)-DP for the set has a smaller error; for the
        variance sum w_i sigma_i^2, without weights the mean variance per coordinate.
    method : str
        Kind of the certificate.
    certificate : FloorCertificate
        What proves the bound, such as projections or multipliers.
    sensitivity : Sensitivity
        Set of differences.
    epsilon, delta : float
        The budget.
    weights : array of float, shape (K,)
        The weights; 1 / K each without `weights`, ones for the errors "max" and "norm".
    error : str
        Of what: "variance", "mean-abs", "max" or "norm".
    """

    value: float
    method: str
    certificate: FloorCertificate
    sensitivity: Sensitivity
    epsilon: float
    delta: float
    weights: Array
    error: str = "variance"

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
        proves = getattr(self.certificate, "error", "variance")
        problems.require(proves == self.error, "error", f"{proves}, which it is of", self.error)
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
    error: str = "variance",
) -> Floor:
    """Lower bound on the error of any additive (epsilon, delta)-DP noise for a vector query.

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
        Weights w_i >= 0 of the coordinates, one of them positive; by default 1 / K each, for
        the mean per coordinate, and ones for `error="max"`. None for `error="norm"`.
    error : {"variance", "mean-abs", "max", "norm"}, optional
        What is bounded for noise T: sum w_i Var(T_i), sum w_i E|T_i|, the expectation of the
        largest w_i |T_i|, or that of the norm of T whose unit ball is the set. At delta = 0 the
        last is attained, for every set, and so are the sum for an l1 ball and the largest for
        a cube, both with equal weights.

    Returns
    -------
    Floor
        `value`, and the `certificate` that proves it. Independent or joint, no additive noise
        of any distribution has a smaller error.

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
    >>> floor([1.0, 1.0, 1.0], epsilon=1.0, error="max").value <= 3.0  # of K-norm noise
    True
    """
    problems = Problems("floor under additive noise")
    problems.number("epsilon", epsilon, low=_SMALLEST_EPSILON, high=MAX_EPSILON)
    problems.number("delta", delta, low=0.0, high=1.0, open_high=True)
    known = isinstance(error, str) and error in ERRORS
    problems.require(known, "error", f"one of {', '.join(ERRORS)}", error)
    free = weights is None or not known or error != "norm"
    problems.require(free, "weights", "None for error='norm'", weights)
    shape: tuple[int, ...] | None = None
    try:
        found = shape_of(as_sensitivity(sensitivity))
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
    if error != "variance":
        if weights is None and error in {"max", "norm"}:
            w = np.ones(found.dimension)
        rows = error_candidates(found, error, epsilon, delta, w)
        value, proof = max(rows, key=lambda pair: pair[0])
        return Floor(value, proof.method, proof, found, epsilon, delta, w, error)
    scale = float(np.max(w))  # sums of tiny weights would underflow
    certificate = max(candidates(found, epsilon, delta, w / scale), key=lambda pair: pair[0])[1]
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


def candidates(
    sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
) -> list[tuple[float, FloorCertificate]]:
    """Pairs of a bound on sum w_i sigma_i^2 and its certificate, never empty."""
    problem = (sensitivity, epsilon, delta, weights)
    found: list[FloorCertificate] = []
    scalar = scalar_certificate(epsilon, delta)
    along = scalar if star_shaped(sensitivity) else whole_certificate(1, epsilon, delta)
    symmetric = unconditional(sensitivity)
    if symmetric:
        found.append(Projection(largest_moments(symmetric, weights), along))
    few = sensitivity.differences
    if (
        few is not None
        and not few.listed
        and few.down < few.moved
        and np.all(weights == weights[0])
    ):
        found.append(count_projection(sensitivity, along))
    if sensitivity.preimage:
        shares = factorisation_of(sensitivity, weights).shares
        found.append(MixtureProjection(shares, along))
    if parts := sensitivity.split(weights):
        inner = [candidates(block, epsilon, delta, part) for block, part in parts]
        found.append(Blocks(tuple(max(row, key=lambda pair: pair[0])[1] for row in inner)))
    else:
        if sensitivity.is_whole and not sensitivity.preimage:
            change = int(sensitivity.box[0])
            found.append(OwnCoordinates("variance", whole_certificate(change, epsilon, delta)))
        found += _exchangeable(*problem)
    pairs = [(certificate.bound(*problem), certificate) for certificate in found]
    if sensitivity.convex and not sensitivity.ball_radius(2.0):
        known = max(value for value, _ in pairs)
        more = rearrangements(*problem, known=known)
        pairs += [(certificate.bound(*problem), certificate) for certificate in more]
    return pairs


def shape_of(sensitivity: Sensitivity) -> Sensitivity:
    """The set, where its differences are all points of the convex set as that set alone."""
    if sensitivity.convex:
        return sensitivity.body
    blocks = map(shape_of, sensitivity.blocks)
    return Product(*blocks, relation=sensitivity.relation) if sensitivity.blocks else sensitivity


def _exchangeable(
    sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
) -> list[FloorCertificate]:
    """Certificates by the symmetry of the set, for all or the heaviest of the coordinates."""
    unit = exchangeable(sensitivity, weights)
    if unit is None:
        few = sensitivity.differences
        return [*few_entries(few, "variance", epsilon, delta)] if few else []
    # With delta a test takes its time: only the size that counts most.
    sizes = _sizes(unit[1])[: None if delta == 0.0 else 1]
    rows = [_symmetric(unit[0].restricted(range(size)), epsilon, delta) for size in sizes]
    sizes = [size for size, row in zip(sizes, rows, strict=True) if row]
    rows = [row for row in rows if row]
    if not sizes:
        return []
    parts = tuple(
        max(
            row,
            key=lambda kind: kind.bound(
                unit[0].restricted(range(size)), epsilon, delta, np.ones(size)
            ),
        )
        for row, size in zip(rows, sizes, strict=True)
    )
    return [Layers(tuple(sizes), parts)]


def _sizes(weights: Array) -> list[int]:
    """Numbers of the heaviest coordinates, at the largest falls of the weights."""
    heavy = np.append(np.sort(weights)[::-1], 0.0)
    gain = -np.diff(heavy) * np.arange(1, heavy.size)
    order = np.argsort(gain, kind="stable")[::-1][:_MOST_LAYERS]
    return [int(place) + 1 for place in order if gain[place] > 0.0]


def _symmetric(sensitivity: Sensitivity, epsilon: float, delta: float) -> list[FloorCertificate]:
    """Certificates for a set with equal weights."""
    K = sensitivity.dimension
    if sensitivity.ball_radius(math.inf):
        if K == 1:
            return []
        step = _one_step(LInf(1.0, K), epsilon, delta)
        return [*projected_cubes(K, epsilon, delta), *step]
    if sensitivity.ball_radius(2.0):
        tests: list[FloorCertificate | None] = []
        if delta == 0.0:
            tests.append(radial_certificate(K, epsilon))
        elif 2 <= K <= _MOST_DIMENSIONS and epsilon <= _LARGEST_EPSILON:
            tests.append(radial_test(K, epsilon, delta))
        return [test for test in tests if test] + _one_step(sensitivity, epsilon, delta)
    most, side = free_cube(sensitivity)
    found: list[FloorCertificate] = []
    if most:
        cube = LInf(side, most)
        found += [Subsets(cube, part) for part in _symmetric(cube, epsilon, delta)]
    few = sensitivity.differences
    return [*found, *(few_entries(few, "variance", epsilon, delta) if few else [])]


def _one_step(sensitivity: Sensitivity, epsilon: float, delta: float) -> list[FloorCertificate]:
    """Certificate for large epsilon, if it proves anything."""
    step = best_step(sensitivity, epsilon, delta) if epsilon > _SMALLEST_STEP_EPSILON else None
    return [step] if step else []
