"""Principal components under differential privacy, from a noisy second-moment matrix.

Samples are clipped to norm 1, the upper triangle of sum x x' gets independent noise and is
mirrored, and the components are the dominant eigenvectors of the result: post-processing, which
costs no privacy. Muthukrishnan & Kalyani (2024), section VI-B, after "Analyze Gauss"
(Dwork, Talwar, Thakurta & Zhang, STOC 2014). How much noise is needed does not follow the 2024
paper: the noise printed there is not private for samples that are not spread over the features.

Sensitivity, by diagonal and off-diagonal entries. Let D be the difference of two neighbouring
answers, s the scale of the diagonal noise, t that of the off-diagonal noise. Everything rests on

    loss_q = sup over neighbours of (sum_i |D_ii / s|^q + sum_{i<j} |D_ij / t|^q)^(1/q),

which is mu for Gaussian noise (q = 2) and the exact epsilon for Laplace noise (q = 1).

Add or remove one sample: D = +-x x', and with p_i = x_i^2 (the sup is at |x| = 1)

    q = 2: (1 - c)/(2 t^2) + c/s^2 with c = sum p_i^2 in [1/M, 1]: linear in c, so its maximum is at
           an end: x = e_1 or x flat, that is |x_i| = 1/sqrt(M);
    q = 1: 1/s + ((sum |x_i|)^2 - 1)/(2 t), maximal at the flat x: 1/s + (M - 1)/(2 t).

Replace one sample: D = x x' - y y', |D|_F^2 = |x|^4 + |y|^4 - 2 (x'y)^2 <= 2, and for M >= 2

    q = 2: |D|_F^2/(2 t^2) + (1/s^2 - 1/(2 t^2)) sum D_ii^2, with sum D_ii^2 between 0, at
           x, y = (e_1 +- e_2)/sqrt 2, and |D|_F^2, at x, y = e_1, e_2: max(2/s^2, 1/t^2);
    q = 1: sum_ij W_ij |D_ij| with W_ii = 1/s and W_ij = 1/(2 t), by Cauchy-Schwarz at most
           |W|_F |D|_F <= sqrt 2 |W|_F. For even M there are x and y, constant on either half of
           the features, with all |D_ij| = sqrt 2 / M: within 0.5 % of the bound at s = t, M = 100.

With one entry (M = 1), x^2 - y^2 lies in [-1, 1], as when a sample is added.

The minimum expected squared error of the whole matrix, proportional to M s^2 + M (M - 1) t^2, is
then at t = s/sqrt 2 for Gaussian noise, with s = 1/mu or sqrt 2/mu: the off-diagonal variance is
half of the diagonal one. (Adding: let u = 1/(mu s)^2 <= 1; the error M/u + M (M-1)^2/(2 (M - u)) is
convex in u and still falls at u = 1.) For Laplace noise it is at t = s/2^(1/3) (adding) and, under
the bound of Cauchy-Schwarz, at t = s/sqrt 2 (replacing).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import lapack

from dpnoise._validation import MINIMUM_DELTA, Problems, is_integer
from dpnoise.learn.safeguards import (
    convert_with_nan,
    noise_generator,
    real_numbers,
    refuse_mask,
    warn_of_large_delta,
)
from dpnoise.noise.exponential_power import Gaussian, Laplace
from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise.privacy.odometer.ledger import guaranteed
from dpnoise.privacy.vector import is_vouched
from dpnoise.sensitivity.base import require_relation
from dpnoise.sensitivity.relation import ADD_REMOVE, promise

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.privacy.odometer.budget import Budget
    from dpnoise.privacy.odometer.ledger import Ledger
    from dpnoise.privacy.vector import Shares

ALLOCATIONS = ("optimal", "iid")
NEIGHBOURING = ("replace-one", "add-remove")
NOISES = ("gaussian", "laplace")
_NOISE: dict[str, type[Gaussian | Laplace]] = {"gaussian": Gaussian, "laplace": Laplace}
_UP = 1.0 + 2.0**-48  # more than the rounding of the few operations of a scale
_DISTANCE_UP = 1.0 + 2.0**-46  # more than the rounding of a distance


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
        size = maximum_loss(features, *scales, noise=self.noise, neighbouring=self.stated)
        size *= _DISTANCE_UP
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
    The sensitivities that the scales rest on are derived at the top of this module. Scales
    are enlarged by a relative (n^2 + M + 64) 2^-51, n = `max_samples`, for the rounding of clipping
    and sums, in whatever order these are taken. Assumed public: M, n, and under "replace-one" N;
    the scales depend on nothing else. Noise is sampled in ordinary floating point from a
    statistical generator.

    References
    ----------
    inid-2024, section VI-B, with the sensitivities at the top of `dpnoise.learn.pca` instead.

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


def maximum_loss(
    features: int, diagonal: float, off_diagonal: float, *, noise: str, neighbouring: str
) -> float:
    """Maximum privacy loss: the weighted distance of two neighbouring second-moment matrices.

    For Gaussian noise of standard deviations s and t it is mu, exactly. For Laplace noise of scales
    s and t it is the exact epsilon of add-remove, and an upper bound of that of replace-one.
    """
    M, a, b = features, 1.0 / diagonal, 1.0 / off_diagonal
    single = neighbouring == "add-remove" or M == 1
    if noise == "gaussian":
        if single:
            flat = a * a / M + 0.5 * b * b * (1.0 - 1.0 / M)
            return math.sqrt(max(a * a, flat))
        return max(math.sqrt(2.0) * a, b)
    added = a + 0.5 * (M - 1) * b
    if single:
        return added
    cauchy = math.sqrt(2.0 * M * a * a + 0.5 * M * (M - 1) * b * b)
    return min(cauchy, 2.0 * added)


def second_moment_scales(
    features: int, *, noise: str, allocation: str, neighbouring: str, epsilon: float, delta: float
) -> tuple[float, float]:
    """Scales of the noise on and off the diagonal that keep a privacy budget, rounded up.

    They are sigma (Gaussian) or beta (Laplace, epsilon-DP at delta = 0) for samples of l2 norm at
    most 1. The "optimal" allocation has the minimum expected squared error of the whole matrix,
    "iid" has equal scales.
    """
    ratio = 1.0
    if allocation == "optimal":
        halved = noise == "gaussian" or (neighbouring == "replace-one" and features > 1)
        ratio = math.sqrt(0.5) if halved else 0.5 ** (1.0 / 3.0)
    unit = float(gaussian_sigma(epsilon, delta)) if noise == "gaussian" else 1.0 / epsilon
    # One feature has no off-diagonal entries: the formulas hold for any off-diagonal scale.
    scale = maximum_loss(features, 1.0, ratio, noise=noise, neighbouring=neighbouring) * unit * _UP
    return scale, scale * ratio * _UP


def clip_rows(X: Array, bound: float = 1.0) -> Array:
    """Rows of shape (N, M) in units of `bound`, shortened to l2 norm 1 where they are longer.

    Rows that hold NaN or infinity become zeros, so that such a sample contributes nothing.
    """
    X = np.where(np.isfinite(X).all(axis=1, keepdims=True), X, 0.0)
    longest = np.maximum(np.abs(X).max(axis=1, initial=0.0), bound)[:, None]
    scaled = X / longest  # so that neither this nor squares overflow
    norms = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, None]
    return scaled / np.maximum(norms, 1.0)


def symmetric(upper: Array) -> Array:
    """Symmetric matrices whose upper triangles, diagonal included, are given, shape (..., M, M)."""
    above = np.triu(upper)
    return above + np.swapaxes(np.triu(upper, 1), -1, -2)


def dominant(matrix: Array, rank: int, tolerance: float = 0.0) -> tuple[Array, Array]:
    """Largest `rank` eigenvalues of a symmetric matrix, falling, and their eigenvectors as columns.

    `tolerance` is the error of the eigenvalues relative to the Frobenius norm; 0 stands for that of
    rounding. Inverse iteration finds the eigenvectors to rounding for tolerances up to about 1e-8,
    unless two eigenvalues are as close as that. Raises an ArithmeticError if LAPACK did not find
    them.
    """
    size = len(matrix)
    if rank < size:
        limits = {"range": "I", "il": size - rank + 1, "iu": size}
        error = tolerance * float(np.linalg.norm(matrix))
        values, vectors, _, _, info = lapack.dsyevr(matrix, lower=1, abstol=error, **limits)
        if info:
            raise ArithmeticError(f"dsyevr: the eigenvectors were not found, info={info}")
        values, vectors = values[:rank], vectors[:, :rank]
    else:
        values, vectors = np.linalg.eigh(matrix)
    return values[::-1], vectors[:, ::-1]
