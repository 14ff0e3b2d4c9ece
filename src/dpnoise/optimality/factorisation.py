"""Least total variance of Gaussian noise for a list of differences, with a certified gap.

Gaussian noise of covariance Sigma hides the differences d_1, ..., d_N as one number of sensitivity
1 does if d_j' Sigma^-1 d_j <= 1 for all j. For shares p_j >= 0 that add up to 1 let M = sum p_j d_j
d_j'. By Cauchy and Schwarz

    tr(M^(1/2))^2 <= tr(Sigma) tr(Sigma^-1 M) <= tr(Sigma),

so that every p gives a lower bound on tr(Sigma). Sigma = t M^(1/2) with t = max_j g_j, where
g_j = d_j' M^(-1/2) d_j, hides all of them and has the trace t tr(M^(1/2)). As sum p_j g_j =
tr(M^(1/2)), the ratio of the two is max g / mean g, and both meet at the best p: this is the matrix
mechanism of least total error (Li et al. 2015), a problem of optimal design.

*In the cells.* The differences are W e_j, and the Gram matrix G = W'W says all. With R'R = G and
v_j = R e_j, of as many entries as G has rank, the sum N = sum p_j v_j v_j' has the eigenvalues of
M, and g_j = v_j' N^(-1/2) v_j. The noise is W X, X of covariance C = t R^+ N^(1/2) R^+', plus a
large multiple of the projection to the kernel of W, which no question sees.

*The search.* p_j <- p_j (g_j / mean g)^2 is exact where all v_j are perpendicular, and in general
converges linearly. Anderson's mixing of the last steps in log p needs 5 to 25 eigendecompositions
for single cells. Bounds are those of the best p seen, so that they hold wherever it ends.

*Rounding.* Computed eigenvalues are those of a matrix that differs by at most n 2^-52 of its
largest eigenvalue, which is assumed of LAPACK; each is lowered by that before its root is taken.
The upper bound is not trusted: the account measures the noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from dpnoise._results import EqualByValue
from dpnoise._validation import Problems, floats
from dpnoise.optimality.scalar_floor import MARGIN, ScalarCertificate, WholeCertificate
from dpnoise.sensitivity.base import LARGEST
from dpnoise.sensitivity.ellipsoid import TiltedEllipsoid

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.sensitivity.base import Sensitivity

GAP, WIDE_GAP, FEW = 2e-8, 4e-7, 512  # relative; up to so many differences, and beyond
_ROUNDS, _MEMORY = 400, 6
_LONGEST = 3.0  # of a step in log p
_FALL = 1e-7  # of the trace, relative, that is too much
_FAINT = -60.0  # log p of what counts as nothing
_RANK = 1e-11  # eigenvalue of G over the largest that counts as 0
_BACKWARD = 2.0 * 2.0**-53  # times n: backward error of eigenvalues, over the largest
_KERNEL = 2.0**12  # standard deviation of the noise that no question sees, over the largest other


class _Listed(NamedTuple):
    """The v_j as columns of a matrix of full rank, and what they are made of."""

    vectors: Array  # (r, N)
    root: Array  # R, (r, n)
    error: float  # of G, in the spectral norm
    reach: float  # the largest |e_j|^2; 0 where the e_j are single cells


@dataclass(frozen=True, eq=False)
class Factorisation(EqualByValue):
    """Gaussian noise of nearly the least total variance, for mu = 1, between bounds.

    Attributes
    ----------
    lower, upper : float
        No Gaussian noise with mu = 1 has a total variance below `lower`; that found has `upper`.
    shares : numpy.ndarray, shape (N,)
        The p_j that prove the lower bound.
    covariance : numpy.ndarray, shape (n, n)
        C, the covariance of the noise of the cells, with what no question sees.
    """

    lower: float
    upper: float
    shares: Array
    covariance: Array

    @property
    def gap(self) -> float:
        """How far the bounds are apart, over the lower one."""
        return self.upper / self.lower - 1.0


def factorise(
    gram: Any,  # noqa: ANN401
    changes: Any = None,  # noqa: ANN401
    *,
    gap: float | None = None,
) -> Factorisation:
    """The Gaussian noise of least total variance for linear questions, by their Gram matrix.

    Parameters
    ----------
    gram : array_like, shape (n, n)
        W'W for questions W x about n cells; W' diag(w) W for the total with weights. It does
        not matter how many questions there are.
    changes : array_like or sparse array, shape (n, N), optional
        What one person changes in the cells, a column for each possibility; by default one more
        or less in one cell.
    gap : float, optional
        Where the search ends: upper <= (1 + gap) lower. It may end above; the bounds hold. By
        default 2e-8 for up to 512 possibilities and 4e-7 beyond.

    Returns
    -------
    Factorisation
        `lower`, `upper`, the `shares` that prove the lower one, and the `covariance` for the cells.

    Raises
    ------
    ValueError
        If the matrix is not symmetric and positive semidefinite, or shapes do not fit.

    References
    ----------
    Li, Miklau, Hay, McGregor & Rastogi, "The matrix mechanism" (VLDB Journal 2015).

    Examples
    --------
    >>> from dpnoise.optimality.factorisation import factorise
    >>> found = factorise([[2.0, 1.0], [1.0, 1.0]])     # x_1 and x_1 + x_2
    >>> round(found.upper, 6)                           # the golden section and 1
    2.618034
    """
    problems = Problems("Gaussian noise for a workload")
    G = floats(problems, "gram", gram, low=-LARGEST, high=LARGEST)
    good = G.ndim == 2 and G.shape[0] == G.shape[1] > 0
    if problems.require(good, "shape of gram", "(n, n)", G.shape) and not problems.found:
        size = float(np.max(np.abs(G)))
        same = size > 0.0 and bool(np.max(np.abs(G - G.T)) <= 1e-12 * size)
        problems.require(same, "gram", "a symmetric matrix that is not 0", "another")
    if gap is None:
        many = len(np.atleast_1d(G)) if changes is None else np.shape(changes)[-1]
        gap = GAP if many <= FEW else WIDE_GAP
    problems.number("gap", gap, low=0.0, high=1.0, open_low=True)
    problems.raise_if_any()
    E = sparse.eye_array(len(G), format="csc") if changes is None else sparse.csc_array(changes)
    problems.require(E.shape[0] == len(G), "shape of changes", f"({len(G)}, N)", E.shape)
    problems.raise_if_any()
    listed = _listed(problems, G, E)
    problems.raise_if_any()
    assert listed is not None  # noqa: S101  (or refused)
    return _searched(listed, gap)


def _listed(problems: Problems, G: Array, E: Any) -> _Listed | None:  # noqa: ANN401
    """The vectors v_j, from the eigenvalues of G that count."""
    values, vectors = np.linalg.eigh(0.5 * (G + G.T))
    bad = float(values[0]) < -_RANK * float(values[-1])
    if not problems.require(not bad, "gram", "a positive semidefinite matrix", "another"):
        return None
    some = values > _RANK * values[-1]
    root = np.sqrt(values[some])[:, None] * vectors[:, some].T
    v = np.asarray(root @ E)
    single = E.shape[0] == E.shape[1] == E.nnz and bool(np.all(np.diff(E.indptr) == 1))
    reach = 0.0 if single else float(np.max((E * E).sum(axis=0)))
    return _Listed(v, root, _BACKWARD * len(G) * float(values[-1]), reach)


class _Spectrum(NamedTuple):
    """What M = sum p_j v_j v_j' says: its square root by eigenvalues, and the g_j."""

    roots: Array  # (r,)
    vectors: Array  # (r, r)
    g: Array  # (N,)
    lower: float  # bound on tr(M^(1/2))


