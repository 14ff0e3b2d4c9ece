"""Privacy profiles from their definition at high precision, as an oracle for tests.

The noise is taken from `exact_noise`, which knows the parameters only. Nothing is shared with
the code under test: the crossing of the loss is found by parabolas through three of its values
(exact, since the loss is piecewise quadratic) or by bisection, and delta is the plain difference
SF(t1) - e^epsilon SF(t2) with more digits than it can lose.
"""

import math
from itertools import pairwise

import mpmath as mp

from exact_noise import ExactPieces, exact_noise


def _digits(noise, shift, epsilon):
    """Return enough digits for what cancels: small shifts twice, and the depth of the tail."""
    ratio = max(0, -2 * math.log10(shift / noise.mean_abs()))
    return 90 + int(ratio) + int(3 * math.log10(1 + epsilon))


def _pieces_crossing(exact, noise, d, epsilon):
    """Return the last t with loss <= epsilon, or None if no loss is larger."""
    bound = mp.mpf(noise.bound)

    def psi(t):
        _, _, rate, curvature, offset = [p for p in exact.pieces if p[0] <= abs(t)][-1]
        return offset + abs(t) * (rate + curvature * abs(t) / 2)

    def loss(t):
        return psi(t + d) - psi(t)

    edges = {s * p[0] + o for p in exact.pieces for s in (1, -1) for o in (0, -d)} | {-d / 2}
    edges = sorted(e for e in edges if e >= -d / 2)
    if bound < mp.inf:
        edges = [e for e in edges if e < bound - d] + [bound - d]
    k = max(i for i, e in enumerate(edges) if loss(e) <= epsilon)
    start = edges[k]
    if k == len(edges) - 1:
        if bound < mp.inf:
            return start
        slope = loss(start + d) - loss(start)
        tiny = mp.mpf(10) ** (-mp.mp.dps + 20) * (abs(loss(start)) + 1)
        return None if slope < tiny else start + d * (epsilon - loss(start)) / slope
    width = edges[k + 1] - start
    low, middle, high = (loss(start + width * s) for s in (0, mp.mpf(1) / 2, 1))
    a, b, c = 2 * (low - 2 * middle + high), 4 * middle - 3 * low - high, epsilon - low
    if c == 0:
        return start
    return start + width * 2 * c / (b + mp.sqrt(max(b * b + 4 * a * c, 0)))


_DEEPEST = mp.mpf(10) ** 400


def _power_crossing(noise, d, epsilon):
    scale, p = mp.mpf(noise.scale), mp.mpf(noise.p)

    def loss(t):
        return (abs((t + d) / scale) ** p - abs(t / scale) ** p) / p

    low, high = -d / 2, d
    while loss(high) < epsilon:
        high *= 2
        if (high / scale) ** p > _DEEPEST:  # p close to 1: delta is below exp(-_DEEPEST / p)
            return None
    for _ in range(int(4 * mp.mp.dps)):
        middle = (low + high) / 2
        low, high = (middle, high) if loss(middle) < epsilon else (low, middle)
    return low


def exact_log_delta(noise, shift, epsilon):
    """Return log delta of Noise at one shift and one epsilon >= 0, -inf where it is 0."""
    with mp.workdps(_digits(noise, shift, epsilon)):
        exact, d, epsilon = exact_noise(noise), mp.mpf(shift), mp.mpf(epsilon)
        total = 2 * exact.moment(0)

        def tail(t):
            part = exact.moment(0, abs(t)) / total
            return part if t >= 0 else 1 - part

        if 2 * mp.mpf(noise.bound) <= d:
            return mp.mpf(0)
        if isinstance(exact, ExactPieces):
            t1 = _pieces_crossing(exact, noise, d, epsilon)
        else:
            t1 = _power_crossing(noise, d, epsilon)
        if t1 is None:
            return -mp.inf
        delta = tail(t1) - mp.exp(epsilon) * tail(t1 + d)
        return mp.log(delta) if delta > 0 else -mp.inf


def table_1_delta(alpha, gamma, d, epsilon):
    """Return delta of flipped Huber noise by equation (13), literally, and the case used."""
    with mp.workdps(300):
        a, g, d, e = map(mp.mpf, (alpha, gamma, d, epsilon))
        root = mp.sqrt(2 * mp.pi)
        omega = 2 * (root * mp.ncdf(-a / g) + 2 * g / a * mp.sinh(a * a / g**2 / 2))
        rim, over = g / (a * omega) * mp.exp(a * a / g**2 / 2), max(d - a, 0)
        normal = root / omega

        def q(x):
            return mp.ncdf(-x)

        gaussian = normal * (q(g * e / d - d / (2 * g)) - mp.exp(e) * q(g * e / d + d / (2 * g)))
        if e < (d - 2 * a) * d / (2 * g**2):
            return 1, 1 - normal + gaussian
        if e < min(2 * a - d, d) * a / g**2:
            middle = mp.exp(e / 2 - a * d / (2 * g**2))
            return 2, (1 - mp.exp(e)) / 2 + rim * (1 + mp.exp(e) - 2 * middle)
        if max(2 * a, d) ** 2 - 2 * a * d <= 2 * g**2 * e < over**2 + 2 * a * d:
            s = mp.sqrt(2 * (g**2 * e + a * d))
            inner = rim * (1 - mp.exp(a / g**2 * (-a + s - d)))
            return 3, mp.mpf(1) / 2 + inner - mp.exp(e) * normal * q((s - a) / g)
        if over**2 + 2 * a * d <= 2 * g**2 * e < (d + 2 * a) * d:
            s = mp.sqrt(2 * (g**2 * e - a * d))
            inner = rim * (1 - mp.exp(a / g**2 * (-a - s + d)))
            return 4, mp.mpf(1) / 2 - inner - mp.exp(e) * normal * q((s + a) / g)
        return 5, gaussian


def staircase_delta(noise, shift, epsilon):
    """Return delta of staircase noise by adding up its steps, at one shift and epsilon."""
    with mp.workdps(50):
        width, gamma = mp.mpf(noise.sensitivity), mp.mpf(noise.gamma)
        step, d = mp.mpf(noise.epsilon), mp.mpf(shift)
        last = int(75 / step) + int(d / width) + 3
        edges = [(k + gamma) * width for k in range(last)]
        cuts = sorted({s * e + o for e in edges for s in (1, -1) for o in (0, -d)})

        def height(t):
            return mp.exp(-step * max(mp.floor(abs(t) / width - gamma) + 1, 0))

        total, delta = mp.mpf(0), mp.mpf(0)
        for a, b in pairwise(cuts):
            t = (a + b) / 2
            total += (b - a) * height(t)
            delta += (b - a) * max(height(t) - mp.exp(mp.mpf(epsilon)) * height(t + d), 0)
        return delta / total


def discrete_gaussian_delta(noise, shift, epsilon):
    """Return delta of discrete Gaussian noise by adding up its probabilities, small sigma."""
    with mp.workdps(45):
        sigma, d, e = mp.mpf(noise.sigma), int(shift), mp.mpf(epsilon)
        middle, reach = int(sigma**2 * e / d), int(13 * sigma) + 13
        rate = 1 / (2 * sigma**2)

        def weight(k):
            return mp.exp(-rate * k * k)

        total = mp.fsum(map(weight, range(-reach, reach)))
        start, scale = max(middle - d - 3, -reach), mp.exp(e)
        excess = (weight(k) - scale * weight(k + d) for k in range(start, max(middle, 0) + reach))
        return mp.fsum(max(x, 0) for x in excess) / total
