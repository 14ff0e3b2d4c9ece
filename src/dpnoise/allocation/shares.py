"""What each coordinate spends of the budget: section IV-B of Muthukrishnan & Kalyani (2024).

A vector query is a composition of scalar ones, and a budget a resource that they share: for
Gaussian noise the eta of zero-concentrated privacy, which characterises compositions exactly,
for Laplace noise epsilon. The optimal scheme for p = 2 gives coordinate i a share proportional to
lambda_i (Gaussian) or lambda_i^(2/3) (Laplace), SPR gives all the same, i.i.d. noise lambda_i^2 or
lambda_i.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpnoise._validation import Problems
from dpnoise.noise._arrays import floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array


def resources(sensitivities: ArrayLike, scales: ArrayLike, *, noise: str = "gaussian") -> Array:
    """Shares of the budget that the coordinates spend.

    Parameters
    ----------
    sensitivities : array_like of float, shape (K,)
        lambda_i, non-negative.
    scales : array_like of float, shape (K,)
        sigma_i or beta_i, as from `allocate`; positive where lambda_i is.
    noise : {"gaussian", "laplace"}
        The noise.

    Returns
    -------
    numpy.ndarray, shape (K,)
        Gaussian: eta_i = lambda_i^2 / (2 sigma_i^2), which add up to mu^2 / 2 of the query.
        Laplace: epsilon_i = lambda_i / beta_i, which add up to its epsilon. 0 where lambda_i is.

    Raises
    ------
    ValueError
        If an argument is out of range or the shapes differ.

    References
    ----------
    Muthukrishnan & Kalyani (2024), Section IV-B.

    Examples
    --------
    >>> from dpnoise.allocation.shares import resources
    >>> resources([1.0, 4.0], [9.447, 18.893]).round(4)
    array([0.0056, 0.0224])
    """
    problems = Problems("resources")
    lambdas = floats(problems, "sensitivities", sensitivities, low=0.0)
    scales = floats(problems, "scales", scales, low=0.0)
    problems.require(noise in {"gaussian", "laplace"}, "noise", "'gaussian' or 'laplace'", noise)
    if not problems.found:
        shape = np.shape(lambdas)
        problems.require(len(shape) == 1, "sensitivities", "shape (K,)", shape)
        problems.require(np.shape(scales) == shape, "scales", f"shape {shape}", np.shape(scales))
    if not problems.found:
        bare = np.flatnonzero((lambdas > 0.0) & (scales == 0.0))[:3].tolist()
        problems.require(not bare, "scales", "positive where sensitivities are", f"0 at {bare}")
    problems.raise_if_any()
    ratio = np.divide(lambdas, scales, out=np.zeros_like(lambdas), where=lambdas > 0.0)
    return 0.5 * ratio * ratio if noise == "gaussian" else ratio
