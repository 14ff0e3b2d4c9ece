"""The coordinates of a vector query as a user states them, checked.

One noise and sensitivity for all coordinates, or any one-dimensional array-like of each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise._validation import Problems, is_integer
from dpnoise.noise.base import Noise
from dpnoise.noise.integers import IntegerNoise
from dpnoise.noise.stepwise import Histogram
from dpnoise.privacy.inversion.loss import canonical
from dpnoise.privacy.lattice.discrete import ListedLoss
from dpnoise.privacy.scalar.histogram import MOST_SHIFTS, cells_of
from dpnoise.privacy.scalar.shift import WHOLE, whole_shift

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    Shares = dict[tuple[Any, float], int]  # of Noise, IntegerNoise or ListedLoss
    Groups = list[tuple[Any, int]]  # of Noise or IntegerStep

_MOST_COPIES, _MOST_LISTED, _MOST_DIFFERENT = 10**8, 10**6, 10**5
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
        known = isinstance(one, Noise | IntegerNoise) and isinstance(size, float)
        if many and known and (one, size) in shares:
            shares[one, size] += 1
            continue
        label = f" of coordinate {k}" if many else ""
        if _good_share(problems, one, size, label) and size > 0.0:
            key = (one, float(size))
            shares[key] = shares.get(key, 0) + (int(copies) if not many and whole else 1)
        if len(shares) > _MOST_DIFFERENT:
            problems.add(f"noise: expected at most {_MOST_DIFFERENT} different ones, got more")
        if len(shares) > _MOST_DIFFERENT or len(problems.found) >= _FIRST:
            break
    return shares


def _good_share(problems: Problems, noise: object, size: float, label: str) -> bool:
    """Check of one coordinate."""
    good = problems.number(f"sensitivity{label}", size, low=0.0)
    known = isinstance(noise, Noise | IntegerNoise)
    problems.require(known, f"noise{label}", "noise of one number", noise)
    if not isinstance(noise, Noise | IntegerNoise) or not good:
        return False
    if size > 0.0:
        spread = noise.mean_abs()
        if isinstance(noise, IntegerNoise):
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
    expected = f"at most {_MOST_DIFFERENT} different ones"
    problems.require(len(shares) <= _MOST_DIFFERENT, "noise", expected, len(shares))
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
    """Check for staircases and histograms that several coordinates cannot have."""
    for noise, size in shares:
        if isinstance(noise, Histogram):
            cells = float(cells_of(noise, Fraction(size)))
            problems.number("sensitivity / width of a cell", cells, high=float(MOST_SHIFTS))
    if sum(shares.values()) < 2:
        return
    integers = any(isinstance(noise, IntegerNoise) for noise, _ in shares)
    histograms = any(isinstance(noise, Histogram) for noise, _ in shares)
    for noise, size in shares:
        if (integers or histograms) and not (noise.log_concave or noise.stepwise):
            kind = "integers" if integers else "a histogram"
            problems.add(f"noise: expected log-concave noise beside {kind}, got {noise!r}")
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
        own = isinstance(noise, ListedLoss)
        key, scaled = ((noise,), noise) if own else canonical(noise, size)
        found, before = groups.get(key, (scaled, 0))
        groups[key] = found, before + count
    return list(groups.values())
