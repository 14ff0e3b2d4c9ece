"""The mechanisms that release a vector in Sections 5.2 and B.1 of Balle & Wang (ICML 2018).

The paper's five are cgm (classical Gaussian), agm (analytic Gaussian), laplace (epsilon-DP by
the l1 sensitivity), and the analytic one denoised: agm-js (James-Stein) and agm-th (soft
threshold sigma sqrt(2 log d)). Added are agm-js-plus (positive part) and, with independent
noise per coordinate calibrated to the same (epsilon, delta), laplace-exact, flipped-huber and
truncated-laplace.

For the last three the neighbouring relation matters beyond two norms. Replace-one changes
every coordinate of a mean by up to the same amount, so all d coordinates are worst together;
in a histogram it changes two bins and no more, so that two coordinates decide at any d.
`Sensitivity.coordinates` is that number.

All mechanisms are run on the same data, and those of one family on the same draws.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise.calibration import calibrate, gaussian_sigma
from dpnoise.calibration.classical_gaussian import classical_gaussian_sigma
from dpnoise.denoise.shrinkage import james_stein, soft_threshold, universal_threshold
from dpnoise.experiments._settings import require_count
from dpnoise.seeds import generator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from dpnoise._check import Problems

    Array = NDArray[np.float64]
    Stream = Callable[[int, str], np.random.Generator]

REFERENCES = ("cgm", "agm", "laplace", "agm-js", "agm-th")
COLUMNS = (
    "epsilon", "dimension", "method", "deviation", "error", "error_se",
    *(f"gain_over_{name.replace('-', '_')}{end}" for name in REFERENCES for end in ("", "_se")),
)  # fmt: skip
_LEAST_DIMENSION = 3  # of James-Stein


class Sensitivity(NamedTuple):
    """How far apart two neighbouring answers can be.

    Attributes
    ----------
    each : float
        In any one coordinate.
    coordinates : int
        How many coordinates can differ at once.
    """

    each: float
    coordinates: int

    @property
    def l1(self) -> float:
        """The l1 sensitivity."""
        return self.each * self.coordinates

    @property
    def l2(self) -> float:
        """The l2 sensitivity."""
        return self.each * math.sqrt(self.coordinates)


def check_release(
    problems: Problems,
    seed: object,
    epsilon: object,
    delta: object,
    samples: object,
    repetitions: object,
    dimensions: Sequence[int],
    exact_up_to: object,
) -> None:
    """Record what is wrong with the settings of a release."""
    require_count(problems, "seed", seed, 0)
    problems.number("epsilon", epsilon, low=0.0, open_low=True, high=1e4)
    problems.number("delta", delta, low=1e-300, high=1.0, open_high=True)
    require_count(problems, "samples", samples, 1)
    require_count(problems, "repetitions", repetitions, 2)
    problems.require(len(dimensions) > 0, "dimensions", "at least one", dimensions)
    for place, value in enumerate(dimensions):
        require_count(problems, f"dimensions[{place}]", value, _LEAST_DIMENSION)
    require_count(problems, "exact_up_to", exact_up_to, 0)


def streams(seed: int, experiment: str, dimension: int) -> Stream:
    """Return the function from (repetition, what is drawn) to its generator.

    Epsilon is not part of the scope: all epsilons see the same data and draws.
    """
    return lambda repetition, what: generator(seed, experiment, dimension, repetition, what)


def _draw(stream: Stream, what: str, shape: tuple[int, int]) -> Array:
    """Return standard draws of a family, one row per repetition."""
    name = {"gaussian": "standard_normal", "laplace": "laplace"}[what]
    draws = (getattr(stream(k, what), name)(size=shape[1]) for k in range(shape[0]))
    return np.stack(list(draws))


def _releases(
    truth: Array, sensitivity: Sensitivity, epsilon: float, delta: float, stream: Stream
) -> Iterator[tuple[str, float, Array]]:
    """Yield the paper's mechanisms, and the positive part: name, deviation and release."""
    d = truth.shape[1]
    normal = _draw(stream, "gaussian", truth.shape)
    sigma = classical_gaussian_sigma(epsilon, delta, sensitivity.l2, allow_large_epsilon=True)
    yield "cgm", sigma, truth + sigma * normal
    sigma = gaussian_sigma(epsilon, delta, sensitivity.l2)
    noisy = truth + sigma * normal
    yield "agm", sigma, noisy
    yield "agm-js", sigma, james_stein(noisy, sigma)
    yield "agm-js-plus", sigma, james_stein(noisy, sigma, positive_part=True)
    yield "agm-th", sigma, soft_threshold(noisy, universal_threshold(sigma, d))
    beta = sensitivity.l1 / epsilon
    laplace = _draw(stream, "laplace", truth.shape)
    yield "laplace", math.sqrt(2.0) * beta, truth + beta * laplace


def _exact_releases(
    truth: Array, sensitivity: Sensitivity, epsilon: float, delta: float, stream: Stream
) -> Iterator[tuple[str, float, Array]]:
    """Yield independent noise of other families at the same (epsilon, delta)."""
    budget = {
        "epsilon": epsilon,
        "delta": delta,
        "sensitivity": sensitivity.each,
        "dimension": sensitivity.coordinates,
    }
    noise = calibrate("laplace", **budget).noise
    yield "laplace-exact", noise.std(), truth + noise.beta * _draw(stream, "laplace", truth.shape)
    for family in ("flipped-huber", "truncated-laplace"):
        noise = calibrate(family, **budget).noise
        draws = [noise.rvs(truth.shape[1], stream(k, family)) for k in range(len(truth))]
        yield family, noise.std(), truth + np.stack(draws)


def compare(
    truth: Array,
    sensitivity: Sensitivity,
    epsilon: float,
    delta: float,
    stream: Stream,
    error: Callable[[Array], Array],
    *,
    exact: bool,
) -> list[dict[str, object]]:
    """Return one row per mechanism for one epsilon and dimension.

    Parameters
    ----------
    truth : ndarray of shape (repetitions, d)
        What the mechanisms release, one data set per row.
    sensitivity : Sensitivity
    epsilon, delta : float
        The privacy parameters.
    stream : callable
        As `streams` returns it.
    error : callable
        From the deviations, shape (repetitions, d), to one error per repetition.
    exact : bool
        Whether the three families beyond the paper are run too.

    Returns
    -------
    list of dict
        With the keys COLUMNS. `gain_over_X` is the mean over repetitions of the error of X less
        the row's own: positive where the row is better.
    """
    setting = (truth, sensitivity, epsilon, delta, stream)
    released = [*_releases(*setting), *(_exact_releases(*setting) if exact else ())]
    errors = {name: error(release - truth) for name, _, release in released}
    root = math.sqrt(len(truth))
    rows = []
    for name, deviation, _ in released:
        own = errors[name]
        row = [epsilon, truth.shape[1], name, float(deviation), own.mean(), own.std(ddof=1) / root]
        for reference in REFERENCES:
            gain = errors[reference] - own
            row += [gain.mean(), gain.std(ddof=1) / root]
        rows.append(dict(zip(COLUMNS, row, strict=True)))
    return rows
