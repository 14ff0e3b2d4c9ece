"""What flipped-huber-2023 states or uses and is not so, with both sides to 50 digits.

Lemma 7 bounds P(affine loss <= -epsilon) from below for every difference d of neighbours,
but its right side depends on d's largest norms only: as d shrinks the left side vanishes
and the right stays. `counterexamples` gives single points of it, and of false steps of other
proofs, in full.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import mpmath
import pandas as pd

from dpnoise_papers.flipped_huber_2023.as_printed import DECIMALS, omega_of_ratio, points

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpmath import mpf

    from dpnoise_papers.flipped_huber_2023.settings import Counterexamples

_WORKING_DIGITS = 70


def counterexamples(settings: Counterexamples) -> pd.DataFrame:
    """Single counterexamples in full.

    Columns id (that of the statement in the table of `theory`), parameter and value, a text. In
    each, 'left' should be at least or at most 'right', as 'claimed' says.
    """
    with mpmath.workdps(_WORKING_DIGITS):
        cases = [
            ("lemma-7", _lemma_7_one()),
            ("lemma-7-two-coordinates", _lemma_7_two(both=True)),
            ("lemma-7-one-of-two-coordinates", _lemma_7_two(both=False)),
            ("lemma-7-order", _order()),
            ("esseen-inequality", _esseen()),
            ("equation-20-for-every-sub-gaussian", _sign()),
            ("orlicz-implies-lemma-2", _three_points()),
            ("equation-5-order", _norms()),
            ("equation-15", _level()),
        ]
        rows = [
            (name, parameter, value if isinstance(value, str) else _digits(value, settings.digits))
            for name, case in cases
            for parameter, value in case
        ]
    return pd.DataFrame(rows, columns=["id", "parameter", "value"])


def _digits(value: mpf | int, digits: int) -> str:
    return str(value) if isinstance(value, int) else mpmath.nstr(value, digits)


def _noise_tail(x: mpf, alpha: mpf, gamma: mpf) -> mpf:
    """Probability P(T > x) of flipped Huber noise, from (9) and (10)."""
    if x < 0:
        return 1 - _noise_tail(-x, alpha, gamma)
    factor = omega_of_ratio(alpha / gamma, DECIMALS)
    if x > alpha:
        return mpmath.sqrt(2 * mpmath.pi) / factor * DECIMALS.upper_tail(x / gamma)
    rise = mpmath.exp(alpha / (2 * gamma**2) * (alpha - x)) * mpmath.sinh(
        alpha * x / (2 * gamma**2)
    )
    return mpmath.mpf(1) / 2 - 2 * gamma / (alpha * factor) * rise


def _shift(b: mpf) -> mpf:
    """Shift theta / gamma, equation (22)."""
    return mpmath.sqrt(2) * mpmath.erfinv(
        1 - mpmath.sqrt(2 * mpmath.pi) / omega_of_ratio(b, DECIMALS)
    )


_CLAIM = "left >= right"


def _setting() -> tuple[mpf, mpf, mpf, mpf]:
    """Parameters alpha = gamma = Delta = 1, epsilon = 2 and R_Delta(alpha) = 1."""
    one = mpmath.mpf(1)
    return one, one, mpmath.mpf(2), one


def _lemma_7_one() -> Iterator[tuple[str, object]]:
    alpha, gamma, epsilon, cost = _setting()
    d = mpmath.mpf(1) / 2
    left = _noise_tail((gamma**2 * epsilon + d * d / 2 + cost / 2) / d, alpha, gamma)
    right = DECIMALS.upper_tail(
        gamma * epsilon + 1 / (2 * gamma) + cost / (2 * gamma) + _shift(alpha)
    )
    yield from _report(1, "0.5", left, right)


def _lemma_7_two(*, both: bool) -> Iterator[tuple[str, object]]:
    alpha, gamma, epsilon, cost = _setting()
    d = mpmath.mpf(1) / 2
    level = gamma**2 * epsilon + (2 * d * d if both else d * d) / 2 + cost
    left = _two_fold(level / d, alpha, gamma) if both else _noise_tail(level / d, alpha, gamma)
    root = mpmath.sqrt(2)
    centre = gamma * epsilon / root + root / (2 * gamma) + cost / (gamma * root)
    right = DECIMALS.upper_tail(centre + _shift(alpha) * 2 / root)
    yield from _report(2, "(0.5, 0.5)" if both else "(0.5, 0)", left, right)


def _report(k: int, d: str, left: mpf, right: mpf) -> Iterator[tuple[str, object]]:
    yield "K", k
    yield from (("alpha", 1), ("gamma", 1), ("epsilon", 2), ("Delta", 1), ("Delta_1", k))
    yield "Delta_2", mpmath.sqrt(k)
    yield "d", d
    yield "left: P(affine loss <= -epsilon)", left
    yield "right: lower bound of the lemma", right
    yield "claimed", _CLAIM
    yield "left / right", left / right


def _two_fold(level: mpf, alpha: mpf, gamma: mpf) -> mpf:
    """Probability P(T_1 + T_2 > level) by quadrature between the kinks."""
    kappa = (
        gamma * omega_of_ratio(alpha / gamma, DECIMALS) * mpmath.exp(-((alpha / gamma) ** 2) / 2)
    )

    def integrand(t: mpf) -> mpf:
        size = abs(t)
        rho = alpha * size if size <= alpha else (size**2 + alpha**2) / 2
        return mpmath.exp(-rho / gamma**2) / kappa * _noise_tail(level - t, alpha, gamma)

    marks = [-alpha, 0, alpha, level - alpha, level, level + alpha]
    ends = [-25 * gamma, *(level / 2 + step * gamma for step in (-4, 4)), level + 25 * gamma]
    # ends: 50 digits; compared with a closed form
    return mpmath.quad(integrand, sorted(mpmath.mpf(x) for x in (*marks, *ends)))


def _order() -> Iterator[tuple[str, object]]:
    a, small = mpmath.mpf(-1), mpmath.mpf(1) / 2
    yield from (("theta", 0), ("s2", "0.5"), ("S2", 1), ("a", "-1"))
    yield "left: Phi((a - theta s1) / s2)", DECIMALS.upper_tail(-a / small)
    yield "right: Phi((a - theta S1) / S2)", DECIMALS.upper_tail(-a)
    yield "claimed", _CLAIM


def _esseen() -> Iterator[tuple[str, object]]:
    yield from (("a", 1), ("b", "-1"))
    yield "left: Q(a + b)", mpmath.mpf(1) / 2
    one = mpmath.mpf(1)
    yield "right: 2 Q(a) Q(b)", 2 * DECIMALS.upper_tail(one) * DECIMALS.upper_tail(-one)
    yield "claimed", "left <= right"


def _sign() -> Iterator[tuple[str, object]]:
    a = mpmath.mpf(9) / 10
    yield from (("X", "+1 or -1, each with probability 1/2"), ("a", "0.9"))
    yield "left: P(X > a)", mpmath.mpf(1) / 2
    yield "right: Q(a)", DECIMALS.upper_tail(a)
    yield "claimed", "left <= right"


def _three_points() -> Iterator[tuple[str, object]]:
    a, p = mpmath.mpf(4), mpmath.mpf(1) / 1000

    def slope(s: mpf) -> mpf:  # of the product below, but for a positive factor
        rest = p * mpmath.exp(s * a * a / 2)
        return a * a * (1 - s) * rest - (1 - p + rest)

    # It is negative, then positive, then negative: one inner maximum, the later zero.
    best = mpmath.findroot(slope, mpmath.mpf("0.88"))
    value = (1 - p + p * mpmath.exp(best * a * a / 2)) * mpmath.sqrt(1 - best)
    yield "X", "0 with probability 1 - p, +a and -a with p/2 each"
    yield from (("a", 4), ("p", "0.001"))
    yield "E exp(s X^2 / 2) sqrt(1 - s) starts at", 1
    yield "its slope at s = 0", p * a * a / 2 - mpmath.mpf(1) / 2
    yield "its inner maximum", value
    yield "attained at s", best
    yield "left: M(4)", 1 - p + p * mpmath.cosh(4 * a)
    yield "right: exp(4^2 / 2)", mpmath.exp(8)
    yield "claimed", "left <= right"


def _norms() -> Iterator[tuple[str, object]]:
    yield from (("d", "(1, 1)"), ("q", 1), ("r", 2))
    yield "left: ||d||_q", 2
    yield "right: ||d||_r", mpmath.sqrt(2)
    yield "claimed", "left <= right"


def _level() -> Iterator[tuple[str, object]]:
    alpha, d, nu = mpmath.mpf(2), mpmath.mpf(1), mpmath.mpf(-2)

    def loss(t: mpf) -> mpf:  # at gamma = 1
        rho = [
            alpha * x if x <= alpha else (x**2 + alpha**2) / 2
            for x in (abs(t + d / 2), abs(t - d / 2))
        ]
        return rho[0] - rho[1]

    up, down = points(-nu, d, alpha, mpmath.mpf(1), DECIMALS)[3]  # case (iv), nu_1 <= abs(nu)
    last = -d / 2
    yield from (("alpha", 2), ("gamma", 1), ("Delta", 1), ("nu", -2))
    yield "left: (15)", -(up + down) / 2
    yield "right: last point where the loss is at most nu", last
    yield "the loss at left", loss(-(up + down) / 2)
    yield "the loss at right", loss(last)
    yield "claimed", _CLAIM
