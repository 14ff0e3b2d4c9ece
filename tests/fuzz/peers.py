"""Gaussian and Laplace noise as public libraries account for it, where one is installed.

Both take the largest l2 or l1 norm of a difference and add the same noise to every coordinate.
dp_accounting's calibrations use exact profiles; OpenDP's Gaussian goes through zCDP, and its scales
allow for the granularity of floating-point numbers.
"""

import math

from dp_accounting.pld.common import DifferentialPrivacyParameters
from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss, LaplacePrivacyLoss

try:
    import opendp.prelude as dp
except ModuleNotFoundError:  # an extra
    dp = None
else:
    dp.enable_features("contrib")

_OPENDP_EPSILON = 0.01, 20.0  # where its accounts are tried


def _accounting(request):
    """Scales by dp_accounting."""
    budget = DifferentialPrivacyParameters(request.epsilon, request.delta)
    ball = request.sensitivity
    laplace = LaplacePrivacyLoss.from_privacy_guarantee(budget, sensitivity=ball.l1).parameter
    yield "Laplace of dp_accounting", 2.0 * laplace**2
    if request.delta > 0.0:
        gaussian = GaussianPrivacyLoss.from_privacy_guarantee(budget, sensitivity=ball.l2)
        yield "Gaussian of dp_accounting", gaussian.standard_deviation**2


def _opendp(request, square):
    """Names of OpenDP's noise for vectors that is private with this variance."""
    epsilon, delta, ball = request.epsilon, request.delta, request.sensitivity
    if dp is None or not _OPENDP_EPSILON[0] <= epsilon <= _OPENDP_EPSILON[1]:
        return
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    laplace = dp.m.make_laplace(domain, dp.l1_distance(T=float), math.sqrt(square / 2.0))
    if _private(laplace, ball.l1, epsilon):
        yield "Laplace of OpenDP"
    if delta > 0.0:
        rho = dp.m.make_gaussian(domain, dp.l2_distance(T=float), math.sqrt(square))
        gaussian = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(rho), delta)
        if _private(gaussian, ball.l2, (epsilon, delta)):
            yield "Gaussian of OpenDP"


def _private(measurement, distance, budget):
    """Whether OpenDP says so; where its bound overflows, it does not."""
    try:
        return measurement.check(distance, budget)
    except dp.OpenDPException as error:
        if error.variant != "Overflow":
            raise
        return False


def better_peers(request, variance):
    """Names of public libraries whose private noise has less than a mean variance."""
    square = variance * request.dimension / request.sensitivity.active_dimension
    found = [name for name, theirs in _accounting(request) if theirs < square]
    return [*found, *_opendp(request, square)]
