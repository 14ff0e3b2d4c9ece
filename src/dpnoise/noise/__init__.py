"""The noise distributions, with the methods of `scipy.stats`.

`FAMILIES` are the continuous ones for one number. Noise on the integers (`DiscreteGaussian`)
and noise of dependent coordinates (`KNorm`, `Staircase2D`) have the same methods where they
make sense.
"""

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

FAMILIES: dict[str, type[Noise]] = {
    "gaussian": Gaussian,
    "laplace": Laplace,
    "flipped-huber": FlippedHuber,
    "offset-symmetric-gaussian": OffsetSymmetricGaussian,
    "staircase": Staircase,
    "truncated-laplace": TruncatedLaplace,
    "subbotin": Subbotin,
    "huber": Huber,
}

__all__ = [
    "FAMILIES",
    "DiscreteGaussian",
    "FlippedHuber",
    "Gaussian",
    "Huber",
    "KNorm",
    "Laplace",
    "Noise",
    "OffsetSymmetricGaussian",
    "Piece",
    "Staircase",
    "Staircase2D",
    "Subbotin",
    "TruncatedLaplace",
    "flipped_huber_variance",
    "staircase_2d_gamma",
    "staircase_gamma",
]
