"""Numerical checks of every statement of balle-wang-2018 that can be checked.

Each theorem and lemma, and each sentence between them that claims something, has a row: how
often it failed over random parameters, how near it came to failing and what its proof is worth.

A rate Theta(.) or O(.) hides a constant. Here each is compared with bounds on the risk over
random parameters, and the largest ratio is reported, so that a claim can say which constant it
would bear. Parameters range over many powers of ten: a wrong exponent shows as a large ratio.
"""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path
from sys import modules
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from dpnoise_papers.balle_wang_2018.theory import denoising, privacy
from dpnoise_papers.balle_wang_2018.theory.denoising import (
    sparse_counts_risk,
    threshold_risk,
    two_point_risk,
)
from dpnoise_papers.checks import (
    MINIMUM_TRIALS,
    full_name,
    log_uniform,
    read_checks,
    run_checks,
)
from dpnoise_papers.seeds import generator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpnoise._types import Array
    from dpnoise_papers.balle_wang_2018.settings import Theory

_SPIKES = 2 ** np.arange(1, 14)  # coordinates of which one is not 0
_HEIGHTS = np.linspace(0.25, 6, 24)  # of it, in units of the noise
_DRAWS = 200
_BINS = 1e5  # of a histogram at most
CHECKS = read_checks(Path(__file__).with_suffix(".yaml"), (privacy, denoising))


def statements(settings: Theory) -> pd.DataFrame:
    """Violations of each statement of the paper over random parameters, of `run_checks`.

    The status of a proof is complete, cited, none given, false or misprint, with the reason.
    """
    return run_checks(CHECKS, settings.seed, "gaussian-theory", settings.trials)


class Ratios(NamedTuple):
    """Ratios of the risk and its stated order, each of shape (n,), and what was drawn.

    The true ratio, up or down, lies between `certain` and `ratio`.
    """

    ratio: Array
    certain: Array
    parameters: Mapping[str, NDArray[Any]]


def orders(settings: Theory) -> pd.DataFrame:
    """Largest ratio of each risk of Section 4 and the order that the paper states for it.

    One row per order, and one for the search of Section 3: id, where, statement, trials, ratio and
    certain (bounds on the largest ratio, in the direction that is worse; for O(.) only of the risk
    over its order), parameters (of the worst trial), ranges (of all that was drawn) and drawn_by
    (the function that drew it).
    """
    rows = []
    for one in ORDERS:
        trials = max(MINIMUM_TRIALS, round(one.share * settings.trials))
        found = one.run(generator(settings.seed, "gaussian-theory", one.id), trials)
        worst = int(np.argmax(found.ratio))
        drawn = found.parameters.items()
        rows.append({
            "id": one.id, "where": one.where, "statement": one.statement, "trials": trials,
            "ratio": float(found.ratio[worst]), "certain": float(np.max(found.certain)),
            "parameters": ", ".join(f"{name}={values[worst]:.6g}" for name, values in drawn),
            "ranges": ", ".join(f"{name} {np.min(x):.3g} to {np.max(x):.3g}" for name, x in drawn),
            "drawn_by": full_name(one.run),
        })  # fmt: skip
    return pd.DataFrame(rows)


def _both(claimed: Array, low: Array, high: Array, drawn: Mapping[str, Array]) -> Ratios:
    """Return the ratios of a risk between two bounds and an order that it is said to have."""
    ratio = np.maximum(high / claimed, claimed / low)
    return Ratios(ratio, np.maximum(low / claimed, claimed / high), drawn)


def ball_bounds(rng: Generator, n: int, p: Array) -> tuple[Array, Array, Array, dict[str, Array]]:
    """Radius, and bounds on the minimax risk of l_p balls with p >= 2, at sigma = 1.

    The ball holds the cube of half side t = B d^(-1/p), whose minimax risk is d times that of
    one coordinate, and it lies in the l2 ball of radius t sqrt d, where c y has risk at most
    d t^2 / (1 + t^2) at c = t^2 / (1 + t^2).
    """
    d = np.floor(log_uniform(rng, 1, 1e4, n))
    side = np.exp(rng.uniform(-4, 3, n))
    radius = side * d ** (1 / p)
    grid, bound = two_point_risk()
    place = np.searchsorted(grid, np.minimum(side, grid[-1]), side="right") - 1
    low, high = d * bound[place], d * side**2 / (1 + side**2)
    # Between 0 and the first point of the grid: the risk of two points is side^2 (1 - side^2) or
    # more.
    low = np.where(side < 0.1, d * side**2 * (1 - side**2), low)
    return radius, low, high, {"d": d, "p": p, "radius": radius}


def _rate(rng: Generator, n: int, *, two: bool = False, around: bool = False) -> Ratios:
    """Return the ratios to B^2 sigma^2/(sigma^2 + B^2/d) over p >= 2, or at p = 2.

    Corrected, the radius of the l2 ball around, B d^(1/2 - 1/p), stands in the place of B.
    """
    p = np.full(n, 2.0) if two else 2 / rng.uniform(0.02, 1, n)
    radius, low, high, drawn = ball_bounds(rng, n, p)
    squared = radius**2 * (drawn["d"] ** (1 - 2 / p) if around else 1.0)
    return _both(squared / (1 + squared / drawn["d"]), low, high, drawn)


