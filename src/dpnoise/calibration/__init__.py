"""From a privacy budget (epsilon, delta) to noise that keeps it."""

from dpnoise.calibration.budget import Calibration
from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise.calibration.search import calibrate
from dpnoise.calibration.sufficient import theorem_8_delta
from dpnoise.calibration.zcdp import CoordinateNoise, coordinate_noise, describe

__all__ = [
    "Calibration",
    "CoordinateNoise",
    "calibrate",
    "coordinate_noise",
    "describe",
    "gaussian_sigma",
    "theorem_8_delta",
]
