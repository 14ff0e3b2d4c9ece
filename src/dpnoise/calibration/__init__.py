"""From a privacy budget (epsilon, delta) to noise that keeps it."""

from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise.calibration.zcdp import CoordinateNoise, coordinate_noise, describe

__all__ = ["CoordinateNoise", "coordinate_noise", "describe", "gaussian_sigma"]
