"""The bounds of vector queries against an independent account, and their own relations."""

import math

import numpy as np

from dpnoise.noise import (
    FlippedHuber,
    Gaussian,
    Huber,
    Laplace,
    OffsetSymmetricGaussian,
    Staircase,
    Subbotin,
)
from dpnoise.privacy.lattice.bounds import lattice_bounds
from dpnoise.privacy.profile import log_privacy_profile
from dpnoise.privacy.vector import vector_profile
from fuzz.draws import COPIES, FAMILIES
from fuzz.references import reference_bounds

_SLACK = 1e-9  # of log delta: ordinary floating point in the reference
_QUICK = [family for family in FAMILIES if family is not Subbotin]


def _shares(draws, *, mixed):
    """Return (noise, shift, copies); Subbotin noise, which takes long, less often."""
    if not mixed:
        family = Subbotin if draws.chance(0.02) else draws.pick(_QUICK)
        noise, shift = draws.pair(family, several=True)
        return [(noise, shift, draws.pick(COPIES))]
    families = [draws.pick(_QUICK) for _ in range(draws.pick([2, 2, 3, 4]))]
    pairs = [draws.pair(family, several=True) for family in families]
    return [(noise, shift, draws.pick([1, 1, 2, 3])) for noise, shift in pairs]


def _slack(low):
    """Return the slack for log delta: that of its double far from 0."""
    return _SLACK + (1e-13 * abs(float(low)) if math.isfinite(low) else 0.0)


def _expanded(shares):
    """Return the noises and sensitivities of all coordinates."""
    every = [(noise, shift) for noise, shift, n in shares for _ in range(n)]
    return [noise for noise, _ in every], [shift for _, shift in every]


def _compare(draws, report, shares, found, epsilon):
    """Require that the bounds of one epsilon meet the reference."""
    size = 16384 if draws.chance(0.05) else 2048
    bounds = reference_bounds(shares, epsilon, size=size)
    low, middle, high = found.log_lower, found.log_estimate, found.log_upper
    report.within(bounds, low, high, _slack(low), "independent bounds")
    report.require(low <= middle + 1e-9 <= high + 2e-9, "estimate outside the bounds")


def copies(draws, report):
    """Equal coordinates."""
    ((noise, shift, n),) = shares = _shares(draws, mixed=False)
    epsilon = draws.epsilon(shares)
    report.about(noise, copies=n)
    found = report.call(vector_profile, noise, shift, epsilon, copies=n)
    _compare(draws, report, shares, found, epsilon)


def mixtures(draws, report):
    """Different coordinates."""
    shares = _shares(draws, mixed=True)
    epsilon = draws.epsilon(shares)
    noises, shifts = _expanded(shares)
    report.about(*noises, copies=len(noises))
    found = report.call(vector_profile, noises, shifts, epsilon)
    _compare(draws, report, shares, found, epsilon)


def lattice(draws, report):
    """The in-package lattice account."""
    while True:
        shares = _shares(draws, mixed=draws.chance(0.3))
        if all(noise.log_concave for noise, _, _ in shares):
            break
    epsilon = draws.epsilon(shares)
    noises, _ = _expanded(shares)
    report.about(*noises, copies=len(noises))
    found = report.call(lattice_bounds, shares, epsilon, size=2**10)
    bounds = reference_bounds(shares, epsilon)
    report.within(bounds, *found, _slack(found.log_lower), "independent bounds")


def _ordered(report, above, below, claim):
    """Require that a delta of bounds `above` is not below one of bounds `below`."""
    low, high = float(below.log_lower), float(above.log_upper)
    report.require(high >= low - _slack(low), f"{claim}: {high!r} < {low!r}")


