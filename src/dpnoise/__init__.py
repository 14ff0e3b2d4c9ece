"""Noise for differential privacy: distributions, their exact privacy, calibration, allocation.

The public names are imported on first use, so that `import dpnoise` costs almost nothing. Inside
the package every import names the module that defines what it needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what type checkers and editors see
    from dpnoise.allocation.allocate import allocate
    from dpnoise.calibration.calibrate import calibrate
    from dpnoise.calibration.coordinate_noise import coordinate_noise
    from dpnoise.calibration.gaussian import gaussian_sigma
    from dpnoise.noise.flipped_huber import FlippedHuber
    from dpnoise.noise.gaussian import Gaussian
    from dpnoise.noise.huber import Huber
    from dpnoise.noise.laplace import Laplace
    from dpnoise.noise.offset_symmetric_gaussian import OffsetSymmetricGaussian
    from dpnoise.noise.staircase import Staircase
    from dpnoise.noise.subbotin import Subbotin
    from dpnoise.noise.truncated_laplace import TruncatedLaplace
    from dpnoise.privacy.profile import epsilon_at, privacy_profile
    from dpnoise.privacy.vector import vector_profile
    from dpnoise.privacy.zcdp import zcdp

_MODULES = {
    "FlippedHuber": "dpnoise.noise.flipped_huber",
    "Gaussian": "dpnoise.noise.gaussian",
    "Huber": "dpnoise.noise.huber",
    "Laplace": "dpnoise.noise.laplace",
    "OffsetSymmetricGaussian": "dpnoise.noise.offset_symmetric_gaussian",
    "Staircase": "dpnoise.noise.staircase",
    "Subbotin": "dpnoise.noise.subbotin",
    "TruncatedLaplace": "dpnoise.noise.truncated_laplace",
    "allocate": "dpnoise.allocation.allocate",
    "calibrate": "dpnoise.calibration.calibrate",
    "coordinate_noise": "dpnoise.calibration.coordinate_noise",
    "epsilon_at": "dpnoise.privacy.profile",
    "gaussian_sigma": "dpnoise.calibration.gaussian",
    "privacy_profile": "dpnoise.privacy.profile",
    "vector_profile": "dpnoise.privacy.vector",
    "zcdp": "dpnoise.privacy.zcdp",
}


def __getattr__(name: str) -> object:
    """Import the module that defines a public name and return the object (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(_MODULES)


__all__ = [
    "FlippedHuber",
    "Gaussian",
    "Huber",
    "Laplace",
    "OffsetSymmetricGaussian",
    "Staircase",
    "Subbotin",
    "TruncatedLaplace",
    "allocate",
    "calibrate",
    "coordinate_noise",
    "epsilon_at",
    "gaussian_sigma",
    "privacy_profile",
    "vector_profile",
    "zcdp",
]
