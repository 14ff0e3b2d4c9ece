"""Private means and sparse histograms, raw and denoised (Balle & Wang, ICML 2018, 5.2 and B.1).

Means (right two panels of Figures 1 and 3): a data set is x_i = x_0 + u_i, i = 1, ..., n, with
x_0 ~ N(0, I_d) and u_i uniform on [-1/2, 1/2]^d; released is the mean, and the error is the
l2 norm. The sensitivities sqrt(d)/n and d/n, which the paper uses, belong to replacing one
x_i within a known box of side 1 (an l_inf ball of radius 1/2; for the printed radius 1 they
would be twice as large). That box is x_0 + [-1/2, 1/2]^d, so x_0 is taken as public where
privacy is concerned, though no mechanism uses it.

Histograms (Figure 4): the n items of a data set fall into d bins by probabilities drawn from a
symmetric Dirichlet distribution with parameter 1/d, anew for each data set, so that most bins
are empty. Released are the bins' shares, and the error is the l1 norm. Replacing one item
moves 1/n from one bin to another: the l2 sensitivity is sqrt(2)/n, the l1 sensitivity 2/n.

The paper's five mechanisms are cgm (classical Gaussian), agm (analytic Gaussian), laplace
(epsilon-DP by the l1 sensitivity), and the analytic one denoised: agm-js (James-Stein) and
agm-th (soft threshold sigma sqrt(2 log d)). Added are agm-js-plus (positive part) and zero
(releasing zeros, which costs no privacy).

All mechanisms are run on the same data, and on draws of the same signs and levels.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from dpnoise.denoise.shrinkage import james_stein, soft_threshold, universal_threshold
from dpnoise.noise.exponential_power import Gaussian, Laplace
from dpnoise.privacy.gaussian import classical_gaussian_sigma, gaussian_sigma
from dpnoise_papers.seeds import generator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from dpnoise._types import Array
    from dpnoise_papers.balle_wang_2018.settings import Releases

UNDENOISED = ("cgm", "agm", "laplace")  # of the paper
DENOISED = ("agm-js", "agm-th")
REFERENCES = (*UNDENOISED, *DENOISED, "zero")
_MECHANISMS = {"cgm": "cGM", "agm": "aGM", "agm-js": "aGM", "agm-th": "aGM", "laplace": "Laplace"}
_MEASURES = (
    "nonzero", "error", *(f"gain_over_{name.replace('-', '_')}" for name in REFERENCES),
    "gain_over_undenoised", "saving",
)  # fmt: skip
COLUMNS = (
    "epsilon", "dimension", "method", "mechanism", "role", "repetitions", "deviation",
    *(f"{name}{end}" for name in _MEASURES for end in ("", "_se")),
)  # fmt: skip


class _Data(NamedTuple):
    """Kind of data.

    Attributes
    ----------
    scope : str
        Part of the scope of every stream. Epsilon is not: all epsilons see the same data and
        draws.
    draw : callable
        From a generator, n and d to what is released of one fresh data set, shape (d,).
    sensitivity : callable
        From n and d to the l1 and the l2 sensitivity.
    error : callable
        From deviations, shape (repetitions, d), to one error per repetition.
    """

    scope: str
    draw: Callable[[np.random.Generator, int, int], Array]
    sensitivity: Callable[[int, int], tuple[float, float]]
    error: Callable[[Array], Array]


def mean_estimation(settings: Releases) -> pd.DataFrame:
    """l2 error of each mechanism on private means, against the dimension.

    Columns epsilon, dimension, method, mechanism (cGM, aGM or Laplace of the paper, denoised or
    not, or 'added'), role ('undenoised' and 'denoised' of the paper, or 'added'), repetitions,
    deviation (of the noise, per coordinate), and with their standard errors in `<column>_se`:
    nonzero (share of the coordinates of the truth that are not 0), error (mean over repetitions),
    gain_over_<method> for each of the paper's five methods and 'zero' (the paired difference of
    errors, positive where the row is better), gain_over_undenoised (the smallest gain over the
    paper's three undenoised methods) and saving (the same as a share of that method's error).
    """
    return _compare(settings, _MEANS)


def histograms(settings: Releases) -> pd.DataFrame:
    """l1 error of each mechanism on private histograms; columns as for `mean_estimation`."""
    return _compare(settings, _HISTOGRAMS)


def histogram_panels(
    first: pd.DataFrame, second: pd.DataFrame, third: pd.DataFrame, high_dimension: pd.DataFrame
) -> pd.DataFrame:
    """Rows of the four panels of Figure 4 under one another.

    Columns panel (a, b, c or d) and those of `mean_estimation`. What the appendix says of its
    histograms it says of all panels; the last one, of high dimension, shows the two denoised
    mechanisms alone and is the only one whose epsilon is not printed.
    """
    panels = {"a": first, "b": second, "c": third, "d": high_dimension}
    parts = [table.assign(panel=name) for name, table in panels.items()]
    return pd.concat(parts, ignore_index=True)[["panel", *COLUMNS]]


def high_dimension(means: pd.DataFrame, histograms: pd.DataFrame) -> pd.DataFrame:
    """What the better of the paper's two denoisers saves, in the panels of high dimension.

    Columns task ('mean' or 'histogram'), epsilon, dimension, method (the better one), raw and
    denoised (errors of the analytic mechanism), benefit (raw over denoised) and benefit_se, as if
    the two errors were independent.
    """
    rows = []
    for task, table in (("mean", means), ("histogram", histograms)):
        for (epsilon, dimension), part in table.groupby(["epsilon", "dimension"]):
            errors = dict(zip(part["method"], part["error"].astype(float), strict=True))
            relative = dict(zip(part["method"], part["error_se"] / part["error"], strict=True))
            best = min(DENOISED, key=errors.__getitem__)
            benefit = errors["agm"] / errors[best]
            noise = benefit * math.hypot(relative["agm"], relative[best])
            rows.append((task, epsilon, dimension, best, errors["agm"], errors[best],
                         benefit, noise))  # fmt: skip
    columns = ["task", "epsilon", "dimension", "method", "raw", "denoised", "benefit", "benefit_se"]
    return pd.DataFrame(rows, columns=columns)


def _mean(rng: np.random.Generator, samples: int, dimension: int) -> Array:
    """Return the mean of a fresh data set, shape (dimension,)."""
    centre = rng.standard_normal(dimension)
    return centre + (rng.random((samples, dimension)).mean(axis=0) - 0.5)


def _histogram(rng: np.random.Generator, samples: int, bins: int) -> Array:
    """Return the shares of a fresh data set, shape (bins,)."""
    chances = rng.dirichlet(np.full(bins, 1.0 / bins))
    return rng.multinomial(samples, chances) / samples


_MEANS = _Data(
    "mean-estimation",
    _mean,
    lambda n, d: (d * (1.0 / n), math.sqrt(d) * (1.0 / n)),
    lambda difference: np.linalg.norm(difference, axis=1),
)
_HISTOGRAMS = _Data(
    "histograms",
    _histogram,
    lambda n, _: (2.0 * (1.0 / n), math.sqrt(2.0) * (1.0 / n)),
    lambda difference: np.abs(difference).sum(axis=1),
)


def _releases(  # noqa: PLR0917
    truth: Array,
    sensitivity: tuple[float, float],
    epsilon: float,
    delta: float,
    draws: Array,
    normal: Array,
) -> Iterator[tuple[str, float, Array]]:
    """Yield the paper's mechanisms, and the positive part: name, deviation and release.

    `normal` are the draws as values of the standard normal distribution.
    """
    l1, l2 = sensitivity
    sigma = float(classical_gaussian_sigma(epsilon, delta, l2, allow_large_epsilon=True))
    yield "cgm", sigma, truth + sigma * normal
    sigma = float(gaussian_sigma(epsilon, delta, l2))
    noisy = truth + sigma * normal
    yield "agm", sigma, noisy
    yield "agm-js", sigma, james_stein(noisy, sigma)
    yield "agm-js-plus", sigma, james_stein(noisy, sigma, positive_part=True)
    yield "agm-th", sigma, soft_threshold(noisy, universal_threshold(sigma, truth.shape[1]))
    noise = Laplace(l1 / epsilon)
    yield "laplace", noise.std(), truth + noise.coupled(draws)
    yield "zero", 0.0, np.zeros_like(truth)


def _rows(
    released: Iterable[tuple[str, float, Array]],
    truth: Array,
    error: Callable[[Array], Array],
) -> Iterator[list[object]]:
    """Yield dimension, method, mechanism, role, repetitions, deviation, means and errors."""
    deviations, errors = {}, {}
    for name, deviation, release in released:
        deviations[name], errors[name] = float(deviation), error(release - truth)
    best = min((errors[name] for name in UNDENOISED), key=np.mean)
    nonzero = np.mean(truth != 0, axis=1)
    for name, own in errors.items():
        gain = best - own
        share = 1.0 - np.mean(own) / np.mean(best)
        # The mean of a ratio's residuals is 0, and their scatter is that of the ratio.
        ratio = share + (gain - share * best) / np.mean(best)
        values = (nonzero, own, *(errors[other] - own for other in REFERENCES), gain, ratio)
        numbers = [number for value in values for number in _mean_and_error(value)]
        kinds = _MECHANISMS.get(name, "added"), _role(name)
        yield [truth.shape[1], name, *kinds, len(truth), deviations[name], *numbers]


def _mean_and_error(values: Array) -> tuple[float, float]:
    """Return the mean of draws and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))


def _role(method: str) -> str:
    """Return what a method is in the paper's comparisons."""
    if method in DENOISED:
        return "denoised"
    return "undenoised" if method in UNDENOISED else "added"


def _compare(settings: Releases, data: _Data) -> pd.DataFrame:
    """Return the error of each mechanism against the dimension and epsilon."""
    rows, unit = [], Laplace(1.0)
    for d in sorted(settings.dimensions):

        def stream(k: int, what: str, d: int = d) -> np.random.Generator:
            return generator(settings.seed, data.scope, d, k, what)

        sensitivity = data.sensitivity(settings.samples, d)
        count = range(settings.data_sets(d))
        truth = np.stack([data.draw(stream(k, "data"), settings.samples, d) for k in count])
        draws = np.stack([unit.rvs(d, stream(k, "noise")) for k in count])
        normal = Gaussian(1.0).coupled(draws)
        for epsilon in settings.epsilons:
            released = _releases(truth, sensitivity, epsilon, settings.delta, draws, normal)
            rows += [[epsilon, *row] for row in _rows(released, truth, data.error)]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.sort_values(["epsilon", "dimension"], kind="stable", ignore_index=True)
