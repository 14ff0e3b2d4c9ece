"""Flipped Huber noise of flipped-huber-2023: densities, losses, profiles and the tests of them.

Figure 1 shows densities, equation (8), for several transition parameters alpha and
scales gamma, which the paper does not print. Figure 2 shows the normalised Fisher information, the
product of Fisher information (12) and variance (11), which depends on alpha/gamma alone.

The centred privacy loss for a shift d is log g(t - d/2) - log g(t + d/2). Figure 5 shows it
for flipped Huber noise with its affine bound (18), Figure 7 for four mechanisms at one scale,
and Figure 6 what the losses amount to: privacy profiles at one variance.

Table I has the five regimes of the exact condition. Each is hit with random parameters. The
table's t1 and t2 are put into the privacy loss and into the intervals printed for them, the
printed profile (13) is evaluated literally with mpmath, and ours, which does not use it, is
compared. Where two regimes meet, both printed expressions are evaluated at the common border.
(13) cancels: a profile of 1e-200 is a difference of numbers near 1/2. With `_DIGITS` digits
more than 50 remain, and what is stored is their rounding.

In K dimensions Algorithm 2, as published and corrected, stands beside the exact profile. It builds
the K-dimensional privacy profile one coordinate at a time, on a set of grid points for epsilon. Its
line 4 is printed as

    delta_k(nu) <- integral of g(t) delta_{k-1}(epsilon - loss(t)) dt,

whose right-hand side does not depend on nu: every delta_k is then a constant and stays at the
value of K = 2. With nu for epsilon it is the recursion that is meant, but it asks for
delta_{k-1} at negative arguments and between grid points, of which the paper says nothing.
Negative arguments follow from those it has, delta(-x) = 1 - e^-x + e^-x delta(x).

Four variants are run: `printed`; `clamped` and `zero` use nu, with grid points at nu >= 0 only
and delta(0) or 1 below them; `corrected` uses nu and the reflection. All interpolate linearly,
which lies above a convex profile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import mpmath
import numpy as np
import pandas as pd
import scipy  # its optimize, 0.2 s, loads where it is used

from dpnoise.noise import FlippedHuber, Gaussian, Laplace, Noise, OffsetSymmetricGaussian
from dpnoise.privacy.profile import privacy_profile
from dpnoise.privacy.vector import vector_profile
from dpnoise_papers.flipped_huber_2023.as_printed import (
    CASES,
    DECIMALS,
    intervals,
    points,
    profiles,
    ranges,
)
from dpnoise_papers.pages import describe
from dpnoise_papers.seeds import generator
from dpnoise_papers.settings import symmetric, values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpmath import mpf

    from dpnoise._types import Array
    from dpnoise_papers.flipped_huber_2023.settings import (
        Algorithm2,
        Densities,
        FisherInformation,
        LossAndBound,
        LossesAtOneScale,
        ProfilesAtOneVariance,
        PublishedCases,
    )


_DIGITS = 400
_SLACK = mpmath.mpf(10) ** -50  # in units of Delta; a border is met up to the rounding of a root
# alpha / Delta from which a regime, or a border between two, is drawn.
_RATIOS = {
    "i": (0.0, 0.5), "ii": (0.5, 5.0), "iii": (0.0, 1.0), "iv": (0.0, 5.0), "v": (0.0, 5.0),
    "i-iii": (0.0, 0.5), "ii-iii": (0.5, 1.0), "ii-iv": (1.0, 5.0), "iii-iv": (0.0, 1.0),
    "iv-v": (0.0, 5.0),
}  # fmt: skip
_STEEPEST = 20.0  # alpha / gamma; the profile is above 1e-250 then


def densities(settings: Densities) -> pd.DataFrame:
    """Flipped Huber densities on a common grid (Figure 1).

    Columns alpha, gamma, t, density and transition (1 where abs(t) = alpha, else 0), sorted by
    density and t.
    """
    half_width = settings.half_width
    grid = np.linspace(-half_width, half_width, settings.points)
    parts = []
    for alpha, gamma in settings.parameters:
        marks = [-alpha, alpha] if 0 < alpha <= half_width else []
        t = np.union1d(grid, marks)
        columns = {"alpha": float(alpha), "gamma": float(gamma), "t": t}
        columns["density"] = FlippedHuber(alpha, gamma).pdf(t)
        columns["transition"] = np.isin(t, marks).astype(int)
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def fisher_information(settings: FisherInformation) -> pd.DataFrame:
    """Normalised Fisher information against alpha/gamma (Figure 2).

    Columns mechanism, ratio (alpha/gamma), variance_over_gamma2 (variance in units of gamma^2),
    fisher_information_times_gamma2 and nfi. The mechanism is flipped-huber, once per ratio, then
    gaussian and laplace, once each, for which only nfi has a value.
    """
    rows = []
    for ratio in (0.0, *values(settings.ratios).tolist()):
        noise = FlippedHuber(ratio, 1.0)
        variance, information = noise.var(), noise.fisher_information()
        rows.append(("flipped-huber", ratio, variance, information, variance * information))
    ends: dict[str, Noise] = {"gaussian": Gaussian(1.0), "laplace": Laplace(1.0)}
    for name, end in ends.items():
        rows.append((name, np.nan, np.nan, np.nan, end.var() * end.fisher_information()))
    columns = ["mechanism", "ratio", "variance_over_gamma2", "fisher_information_times_gamma2"]
    return pd.DataFrame(rows, columns=[*columns, "nfi"])


def loss_and_bound(settings: LossAndBound) -> pd.DataFrame:
    """Centred losses of flipped Huber noise and their affine bounds (Figure 5).

    Columns alpha, gamma, d, t, loss, bound and ridge (1 at t = d/2, where the two touch).
    """
    alpha, gamma = settings.alpha, settings.gamma
    noise = FlippedHuber(alpha, gamma)
    parts = []
    for d in settings.shifts:
        edge = alpha + d / 2 + settings.margin
        t = symmetric(edge, settings.points, [d / 2, abs(alpha - d / 2), alpha + d / 2])
        excess = alpha**2 - max(alpha - d, 0.0) ** 2
        columns = {"alpha": noise.alpha, "gamma": noise.gamma, "d": d, "t": t}
        columns["loss"] = _centred_loss(noise, t, d)
        columns["bound"] = (t * d + excess / 2) / gamma**2
        columns["ridge"] = (t == d / 2).astype(int)
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def losses_at_one_scale(settings: LossesAtOneScale) -> pd.DataFrame:
    """Centred losses of four mechanisms with one scale parameter (Figure 7).

    alpha and theta are not printed. Ours equal the scale s: then the Laplace noise that
    Appendix E-B says is the other half of the offset-symmetric Gaussian's loss, with scale
    s^2 / theta, has scale s as well, and all four are comparable.

    Columns mechanism, t, loss and noise.
    """
    scale, shift = settings.scale, settings.shift
    noises: dict[str, Noise] = {
        "gaussian": Gaussian(scale),
        "laplace": Laplace(scale),
        "offset-symmetric-gaussian": OffsetSymmetricGaussian(scale, scale),
        "flipped-huber": FlippedHuber(scale, scale),
    }
    hinges = [shift / 2, abs(scale - shift / 2), scale + shift / 2]
    t = symmetric(settings.half_width, settings.points, hinges)
    parts = [
        pd.DataFrame({"mechanism": name, "t": t, "loss": _centred_loss(noise, t, shift),
                      "noise": describe(noise)})
        for name, noise in noises.items()
    ]  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def profiles_at_one_variance(settings: ProfilesAtOneVariance) -> pd.DataFrame:
    """Privacy profiles of three mechanisms with one variance (Figure 6).

    Columns epsilon, mechanism, delta and noise.
    """
    variance, scale = settings.variance, settings.scale
    noises: dict[str, Noise] = {
        "gaussian": Gaussian(variance**0.5),
        "offset-symmetric-gaussian": _at_variance(OffsetSymmetricGaussian, scale, variance),
        "flipped-huber": _at_variance(FlippedHuber, scale, variance),
    }
    grid = values(settings.epsilons)
    parts = [
        pd.DataFrame({"epsilon": grid, "mechanism": name,
                      "delta": privacy_profile(noise, settings.sensitivity, grid),
                      "noise": describe(noise)})
        for name, noise in noises.items()
    ]  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def _at_variance(
    family: type[FlippedHuber | OffsetSymmetricGaussian], scale: float, variance: float
) -> Noise:
    """Noise of a two-parameter family with this scale and variance.

    Its variance falls from scale^2 to 0 as the first parameter, in units of the scale, grows;
    the Laplace limit, with variance 2 scale^2 / ratio^2, bounds that of both families above.
    """

    def excess(ratio: float) -> float:
        return family(ratio * scale, scale).var() - variance

    top = 2.0 * scale / variance**0.5
    return family(scipy.optimize.brentq(excess, 0.0, top, xtol=1e-15, rtol=1e-15) * scale, scale)


def _centred_loss(noise: Noise, t: Array, d: float) -> Array:
    """Privacy loss for a shift d, centred."""
    return noise.logpdf(t - d / 2) - noise.logpdf(t + d / 2)


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


VARIANTS = ("printed", "clamped", "zero", "corrected")
_TAIL = 1e-25  # the integral stops where this much noise is left


def algorithm_2(settings: Algorithm2) -> pd.DataFrame:
    """Delta by Algorithm 2 for some flipped Huber noises, and the exact delta.

    Per case: alpha, gamma, dimension, epsilon, variance, lower and upper (the exact delta), and for
    each variant its delta, `<variant>_error`, relative to the exact delta, and `<variant>_off`, the
    size of that error.
    """
    rows = []
    for alpha, gamma, dimension, epsilon in settings.cases:
        noise = FlippedHuber(alpha, gamma)
        exact = vector_profile(noise, 1.0, epsilon, copies=dimension)
        row: dict[str, float | Array] = {"alpha": alpha, "gamma": gamma, "dimension": dimension}
        row |= {"epsilon": epsilon, "variance": noise.var()}
        row |= {"lower": exact.lower, "upper": exact.upper}
        nu = np.linspace(0.0, settings.grid_factor * epsilon, settings.grid_points)
        for variant in VARIANTS:
            delta = iterate(noise, dimension, epsilon, nu=nu, nodes=settings.nodes, variant=variant)
            error = delta / exact.estimate - 1.0
            row |= {variant: delta, f"{variant}_error": error, f"{variant}_off": abs(error)}
        rows.append(row)
    return pd.DataFrame(rows)


def iterate(
    noise: FlippedHuber, dimension: int, epsilon: float, *, nu: Array, nodes: int, variant: str
) -> float:
    """Value of delta_K(epsilon) by one variant of Algorithm 2, sensitivity 1.

    Parameters
    ----------
    noise : FlippedHuber
        The noise of each coordinate.
    dimension : int
        K.
    epsilon : float
        Where the profile is wanted.
    nu : ndarray, shape (n,)
        The set of grid points, from 0 upwards.
    nodes : int
        Points of the trapezoidal rule in t, beside a twentieth as many between -1 and 0.
    variant : {"printed", "clamped", "zero", "corrected"}
        See the module's text.
    """
    end = noise.isf(_TAIL)
    # the loss turns at -1 and 0, and between them it may fall from end to end within one step
    t = np.union1d(np.linspace(-end - 1.0, end, nodes), np.linspace(-1.0, 0.0, nodes // 20 + 2))
    steps = np.diff(t)
    mass = noise.pdf(t) * 0.5 * (np.append(steps, 0.0) + np.append(0.0, steps))
    loss = noise.logpdf(t) - noise.logpdf(t + 1.0)
    delta = privacy_profile(noise, 1.0, nu)
    argument = (epsilon if variant == "printed" else nu[:, None]) - loss
    if variant == "printed" and dimension > 1:  # constant from K = 2 on
        return float(_interpolated(argument, nu, delta, variant) @ mass)
    for _ in range(dimension - 1):
        delta = _interpolated(argument, nu, delta, variant) @ mass
    return float(np.interp(epsilon, nu, delta))


def _interpolated(x: Array, nu: Array, delta: Array, variant: str) -> Array:
    """Interpolate delta at any x from its values at nu >= 0."""
    if variant == "clamped":
        return np.interp(x, nu, delta, right=0.0)
    if variant == "zero":
        return np.interp(x, nu, delta, left=1.0, right=0.0)
    value = np.interp(np.abs(x), nu, delta, right=0.0)
    below = np.minimum(x, 0.0)
    return np.where(x < 0, -np.expm1(below) + np.exp(below) * value, value)
