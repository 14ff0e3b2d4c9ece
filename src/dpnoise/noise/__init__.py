"""The noise distributions, with the methods of `scipy.stats`.

`FAMILIES` are the continuous ones for one number, `INTEGER_FAMILIES` those on the integers, both by
their names. These, a histogram (`Histogram`) and noise of dependent coordinates (`KNorm`,
`Staircase2D`) have the same methods where they make sense. All are imported on first use.
"""

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpnoise.joint.vectors import KNorm as KNorm
    from dpnoise.joint.vectors import Staircase2D as Staircase2D
    from dpnoise.noise.base import Noise as Noise
    from dpnoise.noise.exponential_power import Gaussian as Gaussian
    from dpnoise.noise.exponential_power import Laplace as Laplace
    from dpnoise.noise.exponential_power import Subbotin as Subbotin
    from dpnoise.noise.exponential_power import TruncatedLaplace as TruncatedLaplace
    from dpnoise.noise.grafted import FlippedHuber as FlippedHuber
    from dpnoise.noise.grafted import Huber as Huber
    from dpnoise.noise.grafted import OffsetSymmetricGaussian as OffsetSymmetricGaussian
    from dpnoise.noise.grafted import flipped_huber_variance as flipped_huber_variance
    from dpnoise.noise.integers import DiscreteGaussian as DiscreteGaussian
    from dpnoise.noise.integers import DiscreteLaplace as DiscreteLaplace
    from dpnoise.noise.integers import DiscreteStaircase as DiscreteStaircase
    from dpnoise.noise.integers import IntegerNoise as IntegerNoise
    from dpnoise.noise.stepwise import Histogram as Histogram
    from dpnoise.noise.stepwise import Staircase as Staircase
    from dpnoise.noise.stepwise import staircase_2d_gamma as staircase_2d_gamma
    from dpnoise.noise.stepwise import staircase_gamma as staircase_gamma

    FAMILIES: dict[str, type[Noise]]
    INTEGER_FAMILIES: dict[str, type[IntegerNoise]]

# The module of each family and of what else is public.
_CONTINUOUS = {
    "Gaussian": "noise.exponential_power",
    "Laplace": "noise.exponential_power",
    "FlippedHuber": "noise.grafted",
    "OffsetSymmetricGaussian": "noise.grafted",
    "Staircase": "noise.stepwise",
    "TruncatedLaplace": "noise.exponential_power",
    "Subbotin": "noise.exponential_power",
    "Huber": "noise.grafted",
}
_INTEGER = {
    "DiscreteGaussian": "noise.integers",
    "DiscreteLaplace": "noise.integers",
    "DiscreteStaircase": "noise.integers",
}
_MODULES = {
    **_CONTINUOUS,
    **_INTEGER,
    "Histogram": "noise.stepwise",
    "IntegerNoise": "noise.integers",
    "KNorm": "joint.vectors",
    "Noise": "noise.base",
    "Staircase2D": "joint.vectors",
    "flipped_huber_variance": "noise.grafted",
    "staircase_2d_gamma": "noise.stepwise",
    "staircase_gamma": "noise.stepwise",
}


def _names(classes: dict[str, str]) -> dict[str, str]:
    """Classes by their names in kebab case."""
    return {re.sub("(?<!^)(?=[A-Z])", "-", name).lower(): name for name in classes}


NAMES, INTEGER_NAMES = _names(_CONTINUOUS), _names(_INTEGER)


def __getattr__(name: str) -> Any:  # noqa: ANN401
    """A public name, found on first use."""
    listed = {"FAMILIES": NAMES, "INTEGER_FAMILIES": INTEGER_NAMES}.get(name)
    if listed is not None:
        found: Any = {family: __getattr__(kind) for family, kind in listed.items()}
    elif name in _MODULES:
        found = getattr(import_module(f"dpnoise.{_MODULES[name]}"), name)
    else:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return globals().setdefault(name, found)


__all__ = sorted(["FAMILIES", "INTEGER_FAMILIES", *_MODULES])  # noqa: PLE0605


def __dir__() -> list[str]:
    """The public names."""
    return __all__
