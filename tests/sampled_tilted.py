"""Delta of many steps on samples by an account of its own: tilted losses on a lattice.

The loss of a step, with the record removed, is weighted by e^(c loss), put on lattice points by
shares that keep its mean, and composed by one Fourier transform. Under the weight the sum is where
it counts, so that rounding is relative to delta, unlike that of a plain transform. What is left is
the square of the spacing, taken away by two spacings; no bound, but with an error. Outputs so far
out that they matter to no delta above a floor are left out, as they would govern the weights.
"""

import numpy as np
from scipy import optimize, special

_REACH, _STEP = 13.0, 2e-3  # of outputs, in units of the noise
_WIDTH = 36.0  # of the window, in deviations of the sum


def _outputs(sigma, rate, c, far):
    """Losses at outputs up to one, and logarithms of masses weighted by e^(c loss)."""
    right = min((1.0 + c) / sigma + _REACH, far)
    y = np.arange(-_REACH, right, min(_STEP, 0.02 * sigma))
    w = (y - 0.5 / sigma) / sigma
    loss = np.logaddexp(np.log1p(-rate), np.log(rate) + w)
    plain = -0.5 * y * y - 0.5 * np.log(2.0 * np.pi) + np.log(y[1] - y[0])
    return loss, plain + (1.0 + c) * loss


def _moments(sigma, rate, c, far):
    loss, mass = _outputs(sigma, rate, c, far)
    total = special.logsumexp(mass)
    weight = np.exp(mass - total)
    mean = weight @ loss
    return total, mean, weight @ (loss - mean) ** 2


def _log_delta(question, c, far, size):
    sigma, rate, steps, epsilon = question
    total, mean, square = _moments(sigma, rate, c, far)
    loss, mass = _outputs(sigma, rate, c, far)
    some = mass > total - 60.0 - np.log(steps)
    loss, weight = loss[some], np.exp(mass[some] - total)
    least = np.log1p(-rate)  # of a record that is not sampled, on the lattice
    h = max(_WIDTH * np.sqrt(steps * square), 1.05 * (loss.max() - least)) / size
    place = (loss - least) / h
    low = np.floor(place)
    share, at = place - low, low.astype(int)
    one = np.bincount(at, weight * (1.0 - share), minlength=size)
    one += np.bincount(at + 1, weight * share, minlength=size)
    spectrum = np.fft.rfft(one / one.sum()) ** steps
    whole = np.fft.irfft(spectrum, size)
    # The window around the mean of the sum, which has wrapped around.
    first = round(steps * (mean - least) / h) - size // 2
    value = steps * least + h * (first + np.arange(size))
    gap = value - epsilon
    above = gap > 0.0
    terms = np.roll(whole, -(first % size))[above] * -np.expm1(-gap[above])
    return np.log(terms @ np.exp(-c * gap[above])) + steps * total - c * epsilon


def log_delta(question, floor, size=1 << 17):
    """Log delta of (sigma, rate, steps, epsilon), at least about `floor`, and about its error."""
    sigma, rate, steps, epsilon = question
    # Beyond, in any step, are less than e^-16 of that.
    far = 1.0 / sigma - special.ndtri_exp(floor - 16.0 - np.log(steps))

    def slope(log_c):
        c = np.exp(log_c)
        return steps * _moments(sigma, rate, c, far)[1] - epsilon - 1.0 / c - 1.0 / (c + 1.0)

    c = float(np.exp(optimize.brentq(slope, np.log(1e-2), np.log(1e4), xtol=1e-2)))
    coarse, fine = (_log_delta(question, c, far, n) for n in (size // 2, size))
    return fine + (fine - coarse) / 3.0, abs(fine - coarse)
