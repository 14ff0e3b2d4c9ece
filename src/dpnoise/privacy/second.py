"""A second opinion on the delta of noise that is handed out, by another method.

What is handed out has been certified once: by exact arithmetic ("greatest loss"), by the scalar
profile or basic composition of it (`dpnoise.privacy.profile`), or by inversion of transforms
(`dpnoise.privacy.vector`). All of these work on formulas of the parameters or on `noise.pieces()`.
Here delta is bounded from both sides again, from the density and the tail of the noise:

- "density ratio", where delta is 0: the greatest log g(t) - log g(t + d) on many points.
- "half-lines", for one coordinate, and for Gaussian noise in any number of them: for log-concave
  noise delta is the largest value of f(t) = SF(t) - e^epsilon SF(t + d), which rises while the
  loss log g(t) - log g(t + d) is below epsilon and falls beyond. With the crossing in [a, b],
  f(a) <= delta <= f(a) + (b - a) g(a).
- "sum over the integers", for one coordinate with noise on the integers; for several there is one
  for staircases only, which have the losses of continuous ones.
- "lattice", for several coordinates and for staircase noise: `lattice_bounds` of
  `dpnoise.privacy.lattice.bounds`, a quadrature of the density and a discrete convolution.

Both accounts share `noise.logpdf` and `noise.logsf` only in so far as the first takes values from
them (Subbotin noise: the incomplete gamma function of SciPy), the worst neighbour of log-concave
noise being the longest shift, and for several coordinates that losses add up. They share no
transform, no quadrature and no root finder. Subbotin noise in several coordinates has one account
only: its first is the lattice.

Which account is used depends on the request alone, never on a clock, and takes about a
millisecond, or 20 to 50 for the lattice.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpnoise.noise.exponential_power import Gaussian
from dpnoise.noise.stepwise import Staircase
from dpnoise.privacy.lattice.bounds import lattice_bounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise.noise.base import Noise
    from dpnoise.noise.integers import IntegerNoise

    Shares = Sequence[tuple[Any, float, int]]  # noise, shift, copies

MAXIMUM_COORDINATES = 10**5  # beyond, the bounds of the lattice are too far apart to say much
_SIZE = 2**14  # lattice points: a gap of about 1e-5
_POINTS, _ROUNDS, _DOUBLINGS = 65, 11, 200
# Errors of log SF and of log g: absolute, and relative to what they are made of.
_MOST_INTEGERS = 1e6
_ERROR, _ROUNDING = 4e-12, 2.0**-47
_MINIMUM_LOG = math.log(5e-324)


class Account(NamedTuple):
    """Bounds on the logarithm of delta, -inf for 0, by a method."""

    name: str
    log_lower: float
    log_upper: float


def _crossing(noise: Noise, shift: float, epsilon: float) -> tuple[float, float]:
    """Neighbouring points a and b between which the loss crosses epsilon; b may be infinite.

    Up to a it is at most epsilon, whatever its rounding; from b on it is not less by more.
    """
    end = noise.bound

    def below(t: np.ndarray) -> np.ndarray:
        here, there = noise.logpdf(t), noise.logpdf(t + shift)
        with np.errstate(invalid="ignore"):
            return here - there + _ROUNDING * (1.0 + np.abs(here) + np.abs(there)) <= epsilon

    a, b = max(-0.5 * shift, -end), min(max(noise.mean_abs(), shift), end)
    # ends: raises
    for _ in range(_DOUBLINGS):
        if b >= end or not below(np.array([b]))[0]:
            break
        if noise.logsf(b) < _MINIMUM_LOG:
            return b, math.inf
        a, b = b, 2.0 * b
    else:
        raise RuntimeError(f"second account: no crossing of the loss of {noise!r} up to {b!r}")
    # ends: ends valid after any number of rounds
    for _ in range(_ROUNDS):
        t = np.linspace(a, b, _POINTS)
        last = int(np.count_nonzero(below(t[1:-1])))  # the loss rises
        a, b = float(t[last]), float(t[last + 1])
    return a, b


def half_lines(noise: Noise, shift: float, epsilon: float) -> Account:
    """Bounds on delta for one shift of log-concave noise, from its tail."""
    noise, shift = noise.scaled(1.0 / shift), 1.0
    a, b = _crossing(noise, shift, epsilon)
    inside, outside = float(noise.logsf(a)), float(noise.logsf(a + shift))
    here, there = float(noise.logpdf(a)), float(noise.logpdf(a + shift))
    if inside == -math.inf:
        return Account("half-lines", -math.inf, -math.inf if b < math.inf else _MINIMUM_LOG)
    sizes = [abs(x) for x in (inside, outside, here, there) if math.isfinite(x)]
    gap = inside - (epsilon + outside)
    # All in units of SF(a). Where the loss is judged above epsilon it may be below by its rounding,
    # twice what `_crossing` allows for: f then still rises, by at most so much times SF(a).
    error = _ERROR + 8.0 * _ROUNDING * (1.0 + epsilon + sum(sizes))
    value = -math.expm1(-max(gap, 0.0))
    if b == math.inf:
        more = 1.0
    else:
        more = math.exp(min(math.log(b - a) + here - inside, 0.0)) if b > a else 0.0
    # SF(a) has an error too, so that this share may be above 1.
    lower, upper = value - error, value + error + more
    return Account(
        "half-lines",
        inside + math.log(lower) if lower > 0.0 else -math.inf,
        min(inside + math.log(upper), 0.0),
    )


def _largest_seen(noise: Any, shift: float) -> float:  # noqa: ANN401
    """A lower bound on the largest loss of a shift, from the density at many points."""
    if noise.whole:
        t = np.unique(np.linspace(-2.0 * shift, 2.0 * shift, 2001).round())
        here, there = noise.logpmf(t), noise.logpmf(t + shift)
        slack = _ROUNDING * (1.0 + np.abs(here) + np.abs(there))
        return float(np.max(here - there - slack))
    if isinstance(noise, Staircase):
        # The middles of its steps, unscaled: one can be narrower than the rounding of scaling.
        t = np.array([0.5 * noise.gamma, 0.5 + 0.5 * noise.gamma])
        here, there = (noise.logpdf(noise.sensitivity * t + d) for d in (0.0, shift))
    else:
        noise = noise.scaled(1.0 / shift)
        size = noise.mean_abs()
        far = size * np.array([30.0, 300.0])
        t = np.concatenate([np.linspace(-1.0, 1.0, 257), size * np.linspace(0.0, 4.0, 257), far])
        t = t[np.abs(t) < noise.bound]
        here, there = noise.logpdf(t), noise.logpdf(t + 1.0)
    # Rounding of both, and of t + 1 where the density is steep.
    slack = _ROUNDING * (
        1.0 + np.abs(here) + np.abs(there) + np.abs(here - there) * (1.0 + np.abs(t))
    )
    return float(np.max(here - there - slack))


def density_ratio(shares: Shares, epsilon: float) -> Account:
    """What the largest losses seen say of (epsilon, 0)-DP."""
    total = math.fsum(copies * _largest_seen(noise, shift) for noise, shift, copies in shares)
    log_delta = -math.inf if total <= epsilon else _MINIMUM_LOG
    return Account("density ratio", log_delta, log_delta if total <= epsilon else 0.0)


def _sum_over_integers(noise: IntegerNoise, shift: float, epsilon: float) -> Account:
    """Bounds from the probabilities of integers, for one coordinate.

    Of very wide noise only the million integers on either side of 0 are added up.
    """
    reach = min(float(noise.isf(1e-304)), _MOST_INTEGERS)
    k = np.arange(-reach, reach + 1.0)
    here, there = noise.logpmf(k), noise.logpmf(k + shift)
    gain = -np.expm1(np.minimum(epsilon + there - here, 0.0))
    doubt = _ROUNDING * (1.0 + epsilon + np.abs(here) + np.abs(there))
    sizes = np.exp(here)
    lower = float(np.sum(sizes * np.maximum(gain - doubt, 0.0)))
    upper = float(np.sum(sizes * (gain + doubt))) + 2.0 * float(noise.sf(reach))
    logs = (math.log(x) if x > 0.0 else -math.inf for x in (lower, min(upper, 1.0)))
    return Account("sum over the integers", *logs)


def second_account(shares: Shares, epsilon: float, *, pure: bool) -> Account | None:
    """Bounds on log delta by another method than the first, None where that is too dear.

    `pure`: whether the first account saw that delta is 0.
    """
    if pure:
        return density_ratio(shares, epsilon)
    total = sum(copies for _, _, copies in shares)
    if total > 1:  # discrete staircases have the losses of continuous ones
        shares = [(getattr(noise, "continuous", noise), d, n) for noise, d, n in shares]
    noise, shift, copies = shares[0]
    if total == 1 and noise.whole:
        return _sum_over_integers(noise, shift, epsilon)
    alone = total == 1 or (len(shares) == 1 and isinstance(noise, Gaussian))
    if alone and noise.log_concave:
        return half_lines(noise, shift * math.sqrt(copies), epsilon)
    known = all(not one.whole and one.has_closed_loss for one, _, _ in shares)
    if total > MAXIMUM_COORDINATES or not known:
        return None
    try:
        found = lattice_bounds(shares, epsilon, size=_SIZE)
    except ValueError:  # beyond its range of scales
        return None
    return Account("lattice", float(found.log_lower), float(found.log_upper))


def require_agreement(what: str, first: str, delta: float, second: Account | None) -> None:
    """Raise RuntimeError if a lower bound on delta is above what the first account certified.

    `what` names the noise and its budget for the message.
    """
    bar = math.log(delta) if delta > 0.0 else -math.inf
    if second is not None and second.log_lower > bar:
        message = (
            f"{what}: the accounts disagree, so that nothing is handed out: {first!r} finds delta "
            f"<= {delta!r}, {second.name!r} finds log delta >= {second.log_lower!r}; please report"
        )
        raise RuntimeError(message)
