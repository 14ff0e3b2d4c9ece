"""The bounds of vector queries against an independent account, and their own relations."""

import math

from dpnoise.noise import (
    Subbotin,
)
from dpnoise.privacy.lattice.bounds import lattice_bounds
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


CHECKS = {
    "vector-copies": (copies, 8.0),
    "vector-mixtures": (mixtures, 3.0),
    "vector-lattice": (lattice, 1.0),
}
