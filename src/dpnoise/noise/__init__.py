"""The noise distributions, with the methods of `scipy.stats`.

`FAMILIES` are the continuous ones for one number, `INTEGER_FAMILIES` those on the integers. These
and noise of dependent coordinates (`KNorm`, `Staircase2D`) have the same methods where they make
sense.
"""

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpnoise.noise.base import Noise
from dpnoise.noise.exponential_power import Gaussian, Laplace, Subbotin, TruncatedLaplace
from dpnoise.noise.grafted import (
    FlippedHuber,
    Huber,
    OffsetSymmetricGaussian,
    flipped_huber_variance,
)
from dpnoise.noise.integers import (
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteStaircase,
    IntegerNoise,
)
from dpnoise.noise.stepwise import (
    Staircase,
    staircase_2d_gamma,
    staircase_gamma,
)

if TYPE_CHECKING:
    from dpnoise.joint.vectors import KNorm, Staircase2D

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
_INTEGER_KINDS: tuple[type[IntegerNoise], ...] = (
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteStaircase,
)


def _named(kinds: tuple[type, ...]) -> dict[str, Any]:
    """Classes by their names in kebab case."""
    return {re.sub("(?<!^)(?=[A-Z])", "-", kind.__name__).lower(): kind for kind in kinds}


FAMILIES: dict[str, type[Noise]] = _named(_KINDS)
INTEGER_FAMILIES: dict[str, type[IntegerNoise]] = _named(_INTEGER_KINDS)


def __getattr__(name: str) -> Any:  # noqa: ANN401
    """`KNorm` and `Staircase2D`, found on first use: joint noise imports this package."""
    if name in {"KNorm", "Staircase2D"}:
        return getattr(import_module("dpnoise.joint.vectors"), name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)


__all__ = [
    "FAMILIES",
    "INTEGER_FAMILIES",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "DiscreteStaircase",
    "FlippedHuber",
    "Gaussian",
    "Huber",
    "IntegerNoise",
    "KNorm",
    "Laplace",
    "Noise",
    "OffsetSymmetricGaussian",
    "Staircase",
    "Staircase2D",
    "Subbotin",
    "TruncatedLaplace",
    "flipped_huber_variance",
    "staircase_2d_gamma",
    "staircase_gamma",
]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
