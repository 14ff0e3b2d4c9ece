"""Noise families against their definitions at 60 digits, and their exact symmetries."""

import math

import mpmath as mp
import numpy as np

from dpnoise.noise import (
    DiscreteGaussian,
    FlippedHuber,
    Gaussian,
    Huber,
    KNorm,
    Laplace,
    OffsetSymmetricGaussian,
    Staircase2D,
    Subbotin,
    TruncatedLaplace,
    flipped_huber_variance,
)
from exact_noise import exact_noise
from fuzz.draws import FAMILIES

_TOLERANCE = 1e-12
_DOUBLES = 1.7e308  # the largest


def _off(value, exact):
    """Return the relative error, absolute where the exact value is below 1."""
    if mp.isinf(exact) or exact < -_DOUBLES:
        return 0.0 if value == -math.inf else math.inf
    return float(abs(mp.mpf(float(value)) - exact) / max(abs(exact), 1))


def moments(draws, report):
    """Variance, mean absolute value and Fisher information."""
    noise, _ = draws.pair(draws.pick(FAMILIES))
    report.about(noise)
    with mp.workdps(60):
        exact = exact_noise(noise)
        for method, truth in (
            ("var", exact.variance()),
            ("mean_abs", exact.mean_abs()),
            ("fisher_information", exact.fisher()),
        ):
            value = report.call(getattr(noise, method))
            off = 0.0 if mp.isinf(truth) and value == math.inf else abs(value / truth - 1)
            claim = f"{noise!r}.{method}() is {value!r}, exactly {mp.nstr(truth, 17)}"
            report.require(off <= _TOLERANCE, claim)
    if isinstance(noise, FlippedHuber):
        value = report.call(flipped_huber_variance, noise.alpha, noise.gamma)
        off = abs(value / noise.var() - 1.0)
        report.require(off <= _TOLERANCE, f"{noise!r}.var() is {noise.var()!r}")


def densities(draws, report):
    """Density and tail at one point, anywhere down to a tail of 1e-300."""
    noise, shift = draws.pair(draws.pick(FAMILIES))
    report.about(noise)
    with mp.workdps(60):
        exact = exact_noise(noise)
        special = [shift, *exact.seams[:4]]
        if draws.chance(0.5):
            t = draws.near(draws.pick(special), 0.5)
        else:
            t = float(report.call(noise.isf, 10.0 ** -draws.rng.uniform(0.31, 300.0)))
        if t >= noise.bound:
            return
        for method, truth in (("logpdf", exact.log_density), ("logsf", exact.log_tail)):
            value, at = report.call(getattr(noise, method), t), truth(mp.mpf(t))
            # What one rounding of t does: at the seams of a staircase it is a whole step.
            blur = max(abs(at - truth(mp.mpf(t) * (1 + s * mp.mpf(2) ** -51))) for s in (-1, 1))
            claim = f"{noise!r}.{method}({t!r}) is {value!r}, exactly {mp.nstr(at, 17)}"
            report.require(_off(value, at) <= _TOLERANCE + blur / max(abs(at), 1), claim)


def quantiles(draws, report):
    """Quantiles invert the tail, and are odd; probabilities are symmetric."""
    noise, shift = draws.pair(draws.pick(FAMILIES))
    report.about(noise)
    p = (
        draws.pick([0.5, 0.25, 0.1, 1e-3, 1e-10])
        if draws.chance(0.5)
        else draws.between(1e-300, 0.5)
    )
    t = float(report.call(noise.isf, p))
    claim = f"{noise!r}.isf({p!r}) is {t!r}"
    above, below = (float(noise.sf(t * (1.0 + s))) for s in (1e-12, -1e-12))
    report.require(above * (1 - 1e-11) <= p <= below * (1 + 1e-11), f"{claim}, sf {above, below}")
    report.require(report.call(noise.ppf, p) == -t, f"{claim}, ppf differs")
    x = np.array([0.0, shift, draws.size(), t, 2.0 * t])
    cdf, sf, pdf = (report.call(f, x) for f in (noise.cdf, noise.sf, noise.pdf))
    text = f"{noise!r} at {x.tolist()}"
    report.require(np.array_equal(noise.cdf(-x), sf), f"{text}: cdf(-t) is not sf(t)")
    report.require(np.array_equal(noise.pdf(-x), pdf), f"{text}: pdf(-t) is not pdf(t)")
    report.require(np.all(np.abs(cdf + sf - 1.0) <= 4e-15), f"{text}: cdf + sf is not 1")
    report.require(np.all(np.diff(noise.sf(np.sort(x))) <= 1e-15), f"{text}: sf rises")


def scaling(draws, report):
    """`scaled(c)` is the distribution of c T: exactly for powers of two."""
    noise, shift = draws.pair(draws.pick(FAMILIES))
    report.about(noise)
    exact = draws.chance(0.6)
    c = 2.0 ** int(draws.rng.integers(-20, 21)) if exact else draws.between(1e-6, 1e6)
    wide = report.call(noise.scaled, c)
    x = np.array([0.3 * shift, shift, 2.5 * noise.mean_abs()])
    slack = 1e-13 if exact else 1e-11
    text = f"{noise!r}.scaled({c!r}) at {x.tolist()}"
    inside = np.abs(x / noise.bound - 1.0) > 1e-12
    # At a jump of the density the two may fall on different sides.
    if type(noise).__name__ != "Staircase":
        here, there = noise.logpdf(x)[inside], wide.logpdf(c * x)[inside] + math.log(c)
        same = np.isneginf(here) == np.isneginf(there)
        report.require(same.all(), f"{text}: support")
        some = np.isfinite(here)
        near = np.abs(here[some] - there[some]) <= slack * (5.0 + np.abs(here[some]))
        report.require(near.all(), f"{text}: logpdf {here}, {there}")
    report.require(abs(wide.var() / noise.var() / c / c - 1.0) <= 1e-11, f"{text}: var")
    report.require(abs(wide.mean_abs() / noise.mean_abs() / c - 1.0) <= 1e-11, f"{text}: mean")


