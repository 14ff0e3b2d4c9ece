"""The mechanisms that release a vector in Sections 5.2 and B.1 of Balle & Wang (ICML 2018).

The paper's five are cgm (classical Gaussian), agm (analytic Gaussian), laplace (epsilon-DP by
the l1 sensitivity), and the analytic one denoised: agm-js (James-Stein) and agm-th (soft
threshold sigma sqrt(2 log d)). Added are agm-js-plus (positive part), zero (releasing zeros,
which costs no privacy) and, with independent noise per coordinate calibrated to the same
(epsilon, delta), laplace-exact, flipped-huber and truncated-laplace.

For the last three the neighbouring relation matters beyond two norms. Replace-one changes
every coordinate of a mean by up to the same amount, so all d coordinates are worst together;
in a histogram it changes two bins and no more, so that two coordinates decide at any d.
`Sensitivity.coordinates` is that number.

All mechanisms are run on the same data, and on draws of the same signs and levels.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from dpnoise._validation import Problems
from dpnoise.calibration.calibrate import calibrate
from dpnoise.calibration.classical import classical_gaussian_sigma
from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise.denoise.shrinkage import james_stein
from dpnoise.denoise.thresholds import soft_threshold, universal_threshold
from dpnoise.noise import Gaussian, Laplace
from dpnoise_papers.grids import require_count
from dpnoise_papers.seeds import generator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from dpnoise._types import Array
    from dpnoise.noise import Noise

    Stream = Callable[[int, str], np.random.Generator]

REFERENCES = ("cgm", "agm", "laplace", "agm-js", "agm-th", "zero")
COLUMNS = (
    "epsilon", "dimension", "method", "repetitions", "deviation", "error", "error_se",
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


class Settings(NamedTuple):
    """The settings of a release.

    Attributes
    ----------
    seed : int
        The seed of the config.
    epsilons : sequence of float
        Positive. The classical Gaussian mechanism is a formula without a theorem at
        epsilon >= 1.
    delta : float
        In [1e-300, 1).
    samples : int
        Data points per data set, n.
    repetitions : int
        Data sets per dimension at least, 2 or more.
    draws : int
        Coordinates that are drawn of each noise at least: a small dimension d has draws / d
        data sets, so that its errors are as clear as those of a large one.
    dimensions : sequence of int
        Each at least 3, for James-Stein.
    exact_up_to : int
        The largest dimension at which the families beyond the paper are run.
    """

    seed: int
    epsilons: Sequence[float]
    delta: float
    samples: int
    repetitions: int
    draws: int
    dimensions: Sequence[int]
    exact_up_to: int

    def data_sets(self, dimension: int) -> int:
        """Return how many data sets a dimension has."""
        return max(self.repetitions, -(-self.draws // dimension))


def _check(experiment: str, settings: Settings) -> None:
    """Raise a ValueError that names all that is wrong with the settings."""
    problems = Problems(experiment)
    require_count(problems, "seed", settings.seed, 0)
    problems.require(len(settings.epsilons) > 0, "epsilons", "at least one", settings.epsilons)
    for place, value in enumerate(settings.epsilons):
        problems.number(f"epsilons[{place}]", value, low=0.0, open_low=True, high=1e4)
    problems.number("delta", settings.delta, low=1e-300, high=1.0, open_high=True)
    require_count(problems, "samples", settings.samples, 1)
    require_count(problems, "repetitions", settings.repetitions, 2)
    require_count(problems, "draws", settings.draws, 0)
    dimensions = settings.dimensions
    problems.require(len(dimensions) > 0, "dimensions", "at least one", dimensions)
    for place, value in enumerate(dimensions):
        require_count(problems, f"dimensions[{place}]", value, _LEAST_DIMENSION)
    require_count(problems, "exact_up_to", settings.exact_up_to, 0)
    problems.raise_if_any()


@lru_cache
def _calibrated(family: str, epsilon: float, delta: float, each: float, coordinates: int) -> Noise:
    budget = {"epsilon": epsilon, "delta": delta, "sensitivity": each, "dimension": coordinates}
    return calibrate(family, **budget).noise


def _draw(stream: Stream, noise: Noise, shape: tuple[int, int]) -> Array:
    """Return draws of a noise, one row per repetition; all families share signs and levels."""
    return np.stack([noise.rvs(shape[1], stream(k, "noise")) for k in range(shape[0])])


def _releases(
    truth: Array, sensitivity: Sensitivity, epsilon: float, delta: float, stream: Stream
) -> Iterator[tuple[str, float, Array]]:
    """Yield the paper's mechanisms, and the positive part: name, deviation and release."""
    d = truth.shape[1]
    normal = _draw(stream, Gaussian(1.0), truth.shape)
    sigma = classical_gaussian_sigma(epsilon, delta, sensitivity.l2, allow_large_epsilon=True)
    yield "cgm", sigma, truth + sigma * normal
    sigma = gaussian_sigma(epsilon, delta, sensitivity.l2)
    noisy = truth + sigma * normal
    yield "agm", sigma, noisy
    yield "agm-js", sigma, james_stein(noisy, sigma)
    yield "agm-js-plus", sigma, james_stein(noisy, sigma, positive_part=True)
    yield "agm-th", sigma, soft_threshold(noisy, universal_threshold(sigma, d))
    noise = Laplace(sensitivity.l1 / epsilon)
    yield "laplace", noise.std(), truth + _draw(stream, noise, truth.shape)
    yield "zero", 0.0, np.zeros_like(truth)


