"""From a privacy budget (epsilon, delta) to noise that keeps it."""

from dpnoise.calibrate.gaussian import gaussian_sigma
from dpnoise.calibrate.zcdp import CoordinateNoise, coordinate_noise, describe

__all__ = ["CoordinateNoise", "coordinate_noise", "describe", "gaussian_sigma"]
