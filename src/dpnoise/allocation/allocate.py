"""One privacy budget spent on many coordinates: the public `allocate`.

Muthukrishnan & Kalyani, "Differential Privacy with Higher Utility by Exploiting Coordinate-wise
Disparity" (2024): a query whose coordinates differ in sensitivity gets noise that differs by
coordinate. Here a request is checked and handed to the closed forms or, where there are none,
to the search under the exact vector profile.

Section IV-B: a budget is a resource that coordinates share. Gaussian noise at coordinate i spends
lambda_i^2 / (2 sigma_i^2), Laplace noise lambda_i / beta_i; the scheme decides who gets how much.

*Second account*, by another method than the one that found the scales. As in
`dpnoise.privacy.second`: Gaussian noise by half-lines of one Gaussian with
mu^2 = sum (lambda_i / sigma_i)^2, noise with a bounded loss and delta = 0 by the sum of the
largest losses, everything else by the lattice, for up to three different coordinates (some 20 ms
each). Subbotin noise with several coordinates has one account only, since its first is the lattice.

*Noise on the integers* has the proportions of continuous noise, from the closed forms or the search
for it. Without delta these scales hold for discrete Laplace noise as they are, since it has the
same largest loss, and with delta all are multiplied by one factor, close to 1, at which the exact
account of the discrete noise is seen to keep the budget.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpnoise._validation import MINIMUM_DELTA, Problems, floats, is_integer
from dpnoise.allocation.scales import (
    MAXIMUM_POWER,
    SCHEMES,
    GroupedRequest,
    Groups,
    absolute_moment,
    closed_form_scales,
    exact_scales,
    make_groups,
    tail_slope,
)
from dpnoise.noise.base import Noise
from dpnoise.noise.exponential_power import Gaussian, Laplace
from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise.privacy.second import MAXIMUM_COORDINATES, Account, require_agreement, second_account

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.privacy.vector import Shares

_MINIMUM, _MAXIMUM = 1e-100, 1e100  # of positive sensitivities, weights and budgets
_MAXIMUM_EPSILON = 1e12
_NAMES = {"gaussian": Gaussian(1.0), "laplace": Laplace(1.0)}
_MAXIMUM_SEARCHED_EPSILON = 1e4
_MAX_GROUPS, _MAX_COORDINATES, _MAX_COPIES = 256, 100_000, 10**8  # of a search
_MAXIMUM_COMPOSITIONS = 10**9
_MINIMUM_BUDGET = 1e-7  # smaller ones need noise beyond the range of `vector_profile`
_MAX_SUMMED, _MAX_CHECKED_GROUPS, _MAX_KINDS = 10**6, 3, 256  # of the second account
_ROUNDING = 1e-12


class _AllocationRequest(NamedTuple):
    """A checked request about the coordinates with positive sensitivities."""

    sensitivities: Array
    noises: list[Noise]  # one for all, or one each
    weights: Array | None
    scheme: str
    epsilon: float
    delta: float
    p: float
    compositions: int


def allocate(
    sensitivities: ArrayLike,
    *,
    noise: str | Noise | Sequence[Noise] = "gaussian",
    scheme: str = "optimal",
    epsilon: float,
    delta: float = 0.0,
    p: float = 2.0,
    weights: ArrayLike | None = None,
    compositions: int = 1,
) -> Array:
    """Scale of the noise for each coordinate of a query.

    Neighbouring data sets, by either relation, may move every coordinate i by up to lambda_i at
    once: the box |d_i| <= lambda_i, the 'decoupled' setting of Remark 1. Any query whose
    coordinates keep to their sensitivities is covered, and for the box the account is exact.

    Parameters
    ----------
    sensitivities : array_like of float, shape (K,)
        lambda_i, in the units of the coordinates: 0, or from 1e-100 to 1e100. A coordinate of
        sensitivity 0 gets scale 0, no noise, and does not count in K.
    noise : {"gaussian", "laplace"}, Noise or sequence of Noise
        A scale is the sigma of Gaussian noise, the beta of Laplace noise. With other noise, for
        all coordinates or one for each, coordinate i gets `noise_i.scaled(scale_i)`; it must be
        log-concave with unbounded support. For integers, `best(..., integer=True)`.
    scheme : {"optimal", "spr", "iid"}
        "optimal": minimum of sum_i w_i E|T_i|^p of the noise T_i. "spr" (scale, perturb, rescale,
        Definition 5): scales proportional to lambda_i. "iid": equal scales.
    epsilon : float
        From 0 to 1e12 (1e4 where a search is needed); positive if delta is 0.
    delta : float
        0 or from 1e-300 to below 1. Noise with an unbounded privacy loss needs a positive one.
    p : float
        The power of the error, finite, at least 1 (at most 64 for different noises); 2 is
        the mean squared error. Used by "optimal" only. The worst coordinate (p infinite) is
        served by "iid".
    weights : array_like of float, shape (K,), optional
        w_i, from 1e-100 to 1e100; ones by default. Used by "optimal" only.
    compositions : int
        How often the whole query is answered with fresh noise of these scales, all together
        within the budget. Different passes: concatenate their sensitivities instead.

    Returns
    -------
    numpy.ndarray, shape (K,)
        The scales. Closed forms, Theorems 4 and 5 with weights: Gaussian noise, and Laplace or
        Huber noise with delta = 0; their account holds in exact arithmetic, with less than
        1e-12 of slack. Everything else goes through a search: the scales are certified by the
        upper bound of `vector_profile` with its own `rtol`, or by basic composition where delta
        is too small for it, with about 3e-6 of delta unused (near a kink some percent, up to a
        seventh seen, which is about 1e-6 of the scales), and "optimal" is a local minimum.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names every problem.
    RuntimeError
        If what a search found could not be verified, or if a second account contradicts the
        first.

    Notes
    -----
    Proved: the budget is kept for the doubles returned, in the model of real-valued noise.
    Checked besides, on every call, by an account of another kind: closed forms up to 10^6
    coordinates, searches up to three different coordinates. Tested, not proved: that the local
    minimum of a search is global. A search costs at most about 1e6 points of a transform for
    each of two descents and a few dozen accounts, counts that do not depend on the machine: a
    few seconds, near a kink ten. Past these counts the best that was certified is returned.

    Examples
    --------
    >>> from dpnoise import allocate
    >>> allocate([1.0, 4.0], epsilon=1.0, delta=1e-6).round(3)
    array([ 9.447, 18.893])
    """
    problems = Problems("allocation")
    lambdas = _read_lambdas(problems, sensitivities)
    noises = _read_noise(problems, noise, lambdas.size or None)
    known = isinstance(scheme, str) and scheme in SCHEMES
    problems.require(known, "scheme", f"one of {', '.join(SCHEMES)}", scheme)
    _check_budget(problems, noises, epsilon, delta)
    problems.number("p", p, low=1.0)
    if weights is not None:
        weights = _read_weights(problems, weights, lambdas.shape if lambdas.size else None)
    good = is_integer(compositions) and 1 <= int(compositions) <= _MAXIMUM_COMPOSITIONS
    expected = f"a whole number from 1 to {_MAXIMUM_COMPOSITIONS}"
    problems.require(good, "compositions", expected, compositions)
    problems.raise_if_any()
    some = np.asarray(lambdas > 0.0)
    everywhere = bool(some.all())
    if not everywhere:
        scales = np.zeros_like(lambdas)
        noises = noises if len(noises) == 1 else [noises[k] for k in np.flatnonzero(some)]
        lambdas, weights = lambdas[some], None if weights is None else weights[some]
        if not lambdas.size:
            return scales
    request = _AllocationRequest(
        lambdas, noises, weights, scheme, float(epsilon), float(delta), float(p), int(compositions)
    )
    found = _minimum_scales(request)
    if np.all(np.isfinite(found)):
        budget = request.epsilon, request.delta
        second = second_opinion(
            request.noises, request.sensitivities, found, budget, request.compositions
        )
        what = f"allocation at epsilon={request.epsilon!r}"
        require_agreement(what, "the first account", request.delta, second)
    unfit = found[~np.isfinite(found)][:3].tolist()
    problems.require(not unfit, "scales", "results below 1.8e308", unfit)
    problems.raise_if_any()
    if everywhere:
        return found
    scales[some] = found
    return scales


def _read_noise(problems: Problems, noise: Any, size: int | None) -> list[Noise]:  # noqa: ANN401
    """The noise of all coordinates, or of each; what is wrong with it is recorded."""
    expected = "'gaussian', 'laplace', log-concave noise or a sequence of it"
    if isinstance(noise, str):
        problems.require(noise in _NAMES, "noise", expected, noise)
        return [_NAMES.get(noise, Gaussian(1.0))]
    many = isinstance(noise, Sequence) or (isinstance(noise, np.ndarray) and noise.ndim > 0)
    noises = list(noise) if many else [noise]
    bad = [one for one in noises if not (isinstance(one, Noise) and one.log_concave)]
    problems.require(not bad, "noise", expected, bad[:3] if many else noise)
    if many and size is not None:
        problems.require(len(noises) == size, "noise", f"length {size}", len(noises))
    return [] if bad else noises


def _read_lambdas(problems: Problems, sensitivities: ArrayLike) -> Array:
    """The sensitivities if they are one vector of 0 or numbers of a usual size."""
    before = len(problems.found)
    lambdas = floats(problems, "sensitivities", sensitivities, low=0.0, high=_MAXIMUM)
    shape = np.shape(lambdas)
    if len(problems.found) == before:
        vector = len(shape) == 1 and lambdas.size > 0
        problems.require(vector, "sensitivities", "shape (K,) with K >= 1", shape)
        small = lambdas[(lambdas > 0.0) & (lambdas < _MINIMUM)]
        expected = f"0 or at least {_MINIMUM:g}"
        problems.require(small.size == 0, "sensitivities", expected, small[:3].tolist())
    return lambdas if len(problems.found) == before else np.empty(0)


def _read_weights(problems: Problems, weights: ArrayLike, shape: tuple[int, ...] | None) -> Array:
    """The weights; what is wrong with them is recorded."""
    before = len(problems.found)
    values = floats(problems, "weights", weights, low=_MINIMUM, high=_MAXIMUM)
    if len(problems.found) == before and shape is not None:
        problems.require(np.shape(values) == shape, "weights", f"shape {shape}", np.shape(values))
    return values


def _check_budget(problems: Problems, noises: list[Noise], epsilon: float, delta: float) -> None:
    """Record what is wrong with the budget for this noise."""
    good = problems.number("epsilon", epsilon, low=0.0, high=_MAXIMUM_EPSILON)
    if not problems.number("delta", delta, low=0.0, high=1.0, open_high=True):
        return
    if delta > 0.0:
        expected = f"0 or at least {MINIMUM_DELTA:g}"
        problems.require(delta >= MINIMUM_DELTA, "delta", expected, delta)
        return
    unbounded = [noise for noise in noises if math.isinf(tail_slope(noise))]
    if unbounded:
        name = type(unbounded[0]).__name__
        expected = f"more than 0 for {name} noise, whose privacy loss is not bounded by its scale"
        problems.add(f"delta: expected {expected}, got {delta!r}")
    elif good and noises:
        problems.number("epsilon with delta = 0", epsilon, low=_MINIMUM)


def _minimum_scales(request: _AllocationRequest) -> Array:
    """Scales by a closed form if there is one."""
    sigmas = [noise.sigma for noise in request.noises if isinstance(noise, Gaussian)]
    if len(sigmas) == len(request.noises):
        unit = float(gaussian_sigma(request.epsilon, request.delta))
        unit *= math.sqrt(request.compositions)
        return _closed(request, 2.0, unit, [1.0 / sigma for sigma in sigmas])
    if request.delta == 0.0:
        unit = request.compositions / request.epsilon
        return _closed(request, 1.0, unit, list(map(tail_slope, request.noises)))
    return _searched(request)


def _closed(request: _AllocationRequest, q: float, unit: float, slopes: list[float]) -> Array:
    """Scales of Gaussian noise, or of noise with a bounded loss and delta = 0."""
    weights, kinds = request.weights, set(request.noises)
    if len(kinds) == 1:
        return closed_form_scales(
            request.sensitivities, request.scheme, q, request.p, weights, unit * slopes[0]
        )
    moments = _moments(kinds, request)
    costs = np.array([moments[noise] for noise in request.noises])
    weights = costs if weights is None else weights * costs
    return closed_form_scales(
        request.sensitivities, request.scheme, q, request.p, weights, unit, np.array(slopes)
    )


def _moments(kinds: set[Noise], request: _AllocationRequest) -> dict[Noise, float]:
    """E|T|^p of different noises."""
    if request.scheme != "optimal":
        return dict.fromkeys(kinds, 1.0)
    problems = Problems("allocation to different noises")
    problems.number("p", request.p, low=1.0, high=MAXIMUM_POWER)
    problems.raise_if_any()
    return {noise: absolute_moment(noise, request.p) for noise in kinds}


def _searched(request: _AllocationRequest) -> Array:
    """Scales that the exact vector profile allows."""
    lambdas, weights, p = request.sensitivities, request.weights, request.p
    if request.scheme != "optimal":
        weights = None
    if request.scheme == "spr":  # the query divided by its sensitivities
        lambdas = np.ones_like(lambdas)
    moments = _moments(set(request.noises), request)
    alike = len(moments) == 1 and np.ptp(lambdas) == 0 and (weights is None or np.ptp(weights) == 0)
    total = lambdas.size * request.compositions
    if not alike and total > _MAX_COORDINATES:
        message = (
            "allocation by the exact profile: coordinates times compositions: expected at most "
            f"{_MAX_COORDINATES} where they differ, got {total}"
        )
        raise ValueError(message)
    groups = make_groups(request.noises, moments, lambdas, weights, request.compositions)
    _check_search(request, groups)
    search = GroupedRequest(groups, request.epsilon, request.delta, p)
    scales = exact_scales(search, request.scheme)[groups.member]
    if request.scheme == "spr":
        scales = scales * request.sensitivities * (1.0 + 4.0 * np.finfo(float).eps)
    return scales


def _check_search(request: _AllocationRequest, groups: Groups) -> None:
    """Refuse what a search cannot do."""
    problems = Problems("allocation by the exact profile")
    problems.number("epsilon", request.epsilon, low=0.0, high=_MAXIMUM_SEARCHED_EPSILON)
    many, total = len(groups.noises), int(groups.counts.sum())
    expected = f"at most {_MAX_GROUPS} (round sensitivities up to fewer values)"
    name = "different pairs of noise and sensitivity"
    problems.require(many <= _MAX_GROUPS, name, expected, many)
    need = _MINIMUM_BUDGET * total
    good = max(request.epsilon, request.delta) >= need
    expected = f"one of at least {need:g}, {_MINIMUM_BUDGET:g} for each coordinate and composition"
    problems.require(good, "epsilon, delta", expected, (request.epsilon, request.delta))
    bounded = [noise for noise in groups.noises if noise.bound < math.inf]
    problems.require(not bounded, "noise", "unbounded support", bounded[:1])
    most = _MAX_COORDINATES if many > 1 else _MAX_COPIES
    problems.require(total <= most, "coordinates times compositions", f"at most {most}", total)
    rough = [noise for noise in groups.noises if noise.pieces() is None]
    if many > 1 and rough and request.scheme == "optimal":
        expected = "noise with a density of quadratic pieces for scheme 'optimal'"
        problems.add(f"noise: expected {expected}, got {rough[0]!r}")
    problems.raise_if_any()


def second_opinion(
    noises: list[Noise],
    sensitivities: Array,
    scales: Array,
    budget: tuple[float, float],
    compositions: int,
) -> Account | None:
    """Bounds on log delta by another account than the first, or None where they are too dear.

    `noises` holds one for all coordinates or one each, `budget` epsilon and delta; sensitivities
    and scales, shape (K,), are positive.
    """
    epsilon, delta = budget
    ratios = sensitivities / scales
    sigmas = [noise.sigma for noise in noises if isinstance(noise, Gaussian)]
    if ratios.size > _MAX_SUMMED:
        shares = {}
    elif len(sigmas) == len(noises):
        mu = math.sqrt(compositions * float(np.sum((ratios / np.array(sigmas)) ** 2)))
        shares = {(Gaussian(1.0), mu): 1} if math.isfinite(mu) and mu > 0.0 else {}
    elif delta == 0.0:
        shares = _summed(noises, ratios, compositions)
    else:
        shares = _counted(noises, ratios, compositions)
    listed = [(*key, count) for key, count in shares.items()]
    return second_account(listed, epsilon, pure=delta == 0.0) if listed else None


def _summed(noises: list[Noise], ratios: Array, compositions: int) -> Shares:
    """One share for each noise, whose losses add up in proportion to the change; {} if too many."""
    sums: dict[Noise, list[float]] = {}
    for noise, some in zip(noises, ratios[None] if len(noises) == 1 else ratios, strict=True):
        sums.setdefault(noise, []).append(float(np.sum(some)))
    few = len(sums) <= _MAX_KINDS
    each = {noise: compositions * math.fsum(x) * (1.0 - _ROUNDING) for noise, x in sums.items()}
    return dict.fromkeys(each.items(), 1) if few else {}


def _counted(noises: list[Noise], ratios: Array, compositions: int) -> Shares:
    """A few groups of equal coordinates; {} if they are too many."""
    shares: Shares = {}
    if ratios.size * compositions > MAXIMUM_COORDINATES:
        return shares
    every = noises if len(noises) > 1 else noises * ratios.size
    for noise, ratio in zip(every, ratios.tolist(), strict=True):
        shares[noise, ratio] = shares.get((noise, ratio), 0) + compositions
        if len(shares) > _MAX_CHECKED_GROUPS:
            return {}
    return shares
