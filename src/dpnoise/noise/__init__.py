"""The noise distributions, with the methods of `scipy.stats`."""

from dpnoise.noise.base import Noise, Piece
from dpnoise.noise.flipped_huber import FlippedHuber, flipped_huber_variance
from dpnoise.noise.gaussian import Gaussian
from dpnoise.noise.laplace import Laplace

__all__ = ["FlippedHuber", "Gaussian", "Laplace", "Noise", "Piece", "flipped_huber_variance"]