def _spectrum(listed: _Listed, p: Array) -> _Spectrum:
    """The eigenvalues of M and what follows from them.

    Those of the n x n matrix of the sqrt(p_i) G_ij sqrt(p_j) where all cells are single and G has
    full rank, which saves two products: the g_j are the diagonal of its root over p_j.
    """
    v = listed.vectors
    short = not listed.reach and v.shape[0] == v.shape[1]
    scaled = v * np.sqrt(p)
    values, vectors = np.linalg.eigh(scaled.T @ scaled if short else scaled @ scaled.T)
    top = float(values[-1])
    # The error of G counts times the largest eigenvalue of sum p_j e_j e_j'.
    lost = _BACKWARD * len(values) * top + listed.error * (listed.reach or float(np.max(p)))
    lower = math.fsum(np.sqrt(np.maximum(values - lost, 0.0))) * (1.0 - MARGIN)
    roots = np.sqrt(np.maximum(values, 2.0**-60 * top))
    if short:
        return _Spectrum(roots, vectors, (vectors * vectors) @ roots / p, lower)
    return _Spectrum(roots, vectors, np.sum((vectors.T @ v) ** 2 / roots[:, None], axis=0), lower)


def _searched(listed: _Listed, gap: float) -> Factorisation:
    """The best p and noise that the fixed point with Anderson's mixing reaches."""
    v = listed.vectors
    sizes = np.sum(v * v, axis=0)
    x = 0.5 * np.log(np.maximum(sizes, math.exp(_FAINT) * np.max(sizes)))
    lower, upper, most_trace, power = 0.0, math.inf, 0.0, 2.0
    safe = best_shares = best = x
    places: list[Array] = []
    steps: list[Array] = []
    # ends: the bounds are those of the best p seen
    for _ in range(_ROUNDS):
        x = np.maximum(x - np.max(x), _FAINT)
        p = np.exp(x)
        p /= np.sum(p)
        x = np.log(p)
        roots, _, g, below = _spectrum(listed, p)
        trace = float(np.sum(roots))
        if trace < (1.0 - _FALL) * most_trace:  # too long a step: a shorter one from the last p
            x, places, steps, power, most_trace = safe, [], [], 1.0, 0.0
            continue
        most = float(np.max(g))
        if below**2 > lower:
            lower, best_shares = below**2, p
        if trace * most < upper:
            upper, best = trace * most, p
        if upper <= (1.0 + gap) * lower or most <= (1.0 + 0.5 * gap) * trace:
            break
        most_trace = max(most_trace, trace)
        level = np.log(np.maximum(g / trace, math.exp(_FAINT)))
        safe = x + level  # with the power 1 the trace does not fall
        places, steps = [*places, x][-_MEMORY:], [*steps, power * level][-_MEMORY:]
        x = x + np.clip(_mixed(places, steps, p), -_LONGEST, _LONGEST)
    return Factorisation(lower, upper, best_shares, _covariance(listed, best))