def _exact_releases(
    truth: Array, sensitivity: Sensitivity, epsilon: float, delta: float, stream: Stream
) -> Iterator[tuple[str, float, Array]]:
    """Yield independent noise of other families at the same (epsilon, delta)."""
    for family in ("laplace", "flipped-huber", "truncated-laplace"):
        noise = _calibrated(family, epsilon, delta, *sensitivity)
        name = "laplace-exact" if family == "laplace" else family
        yield name, noise.std(), truth + _draw(stream, noise, truth.shape)


def _compare(
    released: list[tuple[str, float, Array]],
    truth: Array,
    error: Callable[[Array], Array],
) -> Iterator[list[object]]:
    """Yield dimension, method, repetitions, deviation, the mean error and its gains."""
    deviations, errors = {}, {}
    for name, deviation, release in released:
        deviations[name], errors[name] = float(deviation), error(release - truth)
    root = math.sqrt(len(truth))
    for name, own in errors.items():
        values = [own, *(errors[reference] - own for reference in REFERENCES)]
        pairs = ((value.mean(), value.std(ddof=1) / root) for value in values)
        numbers = deviations[name], *(x for pair in pairs for x in pair)
        yield [truth.shape[1], name, len(truth), *numbers]


def compare_releases(
    experiment: str,
    settings: Settings,
    draw: Callable[[np.random.Generator, int, int], Array],
    sensitivity: Callable[[int], Sensitivity],
    error: Callable[[Array], Array],
) -> pd.DataFrame:
    """Return the error of each mechanism against the dimension and epsilon.

    Parameters
    ----------
    experiment : str
        Its name, which is part of every stream's scope. Epsilon is not: all epsilons see the
        same data and draws.
    settings : Settings
    draw : callable
        From a generator, n and d to what is released of one fresh data set, shape (d,).
    sensitivity : callable
        From d to how far apart neighbouring answers can be.
    error : callable
        From deviations, shape (repetitions, d), to one error per repetition.

    Returns
    -------
    DataFrame
        With the columns COLUMNS. `deviation` is that of the noise, per coordinate; `error` is
        a mean over repetitions, and `gain_over_X` that of the error of X less the row's own,
        paired: positive where the row is better. Each has its standard error beside it.

    Raises
    ------
    ValueError
        If a setting is out of range; names all that are.
    """
    _check(experiment, settings)
    rows = []
    for d in sorted(set(settings.dimensions)):

        def stream(k: int, what: str, d: int = d) -> np.random.Generator:
            return generator(settings.seed, experiment, d, k, what)

        count = range(settings.data_sets(d))
        sets = (draw(stream(k, "data"), settings.samples, d) for k in count)
        truth = np.stack(list(sets))
        for epsilon in settings.epsilons:
            setting = (truth, sensitivity(d), epsilon, settings.delta, stream)
            released = list(_releases(*setting))
            if d <= settings.exact_up_to:
                released += _exact_releases(*setting)
            rows += [[epsilon, *row] for row in _compare(released, truth, error)]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.sort_values(["epsilon", "dimension"], kind="stable", ignore_index=True)
