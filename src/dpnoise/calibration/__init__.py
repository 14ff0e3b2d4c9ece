"""From a privacy budget (epsilon, delta) to noise that keeps it."""

from dpnoise._lazy import lazy

_HOME = {
    "Calibration": "budget",
    "CoordinateNoise": "zcdp",
    "Limit": "limit",
    "calibrate": "search",
    "classical_gaussian_sigma": "classical_gaussian",
    "coordinate_noise": "zcdp",
    "describe": "zcdp",
    "gaussian_sigma": "gaussian",
    "least_cost": "limit",
    "theorem_8_delta": "sufficient",
}
__getattr__, __dir__ = lazy(__name__, _HOME)

__all__ = [  # noqa: PLE0604, RUF100
    "Calibration",
    "CoordinateNoise",
    "Limit",
    "calibrate",
    "classical_gaussian_sigma",
    "coordinate_noise",
    "describe",
    "gaussian_sigma",
    "least_cost",
    "theorem_8_delta",
]
