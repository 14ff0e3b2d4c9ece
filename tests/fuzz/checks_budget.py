"""Everything that is handed out for a budget, certified by an account it was not made with."""

import math

import mpmath as mp
import numpy as np

from dpnoise.allocation.allocate import allocate
from dpnoise.calibration.calibrate import calibrate
from dpnoise.noise import (
    FlippedHuber,
    Gaussian,
    Huber,
    Laplace,
    OffsetSymmetricGaussian,
    Staircase,
    Subbotin,
    TruncatedLaplace,
)
from dpnoise.privacy.gaussian import classical_gaussian_sigma, gaussian_sigma
from exact_noise import exact_noise
from fuzz.draws import FAMILIES, SMALL
from fuzz.references import reference_bounds

_SLACK = 1e-10  # of log delta: ordinary floating point in the reference
_WITH_BOTH_LIMITS = (FlippedHuber, OffsetSymmetricGaussian, Huber, Subbotin)


def _budget(draws):
    """Return epsilon and delta, round more often than not."""
    epsilon = (
        draws.pick([0.01, 0.1, 0.3, *SMALL[:9]])
        if draws.chance(0.6)
        else (draws.between(1e-3, 20.0))
    )
    if draws.chance(0.03):
        return 0.0, max(draws.delta(), 1e-4)
    return draws.near(epsilon), draws.delta()


def _private(report, shares, epsilon, delta, text):
    """Require (epsilon, delta)-DP by the independent account: 60 digits for one coordinate."""
    bar = math.log(delta) if delta > 0.0 else -math.inf
    if len(shares) == 1 and shares[0][2] == 1 and not isinstance(shares[0][0], Staircase):
        noise, shift, _ = shares[0]
        with mp.workdps(60):
            exact = exact_noise(noise).log_delta(shift, epsilon)
            # log delta of a double is rounded.
            ok = exact <= bar + 4e-16 * abs(bar) if delta else exact == -mp.inf
            found = mp.nstr(exact, 17)
    elif delta == 0.0:
        bounds = reference_bounds(shares, epsilon * (1.0 + 1e-12))
        ok, found = bounds[1] == -math.inf, bounds
    else:
        bounds = reference_bounds(shares, epsilon)
        ok, found = bounds[0] <= bar + _SLACK, bounds
    report.require(ok, f"log delta of {shares} at {epsilon!r} is {found}, allowed {bar!r}", text)


def check_gaussian_sigma(draws, report):
    """Never below the truth, and not above it by more than documented."""
    epsilon, delta = _budget(draws)
    if draws.chance(0.3):
        delta = 10.0 ** -draws.rng.uniform(0, 299)
    sensitivity = draws.size()
    report.about(Gaussian(1.0))
    sigma = float(report.call(gaussian_sigma, epsilon, delta, sensitivity))
    with mp.workdps(60):
        bar = mp.log(mp.mpf(delta))
        at = exact_noise(Gaussian(sigma)).log_delta(sensitivity, epsilon)
        report.require(at <= bar, f"{sigma!r} has delta {mp.nstr(mp.exp(at), 17)}")
        less = exact_noise(Gaussian(sigma * (1.0 - 1e-12))).log_delta(sensitivity, epsilon)
        report.require(less > bar, f"{sigma!r} is too large")
    if 0.0 < epsilon < 1.0:
        classical = report.call(classical_gaussian_sigma, epsilon, delta, sensitivity)
        report.require(classical >= sigma, f"{classical!r} is below the exact {sigma!r}")


def _limits(kind, epsilon, delta, sensitivity, dimension):
    """Return the variances of the limits of a family, by closed forms."""
    found = []
    if kind in _WITH_BOTH_LIMITS:
        sigma = float(gaussian_sigma(epsilon, delta)) * math.sqrt(dimension)
        found.append((sigma * sensitivity) ** 2)
    if kind in (*_WITH_BOTH_LIMITS, TruncatedLaplace, Laplace) and epsilon > 0.0:
        rate = epsilon / dimension
        if dimension == 1:
            rate = epsilon - 2.0 * math.log1p(-delta)
        found.append(2.0 * (sensitivity / rate) ** 2)
    return found


