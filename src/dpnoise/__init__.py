"""Exact noise for differential privacy, and three papers on it recomputed number by number.

Names are resolved on first use: importing the package costs nothing, which the Snakefile
and `dpnoise --help` rely on.
"""

from __future__ import annotations

from dpnoise._lazy import lazy

_HOME = {
    "FlippedHuber": "noise",
    "Gaussian": "noise",
    "Huber": "noise",
    "Laplace": "noise",
    "OffsetSymmetricGaussian": "noise",
    "Staircase": "noise",
    "Subbotin": "noise",
    "TruncatedLaplace": "noise",
    "allocate": "allocation",
    "calibrate": "calibration",
    "coordinate_noise": "calibration",
    "epsilon_at": "privacy",
    "gaussian_sigma": "calibration",
    "privacy_profile": "privacy",
    "vector_profile": "privacy",
    "zcdp": "privacy",
}
__getattr__, __dir__ = lazy(__name__, _HOME)

__all__ = [  # noqa: PLE0604, RUF100
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
