"""Exact noise for differential privacy, and three papers on it recomputed number by number.

Names are resolved on first use: importing the package costs nothing, which the Snakefile
and `dpnoise --help` rely on.
"""

from __future__ import annotations

from importlib import import_module

_HOME = {
    "FlippedHuber": "noise",
    "Gaussian": "noise",
    "Laplace": "noise",
    "coordinate_noise": "calibrate",
    "gaussian_sigma": "calibrate",
    "zcdp": "privacy",
}

__all__ = [  # noqa: PLE0604, RUF100
    "FlippedHuber",
    "Gaussian",
    "Laplace",
    "coordinate_noise",
    "gaussian_sigma",
    "zcdp",
]


def __getattr__(name: str) -> object:
    """Import the room that holds `name` and return the object."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    """List the public names, for completion in a shell."""
    return sorted(__all__)
