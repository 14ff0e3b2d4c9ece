"""Principal components under differential privacy, from a noisy second-moment matrix.

Samples are clipped to norm 1, the upper triangle of sum x x' gets independent noise and is
mirrored, and the dominant eigenvectors of what comes out are the components: post-processing,
which costs no privacy. Muthukrishnan & Kalyani (2024), section VI-B, after "Analyze Gauss"
(Dwork, Talwar, Thakurta & Zhang, STOC 2014); how much noise is needed is derived in
`dpnoise.learn.pca_noise`, which does not follow the 2024 paper: the noise printed there is not
private for samples that are not spread over the features.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import lapack

from dpnoise._validation import Problems
from dpnoise.calibration.gaussian import MINIMUM_DELTA
from dpnoise.learn.missing_values import convert_with_nan
from dpnoise.learn.pca_noise import ALLOCATIONS, NEIGHBOURING, NOISES, second_moment_scales
from dpnoise.learn.seeding import noise_generator, warn_if_seeded
from dpnoise.noise import Gaussian, Laplace

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array

_NOISE = {"gaussian": Gaussian, "laplace": Laplace}


@dataclass(frozen=True)
class PrivateComponents:
    """What `dp_pca` releases; all of it is covered by the budget or public.

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
    """

    components: Array
    eigenvalues: Array
    matrix: Array
    diagonal_scale: float
    off_diagonal_scale: float


def clip_rows(X: Array, bound: float = 1.0) -> Array:
    """Return rows in units of `bound`, shortened to l2 norm 1 where they are longer.

    Rows that hold NaN or infinity are zeros: a sample with such a value contributes nothing.
    """
    X = np.where(np.isfinite(X).all(axis=1, keepdims=True), X, 0.0)
    longest = np.maximum(np.abs(X).max(axis=1, initial=0.0), bound)[:, None]
    scaled = X / longest  # so that neither this nor squares overflow
    norms = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, None]
    return scaled / np.maximum(norms, 1.0)


def symmetric(upper: Array) -> Array:
    """Return the symmetric matrices whose upper triangles, diagonal included, are given."""
    above = np.triu(upper)
    return above + np.swapaxes(np.triu(upper, 1), -1, -2)


def dominant(matrix: Array, rank: int) -> tuple[Array, Array]:
    """Return the largest eigenvalues of a symmetric matrix, falling, and their eigenvectors."""
    size = len(matrix)
    if rank < size:
        values, vectors, _, _, info = lapack.dsyevr(
            matrix, range="I", il=size - rank + 1, iu=size, lower=1
        )
        if info:
            raise ArithmeticError(f"dsyevr: the eigenvectors were not found, info={info}")
        values, vectors = values[:rank], vectors[:, :rank]
    else:
        values, vectors = np.linalg.eigh(matrix)
    return values[::-1], vectors[:, ::-1]


def check_request(
    problems: Problems,
    shape: tuple[int, ...],
    rank: int | None,
    *,
    epsilon: float,
    delta: float,
    noise: str,
    allocation: str,
    neighbouring: str,
    max_samples: int | None,
    rank_name: str = "rank",
) -> None:
    """Record whatever is wrong with the settings and the shape of the data."""
    adding = neighbouring == "add-remove"
    least = 0 if adding else 1
    expected = f"shape (N, M) with N >= {least}, M >= 1"
    if problems.require(len(shape) == 2 and shape[0] >= least and shape[1] >= 1, "X", expected,
                        shape):  # fmt: skip
        expected = f"a whole number in [1, {shape[1]}]"
        problems.require(_whole(rank) and 1 <= rank <= shape[1], rank_name, expected, rank)
    if max_samples is not None or adding:
        expected = "a whole number in [1, 1e15], a public bound on N that add-remove needs"
        good = _whole(max_samples) and 1 <= max_samples <= 10**15
        if problems.require(good, "max_samples", expected, max_samples) and len(shape) == 2:
            problems.require(shape[0] <= max_samples, "X", "at most max_samples rows", "more")
    if epsilon != math.inf:
        problems.number("epsilon", epsilon, low=1e-100, high=1e12)
    private_gaussian = noise == "gaussian" and epsilon != math.inf
    low = MINIMUM_DELTA if private_gaussian else 0.0
    problems.number("delta", delta, low=low, high=1.0, open_high=True)
    for name, value, allowed in (
        ("noise", noise, NOISES),
        ("allocation", allocation, ALLOCATIONS),
        ("neighbouring", neighbouring, NEIGHBOURING),
    ):
        problems.require(value in allowed, name, f"one of {', '.join(allowed)}", value)


def _whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


@np.errstate(all="ignore")  # raised or warned of at one sample, they would tell it
def dp_pca(
    X: ArrayLike,
    rank: int,
    *,
    epsilon: float,
    delta: float = 0.0,
    noise: str = "gaussian",
    allocation: str = "optimal",
    neighbouring: str = "replace-one",
    max_samples: int | None = None,
    random_state: int | np.random.Generator | None = None,
) -> PrivateComponents:
    """Return the dominant eigenvectors of a second-moment matrix, privately.

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
        Less noise off the diagonal than on it, which has the least expected squared error of the
        matrix, or the same noise everywhere.
    neighbouring : {"replace-one", "add-remove"}
        Which data sets the guarantee does not tell apart. "replace-one" needs sqrt 2 times the
        noise.
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

    Source: inid-2024, section VI-B, with sensitivities that hold.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1.0, 1.0, 5000)[:, None] * [0.8, 0.1, 0.1]
    >>> released = dp_pca(X, 1, epsilon=1.0, delta=1e-6)
    >>> released.components.shape
    (3, 1)
    """
    problems = Problems("dp_pca")
    try:
        X = convert_with_nan(lambda data: np.asarray(data, dtype=np.float64), X)
    except (TypeError, ValueError):
        problems.require(False, "X", "numbers of shape (N, M)", type(X).__name__)
        X = np.zeros((1, 1))
    budget = {
        "epsilon": epsilon, "delta": delta, "noise": noise,
        "allocation": allocation, "neighbouring": neighbouring,
    }  # fmt: skip
    check_request(problems, X.shape, rank, max_samples=max_samples, **budget)
    rng = noise_generator(problems, random_state)
    problems.raise_if_any()
    warn_if_seeded(random_state, epsilon, "dp_pca")
    most = len(X) if max_samples is None else int(max_samples)
    return released_components(clip_rows(X), int(rank), most=most, rng=rng, **budget)


def released_components(
    rows: Array,
    rank: int,
    *,
    most: int,
    rng: np.random.Generator,
    epsilon: float,
    noise: str,
    **settings: object,
) -> PrivateComponents:
    """Do what `dp_pca` says, for clipped rows and checked settings.

    `most` is the public bound on the number of rows; the scales depend on it, not on N.
    """
    features = rows.shape[1]
    matrix = rows.T @ rows
    scales = (0.0, 0.0)
    if epsilon != math.inf:
        # A computed sum of x x' is off by at most N^2 2^-53 in Frobenius norm, at either of the
        # neighbours, and a clipped row by a relative (M + 3) 2^-53.
        rounding = 1.0 + (float(most) ** 2 + features + 64.0) * 2.0**-51
        exact = second_moment_scales(features, epsilon=epsilon, noise=noise, **settings)
        scales = (exact[0] * rounding, exact[1] * rounding)
        family = _NOISE[noise]
        drawn = np.zeros((features, features))
        above = np.triu_indices(features, 1)
        drawn[np.diag_indices(features)] = family(scales[0]).rvs(features, rng)
        drawn[above] = family(scales[1]).rvs(len(above[0]), rng)
        matrix = matrix + drawn
    matrix = symmetric(matrix)
    values, vectors = dominant(matrix, rank)
    largest = vectors[np.argmax(np.abs(vectors), axis=0), np.arange(rank)]
    return PrivateComponents(vectors * np.where(largest < 0.0, -1.0, 1.0), values, matrix, *scales)
