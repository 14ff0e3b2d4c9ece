"""Every statement of flipped-huber-2023 that can be checked, over random parameters.

Each proposition, lemma, theorem and step of a proof that claims something has a row: how
often it failed, how near it came to failing and what its proof is worth. Of those that are false
`counterexamples` has single points, with both sides to 50 digits.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import mpmath
import pandas as pd

from dpnoise_papers.checks import read_checks, run_checks
from dpnoise_papers.flipped_huber_2023.as_printed import DECIMALS, omega_of_ratio, points
from dpnoise_papers.flipped_huber_2023.theory import density, mechanisms, scalar, vector

if TYPE_CHECKING:
    from mpmath import mpf

    from dpnoise_papers.flipped_huber_2023.settings import Counterexamples, Theory

CHECKS = read_checks(Path(__file__).with_suffix(".yaml"), (density, scalar, vector, mechanisms))
_WORKING_DIGITS = 70


def theory(settings: Theory) -> pd.DataFrame:
    """One row per statement of the paper: see `dpnoise_papers.checks.run_checks`.

    The status of a proof is complete, gap, false or misprint, with the reason.
    """
    return run_checks(CHECKS, settings.seed, "theory", settings.trials)


def counterexamples(settings: Counterexamples) -> pd.DataFrame:
    """Single counterexamples in full.

    Columns id (that of the statement in the table of `theory`), parameter and value, a text. In
    each, 'left' should be at least or at most 'right', as 'claimed' says.
    """
    with mpmath.workdps(_WORKING_DIGITS):
        rows = [
            (name, parameter, _text(value, settings.digits))
            for name, case in _cases().items()
            for parameter, value in case.items()
        ]
    return pd.DataFrame(rows, columns=["id", "parameter", "value"])


def _text(value: object, digits: int) -> str:
    """Text as it is, a number of mpmath with some significant digits."""
    return mpmath.nstr(value, digits) if isinstance(value, mpmath.mpf) else str(value)


def _cases() -> dict[str, dict[str, object]]:
    """Parameters and both sides of each case, by statement and in words."""
    one, tail, root = mpmath.mpf(1), DECIMALS.upper_tail, mpmath.sqrt(2)
    # Lemma 7: the level of T is above alpha, where its tail is Gaussian but for the factor
    share = root * mpmath.sqrt(mpmath.pi) / omega_of_ratio(one, DECIMALS)
    theta = root * mpmath.erfinv(1 - share)  # (22)
    level = (2 + one / 8 + one / 2) / (one / 2)
    # the Orlicz condition: X is 0 with probability 1 - p, +a and -a with p/2 each
    p = one / 1000
    first, last = points(2 * one, one, 2 * one, one, DECIMALS)[3]  # case (iv), nu_1 <= abs(nu)
    by_15 = -(first + last) / 2
    return {
        "lemma-7": {
            "K": 1, "alpha": 1, "gamma": 1, "epsilon": 2, "Delta": 1, "d": "0.5",
            "left: P(affine loss <= -epsilon)": share * tail(level),
            "right: lower bound of the lemma": tail(2 + one / 2 + one / 2 + theta),
            "claimed": "left >= right",
        },
        "lemma-7-order": {
            "theta": 0, "s2": "0.5", "S2": 1, "a": "-1",
            "left: Phi((a - theta s1) / s2)": tail(2 * one),
            "right: Phi((a - theta S1) / S2)": tail(one),
            "claimed": "left >= right",
        },
        "esseen-inequality": {
            "a": 1, "b": "-1",
            "left: Q(a + b)": one / 2, "right: 2 Q(a) Q(b)": 2 * tail(one) * tail(-one),
            "claimed": "left <= right",
        },
        "equation-20-for-every-sub-gaussian": {
            "X": "+1 or -1, each with probability 1/2", "a": "0.9",
            "left: P(X > a)": one / 2, "right: Q(a)": tail(9 * one / 10),
            "claimed": "left <= right",
        },
        "orlicz-implies-lemma-2": {
            "X": "0 with probability 1 - p, +a and -a with p/2 each", "a": 4, "p": "0.001",
            "left: M(4)": 1 - p + p * mpmath.cosh(16), "right: exp(4^2 / 2)": mpmath.exp(8),
            "claimed": "left <= right",
        },
        "equation-5-order": {
            "d": "(1, 1)", "q": 1, "r": 2,
            "left: ||d||_q": 2 * one, "right: ||d||_r": root,
            "claimed": "left <= right",
        },
        "equation-15": {
            "alpha": 2, "gamma": 1, "Delta": 1, "nu": -2,
            "left: (15)": by_15,
            "right: last point where the loss is at most nu": -one / 2,
            "the loss at left": _loss(by_15, 2 * one),
            "the loss at right": _loss(-one / 2, 2 * one),
            "claimed": "left >= right",
        },
    }  # fmt: skip


def _loss(t: mpf, alpha: mpf) -> mpf:
    """Centred privacy loss at gamma = Delta = 1, from the definition (7) of the density."""
    sizes = abs(t + 0.5), abs(t - 0.5)
    rho = [alpha * x if x <= alpha else (x**2 + alpha**2) / 2 for x in sizes]
    return rho[0] - rho[1]
