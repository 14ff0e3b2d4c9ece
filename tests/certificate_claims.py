"""Random noise, sets and epsilons that the independent checker of certificates covers."""

import numpy as np

from dpnoise import (
    L1,
    L2,
    AtMost,
    Box,
    Counts,
    DiscreteLaplace,
    Ellipsoid,
    Gaussian,
    Laplace,
    LInf,
    Product,
    Staircase,
    TruncatedLaplace,
)
from dpnoise.joint.noise import NormStaircase, RadialNoise
from dpnoise.mechanisms.noise import IndependentNoise


def sets(rng):
    """A random set of each kind, of three coordinates."""
    x, y, z = (float(v) for v in np.round(rng.uniform(0.1, 2.0, 3), int(rng.integers(0, 9))) + 0.1)
    flat = [Box([x, y, z]), Box([x, 0.0, z]), LInf(x, of=3), L1(y, of=3), L2(z, of=3)]
    more = [AtMost(2, of=3, each=x), Ellipsoid([x, y, z]), Product(L2(x, of=2), LInf(y))]
    counts = [Counts(m, of=3, each=x, whole=False, relation="add-remove") for m in (2, 3)]
    counts += [Counts(m, of=3, each=y, whole=False, relation="replace-one") for m in (1, 2)]
    counts += [Counts(1, of=3, each=z, whole=False, exactly=True, relation="replace-one")]
    blocks = (
        Counts(2, of=2, each=x, whole=False, relation="add-remove"),
        LInf(y, relation="add-remove"),
    )
    return [*flat, *more, *counts, Product(*blocks)]


def random_claims(rng):
    """Noise, set and epsilon, of which the checker covers the noise."""
    epsilon = float(rng.choice([0.0, 0.1, 1.0, rng.uniform(0.0, 4.0)]))
    scale = float(rng.choice([1.0, 2.0, rng.lognormal(0.0, 1.0)]))
    for ball in sets(rng):
        scales = rng.uniform(0.5, 2.0, 3)
        pure = float(rng.uniform(0.05, 1.0))
        yield Gaussian(scale), ball, epsilon
        yield IndependentNoise(Gaussian(1.0), scales), ball, epsilon
        yield tuple(Laplace(float(s)) for s in scales), ball, epsilon + 20.0
        if not ball.flat:
            yield RadialNoise(ball, 1.0 / max(pure, 0.01)), ball, pure
            yield NormStaircase(ball, pure, 0.3), ball, pure
        for relation in ("add-remove", "replace-one"):
            yield (
                RadialNoise(Counts(2, of=3, each=scale, whole=False, relation=relation), 2.0),
                ball,
                epsilon,
            )
        yield Staircase(pure, 3.0, 0.4), ball, 3.0 * pure
    yield TruncatedLaplace(scale, 3.0 * scale), 1.0, epsilon
    yield Staircase(scale, 1.0, 0.4), 1.0, epsilon
    yield DiscreteLaplace(scale + 0.1), 2, 100.0
