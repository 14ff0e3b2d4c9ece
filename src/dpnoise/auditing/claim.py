"""What a claim of privacy allows an event: the largest p beside a given q.

With p and q the probabilities of one event on two neighbouring inputs, (epsilon, delta)-DP allows

    p <= delta + e^epsilon q    and, for the opposite event,    1 - q <= delta + e^epsilon (1 - p).

A privacy profile claims this for many epsilons at once, so that it can be refuted by common events
where a single small delta is out of reach of any sample.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise._validation import Problems
from dpnoise.joint.noise import RadialNoise
from dpnoise.joint.profile import radial_delta_bounds
from dpnoise.noise.rational import as_double_above
from dpnoise.privacy.odometer.releases import read_release
from dpnoise.privacy.vector import profile_of_shares
from dpnoise.sensitivity.base import Sensitivity
from dpnoise.sensitivity.sizes import size_in_norm

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.privacy.odometer.ledger import Ledger

    _Deltas = Callable[[Array], Array]

_POINTS = 64  # of a profile
_NEGLIGIBLE = 1e-9  # delta that samples do not tell from 0
_COARSE = 24  # points that find where delta is negligible
_LARGEST = 700.0  # epsilon


@dataclass(frozen=True, eq=False)
class Claim:
    """The claim of (epsilon_i, delta_i)-DP for all i.

    Attributes
    ----------
    words : str
        The claim in words.
    epsilon, delta : float64 array, shape (n,)
    """

    words: str
    epsilon: Array
    delta: Array

    def most(self, q: ArrayLike) -> Array:
        """The largest p that the claim allows beside `q`, of the same shape."""
        other = np.asarray(q, dtype=float)[..., None]
        growth = np.exp(np.minimum(self.epsilon, _LARGEST))
        direct = self.delta + growth * other
        opposite = 1.0 - np.maximum(1.0 - other - self.delta, 0.0) / growth
        return np.clip(np.minimum(direct, opposite).min(axis=-1), 0.0, 1.0)


def budget_claim(epsilon: float, delta: float) -> Claim:
    """The claim of (epsilon, delta)-DP."""
    words = f"({epsilon:g}, {delta:g})-DP"
    return Claim(words, np.array([epsilon], dtype=float), np.array([delta], dtype=float))


def noise_claim(problems: Problems, noise: Any, sensitivity: Any) -> Claim:  # noqa: ANN401
    """The claim of the account of noise, for all epsilon; what is wrong with either is recorded.

    Noise and sensitivity are those of `dpnoise.Budget.spend`, or any `RadialNoise`.
    """
    before = len(problems.found)
    if isinstance(noise, RadialNoise) and noise.dominating(Fraction(1)) is None:
        deltas, loss = _radial(problems, noise, sensitivity), math.inf
    else:
        deltas, loss = _counted(read_release(problems, noise, sensitivity))
    if len(problems.found) > before:
        return budget_claim(0.0, 0.0)
    coarse = np.geomspace(1e-6, _LARGEST, _COARSE)
    found = deltas(coarse)
    last = coarse[int(np.argmax(found <= max(_NEGLIGIBLE, found[-1] * (1.0 + 1e-9))))]
    epsilon = np.linspace(0.0, last, _POINTS)
    if loss <= _LARGEST:
        epsilon = np.append(epsilon, loss)
    return Claim(f"{noise!r} at sensitivity {sensitivity!r}", epsilon, deltas(epsilon))


def _radial(problems: Problems, noise: RadialNoise, sensitivity: object) -> _Deltas:
    """Upper bounds on delta of radial noise that no noise of one number dominates."""
    size: Any = sensitivity
    if isinstance(sensitivity, Sensitivity) and sensitivity.dimension == noise.dimension:
        size = as_double_above(size_in_norm(sensitivity.geometry, noise.ball))
    if not problems.number("sensitivity", size, low=0.0, open_low=True):
        size = 1.0
    unit = noise.scaled(1.0 / float(size))
    return lambda epsilon: np.array([radial_delta_bounds(unit, float(e)).upper for e in epsilon])


def _counted(ledger: Ledger) -> tuple[_Deltas, float]:
    """Upper bounds on delta of one release as a Budget counts it, and on its largest loss."""
    loss, failure = as_double_above(ledger.pure), float(ledger.failure)

    def deltas(epsilon: Array) -> Array:
        found = np.asarray(profile_of_shares(ledger.countable, epsilon).upper)
        return np.where(epsilon >= loss, 0.0, found) + failure

    return deltas, loss


def smallest_delta(noise: Any, sensitivity: Any, epsilon: float) -> float:  # noqa: ANN401
    """A lower bound on the delta of checked noise; 0 where only an upper one is known."""
    own = getattr(noise, "ball", None)
    if isinstance(sensitivity, Sensitivity) and sensitivity.geometry != own:
        return 0.0  # the account may take more than the set
    if isinstance(noise, RadialNoise):
        size = 1.0 if isinstance(sensitivity, Sensitivity) else float(sensitivity)
        return float(radial_delta_bounds(noise.scaled(1.0 / size), epsilon).lower) if size else 0.0
    if hasattr(noise, "dominating"):
        return 0.0
    shares = read_release(Problems("audit"), noise, sensitivity).countable
    return float(profile_of_shares(shares, np.asarray(epsilon)).lower)
