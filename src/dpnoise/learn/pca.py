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

from dpnoise._check import Problems
from dpnoise.calibration.gaussian import LEAST_DELTA
from dpnoise.learn.pca_noise import ALLOCATIONS, NEIGHBOURING, NOISES, second_moment_scales
from dpnoise.noise import Gaussian, Laplace

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]

_NOISE = {"gaussian": Gaussian, "laplace": Laplace}


@dataclass(frozen=True)
class PrivateComponents:
    """What `dp_pca` releases; all of it is covered by the budget.

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


def clip_rows(X: Array) -> Array:
    """Return rows of l2 norm at most 1: those that are longer are shortened to 1."""
    longest = np.maximum(np.abs(X).max(axis=1, initial=0.0), 1.0)[:, None]
    scaled = X / longest  # so that squares do not overflow
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
    X: Array,
    rank: int | None,
    *,
    epsilon: float,
    delta: float,
    noise: str,
    allocation: str,
    neighbouring: str,
    rank_name: str = "rank",
) -> None:
    """Record whatever is wrong with data and settings."""
    ok = X.ndim == 2 and X.size > 0
    if problems.require(ok, "X", "shape (N, M) with N, M >= 1", X.shape):
        bad = np.flatnonzero(~np.isfinite(X).all(axis=0)).tolist()
        got = f"NaN or infinity in columns {bad[:10]}"
        if bad:
            problems.add(f"X: expected finite values, got {got}")
        whole = isinstance(rank, int | np.integer) and not isinstance(rank, bool)
        expected = f"a whole number in [1, {X.shape[1]}]"
        problems.require(whole and 1 <= rank <= X.shape[1], rank_name, expected, rank)
    if epsilon != math.inf:
        problems.number("epsilon", epsilon, low=1e-100, high=1e12)
    private_gaussian = noise == "gaussian" and epsilon != math.inf
    low = LEAST_DELTA if private_gaussian else 0.0
    problems.number("delta", delta, low=low, high=1.0, open_high=True)
    for name, value, allowed in (
        ("noise", noise, NOISES),
        ("allocation", allocation, ALLOCATIONS),
        ("neighbouring", neighbouring, NEIGHBOURING),
    ):
        problems.require(value in allowed, name, f"one of {', '.join(allowed)}", value)


def generator_of(
    problems: Problems, random_state: int | np.random.Generator | None
) -> np.random.Generator | None:
    """Return the generator that a user asks for, recording a problem if there is none."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        expected = "None, a non-negative integer or a numpy.random.Generator"
        problems.require(False, "random_state", expected, random_state)
    return None


def dp_pca(
    X: ArrayLike,
    rank: int,
    *,
    epsilon: float,
    delta: float = 0.0,
    noise: str = "gaussian",
    allocation: str = "optimal",
    neighbouring: str = "replace-one",
    random_state: int | np.random.Generator | None = None,
) -> PrivateComponents:
    """Return the dominant eigenvectors of a second-moment matrix, privately.

    Parameters
    ----------
    X : array_like of float, shape (N, M)
        One sample per row. Rows longer than 1 are shortened to l2 norm 1; nothing is centred or
        scaled, so divide by a public bound first.
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
        Which data sets the guarantee tells apart. "replace-one" needs sqrt 2 times the noise.
    random_state : int or numpy.random.Generator, optional
        Leave it out where privacy matters: whoever knows the seed can take the noise off.

    Returns
    -------
    PrivateComponents

    Raises
    ------
    ValueError
        Naming everything that is wrong with data and settings.

    Notes
    -----
    The sensitivities that the scales rest on are derived in `dpnoise.learn.pca_noise`. Scales
    are enlarged by a relative (N^2 + M + 64) 2^-51 for the rounding of clipping and sums, in
    whatever order these are taken. Assumed public: M, and N (under "add-remove" only to that
    last factor). Noise is sampled in ordinary floating point from a statistical generator.

    Source: inid-2024, section VI-B, with sensitivities that hold.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(5000, 3)) * [0.5, 0.1, 0.1]
    >>> released = dp_pca(X, 1, epsilon=1.0, delta=1e-6, random_state=0)
    >>> released.components.shape
    (3, 1)
    """
    problems = Problems("dp_pca")
    try:
        X = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        problems.require(False, "X", "numbers of shape (N, M)", type(X).__name__)
        X = np.full((1, 1), 0.0)
    settings = {
        "epsilon": epsilon, "delta": delta, "noise": noise,
        "allocation": allocation, "neighbouring": neighbouring,
    }  # fmt: skip
    check_request(problems, X, rank, **settings)
    rng = generator_of(problems, random_state)
    problems.raise_if_any()
    return released_components(X, int(rank), rng=rng, **settings)


def released_components(
    X: Array, rank: int, *, rng: np.random.Generator, epsilon: float, noise: str, **settings: object
) -> PrivateComponents:
    """Do what `dp_pca` says, for checked data and settings."""
    size, features = X.shape
    rows = clip_rows(X)
    matrix = rows.T @ rows
    scales = (0.0, 0.0)
    if epsilon != math.inf:
        # A computed sum of x x' is off by at most N^2 2^-53 in Frobenius norm, at either of the
        # neighbours, and a clipped row by a relative (M + 3) 2^-53.
        rounding = 1.0 + (float(size) ** 2 + features + 64.0) * 2.0**-51
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
