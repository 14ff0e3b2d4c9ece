"""Delta of vector noise from samples: an account that shares nothing with the library's.

For a difference d the privacy loss at x is L = log f(x) - log f(x + d), and
delta(epsilon) >= E (1 - e^(epsilon - L))_+. Draws come from a mixture of the noise and its shifts
by t d, in whose far parts the loss is large; as the noise itself is one of n components, no
weight exceeds n.

Where all draws of a component give the same term, as those from the high middle step of a staircase
at large epsilon do, their spread is 0 and says nothing of the rest, which no draw met. `unseen` is
what a rest of probability 20 / draws may count: as much escapes all draws with a chance of e^-20.
"""

import math

import numpy as np
from scipy import special

_RARE = 20.0
SHIFTS = (0.0, 0.5, 1.0, 2.0, 5.0, 12.0, 30.0, 80.0)


def loss(noise, x, d):
    """Return the privacy loss at points; 0 where both densities are 0."""
    here, there = noise.logpdf(x), noise.logpdf(x + d)
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(here), 0.0, here - there)


def sampled_delta(noise, d, epsilon, rng, *, draws=20_000, shifts=SHIFTS):
    """Return an estimate of delta at a difference `d`, its standard error, and `unseen`."""
    logs, terms = [], []
    for t in shifts:
        x = noise.rvs(draws, rng) + t * d
        logs = np.stack([noise.logpdf(x - s * d) for s in shifts])
        mixture = special.logsumexp(logs, axis=0) - math.log(len(shifts))
        gain = -np.expm1(np.minimum(epsilon - loss(noise, x, d), 0.0))
        terms.append(np.exp(logs[0] - mixture) * gain)
    terms = np.array(terms)
    # Equal numbers of draws from each component: the mean of their means, stratified.
    error = np.sqrt(np.sum(np.var(terms, axis=1) / draws)) / len(shifts)
    unseen = _RARE / draws * np.mean(np.max(terms, axis=1))
    return float(np.mean(terms)), float(error), float(unseen)
