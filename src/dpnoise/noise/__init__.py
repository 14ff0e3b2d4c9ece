"""The noise distributions, with the methods of `scipy.stats`.

`FAMILIES` are the continuous ones for one number. Noise on the integers (`DiscreteGaussian`)
and noise of dependent coordinates (`KNorm`, `Staircase2D`) have the same methods where they
make sense.
"""

import re

from dpnoise.noise.base import Noise, Piece
from dpnoise.noise.discrete_gaussian import DiscreteGaussian
from dpnoise.noise.flipped_huber import FlippedHuber, flipped_huber_variance
from dpnoise.noise.gaussian import Gaussian
from dpnoise.noise.huber import Huber
from dpnoise.noise.k_norm import KNorm
from dpnoise.noise.laplace import Laplace
from dpnoise.noise.offset_symmetric_gaussian import OffsetSymmetricGaussian
from dpnoise.noise.staircase import Staircase, staircase_gamma
from dpnoise.noise.staircase_2d import Staircase2D, staircase_2d_gamma
from dpnoise.noise.subbotin import Subbotin
from dpnoise.noise.truncated_laplace import TruncatedLaplace

_KINDS: tuple[type[Noise], ...] = (
    Gaussian,
    Laplace,
    FlippedHuber,
    OffsetSymmetricGaussian,
    Staircase,
    TruncatedLaplace,
    Subbotin,
    Huber,
)
FAMILIES = {re.sub("(?<!^)(?=[A-Z])", "-", kind.__name__).lower(): kind for kind in _KINDS}

__all__ = [
    "FAMILIES",
    "DiscreteGaussian",
    "KNorm",
    "Noise",
    "Piece",
    "Staircase2D",
    "flipped_huber_variance",
    "staircase_2d_gamma",
    "staircase_gamma",
]