def monotony(draws, report):
    """delta falls with epsilon and wider noise, rises with coordinates and sensitivities."""
    ((noise, shift, n),) = shares = _shares(draws, mixed=False)
    epsilon = draws.epsilon(shares)
    report.about(noise, copies=n)

    def at(noise=noise, shift=shift, epsilon=epsilon, n=n):
        return report.call(vector_profile, noise, shift, epsilon, copies=n)

    here = at()
    step = draws.pick([1e-9, 1e-3, 0.1, 1.0])
    more = at(epsilon=epsilon + step)
    _ordered(report, here, more, f"rises with epsilon from {epsilon!r}")
    fall = float(here.lower - more.upper)
    report.require(fall <= step + 1e-12, f"falls by {fall!r} from epsilon = {epsilon!r}")
    for side in (0.0, math.inf):
        beside = at(epsilon=math.nextafter(epsilon, side) if epsilon else 0.0)
        pair = (here, beside) if side else (beside, here)
        _ordered(report, *pair, f"rises with epsilon beside {epsilon!r}")
    _ordered(report, at(n=n + 1), here, f"falls from {n} copies on")
    _ordered(report, here, at(noise=noise.scaled(1.25)), f"rises from {noise!r}")
    larger = shift * (1.0 if isinstance(noise, Staircase) else 1.25)
    _ordered(report, at(shift=larger), here, f"falls from sensitivity {shift!r} on")


def scaling(draws, report):
    """The same bounds for noise and sensitivity times a power of two, and however written."""
    ((noise, shift, n),) = shares = _shares(draws, mixed=False)
    n = min(n, 10)
    epsilon = draws.epsilon(shares)
    report.about(noise, copies=n)
    here = report.call(vector_profile, noise, shift, epsilon, copies=n)
    c = 2.0 ** int(draws.rng.integers(-20, 21))
    there = report.call(vector_profile, noise.scaled(c), c * shift, epsilon, copies=n)
    same = here.log_lower == there.log_lower and here.log_upper == there.log_upper
    claim = f"{there.log_lower, there.log_upper}, unscaled by {c!r} "
    report.require(same, claim + f"{here.log_lower, here.log_upper}")
    noises, shifts = [noise] * n, [shift] * n
    listed = report.call(vector_profile, [*noises, noise], [*shifts, 0.0], epsilon)
    bounds = float(here.log_lower), float(here.log_upper)
    report.within(bounds, listed.log_lower, listed.log_upper, 1e-12, "as copies")


def limits(draws, report):
    """Families of one name are those of another; one coordinate is the scalar profile."""
    shift, s, n = draws.size(0.1, 5.0), draws.size(0.3, 10.0), draws.pick([1, 2, 3, 5])
    pairs = [
        (FlippedHuber(0.0, s), Gaussian(s)),
        (OffsetSymmetricGaussian(0.0, s), Gaussian(s)),
        (Subbotin(1.0, s), Laplace(s)),
        (Subbotin(2.0, s), Gaussian(s)),
        (Huber(60.0, s), Gaussian(s)),
    ]
    one, other = draws.pick(pairs)
    if not draws.moderate(one, shift):
        return
    report.about(one, other, copies=n)
    epsilon = draws.epsilon([(other, shift, n)])
    a = report.call(vector_profile, other, shift, epsilon, copies=n)
    b = report.call(vector_profile, one, shift, epsilon, copies=n)
    if isinstance(one, Huber) and float(a.log_lower) < -500.0:
        return
    bounds = float(a.log_lower), float(a.log_upper)
    slack = 1e-9 + 1e-12 * np.nan_to_num(abs(bounds[0]), posinf=0.0)
    report.within(bounds, b.log_lower, b.log_upper, slack, repr(other))
    noise, shift = draws.pair(draws.pick(FAMILIES))
    epsilon = draws.epsilon([(noise, shift, 1)])
    alone = report.call(vector_profile, [noise], [shift], epsilon)
    log_delta = float(log_privacy_profile(noise, shift, epsilon))
    report.within((log_delta, log_delta), alone.log_lower, alone.log_upper, 1e-12, "the scalar")


CHECKS = {
    "vector-copies": (copies, 8.0),
    "vector-mixtures": (mixtures, 3.0),
    "vector-lattice": (lattice, 1.0),
    "vector-monotony": (monotony, 2.0),
    "vector-scaling": (scaling, 1.0),
    "vector-limits": (limits, 1.0),
}
