"""The noise distributions, with the methods of `scipy.stats`.

`FAMILIES` are the continuous ones for one number, `INTEGER_FAMILIES` those on the integers. These
and noise of dependent coordinates (`KNorm`) have the same methods where they make
sense. The library itself imports the modules, not this list of public names.
"""

from typing import TYPE_CHECKING, Any

from dpnoise.noise.base import Noise
from dpnoise.noise.exponential_power import Gaussian, Laplace, Subbotin, TruncatedLaplace
from dpnoise.noise.families import FAMILIES, INTEGER_FAMILIES
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
    from dpnoise.joint.vectors import KNorm


def __getattr__(name: str) -> Any:  # noqa: ANN401
    """`KNorm`, found on first use: joint noise imports this package."""
    if name == "KNorm":
        from dpnoise.joint.vectors import KNorm  # noqa: PLC0415  (above, see pyproject.toml)

        return KNorm
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
    "Subbotin",
    "TruncatedLaplace",
    "flipped_huber_variance",
    "staircase_2d_gamma",
    "staircase_gamma",
]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
