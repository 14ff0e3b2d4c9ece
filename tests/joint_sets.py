"""Sensitivity sets and a simulated delta for the tests of joint noise."""

import math

import numpy as np

from dpnoise import L1, L2, AtMost, Box, Counts, Ellipsoid, LInf, Product

SETS = [
    LInf(1.0, of=1),
    LInf(1.0, of=3),
    Box([2.0, 0.0, 0.5]),
    L1(0.7, of=4),
    L2(1.0, of=3),
    L2(2.0, of=30),
    Ellipsoid([1.0, 0.2]),
    AtMost(3, of=8),
    Product(L2(1.0, of=3), LInf(2.0, of=2), L2(1.0, of=3)),
    Product(AtMost(2, of=5), L2(0.5, of=2)),
    Counts(2, of=5, each=0.5, whole=False, relation="add-remove"),
    Counts(3, of=8, relation="replace-one"),
    Product(Counts(3, of=3, relation="add-remove"), L2(1.0, of=2), relation="add-remove"),
]


def corners(ball):
    """An extreme point of each kind that a set has; of products some combinations."""
    if isinstance(ball, Product):
        parts = [corners(block) for block in ball.blocks]
        return [np.concatenate([part[k % len(part)] for part in parts]) for k in range(8)]
    if not isinstance(ball, Counts):
        return [ball.extreme_point]
    found = []
    for up in range(ball.m + 1):
        for down in range(min(ball.m, ball.of - up) + 1):
            d = np.repeat([1.0, -1.0, 0.0], [up, down, ball.of - up - down]) * ball.each
            if 0.5 < ball.norm(d) <= 1.0 + 1e-15:
                found.append(d)
    return found


def simulated_delta(noise, epsilon, shift, *, draws, seed, proposal=None):
    """Mean and standard error of (1 - e^(epsilon - loss))_+, from the densities alone.

    Draws are from the noise itself or, weighted, from a proposal with heavier tails.
    """
    source = proposal or noise
    x = source.rvs(draws, random_state=seed)
    log_density = noise.logpdf(x)
    inside = np.isfinite(log_density)
    x, log_density = x[inside], log_density[inside]
    loss = log_density - noise.logpdf(x + shift)
    value = np.maximum(-np.expm1(np.minimum(epsilon - loss, 0.0)), 0.0)
    if proposal:
        value = value * np.exp(log_density - proposal.logpdf(x))
    value = np.append(value, np.zeros(draws - value.size))
    return float(np.mean(value)), float(np.std(value)) / math.sqrt(draws)
