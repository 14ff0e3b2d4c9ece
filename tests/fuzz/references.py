"""An independent account of vector queries: convex curves on a lattice, composed by FFT.

The curve of one coordinate is D(x) = E_P (1 - x e^-L)_+, convex in x = e^epsilon. Its linear
interpolation between lattice points lies above it and is the curve of a loss on the lattice; so
does one below it, the greatest convex function below that interpolation less the largest sag of
each cell (chord against tangents). Composition is monotone in the curve of each coordinate, so
that the composed curves bound delta on both sides, but for rounding. All masses are weighted with
e^(tilt loss), so that a delta of 1e-100 is as sharp as one of 0.1.
"""

import math

import numpy as np
from scipy import fft, optimize, special

from fuzz.coordinates import Steps, coordinate

_TILTS = np.geomspace(1e-3, 1e4, 71)
_DROPPED = 1e-19  # of the weighted mass, at each end
_MOST_LOSS = 600.0  # e^loss has a double
_LEAST_LOG_DELTA = -600.0
_ROUNDING = 1e-13  # relative
_LONGEST = 2**18  # lattice points of a sum
_TIE = 1e-13  # relative, of a loss
_NOTHING = 1e-290
_LOST = 1e-15  # of the weighted sum: what is dropped, with a margin


class OutOfRangeError(Exception):
    """Ordinary floating point cannot follow losses this large."""


def _plan(parts, epsilon, cap):
    """Return, for losses up to a cap, the tilt and the ends of each coordinate's lattice."""
    sketches = []
    for part, copies in parts:
        values, mass = part.sketch()
        values, mass = np.minimum(values[mass > _NOTHING], cap), mass[mass > _NOTHING]
        order = np.argsort(values)
        sketches.append((values[order], np.log(mass[order]), copies))
    scale = math.sqrt(sum(n * (np.exp(p) @ (v * v)) for v, p, n in sketches))
    tilts = _TILTS / min(max(scale, 1e-300), 1.0)
    total = -tilts * epsilon - np.log(tilts) - np.log1p(tilts)
    for values, log_mass, copies in sketches:
        total = total + copies * special.logsumexp(log_mass + tilts[:, None] * values, axis=1)
    best = int(np.argmin(total))
    if total[best] < _LEAST_LOG_DELTA:
        raise OutOfRangeError
    ends = []
    for values, log_mass, _ in sketches:
        exponent = log_mass + tilts[best] * values
        share = np.exp(exponent - exponent.max())
        low = np.searchsorted(np.cumsum(share), _DROPPED * share.sum())
        high = len(share) - 1 - np.searchsorted(np.cumsum(share[::-1]), _DROPPED * share.sum())
        # One cell of the sketch more on each side.
        ends.append((values[max(low - 1, 0)], values[min(high + 1, len(values) - 1)]))
    return float(tilts[best]), ends


def _spacing(parts, ends, size):
    """Return the distance of lattice points, which meet the values of atoms if they can."""
    width = max(high - low for low, high in ends)
    width = width if width > 0 else max(abs(low) for low, _ in ends)
    step = (width if width > 0 else 1.0) / size
    for part, _ in parts:
        if isinstance(part, Steps):
            value = float(np.max(np.abs(part.values)))
        else:
            flat = np.diff(getattr(part, "heights", np.zeros(0))) == 0
            some = np.abs(part.heights[1:][flat]) if flat.any() else np.zeros(1)
            value = float(np.max(some))
        if value > step:
            return value / math.ceil(value / step)
    return step


def _curves(part, low, high, step, cap):
    """Return the first index, the masses of the upper and the lower curve, and those at infinity.

    A loss above the cap is taken as infinite above and as the cap below.
    """
    first, last = math.floor(low / step) - 2, math.ceil(high / step) + 2
    capped = high >= cap
    if capped:
        last = math.floor(cap / step)
    levels = step * np.arange(first, last + 1)
    p, q = part.masses(levels)
    # A cell's mass goes to both ends with the shares that keep p and q.
    far = np.clip((p - q * np.exp(levels[:-1])) / -math.expm1(-step), 0.0, p)
    near = p - far
    upper = np.zeros(len(levels))
    upper[:-1] += near
    upper[1:] += far
    q_near, q_far = near * np.exp(-levels[:-1]), far * np.exp(-levels[1:])
    q = q_near + q_far
    gap = np.exp(levels[:-1]) * math.expm1(step)
    some = np.minimum(q_near, q_far) > _ROUNDING * q
    sag = np.zeros(len(p))
    sag[some] = gap[some] * q_near[some] * (q_far[some] / q[some])
    drop = np.maximum(np.append(sag, 0.0), np.append(0.0, sag))
    beyond = np.append(np.cumsum(q[::-1])[::-1][1:], 0.0)
    chords = np.append(np.cumsum((gap * (beyond + q_far))[::-1])[::-1], 0.0)
    slope = -(beyond + q_far) - np.diff(drop) / gap  # of chords - drop, without cancellation
    end = int(np.argmax(chords <= drop))
    if drop[end] > 0.0:
        # From the last point where that is positive the curve is 0.
        end = max(end - 1, 0)
        slope[end - 1 : end] = ((drop - chords)[:-1] / gap)[end - 1 : end]
    slope[end:] = 0.0
    slope = optimize.isotonic_regression(slope, weights=gap).x
    slope = np.append(np.maximum(slope, -float(q.sum())), 0.0)
    lower = np.zeros(len(levels))
    lower[1:] = np.maximum(np.diff(slope), 0.0) * np.exp(levels[1:])
    infinite = part.beyond(math.inf)
    above = part.beyond(float(levels[-1])) if capped else infinite
    lower[-1] += above - infinite
    return first, (upper, above), (lower, infinite)


