"""Three sentences of flipped-huber-2023 and its slides that one number each decides.

Remark 1: P(loss >= epsilon) <= delta suffices for privacy, but typically asks for a variance much
larger than what is needed. Section VI-C: truncated Laplace noise can give a data set away for
certain, with positive probability. Slides: the density of Huber's distribution.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd
from scipy import special

from dpnoise._validation import Problems
from dpnoise.calibration.calibrate import calibrate
from dpnoise.noise import FlippedHuber, Gaussian
from dpnoise_papers.flipped_huber_2023.tables.search_box import search
from dpnoise_papers.grids import describe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise.noise import Noise

_WIDE = ((1e-3, 1e5), (1e-3, 1e4))  # alpha and gamma, sensitivity 1
_HALVINGS = 100


def loss_tail(noise: Noise, epsilon: float) -> float:
    """Return P(loss >= epsilon) of symmetric log-concave noise for a shift of 1.

    The loss log g(t) - log g(t + 1) grows with t; the least t where it is epsilon or more is
    bracketed from below, so that the probability errs upwards.
    """
    low, high = -60.0 * noise.std() - 1.0, 60.0 * noise.std()
    for _ in range(_HALVINGS):
        t = 0.5 * (low + high)
        below = noise.logpdf(t) - noise.logpdf(t + 1.0) < epsilon
        low, high = (t, high) if below else (low, t)
    return float(noise.sf(low))


def remark_1(*, epsilons: Sequence[float], delta: float) -> pd.DataFrame:
    """Return the least variances under P(loss >= epsilon) <= delta and under the exact condition.

    Parameters
    ----------
    epsilons : sequence of float
        Positive.
    delta : float
        In (0, 1).

    Returns
    -------
    DataFrame
        Per mechanism (gaussian, laplace, flipped-huber) and epsilon, sensitivity 1: columns
        mechanism, epsilon, delta, exact, sufficient (variances), ratio (sufficient over exact)
        and noise (that meets the sufficient condition). Laplace noise meets it only where its
        loss, at most 1 / beta, stays below epsilon, as the limit beta = 1 / epsilon.

    Raises
    ------
    ValueError
        If a setting is out of range; names all that are.
    """
    problems = _budget(epsilons, delta)
    problems.raise_if_any()
    rows = []
    for epsilon in epsilons:
        exact = {
            name: calibrate(name, epsilon=epsilon, delta=delta).infimum
            for name in ("gaussian", "laplace", "flipped-huber")
        }

        def private(noise: Noise, epsilon: float = epsilon) -> bool:
            return loss_tail(noise, epsilon) <= delta

        # P(loss >= epsilon) = Q(epsilon sigma - 1 / (2 sigma)): a quadratic in sigma
        x = -special.ndtri(delta)
        sigma = (x + math.sqrt(x * x + 2.0 * epsilon)) / (2.0 * epsilon)
        graft = search(FlippedHuber, private, lambda noise, e=epsilon: loss_tail(noise, e), _WIDE)
        found = {
            "gaussian": (sigma * sigma, describe(Gaussian(sigma))),
            "laplace": (2.0 / epsilon**2, f"the limit beta={1.0 / epsilon:.6g}"),
            "flipped-huber": (graft.variance, describe(graft.noise)),
        }
        for name, (variance, told) in found.items():
            ratio = variance / exact[name]
            rows.append((name, epsilon, delta, exact[name], variance, ratio, told))
    columns = ["mechanism", "epsilon", "delta", "exact", "sufficient", "ratio", "noise"]
    return pd.DataFrame(rows, columns=columns)


def identification(*, epsilons: Sequence[float], delta: float) -> pd.DataFrame:
    """Return how probably truncated Laplace noise gives a data set away for certain.

    An answer that only one of two neighbouring answers, 1 apart, can have led to tells which
    it was.

    Parameters
    ----------
    epsilons : sequence of float
        Positive.
    delta : float
        In (0, 1).

    Returns
    -------
    DataFrame
        Per epsilon: columns epsilon, delta, bound (of the noise), probability and
        over_delta (the probability over delta).
    """
    problems = _budget(epsilons, delta)
    problems.raise_if_any()
    rows = []
    for epsilon in epsilons:
        noise = calibrate("truncated-laplace", epsilon=epsilon, delta=delta).noise
        probability = float(noise.sf(noise.bound - 1.0))
        rows.append((epsilon, delta, noise.bound, probability, probability / delta))
    return pd.DataFrame(rows, columns=["epsilon", "delta", "bound", "probability", "over_delta"])


def huber_mass(*, alphas: Sequence[float]) -> pd.DataFrame:
    """Return the mass under the density that the slides print for Huber's distribution.

    The slides give (1 - tau) phi(t) up to alpha and (1 - tau) exp(-alpha (|t| - alpha / 2))
    beyond. Continuity at alpha needs the factor 1 / sqrt(2 pi) of phi in the tail too.

    Parameters
    ----------
    alphas : sequence of float
        Positive.

    Returns
    -------
    DataFrame
        Per alpha and reading ("printed", "corrected"): columns alpha, reading, mass and jump
        (of the density at alpha, relative to its value below).
    """
    problems = Problems("Huber density of the slides")
    for place, alpha in enumerate(alphas):
        problems.number(f"alphas[{place}]", alpha, low=0.0, open_low=True)
    problems.raise_if_any()
    rows = []
    for alpha in alphas:
        phi = math.exp(-alpha * alpha / 2.0) / math.sqrt(2.0 * math.pi)
        tau = 1.0 / (1.0 + alpha / (2.0 * (phi - alpha * special.ndtr(-alpha))))
        centre = 1.0 - 2.0 * special.ndtr(-alpha)
        for reading, factor in (("printed", 1.0), ("corrected", 1.0 / math.sqrt(2.0 * math.pi))):
            edge = factor * math.exp(-alpha * alpha / 2.0)
            mass = (1.0 - tau) * (centre + 2.0 * edge / alpha)
            rows.append((alpha, reading, mass, edge / phi - 1.0))
    return pd.DataFrame(rows, columns=["alpha", "reading", "mass", "jump"])


def _budget(epsilons: Sequence[float], delta: float) -> Problems:
    problems = Problems("remarks of flipped-huber-2023")
    problems.number("delta", delta, low=0.0, open_low=True, high=1.0, open_high=True)
    for place, epsilon in enumerate(epsilons):
        problems.number(f"epsilons[{place}]", epsilon, low=0.0, open_low=True)
    return problems