@lru_cache
def spike_risk() -> Array:
    """Lower bounds on the minimax risk of one spike of at most some height among some coordinates.

    Shape (len(_SPIKES), len(_HEIGHTS)), at unit noise. The Bayes risk of a spike t at a uniformly
    random place is t^2 (1 - E[posterior probability of its place]), a mean over drawn noise.
    """
    rng = generator(0, "gaussian-theory", "spikes")
    noise = rng.standard_normal((_DRAWS, int(_SPIKES[-1])))
    risk = np.empty((len(_SPIKES), len(_HEIGHTS)))
    for j, height in enumerate(_HEIGHTS):
        weight = np.exp(height * noise)
        own = weight[:, 0] * math.exp(height**2)
        others = np.cumsum(weight, axis=1)[:, _SPIKES - 1] - weight[:, :1]
        risk[:, j] = height**2 * (1 - (own[:, None] / (own[:, None] + others)).mean(axis=0))
    return np.maximum.accumulate(risk, axis=1)


def _rate_below_two(rng: Generator, n: int) -> Ratios:
    """Return the ratios to (7) over 0 < p < 2 and sqrt(log d) <= B/sigma <= d^(1/p).

    Below the risk: m blocks of coordinates with one spike B m^(-1/p) each, for the best m, and the
    cube of m coordinates in the ball, whose risk in each is that of two points or, by van Trees'
    inequality for the density cos^2, t^2/(t^2 + pi^2) at half side t. Above it: the soft threshold
    t has risk r(0) + min(f^2, 1 + t^2) or less in a coordinate (Johnstone), and
    min(f^2, 1 + t^2) <= (1 + t^2)^(1 - p/2) |f|^p.
    """
    p = rng.uniform(0.05, 2, n)
    d = np.floor(log_uniform(rng, 2, 1e5, n))
    start, end = np.log(np.sqrt(np.log(d))), np.log(d) / p
    radius = np.exp(start + (end - start) * rng.random(n))
    grid, cube = two_point_risk()
    spikes, low = spike_risk(), np.zeros(n)
    for i in range(n):
        blocks = np.unique(np.floor(2.0 ** np.arange(0, math.log2(d[i]), 0.125)))
        height = radius[i] * blocks ** (-1 / p[i])
        size = np.searchsorted(_SPIKES, d[i] / blocks, side="right") - 1
        place = np.searchsorted(_HEIGHTS, height, side="right") - 1
        usable = (size >= 0) & (place >= 0)
        sparse = np.where(usable, spikes[np.maximum(size, 0), np.maximum(place, 0)], 0)
        whole = cube[np.searchsorted(grid, np.minimum(height, grid[-1]), side="right") - 1]
        whole = np.maximum(whole, height**2 / (height**2 + math.pi**2))
        low[i] = np.max(blocks * np.maximum(sparse, whole))
    mass = radius**p
    rest = np.log(d / mass)
    threshold = np.sqrt(2 * np.maximum(rest, 0))
    high = d * threshold_risk(np.zeros(n), threshold) + (1 + threshold**2) ** (1 - p / 2) * mass
    claimed = mass * (1 + rest) ** (1 - p / 2)
    return _both(claimed, low, np.minimum(high, d), {"d": d, "p": p, "radius": radius})


def _one_norm(rng: Generator, n: int) -> Ratios:
    """Return the ratios to sigma B sqrt(1 + log(d sigma/B)) at p = 1, B = sigma.

    The risk is at most B^2, that of releasing zeros, and at least that of one coordinate, so that
    no constant serves every d.
    """
    d = np.floor(log_uniform(rng, 3, 1e300, n))
    grid, bound = two_point_risk()
    low = np.full(n, bound[np.searchsorted(grid, 1.0)])
    return _both(np.sqrt(1 + np.log(d)), low, np.ones(n), {"d": d})


def _one_norm_bound(rng: Generator, n: int) -> Ratios:
    """Return the ratio of the risk to the same as an upper bound."""
    both = _one_norm(rng, n)
    claimed, grid, bound = np.sqrt(1 + np.log(both.parameters["d"])), *two_point_risk()
    return Ratios(1 / claimed, bound[np.searchsorted(grid, 1.0)] / claimed, both.parameters)


def _search_length(rng: Generator, n: int) -> Ratios:
    """Return the evaluations for each binary digit that the search of Section 3 finds."""
    ratio, drawn = privacy.search_length(rng, n)
    return Ratios(ratio, ratio, drawn)


def _sparse(rng: Generator, n: int) -> Ratios:
    """Return the ratio of the threshold's risk to s sigma^2 (1 + log d), with s values not 0."""
    d = np.floor(log_uniform(rng, 4, 1e6, n))
    s = np.ceil(d ** rng.uniform(0, 1, n))
    size = np.exp(rng.uniform(-4, 4, n))
    threshold = np.sqrt(2 * np.log(d))
    risk = s * threshold_risk(size, threshold) + (d - s) * threshold_risk(np.zeros(n), threshold)
    ratio = risk / (s * (1 + np.log(d)))
    return Ratios(ratio, ratio, {"d": d, "s": s, "size": size})


def _histogram(rng: Generator, n: int, *, below_noise: bool) -> Ratios:
    """Return the ratio to (2 log d + 1) min(s sigma^2, n^(1/k) sigma^(2 - 1/k)).

    The logarithm is the one of Theorem 12. Footnote 4 asks for n >= sigma sqrt(log d). With
    `below_noise` there are fewer items than the noise's standard deviation.
    """
    start = 0.5 * math.log(math.log(_BINS))
    ends = (math.log(1e-6), 0.0) if below_noise else (start, math.log(1e12), _BINS)
    risk, d, bound, drawn = sparse_counts_risk(rng, n, *ends)
    ratio = risk / ((2 * np.log(d) + 1) * bound)
    return Ratios(ratio, ratio, drawn)


ORDERS = read_checks(Path(__file__).with_name("orders.yaml"), (modules[__name__],))
