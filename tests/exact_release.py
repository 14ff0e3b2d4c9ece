"""Releases from a seeded source of bits, for tests."""

import numpy as np

from dpnoise import (
    FlippedHuber,
    Gaussian,
    Huber,
    Laplace,
    OffsetSymmetricGaussian,
    Staircase,
    Subbotin,
    TruncatedLaplace,
)
from dpnoise.noise.exact import Entropy
from dpnoise.releases.release import Release

NOISES = [
    Gaussian(2.5),
    Laplace(1.3),
    FlippedHuber(1.0, 2.0),
    FlippedHuber(0.0, 1.0),
    Huber(1.2, 0.7),
    OffsetSymmetricGaussian(1.0, 2.0),
    Staircase(1.0, 1.0, 0.3),
    TruncatedLaplace(1.0, 3.0),
    Subbotin(1.5, 2.0),
]


def entropy(seed):
    return Entropy(np.random.default_rng(seed).bytes)


def seeded(seed):
    return Release(entropy(seed))
