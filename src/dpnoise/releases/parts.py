"""Noise as independent parts, each of which has an exact sampler."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpnoise.joint.correlated import CorrelatedGaussian
from dpnoise.joint.noise import NormStaircase, RadialNoise
from dpnoise.mechanisms.noise import BlockNoise, IndependentNoise, IntegerVector
from dpnoise.noise.base import Noise
from dpnoise.noise.discrete_gaussian import DiscreteGaussian
from dpnoise.noise.discrete_laplace import DiscreteLaplace
from dpnoise.noise.discrete_staircase import DiscreteStaircase
from dpnoise.noise.k_norm import KNorm
from dpnoise.noise.staircase_2d import Staircase2D

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dpnoise._types import Array, IntArray
    from dpnoise._validation import Problems

INTEGER = (DiscreteGaussian, DiscreteLaplace, DiscreteStaircase)
JOINT = (KNorm, Staircase2D, RadialNoise, NormStaircase, CorrelatedGaussian)
_EXPECTED = (
    "noise with an exact sampler (the families of dpnoise.noise, lists of them, or the noise that "
    "best and calibrate_joint find)"
)


class Part(NamedTuple):
    """Coordinates with noise of their own.

    Attributes
    ----------
    indices : numpy.ndarray of int, shape (k,)
        Which coordinates.
    noise : Noise, IntegerNoise or noise of k coordinates
        Its type is one that has an exact sampler.
    scales : numpy.ndarray, shape (k,)
        By which independent noise is multiplied, 0 for no noise; ones for joint noise.
    """

    indices: IntArray
    noise: Any
    scales: Array

    @property
    def is_integer(self) -> bool:
        """Whether the noise is on the integers."""
        return type(self.noise) in INTEGER

    @property
    def is_joint(self) -> bool:
        """Whether its coordinates are drawn together."""
        return type(self.noise) in JOINT

    @property
    def mean_abs(self) -> Array:
        """E|X_i| of each coordinate, shape (k,)."""
        return np.broadcast_to(self.scales * self.noise.mean_abs(), self.scales.shape)


def read_parts(problems: Problems, noise: object) -> list[Part]:
    """The parts of a noise; what has no exact sampler is recorded."""
    found = list(_parts(problems, noise))
    if len({part.is_integer for part in found}) > 1:
        problems.add("noise: expected noise on the integers in all coordinates or in none")
    return found


def is_vector(noise: object) -> bool:
    """Whether noise is for vectors of a given number of coordinates."""
    kinds = (*JOINT, IndependentNoise, IntegerVector, BlockNoise, Sequence)
    return isinstance(noise, kinds) and not isinstance(noise, str)


def _parts(problems: Problems, noise: object) -> Iterator[Part]:
    """The parts, their coordinates counted from 0."""
    if isinstance(noise, Sequence) and not isinstance(noise, str):
        yield from _listed(problems, noise)
    elif isinstance(noise, IntegerVector):
        yield from _listed(problems, noise.noises)
    elif isinstance(noise, BlockNoise):
        for indices, block in noise.blocks:
            for part in _parts(problems, block):
                yield part._replace(indices=indices[part.indices])
    elif isinstance(noise, IndependentNoise) and _is_scalar(noise.unit):
        yield Part(np.arange(noise.dimension), noise.unit, noise.scales)
    elif type(noise) in JOINT:
        dimension = noise.dimension  # type: ignore[attr-defined]  # of joint noise
        yield Part(np.arange(dimension), noise, np.ones(dimension))
    elif _is_scalar(noise):
        yield Part(np.array([0]), noise, np.ones(1))
    else:
        problems.require(False, "noise", _EXPECTED, noise)


def _listed(problems: Problems, noises: Sequence[Any]) -> Iterator[Part]:
    """One part for all coordinates with the same noise of one number."""
    problems.require(len(noises) > 0, "noise", "at least one coordinate", noises)
    alike: dict[object, list[int]] = {}
    for k, one in enumerate(noises):
        if isinstance(one, Sequence) or not _is_scalar(one):
            problems.require(False, f"noise of coordinate {k + 1}", _EXPECTED, one)
        else:
            alike.setdefault(one, []).append(k)
    for one, places in alike.items():
        yield Part(np.array(places), one, np.ones(len(places)))


def _is_scalar(noise: object) -> bool:
    """Whether independent noise of one number has an exact sampler."""
    if isinstance(noise, Noise):
        from dpnoise.releases.tails import TAILS  # noqa: PLC0415 - brings flint

        return type(noise) in TAILS
    return type(noise) in INTEGER
