"""Mechanisms with independent coordinates.

Gaussian noise keeps the budget if and only if sum (d_i / sigma_i)^2 <= mu^2 for every difference d,
Laplace noise with delta = 0 if and only if sum |d_i| / beta_i <= epsilon. Over a product of sets
both sums are largest block by block. Within a block that is no box all scales are equal, so that
the block counts like one coordinate of sensitivity Delta_2 or Delta_1 and of the weight of all its
coordinates; the best scales have a closed form (`dpnoise.allocation.closed_forms`). With equal
weights nothing is lost: permutations of coordinates map each block to itself, and the inverse
squared (or inverse) scales that keep the budget form a convex set. In an ellipsoid the Gaussian's
scales are proportional to the axes, which all of them need.

The other families are calibrated for the box around the set, with scales proportional to its sides.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.allocation.closed_forms import closed_form_scales
from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise.mechanisms.noise import IndependentNoise
from dpnoise.mechanisms.request import Found
from dpnoise.noise.base import Noise
from dpnoise.noise.exponential_power import Gaussian, Laplace
from dpnoise.noise.stepwise import Staircase, staircase_gamma

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.mechanisms.request import Request

_UP = 1.0 + 2.0**-45  # covers the rounding of norms in up to 1e8 coordinates, summed in pairs


def _scales(request: Request, sizes: Array, weights: Array, q: float, unit: float) -> Array:
    """Scales s of minimum error with sum (size / s)^q <= unit^-q over the parts, shape (K,)."""
    weights = request.parts.sums(weights)
    sizes = sizes / request.unit * _UP
    found = closed_form_scales(sizes, "optimal", q, request.power, weights, unit)
    return request.parts.spread(found) * (request.unit * _UP)


def gaussian_scales(request: Request, weights: Array, unit: float) -> Array:
    """Scales s of minimum error with sum (l2 / s)^2 <= unit^-2 over the parts, shape (K,)."""
    return _scales(request, request.parts.l2, weights, 2.0, unit)


def gaussian(request: Request) -> Found | None:
    """Gaussian noise by the l2 norms of the parts."""
    if request.delta == 0.0:
        return None
    unit = float(gaussian_sigma(request.epsilon, request.delta))
    shape = request.parts.shape
    weights = request.scale_weights * shape**request.power
    scales = gaussian_scales(request, weights, unit) * shape
    return Found(IndependentNoise(Gaussian(1.0), scales), request.delta)


def laplace(request: Request) -> Found | None:
    """Laplace noise with delta = 0 by the l1 norms of the parts."""
    if request.epsilon == 0.0:
        return None
    unit = _UP / request.epsilon
    scales = _scales(request, request.parts.l1, request.scale_weights, 1.0, unit)
    return Found(IndependentNoise(Laplace(1.0), scales), 0.0)


def staircase(request: Request) -> Found | None:
    """Staircase noise, an equal share of epsilon for each coordinate, with delta = 0."""
    if request.epsilon == 0.0:
        return None
    sides = request.sensitivity.box
    K = int(np.count_nonzero(sides))
    share = request.epsilon / K
    while Fraction(share) * K > Fraction(request.epsilon):
        share = math.nextafter(share, 0.0)
    noise = Staircase(share, 1.0, float(staircase_gamma(share)))
    return Found(IndependentNoise(noise, sides), 0.0)


def calibrated(family: str, request: Request) -> Found | None:
    """Noise of a family, calibrated for the box around the set; None without delta."""
    sides = request.sensitivity.box
    K = int(np.count_nonzero(sides))
    if request.delta == 0.0 or (family == "subbotin" and K > 1):
        return None
    from dpnoise.calibration.calibrate import calibrate  # noqa: PLC0415 - 0.2 s

    found = calibrate(family, epsilon=request.epsilon, delta=request.delta, dimension=K)
    assert isinstance(found.noise, Noise)  # noqa: S101  (no noise on the integers among them)
    return Found(IndependentNoise(found.noise, sides), found.delta)


def histogram(request: Request) -> Found | None:
    """Histogram noise optimised for the number of coordinates, for the box around the set."""
    sides = request.sensitivity.box
    if request.delta == 0.0:
        return None
    from dpnoise.calibration.histogram.calibrate import calibrate_histogram  # noqa: PLC0415 - 0.2 s

    K = int(np.count_nonzero(sides))
    found = calibrate_histogram(epsilon=request.epsilon, delta=request.delta, dimension=K)
    return Found(IndependentNoise(found.noise, sides), found.delta)


def is_searched(family: str, request: Request) -> bool:
    """Whether the calibration of a family takes tenths of a second."""
    several = request.sensitivity.active_dimension > 1
    return several != (family == "subbotin")


FAMILIES = {
    "laplace": ("Laplace, delta used", "Dwork, McSherry, Nissim & Smith 2006"),
    "flipped-huber": ("flipped Huber", "Muthukrishnan & Kalyani 2023"),
    "offset-symmetric-gaussian": ("offset symmetric Gaussian", "Sadeghi & Korki 2022"),
    "truncated-laplace": ("truncated Laplace", "Geng, Ding, Guo & Kumar 2020"),
    "subbotin": ("Subbotin", "Liu 2019"),
    "huber": ("Huber", "Muthukrishnan & Kalyani 2023"),
    "staircase": ("staircase per coordinate, delta used", "Geng & Viswanath 2016"),
}