def _mixed(places: list[Array], steps: list[Array], p: Array) -> Array:
    """The step from the last place by Anderson's mixing of the last ones, weighted by p."""
    if len(places) == 1:
        return steps[-1]
    moves = np.array([places[-1] - one for one in places[:-1]]).T
    turns = np.array([steps[-1] - one for one in steps[:-1]]).T
    weight = np.sqrt(p)
    mixture = np.linalg.lstsq(weight[:, None] * turns, weight * steps[-1], rcond=1e-10)[0]
    found: Array = steps[-1] - (moves + turns) @ mixture
    return found


def _covariance(listed: _Listed, p: Array) -> Array:
    """C = t R^+ M^(1/2) R^+', and a multiple of the projection to the kernel."""
    root, v = listed.root, listed.vectors
    values, vectors = np.linalg.eigh((v * p) @ v.T)
    roots = np.sqrt(np.maximum(values, 2.0**-60 * values[-1]))
    most = float(np.max(np.sum((vectors.T @ v) ** 2 / roots[:, None], axis=0)))
    squares = np.sum(root * root, axis=1)  # R R' is diagonal
    back = (root / squares[:, None]).T @ vectors
    found: Array = most * (back * roots) @ back.T
    r, n = root.shape
    if r < n:
        unit = root / np.sqrt(squares)[:, None]
        size = _KERNEL**2 * max(1.0, float(np.max(np.diagonal(found))))
        found = found + size * (np.eye(n) - unit.T @ unit)
    return 0.5 * (found + found.T)


@lru_cache(maxsize=4)
def _of_weights(ball: Any, weights: bytes) -> Factorisation:  # noqa: ANN401  (a Workload)
    """The factorisation for a workload and weights of its questions."""
    return factorise(ball.weighted_gram(np.frombuffer(weights)), ball.changes)


def factorisation_of(ball: Any, weights: Array) -> Factorisation:  # noqa: ANN401  (a Workload)
    """The factorisation for a workload and weights of its questions, kept for the last few."""
    return _of_weights(ball, np.ascontiguousarray(weights, dtype=float).tobytes())


@dataclass(frozen=True, eq=False)
class MixtureProjection:
    """Certificate for a list of differences: shares, with which they are mixed.

    Parameters
    ----------
    shares : numpy.ndarray, shape (N,)
        The p_j >= 0, up to a common factor.
    scalar : WholeCertificate
        Of a lower bound on V1, for shifts by 1 and -1 alone.
    """

    shares: Array
    scalar: ScalarCertificate | WholeCertificate

    @property
    def method(self) -> str:
        """Kind of the bound."""
        return "projection of a mixture"

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """V1 tr(M^(1/2))^2; 0 where it does not apply."""
        ball: Any = sensitivity
        single = isinstance(self.scalar, WholeCertificate) and self.scalar.change == 1
        if ball.preimage is None or not single or self.shares.shape != ball.changes.shape[1:]:
            return 0.0
        total = float(np.sum(self.shares))
        if not np.min(self.shares) >= 0.0 or not 0.0 < total < math.inf:
            return 0.0
        problems = Problems("certificate of a floor")
        listed = _listed(problems, ball.weighted_gram(weights), ball.changes)
        if listed is None:
            return 0.0
        lower = _spectrum(listed, self.shares / total).lower
        return self.scalar.bound(epsilon, delta) * lower**2 * (1.0 - MARGIN)


def noise_axes(found: Factorisation) -> TiltedEllipsoid:
    """The ellipsoid of the covariance of the cells, its axes the rows of a triangular matrix."""
    factor = np.linalg.cholesky(found.covariance)
    return TiltedEllipsoid(factor.T)  # type: ignore[arg-type]  # stored as tuples