def limits(draws, report):
    """Families meet where their parameters say so."""
    s, t = draws.size(), draws.size() * np.array([0.0, 0.5, 1.0, 4.0])
    far, tiny = 1e9, 1e-9
    pairs = [
        (FlippedHuber(0.0, s), Gaussian(s), 1e-12),
        (OffsetSymmetricGaussian(0.0, s), Gaussian(s), 1e-12),
        (Subbotin(1.0, s), Laplace(s), 1e-12),
        (Subbotin(2.0, s), Gaussian(s), 1e-12),
        (Huber(50.0, s), Gaussian(s), 1e-12),
        (Huber(tiny, tiny * s), Laplace(s), 1e-6),
        (TruncatedLaplace(s, 800.0 * s), Laplace(s), 1e-12),
        (FlippedHuber(tiny * s, s), Gaussian(s), 1e-6),
        (FlippedHuber(far * s, math.sqrt(far) * s), Laplace(s), 1e-6),
        (OffsetSymmetricGaussian(far * s, math.sqrt(far) * s), Laplace(s), 1e-6),
    ]
    one, other, slack = draws.pick(pairs)
    report.about(one, other)
    for method in ("logpdf", "logsf"):
        a, b = getattr(one, method)(t), getattr(other, method)(t)
        # Beyond, the tails of a limit differ.
        with np.errstate(invalid="ignore"):
            near = np.abs(a - b) <= slack * (1.0 + np.abs(b)) * (1.0 + (t / s) ** 2)
        text = f"{one!r} and {other!r} at {t.tolist()}: {method} {a}, {b}"
        report.require(np.all(near | (t > 40.0 * s)), text)
    report.require(abs(one.var() / other.var() - 1.0) <= 10 * slack, f"{one!r}, {other!r}: var")


def lattices(draws, report):
    """Discrete Gaussian noise against sums; vector noise against its own normaliser."""
    if draws.chance(0.6):
        sigma = (
            draws.pick([0.25, 0.5, 1.0, 1.5, 2.0, 16.0])
            if draws.chance(0.5)
            else (draws.between(0.05, 40.0))
        )
        noise = DiscreteGaussian(draws.near(sigma))
        report.about(noise)
        k = int(draws.rng.integers(0, 3 + int(10 * sigma)))
        with mp.workdps(40):
            exact = exact_noise(noise)
            for method, at, truth in (
                ("logpmf", k, mp.log(exact.pmf(k))),
                ("logsf", k, mp.log(exact.tail(k))),
            ):
                value = report.call(getattr(noise, method), at)
                claim = f"{noise!r}.{method}({at}) is {value!r}, exactly {mp.nstr(truth, 17)}"
                report.require(_off(value, truth) <= 4e-12, claim)
            off = abs(noise.var() / exact.moment(2) - 1)
            report.require(off <= _TOLERANCE, f"{noise!r}.var()")
        return
    K, s = draws.pick([1, 2, 3, 10]), draws.size()
    if draws.chance(0.5):
        noise = KNorm(draws.pick([1, 2, math.inf]), K, s)
        x = s * draws.rng.standard_normal(K)
        ball = {
            1.0: 2.0**K / math.factorial(K),
            2.0: math.pi ** (K / 2) / math.gamma(K / 2 + 1),
            math.inf: 2.0**K,
        }[noise.norm]
        size = float(np.linalg.norm(x, ord=noise.norm))
        truth = -size / s - math.log(math.factorial(K) * ball) - K * math.log(s)
        unit = KNorm(noise.norm, K, 1.0)
    else:
        e, gamma = draws.between(0.1, 5.0), draws.rng.uniform(0.01, 0.99)
        noise, unit = Staircase2D(e, s, gamma), Staircase2D(e, 1.0, gamma)
        x = s * draws.rng.standard_normal(2)
        shells, step = abs(x[0]) + abs(x[1]), np.arange(int(60 / e) + 2)
        # The area of the l1 ball of radius r is 2 r^2.
        inner, outer = 2 * (step * s) ** 2, 2 * ((step + 1) * s) ** 2
        middle = 2 * ((step + gamma) * s) ** 2
        area = np.exp(-e * step) * ((middle - inner) + math.exp(-e) * (outer - middle))
        k, f = divmod(shells / s, 1.0)
        truth = -e * (k + (f >= gamma)) - math.log(area.sum())
    report.about(noise, copies=len(x))
    value = report.call(noise.logpdf, x)
    report.require(abs(value - truth) <= 1e-11 * (1 + abs(truth)), f"{noise!r}: exactly {truth!r}")
    for method in ("var", "mean_abs"):
        power = 2 if method == "var" else 1
        ratio = getattr(noise, method)() / getattr(unit, method)() / s**power
        report.require(abs(ratio - 1.0) <= 1e-11, f"{noise!r}.{method}(): ratio {ratio!r} to unit")


CHECKS = {
    "noise-moments": (moments, 0.5),
    "noise-densities": (densities, 0.7),
    "noise-quantiles": (quantiles, 0.2),
    "noise-scaling": (scaling, 0.2),
    "noise-limits": (limits, 0.2),
    "noise-lattices": (lattices, 0.3),
}