def _compose(masses, epsilon, tilt, step, side):
    """Return log of the finite part of delta, for (first index, masses, copies)."""
    parts, log_total, full, start = [], 0.0, 1, 0
    for first, mass, copies in masses:
        index = first + np.arange(len(mass))
        with np.errstate(divide="ignore"):
            exponent = np.log(mass) + tilt * step * index
        top = float(exponent.max())
        if top == -math.inf:
            return -math.inf
        weight = np.exp(exponent - top)
        total = float(weight.sum())
        log_total += copies * (top + math.log(total))
        full, start = full + copies * (len(mass) - 1), start + copies * first
        parts.append((weight / total, copies))
    size = fft.next_fast_len(full, real=True)
    spectrum = np.ones(size // 2 + 1, dtype=complex)
    for weight, copies in parts:
        spectrum *= fft.rfft(weight, size) ** copies
    weight = fft.irfft(spectrum, size)
    gap = step * (start + np.arange(size)) - epsilon
    some = gap > 0
    payoff = -np.expm1(-gap[some]) * np.exp(-tilt * gap[some])
    copies = sum(n for _, n in parts)
    error = 2.0**-49 * math.log2(size) * copies * float(np.linalg.norm(payoff))
    peak = math.exp(-tilt * math.log1p(1.0 / tilt) - math.log1p(tilt))
    value = float(payoff @ weight[some]) + side * (error + copies * _LOST * peak)
    if value <= 0.0:
        return -math.inf
    slack = 1e-13 * copies + 1e-14 * (abs(log_total) + tilt * epsilon)
    return math.log(value) + log_total - tilt * epsilon + side * slack


def reference_bounds(shares, epsilon, *, size=2048):
    """Return bounds on log delta for (noise, shift, copies), independent of `dpnoise.privacy`."""
    parts = [(coordinate(noise, shift), copies) for noise, shift, copies in shares if shift > 0]
    if not parts:
        return -math.inf, -math.inf
    greatest = math.fsum(copies * part.greatest for part, copies in parts)
    gone = [part.beyond(math.inf) for part, _ in parts]
    if max(gone) >= 1.0:
        return 0.0, 0.0
    if epsilon >= greatest * (1.0 - _TIE):
        away = _away(gone, parts)
        # Rounding decides on which side of the largest loss epsilon is.
        over = 0.0 if epsilon > greatest * (1.0 + _TIE) else 2.0 * _TIE * greatest
        bounds = away * (1.0 - _ROUNDING), away * (1.0 + _ROUNDING) + over
        return tuple(math.log(bound) if bound > 0.0 else -math.inf for bound in bounds)
    cap = 60.0 + 3.0 * epsilon
    if cap > _MOST_LOSS:
        raise OutOfRangeError
    tilt, ends = _plan(parts, epsilon, cap)
    step = _spacing(parts, ends, min(size, _LONGEST // sum(copies for _, copies in parts)))
    curves = [
        _curves(part, low, high, step, cap)
        for (part, _), (low, high) in zip(parts, ends, strict=True)
    ]
    bounds = []
    for k, side in ((2, -1), (1, 1)):
        masses = [(c[0], c[k][0], n) for c, (_, n) in zip(curves, parts, strict=True)]
        log_delta = _compose(masses, epsilon, tilt, step, side)
        away = _away([c[k][1] for c in curves], parts)
        if away > 0.0:
            log_delta = float(np.logaddexp(log_delta, math.log(away))) + side * _ROUNDING
        bounds.append(min(log_delta, 0.0))
    return tuple(bounds)


def _away(gone, parts):
    """Return the mass of an infinite sum of losses."""
    if max(gone) >= 1.0:
        return 1.0
    logs = [n * math.log1p(-p) for p, (_, n) in zip(gone, parts, strict=True)]
    return -math.expm1(math.fsum(logs))
