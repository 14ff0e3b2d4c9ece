"""The exact privacy profile of a vector query with independent noise on its coordinates.

For symmetric noise that falls with |t| the worst neighbour in the box |d_i| <= sensitivity_i is
its corner, so that the privacy loss is a sum of independent losses with known transforms;
`privacy.inversion` turns these into bounds on delta. This answers, with a proof, what
'Algorithm 2' of Muthukrishnan & Kalyani (IEEE TIFS 2023) answers by interpolation. The proofs
are in docs/vector-privacy.md.

**Coordinates** are stated as one noise and sensitivity for all, or by any one-dimensional
array-like of each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise._validation import Problems, floats, is_integer
from dpnoise.noise.base import Noise, is_scalar
from dpnoise.noise.integers import IntegerNoise
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise.privacy.inversion.inversion import Inversion
from dpnoise.privacy.inversion.loss import IntegerStep, canonical, coordinate_loss
from dpnoise.privacy.inversion.transform import LossTransform
from dpnoise.privacy.lattice.bounds import lattice_bounds, lattice_seconds
from dpnoise.privacy.lattice.discrete import ListedLoss
from dpnoise.privacy.profile import log_privacy_profile
from dpnoise.privacy.shift import WHOLE, shifted, whole_shift

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.noise.integers import IntegerNoise
    from dpnoise.privacy.lattice.discrete import ListedLoss

    AnyNoise = Noise | IntegerNoise
    Shares = dict[tuple[Any, float], int]  # of Noise, IntegerNoise or ListedLoss
    Groups = list[tuple[Any, int]]  # of Noise or IntegerStep

_MOST_COPIES, _MOST_LISTED, _MOST_STATED = 10**8, 10**6, 10**5
_LONGEST = f"at most {_MOST_LISTED} coordinates one by one (see copies for equal ones)"
_FIRST = 100  # no message names the problems of more coordinates
# Sensitivity over E|T|, as far as the tests vouch for the bounds.
_MIN_RATIO, _MAX_RATIO = 1e-9, 1e6


def _listed(value: object) -> list | None:
    """Entries of a one-dimensional array-like, or None for anything else."""
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        return None
    return list(value) if isinstance(value, Sequence) or np.asarray(value).ndim > 0 else None


def read_shares(
    problems: Problems,
    noise: Noise | IntegerNoise | Sequence[Noise | IntegerNoise],
    sensitivity: float | ArrayLike,
    copies: int,
) -> Shares:
    """Checked coordinates with a positive sensitivity, and how many of them are equal.

    Noise and sensitivity are one each, for `copies` coordinates, or sequences of one length.
    """
    noises, sizes = _listed(noise), _listed(sensitivity)
    many = noises is not None
    if many != (sizes is not None):
        expected = "one each, or sequences of equal length"
        problems.add(f"noise, sensitivity: expected {expected}, got {noise!r}, {sensitivity!r}")
        return {}
    whole = is_integer(copies)
    expected = f"a whole number from 1 to {_MOST_COPIES}"
    problems.require(whole and 1 <= copies <= _MOST_COPIES, "copies", expected, copies)
    if noises is None or sizes is None:
        noises, sizes = [noise], [sensitivity]
    else:
        if whole and copies != 1:
            problems.add(f"copies: expected 1 beside sequences, got {copies!r}")
        problems.require(len(noises) > 0, "noise", "at least one coordinate", noise)
        lengths = len(noises), len(sizes)
        equal = lengths[0] == lengths[1]
        problems.require(equal, "noise, sensitivity", "sequences of equal length", lengths)
        problems.require(lengths[0] <= _MOST_LISTED, "noise", _LONGEST, lengths[0])
    shares: Shares = {}
    if problems.found:  # of a long list only the first coordinates
        noises = noises[:_FIRST]
    for k, (one, size) in enumerate(zip(noises, sizes, strict=False)):
        known = is_scalar(one) and isinstance(size, float)
        if many and known and (one, size) in shares:
            shares[one, size] += 1
            continue
        label = f" of coordinate {k}" if many else ""
        if _good_share(problems, one, size, label) and size > 0.0:
            key = (one, float(size))
            shares[key] = shares.get(key, 0) + (int(copies) if not many and whole else 1)
        if len(shares) > _MOST_STATED:
            problems.add(f"noise: expected at most {_MOST_STATED} different ones, got more")
        if len(shares) > _MOST_STATED or len(problems.found) >= _FIRST:
            break
    return shares


def _good_share(problems: Problems, noise: object, size: float, label: str) -> bool:
    """Check of one coordinate."""
    good = problems.number(f"sensitivity{label}", size, low=0.0)
    known = is_scalar(noise)
    problems.require(known, f"noise{label}", "noise of one number", noise)
    if not is_scalar(noise) or not good:
        return False
    if size > 0.0:
        spread = noise.mean_abs()
        if noise.whole:
            spread = max(spread, 1.0)
            whole = bool(whole_shift(np.asarray(float(size))))
            problems.require(whole, f"sensitivity{label}", WHOLE, size)
        ratio, name = float(size) / spread, f"sensitivity / E|T|{label}"
        problems.number(name, ratio, low=_MIN_RATIO, high=_MAX_RATIO)
    return True


def check_counted(
    problems: Problems, counted: Iterable[tuple[Noise | IntegerNoise, float, int]]
) -> Shares:
    """Coordinates with a positive sensitivity by their numbers, checked like those of a user."""
    shares: Shares = {}
    for noise, size, count in counted:
        if _good_share(problems, noise, size, "") and size > 0.0:
            shares[noise, float(size)] = shares.get((noise, float(size)), 0) + count
    expected = f"at most {_MOST_COPIES} coordinates"
    total = sum(shares.values())
    problems.require(total <= _MOST_COPIES, "noise", expected, total)
    expected = f"at most {_MOST_STATED} different ones"
    problems.require(len(shares) <= _MOST_STATED, "noise", expected, len(shares))
    if not problems.found:
        refuse_wide_queries(problems, shares)
    return shares


def is_vouched(shares: Shares) -> bool:
    """Whether the accounts vouch for all coordinates, by the rules of `read_shares`."""
    problems = Problems("coordinates")
    return all(_good_share(problems, noise, size, "") for noise, size in shares) and (
        not problems.found
    )


def refuse_wide_queries(problems: Problems, shares: Shares) -> None:
    """Check for noise that several coordinates cannot have."""
    if sum(shares.values()) < 2:
        return
    integers = any(noise.whole for noise, _ in shares)
    for noise, size in shares:
        if integers and not (noise.log_concave or noise.stepwise):
            problems.add(f"noise: expected log-concave noise beside integers, got {noise!r}")
        if noise.step_width == math.inf:
            continue
        name = "sensitivity of several coordinates with staircase noise"
        expected = f"at most the width {noise.step_width!r} of its steps"
        # Without a tolerance: a shift beyond the width can lose twice the staircase's epsilon.
        problems.require(size <= noise.step_width, name, expected, size)


def equal_groups(shares: Shares) -> Groups:
    """The different noises in units of the sensitivity, and how many coordinates have each."""
    groups: dict[tuple[Any, ...], tuple[Any, int]] = {}
    for (noise, size), count in shares.items():
        own = noise.listed
        key, scaled = ((noise,), noise) if own else canonical(noise, size)
        found, before = groups.get(key, (scaled, 0))
        groups[key] = found, before + count
    return list(groups.values())


_MIN_RTOL, _RTOL = 1e-10, 1e-7  # relative gaps of bounds
_MOST_EPSILON = 1e99
_SECONDS = 8.0  # what a call may take, roughly
_LISTED_SIZE = 15  # log2 of the lattice of losses that are on one already
_MOST_DIFFERENT = 10_000  # coordinates
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


def _closed(log_delta: Array, error: Array | float) -> VectorProfile:
    """The bounds of a closed form with a relative error."""
    with np.errstate(over="ignore"):  # a lower bound beyond all doubles
        low = log_delta - error
    return VectorProfile(low, log_delta, np.minimum(log_delta + error, 0.0))


def _error_of_log(log_delta: Array) -> Array:
    """The error of the logarithm of a closed form; far below all doubles it is its own rounding."""
    size = np.where(np.isneginf(log_delta), 0.0, np.abs(log_delta))
    return np.maximum(_CLOSED_ERROR, 8.0 * _ULP * size)[()]


def _one(noise: AnyNoise | ListedLoss, size: float, epsilon: Array) -> VectorProfile:
    """The profile of a single coordinate."""
    if noise.listed:
        high = noise.log_delta(epsilon)
        return VectorProfile(np.full_like(high, -math.inf)[()], high[()], high[()])
    pair = shifted(noise, size)
    own = getattr(pair, "log_bounds", None)
    if own:
        low, high = (x.reshape(epsilon.shape)[()] for x in own(epsilon.ravel()))
        return VectorProfile(low, _middle(low, high), high)
    log_delta = log_privacy_profile(noise, size, epsilon)
    error = _error_of_log(log_delta)
    if pair.epsilon_error == 0.0:
        return _closed(log_delta, error)
    # Subbotin noise: as good as delta at an epsilon off by some units in its last place.
    off = 32.0 * _ULP * (4.0 + getattr(noise, "p", 1.0))
    with np.errstate(over="ignore"):
        low = log_privacy_profile(noise, size, epsilon * (1.0 + off)) - error
    high = log_privacy_profile(noise, size, epsilon * (1.0 - off)) + error
    return VectorProfile(low, log_delta, np.minimum(high, 0.0))


def loss_transform(groups: Groups) -> LossTransform:
    """The transform of the loss at the corner of the box."""
    gaussian, losses, copies = [], [], []
    for scaled, count in groups:
        loss = coordinate_loss(scaled)
        if loss.gaussian > 0.0:
            gaussian.append(count * loss.gaussian)
        else:
            losses.append(loss)
            copies.append(count)
    return LossTransform(losses, copies, math.fsum(gaussian))


def is_invertible(groups: Groups) -> bool:
    """Whether the transforms of all losses are known in closed form."""
    return all(noise.has_closed_loss for noise, _ in groups)


def _many(groups: Groups, epsilon: Array, rtol: float) -> VectorProfile:
    """The profile of several coordinates."""
    listed = any(noise.listed for noise, _ in groups)
    known = all(noise.log_concave or noise.has_closed_loss for noise, _ in groups)
    if not listed and not known:
        some = next(noise for noise, _ in groups if not noise.log_concave)
        expected = "log-concave noise, or some with a closed loss, on several coordinates"
        raise ValueError(f"vector profile: noise: expected {expected}, got {some!r}")
    if listed or not is_invertible(groups):
        return _by_lattice(groups, epsilon)
    transform = loss_transform(groups)
    if len(transform.losses) > _MOST_DIFFERENT:  # Gaussian losses add up to one
        message = (
            f"vector profile: noise: expected at most {_MOST_DIFFERENT} different coordinates "
            f"without Gaussian noise, in units of the sensitivity, got {len(transform.losses)}"
        )
        raise ValueError(message)
    if transform.infinite == 1.0:  # a shift by more than the support
        return _closed(np.zeros(epsilon.shape)[()], 0.0)
    if not transform.losses:
        log_delta = gaussian_log_delta(math.sqrt(transform.gaussian), epsilon)
        # mu is rounded; d log delta / d log mu is about -2 log delta.
        return _closed(log_delta, _CLOSED_ERROR + 4.0 * _ULP * (10.0 - 3.0 * log_delta))
    return _from_transform(transform, epsilon, rtol)


def _by_lattice(groups: Groups, epsilon: Array) -> VectorProfile:
    """The bounds of the finest lattice that takes a few seconds."""
    listed = any(noise.listed for noise, _ in groups)  # rounded already
    sizes = [2**k for k in range(_LISTED_SIZE if listed else 18, 12, -1)]
    count = max(epsilon.size, 1)
    fine = [size for size in sizes if lattice_seconds(len(groups), count, size) <= _SECONDS]
    if fine:
        shares = [
            (*noise, n) if isinstance(noise, IntegerStep) else (noise, 1.0, n)
            for noise, n in groups
        ]
        found = lattice_bounds(shares, epsilon, size=fine[0])
        low, high = found.log_lower, found.log_upper
        return VectorProfile(low, _middle(low, high), high)
    most = int(_SECONDS / lattice_seconds(1, count, sizes[-1]))
    message = (
        f"vector profile: noise: expected at most {most} different coordinates at {count} "
        f"epsilons where one has no closed loss, got {len(groups)}"
    )
    raise ValueError(message)


def _middle(low: Array, high: Array) -> Array:
    return np.where(np.isneginf(low), high, 0.5 * (low + high))[()]


def _from_transform(transform: LossTransform, epsilon: Array, rtol: float) -> VectorProfile:
    """The bounds for a sum of losses by inversion of its transform."""
    inversion = Inversion(transform, rtol, _SECONDS / max(epsilon.size, 1))
    results = np.empty((3, epsilon.size))
    for k, value in enumerate(epsilon.ravel()):
        before = inversion.seconds
        results[:, k] = inversion.bounds(float(value))
        each = inversion.seconds - before
        if k == 0 and each * (epsilon.size - 1) > _SECONDS:
            message = (
                f"vector profile: epsilon: expected at most {int(_SECONDS / each) + 1} values at"
                f" about {each:.2g} s each, got {epsilon.size}"
            )
            raise ValueError(message)
    problems = Problems("vector profile")
    # Squares of lengths without a double, as of noise that differs from Laplace noise nowhere.
    vouched = not np.isnan(results).any()
    expected = "parameters whose squares have doubles, in units of the sensitivity"
    problems.require(vouched, "noise", expected, "bounds that are not numbers")
    problems.raise_if_any()
    low, middle, high = results.reshape(3, *epsilon.shape)
    # The logarithms are rounded.
    slack = 4.0 * _ULP * (1.0 + np.abs(np.where(np.isneginf(high), 0.0, high)))
    return VectorProfile((low - slack)[()], middle[()], np.minimum(high + slack, 0.0)[()])


def profile_of_shares(shares: Shares, epsilon: Array, rtol: float = _RTOL) -> VectorProfile:
    """Bounds for checked coordinates: noise and positive sensitivity, with how many there are."""
    if not shares:
        nothing = np.full(epsilon.shape, -math.inf)[()]
        return VectorProfile(nothing, nothing, nothing)
    if sum(shares.values()) == 1:
        ((one, size),) = shares
        return _one(one, size, epsilon)
    return _many(equal_groups(shares), epsilon, rtol)


def searched_profile(shares: Shares) -> Callable[[float], float] | None:
    """Upper bounds on delta by epsilon, for a search; None where that is no gain.

    One inversion serves all epsilons, so that answers near the one before take little time.
    """
    groups = equal_groups(shares)
    listed = any(noise.listed for noise, _ in groups)
    if sum(shares.values()) < 2 or listed or not is_invertible(groups):
        return None
    transform = loss_transform(groups)
    if transform.infinite == 1.0 or not 0 < len(transform.losses) <= _MOST_DIFFERENT:
        return None
    inversion = Inversion(transform, _RTOL, _SECONDS, kept=True)

    def upper(epsilon: float) -> float:
        high = float(inversion.bounds(epsilon).upper)
        if math.isnan(high):
            return 1.0
        if high == -math.inf:
            return 0.0
        slack = 4.0 * _ULP * (1.0 + abs(high))
        return max(math.exp(min(high + slack, 0.0)), 5e-324)

    return upper


def vector_profile(
    noise: AnyNoise | Sequence[AnyNoise],
    sensitivity: float | ArrayLike,
    epsilon: ArrayLike,
    *,
    copies: int = 1,
    rtol: float = _RTOL,
) -> VectorProfile:
    """Two-sided bounds on the privacy profile of a vector query.

    Independent noise is added to each coordinate. Neighbouring data sets may
    move coordinate i by any d_i with |d_i| <= sensitivity_i.

    Parameters
    ----------
    noise : Noise, IntegerNoise or array_like of them, shape (K,)
        Noise of all coordinates, or of each. Several coordinates need log-concave noise or a
        staircase.
    sensitivity : float or array_like of float, shape (K,)
        The largest change of a coordinate, non-negative: of all, or of each. One of 0 drops
        out; others within 1e-9 to 1e6 times E|T|. Several coordinates with staircase noise:
        at most the width of its steps. An integer for noise on the integers.
    epsilon : array_like of float
        From 0 to 1e99 (1e9 for several coordinates of which one has Subbotin noise with p other
        than 1 and 2). Each value takes time.
    copies : int
        The number K of coordinates where noise and sensitivity are one each.
    rtol : float
        The relative gap between the bounds to aim at, from 1e-10 to 1. The time for one epsilon
        falls with their number, which may leave a wider gap where the bounds are hard to find.
        At most 10,000 coordinates may be different without Gaussian noise (some 700, if one of
        them has Subbotin noise with p other than 1 and 2).

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
        vouched for; the message names every problem. Also if all epsilons together would take
        more than some 10 s, which the message names with the number that would not.

    Examples
    --------
    >>> from dpnoise import FlippedHuber, vector_profile
    >>> found = vector_profile(FlippedHuber(2.0, 2.0), 1.0, 1.0, copies=2)
    >>> bool(found.lower <= 0.05087464872 <= found.upper)
    True
    """
    problems = Problems("vector profile")
    epsilon = floats(problems, "epsilon", epsilon, low=0.0, high=_MOST_EPSILON)
    problems.number("rtol", rtol, low=_MIN_RTOL, high=1.0)
    shares = read_shares(problems, noise, sensitivity, copies)
    if not problems.found:
        refuse_wide_queries(problems, shares)
    problems.raise_if_any()
    return profile_of_shares(shares, epsilon, rtol)


def profile_of_counted(
    shares: Iterable[tuple[AnyNoise, float, int]], epsilon: float, rtol: float = _RTOL
) -> VectorProfile:
    """Bounds for coordinates given by noise, sensitivity and how many there are.

    Checked as by `vector_profile`, which would list the coordinates one by one: ValueError beyond
    the range of the accounts.
    """
    problems = Problems("vector profile")
    problems.number("epsilon", epsilon, low=0.0, high=_MOST_EPSILON)
    counted = check_counted(problems, shares)
    problems.raise_if_any()
    return profile_of_shares(counted, np.asarray(epsilon, dtype=float), rtol)


def known_profile(
    shares: Iterable[tuple[AnyNoise, float, int]], epsilon: float, rtol: float = _RTOL
) -> VectorProfile:
    """The same bounds, and 0 <= delta <= 1 beyond the range of the accounts."""
    try:
        return profile_of_counted(shares, epsilon, rtol)
    except ValueError:
        return VectorProfile(*map(np.asarray, (-math.inf, 0.0, 0.0)))
