"""Principal components under differential privacy, from a noisy second-moment matrix.

Samples are clipped to norm 1, the upper triangle of sum x x' gets independent noise and is
mirrored, and the components are the dominant eigenvectors of the result: post-processing, which
costs no privacy. Muthukrishnan & Kalyani (2024), section VI-B, after "Analyze Gauss"
(Dwork, Talwar, Thakurta & Zhang, STOC 2014); how much noise is needed is derived in
`dpnoise.learn.pca_noise`, which does not follow the 2024 paper: the noise printed there is not
private for samples that are not spread over the features.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dpnoise._validation import Problems, is_integer
from dpnoise.calibration.gaussian import MINIMUM_DELTA
from dpnoise.learn.missing_values import convert_with_nan, real_numbers, refuse_mask
from dpnoise.learn.pca_noise import ALLOCATIONS, NOISES, maximum_loss, second_moment_scales
from dpnoise.learn.privacy_warnings import warn_of_large_delta
from dpnoise.learn.second_moment import clip_rows, dominant, symmetric
from dpnoise.learn.seeding import noise_generator
from dpnoise.noise import Gaussian, Laplace
from dpnoise.privacy.coordinates import is_vouched
from dpnoise.privacy.odometer.ledger import guaranteed
from dpnoise.sensitivity.relation import ADD_REMOVE, promise, require_relation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.privacy.coordinates import Shares
    from dpnoise.privacy.odometer.budget import Budget
    from dpnoise.privacy.odometer.ledger import Ledger

_NOISE: dict[str, type[Gaussian | Laplace]] = {"gaussian": Gaussian, "laplace": Laplace}
_UP = 1.0 + 2.0**-46  # more than the rounding of a distance


@dataclass(frozen=True)
class PrivateComponents:
    """Release of `dp_pca`; all of it is covered by the budget or public.

    Attributes
    ----------
    components : float64 array, shape (M, rank)
        Orthonormal columns, by falling eigenvalue; the largest entry of each is positive.
    eigenvalues : float64 array, shape (rank,)
        Of the released matrix. Noise spreads them: they are not those of the data.
    matrix : float64 array, shape (M, M)
        The released second-moment matrix, sum x x' plus symmetric noise.
    diagonal_scale, off_diagonal_scale : float
        Of the noise: sigma (Gaussian) or beta (Laplace); 0 if epsilon is infinite.
    promise : str or None
        What is guaranteed, in one sentence; None if epsilon is infinite.
    """

    components: Array
    eigenvalues: Array
    matrix: Array
    diagonal_scale: float
    off_diagonal_scale: float
    promise: str | None
    _cost: Ledger | None = field(default=None, repr=False, compare=False)

    def spending(self) -> Ledger:
        """What the release costs a `Budget`, by its exact account; needs a finite epsilon."""
        if self._cost is None:
            message = "budget: noise: expected a release with noise, got one of infinite epsilon"
            raise ValueError(message)
        return self._cost


@dataclass(frozen=True)
class ReleaseSettings:
    """Budget, noise and neighbouring relation of a release, as for `dp_pca`."""

    epsilon: float
    delta: float
    noise: str
    allocation: str
    relation: str | None
    max_samples: int | None

    def check(
        self, problems: Problems, shape: tuple[int, ...], rank: int, *, rank_name: str = "rank"
    ) -> None:
        """Record whatever is wrong with the settings, the shape of the data and the rank."""
        adding = self.relation == ADD_REMOVE
        fewest = 0 if adding else 1
        table = len(shape) == 2 and shape[0] >= fewest and shape[1] >= 1
        if problems.require(table, "X", f"shape (N, M) with N >= {fewest}, M >= 1", shape):
            expected = f"a whole number in [1, {shape[1]}]"
            problems.require(is_integer(rank) and 1 <= rank <= shape[1], rank_name, expected, rank)
        most = self.max_samples
        if is_integer(most) and 1 <= most <= 10**15:
            fits = len(shape) != 2 or shape[0] <= most
            problems.require(fits, "X", "at most max_samples rows", "more")
        elif most is not None or adding:
            expected = "a whole number in [1, 1e15], a public bound on N that add-remove needs"
            problems.require(False, "max_samples", expected, most)
        if self.epsilon != math.inf:
            problems.number("epsilon", self.epsilon, low=1e-100, high=1e12)
        private_gaussian = self.noise == "gaussian" and self.epsilon != math.inf
        low = MINIMUM_DELTA if private_gaussian else 0.0
        problems.number("delta", self.delta, low=low, high=1.0, open_high=True)
        for name, value, allowed in (
            ("noise", self.noise, NOISES),
            ("allocation", self.allocation, ALLOCATIONS),
        ):
            problems.require(value in allowed, name, f"one of {', '.join(allowed)}", value)
        require_relation(problems, self.relation)

    @property
    def stated(self) -> str:
        """The relation, of checked settings."""
        return str(self.relation)

    @property
    def promise(self) -> str | None:
        """The guarantee in one sentence, of checked settings; None without noise."""
        if self.epsilon == math.inf:
            return None
        delta = self.delta if self.noise == "gaussian" else 0.0
        return promise(self.relation, "in one row", self.epsilon, delta)

    def spending(self, features: int, scales: tuple[float, float]) -> Ledger:
        """What the noise of given scales costs, before it is enlarged for rounding.

        The noise of a matrix counts by its largest weighted l2 or l1 distance, as Gaussian or
        Laplace noise of one number (docs/budget.md).
        """
        size = maximum_loss(features, *scales, noise=self.noise, neighbouring=self.stated) * _UP
        delta = self.delta if self.noise == "gaussian" else 0.0
        found = guaranteed(float(self.epsilon), float(delta))
        shares: Shares = {(_NOISE[self.noise](1.0), size): 1}
        if is_vouched(shares):
            found = replace(found, shares=shares, failure=Fraction(0))
        return replace(found, relation=self.stated)

    def warn(self, subject: str, rows: int, *, stacklevel: int) -> None:
        """Warning of a delta above one in the public number of rows, of checked settings."""
        if self.noise == "gaussian" and self.epsilon != math.inf:
            adding = self.relation == ADD_REMOVE
            size, name = (int(self.max_samples or 1), "max_samples") if adding else (rows, "N")
            warn_of_large_delta(subject, float(self.delta), size, name, stacklevel=stacklevel + 1)


@np.errstate(all="ignore")  # raised or warned of at one sample, they would reveal it
def dp_pca(
    X: ArrayLike,
    rank: int,
    *,
    epsilon: float,
    delta: float = 0.0,
    noise: str = "gaussian",
    allocation: str = "optimal",
    relation: str | None = None,
    max_samples: int | None = None,
    random_state: int | np.random.Generator | None = None,
) -> PrivateComponents:
    """Dominant eigenvectors of a second-moment matrix, (epsilon, delta)-differentially private.

    Parameters
    ----------
    X : array_like of float, shape (N, M)
        One sample per row. Rows longer than 1 are shortened to l2 norm 1; nothing is centred or
        scaled, so divide by a public bound first. A row with NaN or infinity contributes nothing.
    rank : int
        Number of components, 1 to M.
    epsilon : float
        In [1e-100, 1e12], or inf for no noise (rows are clipped all the same).
    delta : float
        In [1e-300, 1) for Gaussian noise. Laplace noise is epsilon-DP at delta = 0; a delta
        is accepted with it and not used.
    noise : {"gaussian", "laplace"}
        Laplace noise has a standard deviation near M/epsilon, Gaussian noise one that does not
        depend on M: choose Laplace only where delta must be 0.
    allocation : {"optimal", "iid"}
        Less noise off the diagonal than on it, which has the minimum expected squared error of the
        matrix, or the same noise everywhere.
    relation : {"add-remove", "replace-one"}
        Required: which data sets are neighbours, one person (a row) more or less, or one person
        replaced by another, which needs sqrt 2 times the noise.
    max_samples : int, optional
        A public bound on N, up to 1e15. Required by "add-remove", where N itself is private; N
        if left out with "replace-one".
    random_state : int or numpy.random.Generator, optional
        For tests and simulations on public data: anything but None raises a `SeededNoiseWarning`,
        because whoever knows it can subtract the noise.

    Returns
    -------
    PrivateComponents

    Raises
    ------
    ValueError
        Naming everything that is wrong with the settings and with the shape and type of the data;
        never for a value in the data. More than `max_samples` rows are refused: data sets beyond
        the public bound lie outside the guarantee.

    Warns
    -----
    SeededNoiseWarning
        For a `random_state` with finite epsilon.

    Notes
    -----
    The sensitivities that the scales rest on are derived in `dpnoise.learn.pca_noise`. Scales
    are enlarged by a relative (n^2 + M + 64) 2^-51, n = `max_samples`, for the rounding of clipping
    and sums, in whatever order these are taken. Assumed public: M, n, and under "replace-one" N;
    the scales depend on nothing else. Noise is sampled in ordinary floating point from a
    statistical generator.

    References
    ----------
    inid-2024, section VI-B, with the sensitivities of `dpnoise.learn.pca_noise` instead.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1.0, 1.0, 5000)[:, None] * [0.8, 0.1, 0.1]
    >>> released = dp_pca(X, 1, epsilon=1.0, delta=1e-6, relation="replace-one")
    >>> released.components.shape
    (3, 1)
    >>> released.promise
    'one person replaced by another, in one row: epsilon = 1, delta = 1e-06'
    """
    problems = Problems("dp_pca")
    refuse_mask(X)
    try:
        data = convert_with_nan(real_numbers, X)
    except (TypeError, ValueError):
        problems.require(False, "X", "numbers of shape (N, M)", type(X).__name__)
        data = np.zeros((1, 1))
    settings = ReleaseSettings(epsilon, delta, noise, allocation, relation, max_samples)
    settings.check(problems, data.shape, rank)
    rng = noise_generator(problems, random_state, epsilon)
    settings.warn("dp_pca", len(data), stacklevel=3)
    return released_components(clip_rows(data), int(rank), settings, rng)


def released_components(
    rows: Array,
    rank: int,
    settings: ReleaseSettings,
    rng: np.random.Generator,
    budget: Budget | None = None,
) -> PrivateComponents:
    """Release of `dp_pca` for rows from `clip_rows` and checked settings.

    The scales depend on the public bound on N, never on N itself where that is private.
    """
    features = rows.shape[1]
    matrix = rows.T @ rows
    scales, cost = (0.0, 0.0), None
    if settings.epsilon != math.inf:
        most = len(rows) if settings.max_samples is None else int(settings.max_samples)
        # A computed sum of x x' is off by at most N^2 2^-53 in Frobenius norm, at either of the
        # neighbours, and a clipped row by a relative (M + 3) 2^-53.
        rounding = 1.0 + (float(most) ** 2 + features + 64.0) * 2.0**-51
        exact = second_moment_scales(
            features,
            noise=settings.noise,
            allocation=settings.allocation,
            neighbouring=settings.stated,
            epsilon=settings.epsilon,
            delta=settings.delta,
        )
        scales = (exact[0] * rounding, exact[1] * rounding)
        cost = settings.spending(features, exact)
        if budget is not None:
            budget.spend(PrivateComponents(rows, rows, rows, *scales, settings.promise, cost))
        family = _NOISE[settings.noise]
        drawn = np.zeros((features, features))
        above = np.triu_indices(features, 1)
        drawn[np.diag_indices(features)] = family(scales[0]).rvs(features, rng)
        drawn[above] = family(scales[1]).rvs(len(above[0]), rng)
        matrix = matrix + drawn
    matrix = symmetric(matrix)
    values, vectors = dominant(matrix, rank)
    largest = vectors[np.argmax(np.abs(vectors), axis=0), np.arange(rank)]
    vectors = vectors * np.where(largest < 0.0, -1.0, 1.0)
    return PrivateComponents(vectors, values, matrix, *scales, settings.promise, cost)
