"""Table I of flipped-huber-2023: the five regimes of the exact one-dimensional condition.

Each regime is hit with random parameters. The table's t1 and t2 are put into the privacy loss
and into the intervals printed for them, the printed profile (13) is evaluated literally with
mpmath, and ours, which does not use it, is compared. Where two regimes meet, both printed
expressions are evaluated at the common border.

(13) cancels: a profile of 1e-200 is a difference of numbers near 1/2. With `_DIGITS` digits
more than 50 remain, and what is stored is their rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import mpmath
import numpy as np
import pandas as pd

from dpnoise.noise import FlippedHuber
from dpnoise.privacy.profile import privacy_profile
from dpnoise_papers.flipped_huber_2023.as_printed import (
    CASES,
    DECIMALS,
    intervals,
    points,
    profiles,
    ranges,
)
from dpnoise_papers.seeds import generator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpmath import mpf

    from dpnoise_papers.flipped_huber_2023.settings import PublishedCases

_DIGITS = 400
_SLACK = mpmath.mpf(10) ** -50  # in units of Delta; a border is met up to the rounding of a root
# alpha / Delta from which a regime, or a border between two, is drawn.
_RATIOS = {
    "i": (0.0, 0.5), "ii": (0.5, 5.0), "iii": (0.0, 1.0), "iv": (0.0, 5.0), "v": (0.0, 5.0),
    "i-iii": (0.0, 0.5), "ii-iii": (0.5, 1.0), "ii-iv": (1.0, 5.0), "iii-iv": (0.0, 1.0),
    "iv-v": (0.0, 5.0),
}  # fmt: skip
_STEEPEST = 20.0  # alpha / gamma; the profile is above 1e-250 then


class _Setup(NamedTuple):
    """One flipped Huber noise and one sensitivity, exactly as doubles hold them."""

    alpha: mpf
    gamma: mpf
    sensitivity: mpf

    def loss(self, t: mpf) -> mpf:
        """Privacy loss log g(t) - log g(t + Delta), from the definition (7) of the density."""

        def rho(x: mpf) -> mpf:
            x = abs(x)
            return self.alpha * x if x <= self.alpha else (x**2 + self.alpha**2) / 2

        return (rho(t + self.sensitivity) - rho(t)) / self.gamma**2


def published_cases(settings: PublishedCases) -> pd.DataFrame:
    """Every case of Table I, and every border between two, on random parameters.

    Columns case ('i' to 'v', or 'i-iii' and the like for a border), border (1 for a border, else
    0), alpha, gamma, sensitivity, epsilon, published ((13) as printed, rounded from 50 digits),
    ours, relative_error, loss_error (the larger relative difference of the loss at t1 and at t2 -
    Delta from epsilon), t1_in_interval, t2_in_interval, ranges (how many of the printed ranges hold
    epsilon) and jump (relative, between the two expressions at a border). Only a border has a jump,
    and no value of ours: there the double nearest to epsilon can lie on either side.
    """
    with mpmath.workdps(_DIGITS):
        rows = [
            _row(name, setup, share)
            for name in _RATIOS
            for setup, share in _draw(name, settings.trials, settings.seed)
        ]
    return pd.DataFrame(rows)


def _draw(name: str, trials: int, seed: int) -> Iterator[tuple[_Setup, float]]:
    """Yield parameters for which a case is not empty, and a position within its range."""
    rng = generator(seed, "flipped-huber-2023", "table-1", name)
    low, high = _RATIOS[name]
    for _ in range(trials):
        ratio = low + (high - low) * rng.uniform(0.1, 1.0) ** 2  # denser where cases meet
        sensitivity = float(np.exp(rng.uniform(-3.0, 3.0)))
        steep = np.exp(rng.uniform(np.log(0.1), np.log(min(10.0, _STEEPEST / ratio))))
        values = (ratio * sensitivity, sensitivity / float(steep), sensitivity)
        yield _Setup(*map(mpmath.mpf, values)), float(rng.uniform(0.02, 0.98))


def _row(name: str, setup: _Setup, share: float) -> dict[str, object]:
    d, place = setup.sensitivity, (setup.sensitivity, setup.alpha, setup.gamma)
    held = dict(zip(CASES, ranges(*place, DECIMALS), strict=True))
    before, _, case = name.rpartition("-")
    low, high = held[case]
    border = bool(before)
    if border:
        epsilon = low
    elif case == "v":
        epsilon = mpmath.mpf(float(low * (1 + share / 2)))
    else:
        epsilon = mpmath.mpf(float(low + share * (high - low)))
    values = dict(zip(CASES, profiles(epsilon, *place, DECIMALS), strict=True))
    value = values[case]
    jump = abs(values[before] / value - 1) if border else np.nan
    t = points(epsilon, *place, DECIMALS)[CASES.index(case)]
    off = max(abs(setup.loss(x) - epsilon) for x in (t[0], t[1] - d))
    slack = _SLACK * d
    inside = [
        start - slack <= x <= end + slack
        for x, (start, end) in zip(t, intervals(setup.alpha)[CASES.index(case)], strict=True)
    ]
    noise = FlippedHuber(float(setup.alpha), float(setup.gamma))
    ours = (
        np.nan
        if border
        else float(privacy_profile(noise, float(setup.sensitivity), float(epsilon)))
    )
    return {
        "case": name,
        "border": int(border),
        "alpha": noise.alpha,
        "gamma": noise.gamma,
        "sensitivity": float(setup.sensitivity),
        "epsilon": float(epsilon),
        "published": float(value),
        "ours": ours,
        "relative_error": np.nan if border else float(abs(ours / value - 1)),
        "loss_error": _rounded(off / epsilon),
        "t1_in_interval": int(inside[0]),
        "t2_in_interval": int(inside[1]),
        "ranges": sum(start <= epsilon < end for start, end in held.values()),
        "jump": _rounded(jump) if border else np.nan,
    }


def _rounded(error: mpf) -> float:
    """Error to 50 digits: what is smaller is the rounding of the reference."""
    return float(error) if error > _SLACK else 0.0
