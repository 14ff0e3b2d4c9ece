"""The exact privacy profile of a vector query with independent noise on its coordinates.

For symmetric noise that falls with |t| the worst neighbour in the box |d_i| <= sensitivity_i is
its corner, so that the privacy loss is a sum of independent losses with known transforms;
`dpnoise.privacy.inversion` turns these into bounds on delta. This answers, with a proof, what
'Algorithm 2' of Muthukrishnan & Kalyani (IEEE TIFS 2023) answers by interpolation. The proofs
are in docs/vector-privacy.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from dpnoise._check import Problems
from dpnoise.noise import Noise, Staircase
from dpnoise.noise._arrays import floats
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise.privacy.inversion import Inversion
from dpnoise.privacy.lattice import lattice_bounds
from dpnoise.privacy.loss import canonical, coordinate_loss
from dpnoise.privacy.loss_transform import LossTransform
from dpnoise.privacy.profile import log_privacy_profile

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]

    Shares = dict[tuple[Noise, float], int]

_MOST_COPIES = 10**8
# Sensitivity over E|T|, as far as the tests vouch for the bounds.
_LEAST_RATIO, _GREATEST_RATIO = 1e-9, 1e6
_LEAST_RTOL = 1e-10
_MOST_EPSILON = 1e99
# Closed forms: their relative error, with a margin.
_CLOSED_ERROR = 1e-11
_ULP = np.finfo(float).eps


@dataclass(frozen=True)
class VectorProfile:
    """Bounds on delta: lower <= delta <= upper, rounding included.

    Attributes
    ----------
    log_lower, log_estimate, log_upper : numpy.ndarray or float
        Natural logarithms, of the shape of epsilon; -inf stands for 0.
    """

    log_lower: Array
    log_estimate: Array
    log_upper: Array

    @property
    def lower(self) -> Array:
        """The lower bound; 0 where it is too small for a double."""
        return np.exp(self.log_lower)

    @property
    def estimate(self) -> Array:
        """The most likely value."""
        return np.exp(self.log_estimate)

    @property
    def upper(self) -> Array:
        """The upper bound, at least the smallest double unless delta is exactly 0."""
        tiny = np.where(np.isneginf(self.log_upper), 0.0, np.finfo(float).smallest_subnormal)
        return np.maximum(np.exp(self.log_upper), tiny)[()]


def _listed(value: object) -> list | None:
    """Return what a one-dimensional array-like holds, or None for anything else."""
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable) or np.ndim(value) == 0:
        return None
    return list(value)


def _shares(
    problems: Problems,
    noise: Noise | Sequence[Noise],
    sensitivity: float | ArrayLike,
    copies: int,
) -> Shares:
    """Check the coordinates; return those with a positive sensitivity, and how many are equal."""
    noises, sizes = _listed(noise), _listed(sensitivity)
    many = noises is not None
    if many != (sizes is not None):
        expected = "one each, or sequences of equal length"
        problems.add(f"noise, sensitivity: expected {expected}, got {noise!r}, {sensitivity!r}")
        return {}
    whole = isinstance(copies, Integral) and not isinstance(copies, bool)
    expected = f"a whole number from 1 to {_MOST_COPIES}"
    problems.require(whole and 1 <= copies <= _MOST_COPIES, "copies", expected, copies)
    if not many:
        noises, sizes = [noise], [sensitivity]
    else:
        if whole and copies != 1:
            problems.add(f"copies: expected 1 beside sequences, got {copies!r}")
        problems.require(len(noises) > 0, "noise", "at least one coordinate", noise)
        lengths = len(noises), len(sizes)
        equal = lengths[0] == lengths[1]
        problems.require(equal, "noise, sensitivity", "sequences of equal length", lengths)
    shares: Shares = {}
    for k, (one, size) in enumerate(zip(noises, sizes, strict=False)):
        label = f" of coordinate {k}" if many else ""
        if _good_share(problems, one, size, label) and size > 0.0:
            key = (one, float(size))
            shares[key] = shares.get(key, 0) + (int(copies) if not many and whole else 1)
    return shares


def _good_share(problems: Problems, noise: Noise, size: float, label: str) -> bool:
    """Check one coordinate."""
    good = problems.number(f"sensitivity{label}", size, low=0.0)
    known = isinstance(noise, Noise) and (noise.log_concave or isinstance(noise, Staircase))
    expected = "log-concave or staircase noise"
    if not problems.require(known, f"noise{label}", expected, noise) or not good:
        return False
    if size > 0.0:
        ratio = float(size) / noise.mean_abs()
        name = f"sensitivity / E|T|{label}"
        problems.number(name, ratio, low=_LEAST_RATIO, high=_GREATEST_RATIO)
    return True


def _refuse_wide_queries(problems: Problems, shares: Shares) -> None:
    """Record staircases that several coordinates or lattices cannot have."""
    if sum(shares.values()) < 2:
        return
    lattice = any(not isinstance(n, Staircase) and n.pieces() is None for n, _ in shares)
    for noise, size in shares:
        if not isinstance(noise, Staircase):
            continue
        if lattice:
            problems.add(f"noise: expected no staircase beside Subbotin noise, got {noise!r}")
        name = "sensitivity of several coordinates with staircase noise"
        expected = f"at most the width {noise.sensitivity!r} of its steps"
        # Without a tolerance: a shift beyond the width can lose twice the staircase's epsilon.
        problems.require(size <= noise.sensitivity, name, expected, size)


def _closed(log_delta: Array, error: ArrayLike) -> VectorProfile:
    """Return the bounds of a closed form with a relative error."""
    return VectorProfile(log_delta - error, log_delta, np.minimum(log_delta + error, 0.0))


def _one(noise: Noise, size: float, epsilon: Array) -> VectorProfile:
    """Return the profile of a single coordinate."""
    log_delta = log_privacy_profile(noise, size, epsilon)
    if isinstance(noise, Staircase) or noise.pieces() is not None:
        return _closed(log_delta, _CLOSED_ERROR)
    # As good as delta at an epsilon off by some units in its last place.
    off = 32.0 * _ULP * (4.0 + getattr(noise, "p", 1.0))
    low = log_privacy_profile(noise, size, epsilon * (1.0 + off)) - _CLOSED_ERROR
    high = log_privacy_profile(noise, size, epsilon * (1.0 - off)) + _CLOSED_ERROR
    return VectorProfile(low, log_delta, np.minimum(high, 0.0))


def _transform(shares: Shares) -> LossTransform:
    """Return the transform of the loss at the corner of the box."""
    groups, gaussian = {}, []
    for (noise, size), count in shares.items():
        key, scaled = canonical(noise, size)
        found, before = groups.get(key, (scaled, 0))
        groups[key] = found, before + count
    losses, copies = [], []
    for scaled, count in groups.values():
        loss = coordinate_loss(scaled)
        if loss.gaussian > 0.0:
            gaussian.append(count * loss.gaussian)
        else:
            losses.append(loss)
            copies.append(count)
    return LossTransform(losses, copies, math.fsum(gaussian))


def _many(shares: Shares, epsilon: Array, rtol: float) -> VectorProfile:
    """Return the profile of several coordinates."""
    if any(not isinstance(n, Staircase) and n.pieces() is None for n, _ in shares):
        found = lattice_bounds([(*key, n) for key, n in shares.items()], epsilon)
        low, high = found.log_lower, found.log_upper
        middle = np.where(np.isneginf(low), high, 0.5 * (low + high))[()]
        return VectorProfile(low, middle, high)
    transform = _transform(shares)
    if transform.infinite == 1.0:  # a shift by more than the support
        return _closed(np.zeros(epsilon.shape)[()], 0.0)
    if not transform.losses:
        log_delta = gaussian_log_delta(math.sqrt(transform.gaussian), epsilon)
        # mu is rounded; d log delta / d log mu is about -2 log delta.
        return _closed(log_delta, _CLOSED_ERROR + 4.0 * _ULP * (10.0 - 3.0 * log_delta))
    return from_transform(transform, epsilon, rtol)


def from_transform(transform: LossTransform, epsilon: Array, rtol: float) -> VectorProfile:
    """Return the bounds for a sum of losses by inversion of its transform."""
    inversion = Inversion(transform, rtol)
    results = np.empty((3, epsilon.size))
    for k, value in enumerate(epsilon.ravel()):
        results[:, k] = inversion.bounds(float(value))
    low, middle, high = results.reshape(3, *epsilon.shape)
    # The logarithms are rounded.
    slack = 4.0 * _ULP * (1.0 + np.abs(np.where(np.isneginf(high), 0.0, high)))
    return VectorProfile((low - slack)[()], middle[()], np.minimum(high + slack, 0.0)[()])


def vector_profile(
    noise: Noise | Sequence[Noise],
    sensitivity: float | ArrayLike,
    epsilon: ArrayLike,
    *,
    copies: int = 1,
    rtol: float = 1e-7,
) -> VectorProfile:
    """Return two-sided bounds on the privacy profile of a vector query.

    Independent noise is added to each coordinate. Neighbouring data sets (replace-one) may
    move coordinate i by any d_i with |d_i| <= sensitivity_i.

    Parameters
    ----------
    noise : Noise or array_like of Noise, shape (K,)
        Log-concave or staircase noise: of all coordinates, or of each.
    sensitivity : float or array_like of float, shape (K,)
        The largest change of a coordinate, non-negative: of all, or of each. One of 0 drops
        out; others within 1e-9 to 1e6 times E|T|. Several coordinates with staircase noise:
        at most the width of its steps.
    epsilon : array_like of float
        From 0 to 1e99 (1e9 for several coordinates of which one has Subbotin noise with p other
        than 1 and 2). Each value takes the same time.
    copies : int
        The number K of coordinates where noise and sensitivity are one each.
    rtol : float
        The relative gap between the bounds to aim at, from 1e-10 to 1.

    Returns
    -------
    VectorProfile
        With attributes `lower`, `estimate`, `upper` and their logarithms, of the shape of
        epsilon. The least delta for which the mechanism is (epsilon, delta)-DP is always
        between the bounds, rounding included, also where it is far below the smallest double.
        They are within `rtol` of each other where rounding (about 1e-12 for each coordinate)
        and time allow: many different coordinates whose losses have atoms (all different
        Laplace noises, say) may end in wider, valid bounds, and so does Subbotin noise with p
        other than 1 and 2, which goes through `lattice_bounds` (relative gap about 1e-6).

    Raises
    ------
    ValueError
        If an argument is out of range, sequences differ in length, or the bounds cannot be
        vouched for; the message names every problem.
    """
    problems = Problems("vector profile")
    epsilon = floats(problems, "epsilon", epsilon, low=0.0, high=_MOST_EPSILON)
    problems.number("rtol", rtol, low=_LEAST_RTOL, high=1.0)
    shares = _shares(problems, noise, sensitivity, copies)
    if not problems.found:
        _refuse_wide_queries(problems, shares)
    problems.raise_if_any()
    if not shares:
        nothing = np.full(epsilon.shape, -math.inf)[()]
        return VectorProfile(nothing, nothing, nothing)
    if sum(shares.values()) == 1:
        ((one, size),) = shares
        return _one(one, size, epsilon)
    return _many(shares, epsilon, rtol)
