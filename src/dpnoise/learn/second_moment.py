"""Clipped samples, symmetric matrices and their dominant eigenvectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import lapack

if TYPE_CHECKING:
    from dpnoise._types import Array


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
