"""Delta of noise for a set, exactly and by extreme points: an oracle for tests of certificates.

Noise and set come from the plain data of a certificate; nothing is shared with the accounts.
"""

import math
from fractions import Fraction
from itertools import permutations, product

import mpmath as mp

from dpnoise import (
    AtMost,
    Box,
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
from dpnoise.mechanisms.noise import BlockNoise, IndependentNoise
from exact_noise import exact_noise
from oracles.gaussian import gaussian_delta

DIGITS = 60
SOME = mp.mpf(10) ** -400  # below any delta that is not 0


def extreme_points(ball):
    """Extreme points up to signs, the ends of the axes of round sets, as tuples of fractions."""
    if isinstance(ball, Product):
        return [sum(points, ()) for points in product(*map(extreme_points, ball.blocks))]
    sides = [Fraction(x) for x in ball.box.tolist()]
    if type(ball).__name__.endswith("Counts"):  # of all vectors of 0 and +-1 those inside
        return sorted(
            d
            for d in product((Fraction(0), sides[0]), repeat=ball.of)
            if sum(map(bool, d)) in _ones(ball)
        )
    if isinstance(ball, AtMost):
        base = [sides[0]] * ball.m + [Fraction(0)] * (ball.of - ball.m)
        return sorted(set(permutations(base)))
    if isinstance(ball, LInf | Box):
        return [tuple(sides)]
    places = range(len(sides))
    return [tuple(x if i == k else Fraction(0) for i in places) for k, x in enumerate(sides)]


def _ones(ball):
    """How many counts a person changes by one each."""
    if ball.exactly:
        return range(0, 2 * min(ball.m, ball.of - ball.m) + 1, 2)  # before and after
    return range((1 if ball.relation == "add-remove" else 2) * ball.m + 1)


def _is_round(ball):
    return isinstance(ball, Ellipsoid) or type(ball).__name__ == "L2"


def support(ball, weights):
    """The largest sum of w_i |d_i|, as a number of mpmath."""
    if isinstance(ball, Product):
        total, start = mp.mpf(0), 0
        for block in ball.blocks:
            end = start + block.dimension
            total += support(block, weights[start:end])
            start = end
        return total
    if _is_round(ball):
        squares = sum(((w * Fraction(x)) ** 2 for w, x in zip(weights, ball.box, strict=True)), 0)
        return mp.sqrt(_number(squares))
    return _number(max(sum(w * x for w, x in zip(weights, d, strict=True)) for d in
                       extreme_points(ball)))  # fmt: skip


def _number(x):
    return mp.mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else mp.mpf(x)


def parts_of(noise, K):
    """The noise of one number at each coordinate and its scale; None for joint noise."""
    if isinstance(noise, tuple):
        return [(one, Fraction(1)) for one in noise]
    if isinstance(noise, IndependentNoise):
        return [(noise.unit, Fraction(x)) for x in noise.scales.tolist()]
    if isinstance(noise, BlockNoise):
        found = {}
        for at, part in noise.blocks:
            found.update(zip(at.tolist(), parts_of(part, len(at)), strict=True))
        return [found[k] for k in range(K)]
    return None if isinstance(noise, RadialNoise | NormStaircase) else [(noise, Fraction(1))] * K


def _joint_loss(noise, ball):
    """The largest loss of noise in the norm of `AtMost`; None for round sets."""
    if "L2" in repr(ball) or "Ellipsoid" in repr(ball):
        return None
    side, m = Fraction(noise.ball.each), noise.ball.m
    size = max(max(*d, sum(d) / m) for d in extreme_points(ball)) / side
    if isinstance(noise, RadialNoise):
        return size / Fraction(noise.scale)
    return Fraction(noise.epsilon) * math.ceil(size)


def _between(loss, epsilon):
    if loss is None:
        return 0, 1
    return (0, 0) if loss <= epsilon else (SOME, 1)


def exact_delta(noise, ball, epsilon):  # noqa: PLR0911
    """Bounds on delta, equal where it is known; elsewhere whether it is 0, or may be."""
    K, parts = ball.dimension, parts_of(noise, ball.dimension)
    with mp.workdps(DIGITS):
        if parts is None:
            return _between(_joint_loss(noise, ball), Fraction(epsilon))
        kinds = {type(one) for one, _ in parts}
        if kinds == {Gaussian}:
            weights = [1 / (Fraction(one.sigma) * scale) if scale else 0 for one, scale in parts]
            squares = [
                sum((w * x) ** 2 for w, x in zip(weights, d, strict=True))
                for d in extreme_points(ball)
            ]
            found = gaussian_delta(mp.sqrt(_number(max(squares))), epsilon)
            return found, found
        if kinds <= {Laplace, DiscreteLaplace}:
            weights = [1 / (Fraction(one.beta) * scale) if scale else 0 for one, scale in parts]
            top = support(ball, weights)
            if top <= mp.mpf(epsilon):
                return 0, 0
            if K > 1 or kinds != {Laplace}:
                return SOME, 1
            delta = -mp.expm1((mp.mpf(epsilon) - top) / 2)
            return delta, delta
        (noise, scale), size = parts[0], Fraction(float(ball.box[0]))
        assert (K, scale) == (1, 1)
        if isinstance(noise, Staircase):
            if math.ceil(size / Fraction(noise.sensitivity)) * Fraction(noise.epsilon) <= Fraction(
                epsilon
            ):
                return 0, 0
        else:
            assert isinstance(noise, TruncatedLaplace)
        delta = exact_noise(noise).delta(float(size), epsilon)
        return delta, delta
