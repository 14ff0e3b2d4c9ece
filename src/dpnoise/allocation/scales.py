"""Scales of noise that spend one budget on coordinates of unequal weight: formulas and a search.

**Closed forms.** Muthukrishnan & Kalyani, "Differential Privacy with Higher Utility by Exploiting
Coordinate-wise Disparity" (2024), Theorems 4 and 5 and Definition 5. Gaussian noise keeps (epsilon,
delta) if and only if sum (lambda_i / sigma_i)^2 <= mu_0^2, Laplace noise keeps epsilon if and only
if sum lambda_i / beta_i <= epsilon. With the power q = 2 or 1 both say

    sum (lambda_i / s_i)^q <= R^q,

and by Lagrange sum w_i s_i^p is minimal at s_i^(p + q) proportional to lambda_i^q / w_i; the
paper's formulas are those of w_i = 1.

*Shares*, section IV-B. A vector query is a composition of scalar ones, and a budget a resource that
they share: for Gaussian noise the eta of zero-concentrated privacy, which characterises
compositions exactly, for Laplace noise epsilon. The optimal scheme for p = 2 gives coordinate i a
share proportional to lambda_i (Gaussian) or lambda_i^(2/3) (Laplace), SPR gives all the same,
i.i.d. noise lambda_i^2 or lambda_i.

**Search** under the exact vector profile, for noise without a closed form. Beyond the paper:
flipped Huber noise, a mix of families by coordinate, and Laplace noise with delta > 0, where
Corollary 6 of Muthukrishnan & Kalyani (2024) is only sufficient. Minimise sum w_i E|s_i T_i|^p
subject to delta(epsilon; s) <= delta. Equal coordinates form groups of one scale each. A descent
finds a direction, at a local minimum of a slightly smoothed problem; the common factor is then
solved for under the upper bound of `vector_profile`. What is returned has passed it or has a
largest loss of at most epsilon - log(1 - delta), where that takes less noise.

*Descent.* With the elasticities e_g = -d log delta / d log s_g a minimum of
sum n_g w_g E|T_g|^p s_g^p on the budget has n_g w_g E|T_g|^p s_g^p proportional to e_g. Each round
takes e_g to fall like s_g^-2, as it does for Gaussian noise, and log delta to be linear in log s,
so that Gaussian noise is solved in one round. Log delta and its slopes are estimates
(`dpnoise.privacy.inversion.trapezoid`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise.privacy.accounts import event_log_delta, shared_log_delta
from dpnoise.privacy.gaussian import gaussian_sigma, log_delta_and_slope
from dpnoise.privacy.inversion.trapezoid import log_delta_and_slopes
from dpnoise.privacy.vector import profile_of_counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from dpnoise._types import Array
    from dpnoise.noise.base import Noise

SCHEMES = ("iid", "spr", "optimal")
_BLOCK = 16384  # coordinates at a time, so that the work stays in the processor's cache
# With u = 2^-53, numpy adds a block by pairs with an error below 32 u, and fsum the blocks; the
# ratios, their powers, the root, the budget and the products add fewer than 32 u.
_MARGIN = 2.0**-46
_NODES = 400  # of the rule for E|T|^p, whose error is below 1e-10 of it
MAXIMUM_POWER = 64.0
_SLACK = 3e-6  # of log delta below the budget
_LONGEST = 1.0  # step of log s
_EVALUATIONS, _CLOSE, _MINIMUM_SLOPE = 60, 1e-13, 0.01
_ENOUGH = 24  # evaluations after which any certified scales do, if some took long
_STRAINED, _MAX_STRAINED = 3e-7, 3  # gaps above the first; so many are as good as enough
_DECISIVE = 0.7  # cheap bounds this far from the aim need no other
_FLOOR = -1e6  # of log delta - target, for a delta of 0

# Of the descent.
_ROUNDS, _SETTLED = 30, 1e-5  # steps of log s
_MAX_DESCENT_WORK = 1_000_000  # points of rules times transforms in one descent, a second or two
_DAMPING, _SLOW = 2.0, 0.7  # the power of s by which slopes fall, raised where steps hardly shrink
_NEGLIGIBLE = 1e-12  # slope relative to the largest


def _power(x: Array, exponent: float) -> Array:
    """x^exponent, by the faster functions where there are any."""
    if exponent == 0.5:
        return np.sqrt(x)
    if exponent == 0.25:
        return np.sqrt(np.sqrt(x))
    return x if exponent == 1.0 else np.power(x, exponent)


def relative_scales(
    sensitivities: Array, scheme: str, q: float, p: float, weights: Array | None
) -> Array:
    """Scales of positive sensitivities up to a common factor; weights None stand for ones.

    "iid": equal scales. "spr": proportional to the sensitivity. "optimal": minimum of sum w_i s_i^p
    under the account sum (lambda_i / s_i)^q.
    """
    if scheme == "iid":
        return np.ones_like(sensitivities)
    if scheme == "spr":
        return sensitivities.copy()
    scales = _power(sensitivities, q / (p + q))
    return scales if weights is None else scales * _power(weights, -1.0 / (p + q))


def closed_form_scales(  # noqa: PLR0917
    sensitivities: Array,
    scheme: str,
    q: float,
    p: float,
    weights: Array | None,
    unit: float,
    slopes: Array | None = None,
) -> Array:
    """Minimum scales of a scheme that keep the account, in exact arithmetic, shape (K,).

    Parameters
    ----------
    sensitivities, scheme, q, p, weights
        As in `relative_scales`.
    unit : float
        1 / R, the scale that one coordinate of sensitivity 1 needs.
    slopes : numpy.ndarray, shape (K,), optional
        What a shift by 1 spends of R at scale 1; ones by default.

    Returns
    -------
    numpy.ndarray, shape (K,)
        s with sum (slope_i lambda_i / s_i)^q <= unit^-q whatever the rounding, above the exact
        formula by less than 3e-14 of it.
    """
    largest = float(sensitivities.max())
    scales = np.empty_like(sensitivities)
    blocks = [slice(k, k + _BLOCK) for k in range(0, scales.size, _BLOCK)]
    sums = []
    # In units of the largest sensitivity nothing overflows, and what underflows is negligible.
    for block in blocks:
        sizes = sensitivities[block] / largest
        some = None if weights is None else weights[block]
        if slopes is None:
            scales[block] = relative_scales(sizes, scheme, q, p, some)
        else:
            spent = sizes * slopes[block]
            scales[block] = relative_scales(
                spent if scheme == "optimal" else sizes, scheme, q, p, some
            )
            sizes = spent
        ratios = sizes / scales[block]
        sums.append(float(np.sum(ratios * ratios if q == 2.0 else ratios)))
    total = math.fsum(sums)
    root = math.sqrt(total) if q == 2.0 else total
    factor = root * (1.0 + _MARGIN) * unit
    with np.errstate(over="ignore"):  # refused by the caller
        for block in blocks:
            scales[block] *= factor
            scales[block] *= largest
    return scales


def absolute_moment(noise: Noise, p: float) -> float:
    """E|T|^p for 1 <= p <= 64, by quantiles: |T| = isf(e^-E / 2), E standard exponential."""
    if p == 1.0:
        return noise.mean_abs()
    if p == 2.0:
        return noise.var()
    # E = exp(x - exp(-x)) flattens both ends, where the trapezoidal rule is exact to rounding.
    x, step = np.linspace(-4.5, 7.0, _NODES, retstep=True)
    level = np.exp(x - np.exp(-x))
    level = level[level < 700.0]
    slope = level * (1.0 + np.exp(-x[: level.size]))
    size = noise.isf(0.5 * np.exp(-level))
    top = float(size[-1])
    return float(np.sum((size / top) ** p * np.exp(-level) * slope)) * step * top**p


def tail_slope(noise: Noise) -> float:
    """Largest slope of -log density of log-concave noise, infinite where the loss is unbounded.

    A shift by d costs at most d times this slope.
    """
    slope = noise.largest_loss(1.0)
    try:
        return float(slope)
    except OverflowError:  # beyond all doubles
        return math.inf


class Groups(NamedTuple):
    """Coordinates by G groups with the same noise, sensitivity and weight."""

    noises: list[Noise]  # at scale 1
    sensitivities: Array  # lambda_g, positive
    costs: Array  # w_g E|T_g|^p, positive
    counts: NDArray[np.int64]  # how many coordinates, all compositions together
    member: NDArray[np.intp]  # the group of each coordinate, shape (K,)

    def error(self, scales: Array, p: float) -> float:
        """Logarithm of sum w_i E|T_i|^p at scales of the groups, shape (G,)."""
        terms = np.log(self.counts * self.costs) + p * np.log(scales)
        return float(np.logaddexp.reduce(terms))


class GroupedRequest(NamedTuple):
    """A checked request for scales of groups, delta positive; p is the power of the error."""

    groups: Groups
    epsilon: float
    delta: float
    p: float


def make_groups(
    noises: Sequence[Noise],
    moments: Mapping[Noise, float],
    sensitivities: Array,
    weights: Array | None,
    compositions: int,
) -> Groups:
    """Groups of coordinates with positive sensitivities.

    `noises` holds one for all or one each, `moments` E|T|^p of each; the query is answered
    `compositions` times.
    """
    known = list(moments)
    place = {noise: k for k, noise in enumerate(known)}
    kind = np.broadcast_to([place[noise] for noise in noises], sensitivities.shape)
    some = np.ones_like(sensitivities) if weights is None else weights
    if all(np.ptp(column) == 0 for column in (kind, sensitivities, some)):
        only = known[int(kind[0])]
        return Groups(
            [only],
            sensitivities[:1].copy(),
            some[:1] * moments[only],
            np.array([sensitivities.size * compositions], dtype=np.int64),
            np.zeros(sensitivities.size, dtype=np.intp),
        )
    table = np.column_stack([kind, sensitivities, some])
    rows, member, counts = np.unique(table, axis=0, return_inverse=True, return_counts=True)
    of = rows[:, 0].astype(int)
    size = np.array([moments[noise] for noise in known])
    return Groups(
        [known[k] for k in of],
        rows[:, 1],
        rows[:, 2] * size[of],
        counts.astype(np.int64) * compositions,
        member.ravel(),
    )


def _log_upper(search: GroupedRequest, scales: Array, aim: float) -> tuple[float, bool]:
    """Certified upper bound on log delta, or a lower one that is far above the aim.

    The flag tells that the account missed its accuracy, which takes it longest.
    """
    groups = search.groups
    noises = [noise.scaled(float(s)) for noise, s in zip(groups.noises, scales, strict=True)]
    sizes, epsilon = groups.sensitivities.tolist(), search.epsilon
    shares = list(zip(noises, sizes, groups.counts.tolist(), strict=True))
    if (low := event_log_delta(shares, epsilon)) > aim + _DECISIVE:
        return low, False
    if (composed := shared_log_delta(shares, epsilon)) < aim - _DECISIVE:
        return composed, False
    profile = profile_of_counted(shares, epsilon)
    upper = float(profile.log_upper)
    return min(upper, composed), not upper - float(profile.log_lower) <= _STRAINED


def _gaussian_slope(search: GroupedRequest) -> float:
    """Slope of log delta in the logarithm of the scale of Gaussian noise."""
    mu = 1.0 / np.atleast_1d(gaussian_sigma(search.epsilon, search.delta))
    return -float(log_delta_and_slope(mu, np.full(1, search.epsilon))[1][0])


def _start(search: GroupedRequest) -> Array:
    """Scales of minimum error as if all noise were Gaussian of the same variance."""
    groups = search.groups
    spread = np.array([noise.std() for noise in groups.noises])
    # In units of the standard deviations u = s spread; a group counts as one coordinate.
    sizes = groups.sensitivities * np.sqrt(groups.counts)
    costs = groups.costs * groups.counts / spread**search.p
    unit = float(gaussian_sigma(search.epsilon, search.delta))
    return closed_form_scales(sizes, "optimal", 2.0, search.p, costs, unit) / spread


def exact_scales(search: GroupedRequest, scheme: str) -> Array:
    """Certified scales of the groups, shape (G,), for a positive delta.

    For "optimal" with more than one group the noise must be made of quadratic pieces. RuntimeError
    if no scales could be verified.
    """
    groups, p = search.groups, search.p
    slopes = np.array([tail_slope(noise) for noise in groups.noises])
    bounded = bool(np.all(np.isfinite(slopes)))
    # The argument of Corollary 6: delta is at most 1 - exp(epsilon - largest loss).
    most = (search.epsilon - math.log1p(-search.delta)) * (1.0 - _CLOSE)
    descent = ScaleDescent(search, most, slopes)
    start = _start(search)
    # With very little delta only the largest loss counts: Theorem 5's direction.
    pure = relative_scales(
        groups.sensitivities * np.minimum(slopes, 1.0), scheme, 1.0, p, groups.costs
    )
    if scheme != "optimal":
        pure = relative_scales(groups.sensitivities, scheme, 1.0, p, None)
        start = pure * math.exp(np.mean(np.log(start / pure)))
    safe = pure * (math.fsum(descent.spent / pure) / most)
    start = descent.within_maximum_loss(start)
    tries: list[SettledScales | None] = []
    if len(slopes) > 1 and all(noise.pieces() is not None for noise in groups.noises):
        if scheme == "optimal":
            tries.append(descent.minimum(start))
            if bounded:
                tries.append(descent.on_budget(safe))
        else:
            tries.append(descent.on_budget(start))
    found = [one for one in tries if one] or [SettledScales(start, _gaussian_slope(search))]
    best = min(found, key=lambda one: groups.error(one.scales, p))
    scales = _certified(search, best)
    return safe if bounded and groups.error(safe, p) < groups.error(scales, p) else scales


def _certified(search: GroupedRequest, found: SettledScales) -> Array:
    """Minimum multiple of the scales found that the upper bound on delta lets pass."""
    scales, slope = found.scales, found.slope
    aim = math.log(search.delta) - 0.5 * _SLACK
    low, high, x = -math.inf, math.inf, 0.0  # too little, enough
    last, strained = None, 0
    # ends: raises
    for count in range(_EVALUATIONS):
        value, slow = _log_upper(search, scales * math.exp(x), aim)
        value, strained = max(value - aim, _FLOOR), strained + slow
        if value > 0.5 * _SLACK:
            low = x
        else:
            high = x
            if value >= -0.5 * _SLACK or high - low < _CLOSE:
                break
        slowly = strained >= (1 if count >= _ENOUGH else _MAX_STRAINED)
        if slowly and high < math.inf:
            break
        if last is not None and x != last[0] and value != last[1]:
            slope = min((value - last[1]) / (x - last[0]), -_MINIMUM_SLOPE)
        last = x, value
        step = min(max(-value / slope, -_LONGEST), _LONGEST)
        x += step
        stuck = count % 4 == 3 and math.isfinite(high - low)  # the secant may creep at a kink
        if stuck or not low < x < high:  # then both ends are finite
            x = 0.5 * (low + high)
    if high < math.inf:
        return scales * math.exp(high)
    message = f"allocation: not verified at epsilon={search.epsilon!r}, delta={search.delta!r}"
    raise RuntimeError(message)


class SettledScales(NamedTuple):
    """Where a descent settled."""

    scales: Array  # shape (G,), on the budget as far as the estimate tells
    slope: float  # of log delta in the logarithm of the common factor


class _Model(NamedTuple):
    """Log delta near some scales: its excess over the budget, and how it falls."""

    scales: Array
    elasticity: Array
    excess: float
    damping: float
    work: int = 0


class ScaleDescent:
    """Rounds for one request, all of its noise made of quadratic pieces.

    `most` is the largest loss of all coordinates together that always suffices, `slopes` are the
    largest slopes of -log density, perhaps infinite, shape (G,).
    """

    def __init__(self, search: GroupedRequest, most: float, slopes: Array) -> None:
        self.search, self.most = search, most
        groups = search.groups
        self.spent = groups.counts * groups.sensitivities * slopes
        self.cost = np.log(groups.counts * groups.costs)

    def within_maximum_loss(self, scales: Array) -> Array:
        """Scales, reduced to the largest loss that always suffices if theirs is less."""
        return scales * min(1.0, math.fsum(self.spent / scales) / self.most)

    def on_budget(self, scales: Array) -> SettledScales | None:
        """The multiple of scales on the budget."""
        return self._rounds(scales, free=False)

    def minimum(self, scales: Array) -> SettledScales | None:
        """Scales of minimum error by a descent from `scales`."""
        return self._rounds(scales, free=True)

    def _model(self, scales: Array, damping: float) -> _Model | None:
        """What the estimate says at `scales`, or None if delta is too small to be seen."""
        search, groups = self.search, self.search.groups
        ratios = scales / groups.sensitivities
        try:
            found = log_delta_and_slopes(groups.noises, ratios, groups.counts, search.epsilon)
        except RuntimeError:
            return None
        excess = found.log_delta - math.log(search.delta)
        return _Model(scales, np.maximum(-found.slopes, 0.0), excess, damping, found.work)

    def _rounds(self, scales: Array, *, free: bool) -> SettledScales | None:
        """Where the rounds settle, or None if they do not."""
        damping, before, work = _DAMPING, math.inf, 0
        seen = scales * math.exp(-2.0 * _LONGEST)
        # ends: an allocation along a direction, certified
        for _ in range(_ROUNDS):
            model = self._model(scales, damping)
            if model is None:
                scales = np.sqrt(scales * seen)
                continue
            seen, work = scales, work + model.work
            if not np.any(model.elasticity > 0.0):  # delta is 1: far too little noise
                scales = scales * math.exp(_LONGEST)
                continue
            step = self._step(model, free=free)
            longest = float(np.max(np.abs(step)))
            if longest > _SLOW * before:
                damping *= 1.5
            before = longest
            scales = self.within_maximum_loss(scales * np.exp(step * min(1.0, _LONGEST / longest)))
            if longest < _SETTLED or work > _MAX_DESCENT_WORK:
                return SettledScales(scales, -float(model.elasticity.sum()))
        return None

    def _step(self, model: _Model, *, free: bool) -> Array:
        """Step onto the budget, towards n w E|T|^p s^p proportional to the elasticities if free."""
        elasticity, p = model.elasticity, self.search.p
        step = np.zeros_like(elasticity)
        if free:
            shares = np.maximum(elasticity, _NEGLIGIBLE * elasticity.max())
            step = np.log(shares) - self.cost - p * np.log(model.scales)
            step /= p + model.damping
        return step + (model.excess - elasticity @ step) / elasticity.sum()
