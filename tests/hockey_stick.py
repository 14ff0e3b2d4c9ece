"""The profile of one shift at any real epsilon, from that at epsilon >= 0 by symmetry."""

import numpy as np

from dpnoise.privacy.shift import shifted


def hockey_stick(noise, shift, epsilon):
    """Return log delta and -d delta / d epsilon.

    delta(-epsilon) = 1 - e^-epsilon + e^-epsilon delta(epsilon), and P(T <= t1) is what delta and
    its slope at epsilon leave of 1.
    """
    epsilon = np.asarray(epsilon, dtype=float)
    size = np.abs(epsilon)
    found = shifted(noise, float(shift)).log_delta_and_slope(size.ravel())
    log_delta, log_slope = (np.minimum(one, 0.0).reshape(epsilon.shape) for one in found)
    delta, slope, fall = np.exp(log_delta), np.exp(log_slope), np.exp(-size)
    with np.errstate(divide="ignore"):  # no shift and epsilon ~ 0
        back = np.log(-np.expm1(-size) + fall * delta)
    rest = fall * np.maximum(1.0 - delta - slope, 0.0)
    negative = epsilon < 0.0
    return np.where(negative, back, log_delta)[()], np.where(negative, rest, slope)[()]
