"""Answers of OpenDP, whose account of Gaussian noise is zCDP and of Laplace noise pure."""

import opendp.prelude as dp

dp.enable_features("contrib")
SPACE = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)


def sigma(epsilon: float, delta: float) -> float:
    """Least standard deviation of Gaussian noise for sensitivity 1."""

    def make(scale: float) -> dp.Measurement:
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(_gaussian(scale)), delta)

    return dp.binary_search_param(make, d_in=1.0, d_out=(epsilon, delta))


def gaussian_epsilon(noise: float, copies: int, delta: float) -> float:
    """Epsilon of so many releases with Gaussian noise of this standard deviation."""
    together = dp.c.make_composition([_gaussian(noise)] * copies)
    return dp.c.make_zCDP_to_approxDP(together).map(1.0).epsilon(delta)


def laplace_epsilon(noise: float, copies: int, delta: float) -> float:  # noqa: ARG001
    """Epsilon of so many releases with Laplace noise of this scale."""
    one = dp.m.make_laplace(*SPACE, scale=noise)
    return dp.c.make_composition([one] * copies).map(1.0)


def _gaussian(scale: float) -> dp.Measurement:
    return dp.m.make_gaussian(*SPACE, scale=scale)
