"""Sensitivity and noise scales of a second-moment matrix, by diagonal and off-diagonal entries.

The query is the sum of x x' over samples with |x|_2 <= 1; its upper triangle is released with
independent noise and mirrored ("Analyze Gauss", Dwork, Talwar, Thakurta & Zhang, STOC 2014;
Muthukrishnan & Kalyani 2024, section VI-B). Let D be the difference of two neighbouring answers,
s the scale of the diagonal noise, t that of the off-diagonal noise. Everything rests on

    loss_q = sup over neighbours of (sum_i |D_ii / s|^q + sum_{i<j} |D_ij / t|^q)^(1/q),

which is mu for Gaussian noise (q = 2) and the exact epsilon for Laplace noise (q = 1).

Add or remove one sample: D = +-x x', and with p_i = x_i^2 (the sup is at |x| = 1)

    q = 2: (1 - c)/(2 t^2) + c/s^2 with c = sum p_i^2 in [1/M, 1]: linear in c, so its maximum is at
           an end: x = e_1 or x flat, that is |x_i| = 1/sqrt(M);
    q = 1: 1/s + ((sum |x_i|)^2 - 1)/(2 t), maximal at the flat x: 1/s + (M - 1)/(2 t).

Replace one sample: D = x x' - y y', |D|_F^2 = |x|^4 + |y|^4 - 2 (x'y)^2 <= 2, and for M >= 2

    q = 2: |D|_F^2/(2 t^2) + (1/s^2 - 1/(2 t^2)) sum D_ii^2, with sum D_ii^2 between 0, at
           x, y = (e_1 +- e_2)/sqrt 2, and |D|_F^2, at x, y = e_1, e_2: max(2/s^2, 1/t^2);
    q = 1: sum_ij W_ij |D_ij| with W_ii = 1/s and W_ij = 1/(2 t), by Cauchy-Schwarz at most
           |W|_F |D|_F <= sqrt 2 |W|_F. For even M there are x and y, constant on either half of
           the features, with all |D_ij| = sqrt 2 / M: within 0.5 % of the bound at s = t, M = 100.

With one entry (M = 1), x^2 - y^2 lies in [-1, 1], as when a sample is added.

The minimum expected squared error of the whole matrix, proportional to M s^2 + M (M - 1) t^2, is
then at t = s/sqrt 2 for Gaussian noise, with s = 1/mu or sqrt 2/mu: the off-diagonal variance is
half of the diagonal one. (Adding: let u = 1/(mu s)^2 <= 1; the error M/u + M (M-1)^2/(2 (M - u)) is
convex in u and still falls at u = 1.) For Laplace noise it is at t = s/2^(1/3) (adding) and, under
the bound of Cauchy-Schwarz, at t = s/sqrt 2 (replacing).
"""

from __future__ import annotations

import math

from dpnoise.calibration.gaussian import gaussian_sigma

ALLOCATIONS = ("optimal", "iid")
NEIGHBOURING = ("replace-one", "add-remove")
NOISES = ("gaussian", "laplace")
_UP = 1.0 + 2.0**-48  # more than the rounding of the few operations below


def maximum_loss(
    features: int, diagonal: float, off_diagonal: float, *, noise: str, neighbouring: str
) -> float:
    """Maximum privacy loss: the weighted distance of two neighbouring second-moment matrices.

    For Gaussian noise of standard deviations s and t it is mu, exactly. For Laplace noise of scales
    s and t it is the exact epsilon of add-remove, and an upper bound of that of replace-one.
    """
    M, a, b = features, 1.0 / diagonal, 1.0 / off_diagonal
    single = neighbouring == "add-remove" or M == 1
    if noise == "gaussian":
        if single:
            flat = a * a / M + 0.5 * b * b * (1.0 - 1.0 / M)
            return math.sqrt(max(a * a, flat))
        return max(math.sqrt(2.0) * a, b)
    added = a + 0.5 * (M - 1) * b
    if single:
        return added
    cauchy = math.sqrt(2.0 * M * a * a + 0.5 * M * (M - 1) * b * b)
    return min(cauchy, 2.0 * added)


def second_moment_scales(
    features: int,
    *,
    noise: str,
    allocation: str,
    neighbouring: str,
    epsilon: float,
    delta: float,
) -> tuple[float, float]:
    """Scales of the noise on and off the diagonal that keep a privacy budget, rounded up.

    They are sigma (Gaussian) or beta (Laplace, epsilon-DP at delta = 0) for samples of l2 norm at
    most 1. The "optimal" allocation has the minimum expected squared error of the whole matrix,
    "iid" has equal scales.
    """
    ratio = 1.0
    if allocation == "optimal":
        halved = noise == "gaussian" or (neighbouring == "replace-one" and features > 1)
        ratio = math.sqrt(0.5) if halved else 0.5 ** (1.0 / 3.0)
    unit = float(gaussian_sigma(epsilon, delta)) if noise == "gaussian" else 1.0 / epsilon
    # One feature has no off-diagonal entries: the formulas hold for any off-diagonal scale.
    scale = maximum_loss(features, 1.0, ratio, noise=noise, neighbouring=neighbouring) * unit * _UP
    return scale, scale * ratio * _UP
