"""Minimum variance of a family under a privacy budget, by search.

For each shape the scale at which all of delta is spent is a root; the shape is scanned on a grid
and then minimised around the best. Theorem 8 of flipped-huber-2023, which some searches keep, is as
printed, with the digits of mpmath.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import mpmath as mp
import numpy as np
from scipy import optimize, special

from dpnoise_papers.verify.oracles.densities import (
    Density,
    flipped_huber,
    gaussian,
    laplace,
    offset_symmetric_gaussian,
    truncated_laplace,
)

_NOTHING = 1e-300
_REFUSED = 1.0  # delta where a condition says nothing
_SCAN, _FEWER = 181, 15  # shapes: some minima are narrow
_UNDER = 1.0 - 1e-5  # a hint has six digits
_STRIDES = (0.02, 0.2, 1.0, 4.0, 12.0, 30.0, 60.0)  # of log scale, around a guess
_CLOSE: Any = {"xatol": 1e-9, "maxiter": 100}
_FEW: Any = {"xatol": 1e-10, "maxiter": 8}
_SIX_DIGITS = 1.1e-5  # relative, of a shape: a ratio of two numbers of six digits
_ROUGH: Any = {"xatol": 1e-4, "maxiter": 15}

Spent = Callable[[Density], float]


class Family(NamedTuple):
    """Family of noise: its member of a shape and a scale, and the range of log shape."""

    member: Callable[[float, float], Density]
    shapes: tuple[float, float]


FAMILIES = {
    "flipped-huber": Family(lambda shape, scale: flipped_huber(shape * scale, scale), (-6.0, 12.0)),
    "offset-symmetric-gaussian": Family(
        lambda shape, scale: offset_symmetric_gaussian(shape * scale, scale), (-6.0, 12.0)
    ),
    "truncated-laplace": Family(
        lambda shape, scale: truncated_laplace(scale, shape * scale), (-4.0, 6.0)
    ),
}
SIMPLE = {"gaussian": gaussian, "laplace": laplace}
BOXED = {"flipped-huber": flipped_huber, "offset-symmetric-gaussian": offset_symmetric_gaussian}


class Minimum(NamedTuple):
    """Minimum variance and where it is reached."""

    variance: float
    scale: float
    shape: float


def scale_that_spends(
    member: Callable[[float], Density],
    spent: Spent,
    delta: float,
    guess: float = 1.0,
    close: float = 1e-13,
) -> float:
    """Scale at which noise spends delta; a larger scale spends less."""
    target, middle = math.log(delta), math.log(guess)

    @cache
    def excess(log_scale: float) -> float:
        return math.log(max(spent(member(math.exp(log_scale))), _NOTHING)) - target

    way = 1.0 if excess(middle) > 0.0 else -1.0
    near = middle
    for stride in _STRIDES:
        end = middle + way * stride
        if way * excess(end) <= 0.0:
            return math.exp(optimize.brentq(excess, near, end, xtol=close, rtol=1e-14))
        near = end
    raise ArithmeticError(f"no scale spends delta={delta!r}")


def minimum(
    family: str,
    spent: Spent,
    delta: float,
    *,
    coarse: Spent | None = None,
    hint: float | None = None,
) -> Minimum:
    """Minimum variance of a family among noise that spends at most delta.

    `coarse` is a faster `spent` for the search. With the shape that a result claims to be best as
    `hint`, the search is less fine, and both are compared: a hint that is not private, or is not
    best, shows.
    """
    if family in SIMPLE:
        scale = scale_that_spends(SIMPLE[family], spent, delta)
        return Minimum(SIMPLE[family](scale).variance, scale, math.nan)
    guess = 1.0

    def variance(log_shape: float, account: Spent, close: float = 1e-13) -> tuple[float, float]:
        nonlocal guess
        member = partial(FAMILIES[family].member, math.exp(log_shape))
        guess = scale_that_spends(member, account, delta, guess, close)
        return member(guess).variance, guess

    search = coarse or spent
    grid = np.linspace(*FAMILIES[family].shapes, _SCAN if hint is None else _FEWER)
    values = [variance(shape, search, 1e-7)[0] for shape in grid]
    k = int(np.argmin(values))
    ends = grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)]
    account, options = (spent, _CLOSE) if hint is None else (search, _ROUGH)
    # ends: a recomputation: a minimum that is missed shows as a disagreement
    found = optimize.minimize_scalar(
        lambda shape: variance(shape, account)[0], bounds=ends, method="bounded", options=options
    )
    shapes = [float(found.x), *ends]
    if hint is not None and math.log(hint) <= FAMILIES[family].shapes[1]:
        near = math.log(hint) - _SIX_DIGITS, math.log(hint) + _SIX_DIGITS
        # ends: a recomputation: a minimum that is missed shows as a disagreement
        close = optimize.minimize_scalar(
            lambda shape: variance(shape, spent)[0], bounds=near, method="bounded", options=_FEW
        )
        shapes = [float(found.x), float(close.x)]
    return min(Minimum(*variance(x, spent), math.exp(x)) for x in shapes)


def scalar_delta(epsilon: float, sensitivity: float) -> Spent:
    """Delta of one-dimensional noise at a shift of the sensitivity."""
    return lambda noise: noise.delta(sensitivity, epsilon)


def minimum_in_box(
    family: str,
    spent: Spent,
    delta: float,
    box: tuple[tuple[float, float], tuple[float, float]],
    *,
    coarse: Spent | None = None,
    hint: float | None = None,
) -> float:
    """Minimum variance of a family with both parameters in a box; NaN if none is private.

    The parameters are alpha and gamma, or theta and rho; `coarse` and `hint` are as for `minimum`.
    """
    build = BOXED[family]
    (low, high), (bottom, ceiling) = box

    @cache
    def variance(log_alpha: float) -> float:
        member, account = partial(build, math.exp(log_alpha)), coarse or spent
        if account(member(ceiling)) > delta:
            return math.inf
        if account(member(bottom)) <= delta:
            return member(bottom).variance
        target = math.log(delta)

        def excess(log_gamma: float) -> float:
            return math.log(max(account(member(math.exp(log_gamma))), _NOTHING)) - target

        root = optimize.brentq(excess, math.log(bottom), math.log(ceiling), xtol=1e-9)
        return member(math.exp(root)).variance

    grid = np.linspace(math.log(low), math.log(high), _FEWER if hint else _FEWER * _FEWER // 4)
    values = [variance(x) for x in grid]
    k = int(np.argmin(values))
    if math.isinf(values[k]):
        return math.nan
    if hint:
        return min(values[k], _hinted(family, spent, delta, box, hint))
    ends = grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)]
    # ends: a recomputation: a minimum that is missed shows as a disagreement
    found = optimize.minimize_scalar(variance, bounds=ends, method="bounded", options=_CLOSE)
    return min(float(found.fun), *(variance(end) for end in ends))


def _hinted(
    family: str,
    spent: Spent,
    delta: float,
    box: tuple[tuple[float, float], tuple[float, float]],
    hint: float,
) -> float:
    """Variance of the noise of a shape that spends delta, infinite outside of a box."""

    def variance(log_shape: float) -> float:
        member = partial(FAMILIES[family].member, math.exp(log_shape))
        scale = scale_that_spends(member, spent, delta, box[1][1])
        pairs = zip((math.exp(log_shape) * scale, scale), box, strict=True)
        inside = all(low * _UNDER <= value <= high / _UNDER for value, (low, high) in pairs)
        return member(scale).variance if inside else math.inf

    near = math.log(hint) - _SIX_DIGITS, math.log(hint) + _SIX_DIGITS
    # ends: a recomputation: a minimum that is missed shows as a disagreement
    found = optimize.minimize_scalar(variance, bounds=near, method="bounded", options=_FEW)
    return min(float(found.fun), variance(math.log(hint)))


def theorem_8_delta(epsilon: float, sensitivity: float, dimension: int) -> Spent:
    """Delta of Theorem 8 of flipped-huber-2023 as printed, in decimals, for all K at the corner."""

    def spent(noise: Density) -> float:
        alpha = noise.pieces[-1][0]
        gamma = noise.pieces[-1][3] ** -0.5
        return theorem_8(
            noise,
            (alpha, gamma),
            epsilon,
            dimension,
            (dimension * sensitivity, math.sqrt(dimension) * sensitivity, sensitivity),
        )

    return spent


def theorem_8(
    noise: Density, shape: tuple[float, float], epsilon: float, dimension: int,
    norms: tuple[float, float, float],
) -> float:  # fmt: skip
    """Delta of Theorem 8 for Delta_1, Delta_2 and Delta; 1 where it does not apply."""
    (alpha, gamma), (l1, l2, single) = shape, norms
    cost = dimension * (alpha**2 - max(alpha - single, 0.0) ** 2)
    if cost > 2.0 * gamma**2 * epsilon - l2**2:
        return _REFUSED
    # omega = kappa e^(alpha^2 / (2 gamma^2)) / gamma with kappa the integral of exp(-psi)
    log_omega = math.log(2.0 * noise.half / gamma) + 0.5 * (alpha / gamma) ** 2
    theta = -gamma * float(special.ndtri_exp(0.5 * math.log(math.pi / 2.0) - log_omega))
    centre = (l2**2 + cost) / (2.0 * gamma * l2)
    start = gamma * epsilon / l2
    with mp.workdps(60):
        far = mp.mpf(start) + centre + theta * l1 / (gamma * l2)
        return float(mp.ncdf(centre - mp.mpf(start)) - mp.exp(epsilon) * mp.ncdf(-far))
