"""Lower bounds of the NMSE of private coordinate descent, before it is run.

In the cyclic order every pass updates a coordinate j once, by w <- prox(w - s / M_j (g + z)), with
the step s, the mean g of clipped gradients and the noise z, known beforehand. Clipping bounds |g|
by C_j, and the logistic loss by the mean of |x_j|. The proximal operator of an l2 penalty of
strength a multiplies by r = 1 / (1 + s a / M_j), that of an l1 penalty moves by s a / M_j at most,
and so after L passes

    w_j = -(s / M_j) sum_l r^(L - l + 1) z_l + e,
    |e| <= (s / M_j) (B + a if the penalty is l1) sum_l r^(L - l + 1)

with B the bound of |g|. Small clipping levels leave w near zero, and noise of large ones takes it
far away, whatever the gradients are: most of the grid has lost before it is run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpnoise_papers.descent.harness import OVERFLOWS

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.learn.problem import Problem

# Above what the rounding of the descent, in single precision in parts, can add.
_SLACK = 1e-4


@OVERFLOWS
def nmse_bound(
    problem: Problem, target: Array, *, steps: Array, clips: Array, noise: Array
) -> Array:
    """Lower bound of the NMSE for every (step, clip), shape (S, C).

    Parameters
    ----------
    target : float64 array, shape (K,)
        What the NMSE is measured from.
    noise : float64 array, shape (L, K)
        Unit noise of cyclic updates.
    """
    smoothness, strengths = problem.smoothness, problem.strengths
    size = steps[:, None] / smoothness
    shrunk = 1.0 / (1.0 + size * strengths) if problem.penalty == "l2" else np.ones(size.shape)
    powers = shrunk[:, None] ** np.arange(len(noise), 0, -1)[:, None]
    bound = clips[:, None] * np.sqrt(smoothness / smoothness.sum())
    gradient = bound
    if problem.loss == "logistic":
        gradient = np.minimum(bound, np.abs(problem.features).mean(axis=0))
    if problem.penalty == "l1":
        gradient = gradient + strengths
    scale = size[:, None] * (2.0 / problem.size * bound)
    centre = -scale * (powers * noise).sum(axis=1)[:, None]
    reach = size[:, None] * powers.sum(axis=1)[:, None] * gradient
    rounding = scale * (powers * np.abs(noise)).sum(axis=1)[:, None] + reach + np.abs(target)
    # not a number, where both overflow, bounds nothing
    apart = np.fmax(np.abs(centre - target) - reach - _SLACK * rounding, 0.0)
    return np.sum(apart**2, axis=-1) / np.sum(target**2)
