"""The families of noise by name; a new family is its module, and a line here.

`FAMILIES` are the continuous ones for one number, `INTEGER_FAMILIES` those on the integers.
"""

import re
from typing import Any

from dpnoise.noise.base import Noise
from dpnoise.noise.exponential_power import Gaussian, Laplace, Subbotin, TruncatedLaplace
from dpnoise.noise.grafted import FlippedHuber, Huber, OffsetSymmetricGaussian
from dpnoise.noise.integers import (
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteStaircase,
    IntegerNoise,
)
from dpnoise.noise.stepwise import Staircase

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
