"""Noise for linear questions that is noise for their cells, summed: the answers are W (x + N).

What hides the differences of the cells hides those of the answers, by post-processing, and the
answers are consistent: they are those to one noisy table. Two mechanisms are of this kind:

- *Gaussian noise of the least total variance* among all Gaussian noise for the workload
  (`dpnoise.optimality.factorisation`), whose covariance is in the range of W;
- *cells, summed*: the best independent noise for the cells. At delta = 0 Laplace noise of the cells
  is K-norm noise in the hull of the columns of W, where these are independent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dpnoise._results import EqualByValue
from dpnoise._validation import draws
from dpnoise.joint.base import (
    MANY_ABOVE,
    ROUNDED_UP,
    VectorNoise,
    estimated_quantile,
    upper_quantile,
)
from dpnoise.joint.vectors import CorrelatedGaussian
from dpnoise.mechanisms.request import Found, Request
from dpnoise.noise.exact import as_double_above
from dpnoise.noise.exponential_power import Gaussian
from dpnoise.noise.integers import DiscreteGaussian, DiscreteLaplace
from dpnoise.optimality.factorisation import factorisation_of, noise_axes
from dpnoise.privacy.accounts import Bounds, bounds, loss_in
from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise.privacy.odometer.releases import ledger_in
from dpnoise.sensitivity.ellipsoid import MOST_AXES
from dpnoise.sensitivity.relation import ADD_REMOVE
from dpnoise.sensitivity.workload import Workload

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from dpnoise._types import Array, WordArray
    from dpnoise.joint.base import Seed, Size
    from dpnoise.privacy.odometer.ledger import Ledger
    from dpnoise.sensitivity.base import Sensitivity

_OUTWARD = 1.0 + 2.0**-35  # more than the rounding of the account
_SEED, _ENTRIES, _FEWEST, _MOST = 20231, 2**23, 2**8, 2**14
# Of Chernoff's inequality, over the largest t.
_TILTS = np.concatenate([np.geomspace(0.01, 0.5, 12), 1.0 - np.geomspace(0.003, 0.45, 14)])
_FAR_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class SummedNoise(VectorNoise, EqualByValue):
    """Noise W N of K answers W x, N being noise of the n cells x.

    Parameters
    ----------
    workload : Workload
        The questions; how people count in the cells does not matter.
    inner : VectorNoise
        The noise N.
    """

    workload: Any
    inner: Any

    def __post_init__(self) -> None:
        """The workload is stored for one relation, which the noise does not depend on."""
        plain = Workload(self.workload.questions, relation=ADD_REMOVE)
        object.__setattr__(self, "workload", plain)

    def __repr__(self) -> str:
        """The shape of W and the noise of the cells."""
        return f"SummedNoise(<matrix of shape {self.workload.questions.shape}>, {self.inner!r})"

    @property
    def dimension(self) -> int:
        """The number K of answers."""
        return int(self.workload.dimension)

    @cached_property
    def whole(self) -> bool:  # type: ignore[override]  # of most noise by its class
        """Whether the noise of the cells is on the integers and W has whole numbers."""
        data = self.workload.questions.data
        return bool(self.inner.whole and np.all(data == np.rint(data)))

    @property
    def _counted(self) -> Any:  # noqa: ANN401
        """The noise of the cells as it is accounted for."""
        return getattr(self.inner, "certified", self.inner)

    @property
    def certified(self) -> SummedNoise:
        """What `certify` and `Budget.spend` count."""
        return SummedNoise(self.workload, self._counted)

    def cells_of(self, ball: Sensitivity) -> Sensitivity:
        """What one person changes in the cells, for a set of these questions; else a ValueError."""
        found = ball.preimage
        W = self.workload.questions
        same = found is not None and (
            found[1] is W or (found[1].shape == W.shape and (found[1] != W).nnz == 0)
        )
        if found is None or not same:
            message = (
                f"noise: expected some for {self.workload!r}, the same questions, got {ball!r}"
            )
            raise ValueError(message)
        return found[0]

    def scaled(self, factor: float) -> Self:
        """The distribution of `factor` X, for a positive factor."""
        return replace(self, inner=self.inner.scaled(factor))

    def bounds_in(self, ball: Sensitivity, epsilon: float) -> Bounds:
        """Bounds on delta(epsilon) for a set of these questions, those of the cells."""
        found: Bounds = bounds(self._counted, self.cells_of(ball), epsilon)
        return found._replace(lower=0.0)

    def loss_in(self, ball: Sensitivity) -> Fraction | float:
        """An upper bound on the privacy loss for a set of these questions."""
        return loss_in(self._counted, self.cells_of(ball))

    def spending_in(self, ball: Sensitivity) -> Ledger | None:
        """What one release costs a `Budget`: what it costs for the cells."""
        return ledger_in(self.inner, self.cells_of(ball))

    def rvs(self, size: Size = None, random_state: Seed = None) -> Array | WordArray:
        """Independent random vectors, shape (*size, K); arguments as for `Noise.rvs`."""
        lead, rng = draws(self, size, random_state)
        found = self.answers(np.asarray(self.inner.rvs(lead, rng)))
        return np.rint(found).astype(np.int64) if self.whole else found

    def answers(self, cells: Array) -> Array:
        """W x for tables of cells, shape (..., n); the result has shape (..., K)."""
        flat = cells.reshape(-1, cells.shape[-1])
        found = np.asarray(self.workload.questions @ flat.T).T
        return np.ascontiguousarray(found).reshape(*cells.shape[:-1], self.dimension)

    @cached_property
    def _variances(self) -> Array:
        """The variance of each answer, shape (K,)."""
        found = np.zeros(self.dimension)
        inner = self.inner
        for at, rows in self.workload.dense_rows():
            if isinstance(inner, CorrelatedGaussian):
                image = inner.ball.support(rows)
                found[at] = inner.sigma**2 * image * image
            else:
                found[at] = (rows * rows) @ inner.var()
        return found

    def var(self) -> Array:
        """The variance of each answer, shape (K,)."""
        return self._variances

    @property
    def _is_normal(self) -> bool:
        """Whether answers are normal."""
        own = isinstance(self.inner, CorrelatedGaussian)
        return own or isinstance(getattr(self.inner, "unit", None), Gaussian)

    def mean_abs(self) -> Array:
        """E|X_i| of each answer, shape (K,); from a sample unless the noise is Gaussian."""
        if self._is_normal:
            return math.sqrt(2.0 / math.pi) * np.sqrt(self.var())
        return self._by_sample(lambda x: np.asarray(np.mean(x, axis=0)))

    def half_width(self, level: float = 0.95) -> Array:
        """The h_i with P(|X_i| <= h_i) = level, (K,); from a sample unless Gaussian."""
        if self._is_normal:
            return float(Gaussian(1.0).isf(0.5 * (1.0 - level))) * np.sqrt(self.var())
        kinds = set(map(type, self.inner.noises)) if self.whole else set()
        known = kinds in ({DiscreteGaussian}, {DiscreteLaplace})
        if known and level > 1.0 - MANY_ABOVE / self._rows:
            return self._far(level)
        found = self._by_sample(lambda x: np.array([estimated_quantile(one, level) for one in x.T]))
        return np.ceil(found) if self.whole else found

    def _far(self, level: float) -> Array:
        """Half-widths of integers that hardly a draw is beyond, or upper bounds, shape (K,).

        Those of one cell are known. For sums it is Chernoff's inequality, P(|X| >= x) <= 2 E exp(t
        X - t x). Discrete Gaussian noise has E exp(t N) <= exp(sigma^2 t^2 / 2) (Canonne, Kamath &
        Steinke 2020).
        """
        W, noises = abs(self.workload.questions), self.inner.noises
        rest = math.log(2.0) - math.log1p(-level)
        if isinstance(noises[0], DiscreteGaussian):
            square = np.array([one.sigma for one in noises]) ** 2
            ends = np.sqrt(2.0 * rest * ((W * W) @ square))
        else:
            ends = np.full(self.dimension, math.inf)
            beta = np.array([one.beta for one in noises])
            entries = W.multiply(beta).tocsr()  # in units of 1 / beta
            row = np.repeat(np.arange(self.dimension), np.diff(entries.indptr))
            widest = entries.max(axis=1).toarray().ravel()
            each, inverse = entries.data / widest[row], 1.0 / beta[entries.indices]
            for share in _TILTS.tolist():
                up = -np.expm1((share * each - 1.0) * inverse)
                down = -np.expm1((-share * each - 1.0) * inverse)
                logs = 2.0 * np.log(-np.expm1(-inverse)) - np.log(up) - np.log(down)
                total = np.bincount(row, logs, minlength=self.dimension)
                ends = np.minimum(ends, (rest + total) * widest / share)
        found = np.maximum(np.ceil(ends * (1.0 + _FAR_ROUNDING)) - 1.0, 0.0)
        alone = np.flatnonzero(np.diff(W.indptr) == 1)  # of which the half-widths are known
        at = W.indptr[alone]
        found[alone] = W.data[at] * self.inner.half_width(level)[W.indices[at]]
        return found

    def upper_half_width(self, level: float) -> Array:
        """Upper bounds on the half-widths, shape (K,)."""
        if self._is_normal:
            return self.half_width(level) * ROUNDED_UP
        return self._by_sample(
            lambda x: np.array([upper_quantile(one, level, one.size) for one in x.T])
        )

    def _by_sample(self, number: Callable[[Array], Array]) -> Array:
        """A number of |X_i| of each answer, from a sample with a fixed seed."""
        return number(np.abs(self.rvs(self._rows, _SEED)))

    @property
    def _rows(self) -> int:
        """How many vectors a sample has."""
        return min(max(_ENTRIES // self.dimension, _FEWEST), _MOST)


def workload_gaussian(request: Request) -> Found | None:
    """Gaussian noise of the least weighted total variance; None for sets that are no workload."""
    ball: Any = request.sensitivity
    if ball.preimage is None or request.delta == 0.0:
        return None
    n = ball.preimage[0].dimension
    if n > MOST_AXES:
        message = (
            f"workload: cells: expected at most {MOST_AXES} for noise that is drawn, got {n}; "
            "dpnoise.optimality.factorisation.factorise has the total variance and its floor"
        )
        raise ValueError(message)
    axes = noise_axes(factorisation_of(ball, request.weights))
    size = as_double_above(axes.largest_norm_of(ball.cells))
    unit = float(gaussian_sigma(request.epsilon, request.delta))
    sigma = unit * size * _OUTWARD
    return Found(SummedNoise(ball, CorrelatedGaussian(axes, sigma)), request.delta)


def cells_summed(
    request: Request, kinds: tuple[Callable[[Request], Found | None], ...]
) -> Found | None:
    """The best independent noise of the cells, by its mechanisms; None for other sets.

    Of a request for integers the cells have noise on the integers.
    """
    ball: Any = request.sensitivity
    if ball.preimage is None:
        return None
    weights = np.zeros(ball.preimage[0].dimension)
    for at, rows in ball.dense_rows():
        weights += request.weights[at] @ (rows * rows)
    weights = weights / np.max(weights)
    cells = Request(
        ball.cells, request.epsilon, request.delta, "variance", weights, bool(request.integer)
    )
    found = [one for one in (kind(cells) for kind in kinds) if one is not None]
    if not found:
        return None
    best = min(found, key=lambda one: cells.mean(np.asarray(one.noise.var())))
    return Found(SummedNoise(ball, best.noise), best.delta)
