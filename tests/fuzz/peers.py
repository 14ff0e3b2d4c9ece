"""Gaussian and Laplace noise as public libraries calibrate it, where one is installed.

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

_OPENDP_EPSILON = 0.01, 20.0  # beyond, its search for a scale may find no bracket


def _accounting(request):
    """Scales by dp_accounting."""
    budget = DifferentialPrivacyParameters(request.epsilon, request.delta)
    ball = request.sensitivity
    laplace = LaplacePrivacyLoss.from_privacy_guarantee(budget, sensitivity=ball.l1).parameter
    yield "Laplace of dp_accounting", 2.0 * laplace**2
    if request.delta > 0.0:
        gaussian = GaussianPrivacyLoss.from_privacy_guarantee(budget, sensitivity=ball.l2)
        yield "Gaussian of dp_accounting", gaussian.standard_deviation**2


def _opendp(request):
    """Scales by OpenDP, for vectors."""
    epsilon, delta, ball = request.epsilon, request.delta, request.sensitivity
    if dp is None or not _OPENDP_EPSILON[0] <= epsilon <= _OPENDP_EPSILON[1]:
        return
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))

    def laplace(scale):
        return dp.m.make_laplace(domain, dp.l1_distance(T=float), scale)

    most = 100.0 * ball.l1 / epsilon
    scale = dp.binary_search_param(laplace, ball.l1, epsilon, bounds=(0.0, most))
    yield "Laplace of OpenDP", 2.0 * scale**2
    if delta > 0.0:

        def gaussian(scale):
            rho = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale)
            return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(rho), delta)

        most = 100.0 * ball.l2 * math.sqrt(math.log(2.0 / delta)) / min(epsilon, 1.0)
        scale = dp.binary_search_param(gaussian, ball.l2, (epsilon, delta), bounds=(0.0, most))
        yield "Gaussian of OpenDP", scale**2


def peers(request):
    """Yield names and mean variances of the noise of public libraries for a request."""
    share = request.sensitivity.active_dimension / request.dimension
    for library in (_accounting, _opendp):
        for name, square in library(request):
            yield name, share * square
