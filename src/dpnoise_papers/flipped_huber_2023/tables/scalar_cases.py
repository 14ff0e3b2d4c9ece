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
from dpnoise_papers.seeds import generator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpmath import mpf

    from dpnoise_papers.flipped_huber_2023.settings import PublishedCases

_DIGITS = 400
_SLACK = mpmath.mpf(10) ** -50  # in units of Delta; a border is met up to the rounding of a root
_CASES = ("i", "ii", "iii", "iv", "v")
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

    def ranges(self) -> dict[str, tuple[mpf, mpf]]:
        """Return [low, high) of epsilon for each case of Table I."""
        a, d, scale = self.alpha, self.sensitivity, 2 * self.gamma**2
        third = (max(2 * a, d) ** 2 - 2 * a * d) / scale
        fourth = (max(d - a, 0) ** 2 + 2 * a * d) / scale
        fifth = (d + 2 * a) * d / scale
        return {
            "i": (mpmath.mpf(0), (d - 2 * a) * d / scale),
            "ii": (mpmath.mpf(0), 2 * min(2 * a - d, d) * a / scale),
            "iii": (third, fourth),
            "iv": (fourth, fifth),
            "v": (fifth, mpmath.inf),
        }

    def points(self, case: str, epsilon: mpf) -> tuple[mpf, mpf]:
        """Return t1 and t2 of Table I."""
        a, d, scaled = self.alpha, self.sensitivity, self.gamma**2 * epsilon
        if case in {"i", "v"}:
            return scaled / d - d / 2, scaled / d + d / 2
        if case == "ii":
            return scaled / (2 * a) - d / 2, scaled / (2 * a) + d / 2
        sign = 1 if case == "iii" else -1
        root = mpmath.sqrt(max(2 * (scaled + sign * a * d), 0))  # 0 at the border of (ii), (iv)
        return root - sign * a - d, root - sign * a

    def intervals(self, case: str) -> tuple[tuple[mpf, mpf], tuple[mpf, mpf]]:
        """Return the intervals of t1 and t2 of Table I."""
        a, zero, top = self.alpha, mpmath.mpf(0), mpmath.inf
        return {
            "i": ((-top, -a), (a, top)),
            "ii": ((-a, zero), (zero, a)),
            "iii": ((-a, zero), (a, top)),
            "iv": ((zero, a), (a, top)),
            "v": ((a, top), (a, top)),
        }[case]

    def loss(self, t: mpf) -> mpf:
        """Return log g(t) - log g(t + Delta), from the definition (7) of the density."""

        def rho(x: mpf) -> mpf:
            x = abs(x)
            return self.alpha * x if x <= self.alpha else (x**2 + self.alpha**2) / 2

        return (rho(t + self.sensitivity) - rho(t)) / self.gamma**2

    def profile(self, case: str, epsilon: mpf) -> mpf:
        """Return (13) as printed, with omega from (9)."""
        a, g, d = self.alpha, self.gamma, self.sensitivity

        def q(x: mpf) -> mpf:
            return mpmath.erfc(x / mpmath.sqrt(2)) / 2

        bend = a**2 / (2 * g**2)
        root_2pi, rise = mpmath.sqrt(2 * mpmath.pi), mpmath.exp(epsilon)
        omega = 2 * (root_2pi * q(a / g) + 2 * g / a * mpmath.sinh(bend))
        if case in {"i", "v"}:
            shift = g * epsilon / d
            tails = root_2pi / omega * (q(shift - d / (2 * g)) - rise * q(shift + d / (2 * g)))
            return tails + (1 - root_2pi / omega if case == "i" else 0)
        centre = g / (a * omega) * mpmath.exp(bend)
        if case == "ii":
            fall = mpmath.exp(epsilon / 2 - a * d / (2 * g**2))
            return (1 - rise) / 2 + centre * (1 + rise - 2 * fall)
        sign = 1 if case == "iii" else -1
        root = mpmath.sqrt(max(2 * (g**2 * epsilon + sign * a * d), 0))
        part = centre * (1 - mpmath.exp(a / g**2 * (-a + sign * (root - d))))
        tail = rise * root_2pi / omega * q((root - sign * a) / g)
        return mpmath.mpf(1) / 2 + sign * part - tail


def published_cases(settings: PublishedCases) -> pd.DataFrame:
    """Every case of Table I, and every border between two, on random parameters.

    Parameters
    ----------
    settings : PublishedCases

    Returns
    -------
    DataFrame
        Columns case ('i' to 'v', or 'i-iii' and the like for a border), alpha, gamma,
        sensitivity, epsilon, published ((13) as printed, rounded from 50 digits), ours,
        relative_error, loss_error (the larger relative difference of the loss at t1 and at
        t2 - Delta from epsilon), t1_in_interval, t2_in_interval, ranges (how many of the
        printed ranges hold epsilon) and jump (relative, between the two expressions at a
        border). Only a border has a jump, and no value of ours: there the double nearest to
        epsilon can lie on either side.
    """
    with mpmath.workdps(_DIGITS):
        rows = [
            _row(name, setup, share)
            for name in _RATIOS
            for setup, share in _draw(name, settings.trials, settings.seed)
        ]
    return pd.DataFrame(rows)


def _draw(name: str, trials: int, seed: int) -> Iterator[tuple[_Setup, float]]:
    """Yield parameters for which a case is not empty, and a place within its range."""
    rng = generator(seed, "flipped-huber-2023", "table-1", name)
    low, high = _RATIOS[name]
    for _ in range(trials):
        ratio = low + (high - low) * rng.uniform(0.1, 1.0) ** 2  # denser where cases meet
        sensitivity = float(np.exp(rng.uniform(-3.0, 3.0)))
        steep = np.exp(rng.uniform(np.log(0.1), np.log(min(10.0, _STEEPEST / ratio))))
        values = (ratio * sensitivity, sensitivity / float(steep), sensitivity)
        yield _Setup(*map(mpmath.mpf, values)), float(rng.uniform(0.02, 0.98))


def _row(name: str, setup: _Setup, share: float) -> dict[str, object]:
    ranges = setup.ranges()
    before, _, case = name.rpartition("-")
    low, high = ranges[case]
    border = bool(before)
    if border:
        epsilon = low
    elif case == "v":
        epsilon = mpmath.mpf(float(low * (1 + share / 2)))
    else:
        epsilon = mpmath.mpf(float(low + share * (high - low)))
    value = setup.profile(case, epsilon)
    jump = abs(setup.profile(before, epsilon) / value - 1) if border else np.nan
    t1, t2 = setup.points(case, epsilon)
    off = max(abs(setup.loss(t) - epsilon) for t in (t1, t2 - setup.sensitivity))
    slack = _SLACK * setup.sensitivity
    inside = [
        start - slack <= t <= end + slack
        for t, (start, end) in zip((t1, t2), setup.intervals(case), strict=True)
    ]
    noise = FlippedHuber(float(setup.alpha), float(setup.gamma))
    ours = (
        np.nan
        if border
        else float(privacy_profile(noise, float(setup.sensitivity), float(epsilon)))
    )
    return {
        "case": name,
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
        "ranges": sum(start <= epsilon < end for start, end in ranges.values()),
        "jump": _rounded(jump) if border else np.nan,
    }


def _rounded(error: mpf) -> float:
    """Return an error to 50 digits: what is smaller is the rounding of the reference."""
    return float(error) if error > _SLACK else 0.0