def check_calibrate(draws, report):
    """The noise is private, its variance its own and not above that of a limit."""
    kind = draws.pick(FAMILIES)
    epsilon, delta = _budget(draws)
    sensitivity = 1.0 if draws.chance(0.5) else draws.size()
    dimension = draws.pick([1, 1, 1, 1, 2, 3, 5, 20])
    options = {}
    if kind is Subbotin:
        dimension = 1
    if kind in (Laplace, Huber, Subbotin, Staircase) and draws.chance(0.1):
        delta = 0.0
    if epsilon == 0.0 and (delta == 0.0 or kind is Staircase):
        epsilon = 1.0
    if kind is FlippedHuber and draws.chance(0.2) and epsilon > 0.0:
        options = {"method": "sufficient"}
    elif kind in (FlippedHuber, OffsetSymmetricGaussian) and draws.chance(0.3):
        box = ((0.25, 4.0), (0.5, 8.0)) if draws.chance(0.5) else ((1.0, 5.0), (1.0, 3.0))
        options, dimension = {"method": "grid", "box": box, "resolution": (9, 9)}, 1
    report.about(kind.__name__, copies=dimension)
    try:
        found = report.call(
            calibrate,
            _NAMES[kind],
            epsilon=epsilon,
            delta=delta,
            sensitivity=sensitivity,
            dimension=dimension,
            **options,
        )
    except ValueError:
        if options.get("method") == "grid":  # nothing in the box is private
            report.skipped[report.check] += 1
            return
        raise
    text = report.last
    shares = [(found.noise, sensitivity, dimension)]
    _private(report, shares, epsilon, found.delta, text)
    report.require(found.delta <= delta, f"delta {found.delta!r} exceeds {delta!r}", text)
    var = found.noise.var()
    report.require(found.variance == var, f"variance {found.variance!r}, {var!r}", text)
    report.require(found.infimum <= var * (1.0 + 1e-12), f"infimum {found.infimum!r}", text)
    if options or delta == 0.0:  # other methods are not the least of the family
        return
    for limit in _limits(kind, epsilon, delta, sensitivity, dimension):
        claim = f"{found!r} is worse than a limit of the family, {limit!r}"
        report.require(found.infimum <= limit * (1.0 + 1e-9), claim, text)
        report.require(var <= limit * (1.0 + 1e-6), claim, text)


_NAMES = {
    Gaussian: "gaussian",
    Laplace: "laplace",
    FlippedHuber: "flipped-huber",
    OffsetSymmetricGaussian: "offset-symmetric-gaussian",
    Staircase: "staircase",
    TruncatedLaplace: "truncated-laplace",
    Subbotin: "subbotin",
    Huber: "huber",
}


def check_allocate(draws, report):
    """The scales keep the budget; the optimal ones are not worse than the simple ones."""
    epsilon, delta = _budget(draws)
    many = draws.pick([1, 2, 2, 3, 5, 8])
    lambdas = [draws.size(0.05, 5.0) for _ in range(many)]
    if draws.chance(0.2):
        lambdas[0] = 0.0
    kind = draws.pick([Gaussian, Gaussian, Laplace, Laplace, FlippedHuber, Huber])
    noise = kind(1.0) if kind in (Gaussian, Laplace) else kind(draws.pick(SMALL), draws.pick(SMALL))
    pure = kind in (Laplace, Huber) and draws.chance(0.5)
    if pure:
        epsilon, delta = max(epsilon, 0.1), 0.0
    p = draws.pick([1.0, 2.0, 2.0, 4.0])
    weights = [draws.pick([0.5, 1.0, 2.0]) for _ in lambdas] if draws.chance(0.3) else None
    compositions = draws.pick([1, 1, 2, 5])
    report.about(noise, copies=many * compositions)
    errors = {}
    for scheme in ("optimal", "iid", "spr"):
        scales = report.call(
            allocate,
            lambdas,
            noise=noise,
            scheme=scheme,
            epsilon=epsilon,
            delta=delta,
            p=p,
            weights=weights,
            compositions=compositions,
        )
        text = report.last
        zero = np.asarray(lambdas) == 0.0
        report.require(np.array_equal(scales == 0.0, zero), f"scales {scales.tolist()}", text)
        errors[scheme] = float(np.sum(np.where(zero, 0.0, scales**p) * (weights or 1.0)))
        shares = [
            (noise.scaled(float(s)), d, compositions)
            for s, d in zip(scales, lambdas, strict=True)
            if d > 0.0
        ]
        if shares:
            _private(report, shares, epsilon, delta, text)
    best, others = errors["optimal"], min(errors["iid"], errors["spr"])
    report.require(best <= others * (1.0 + 1e-5), f"{errors}: 'optimal' is not the least")


CHECKS = {
    "budget-gaussian": (check_gaussian_sigma, 0.5),
    "budget-calibrate": (check_calibrate, 4.0),
    "budget-allocate": (check_allocate, 2.0),
}
