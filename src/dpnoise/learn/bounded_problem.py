"""Learning problem whose constants are public: data clipped to bounds known beforehand.

Private coordinate descent needs constants M_i, from which steps and clipping levels follow. The
papers take M_i = mean of x_i^2 (a quarter of it for the logistic loss) as given, but these are
statistics of the data: published or used unprotected, they reveal one extreme record. Here

    M_i = s_i^2 (squared loss) or s_i^2 / 4 (logistic loss)

with public scales s_i, by default the public bounds b_i >= |x_i|; data are clipped to the bounds.
With s_i = b_i the M_i are upper bounds of the papers' constants, so that a step of 1 cannot
overshoot. Privacy needs no more than that M_i does not depend on the data: each update's
sensitivity is 2 C_i / N because per-sample gradients are clipped at C_i, whatever the records are.

A record with a value that is not finite, or with a label outside the public classes, counts in N
and contributes nothing: its row, the intercept included, is all zeros, and so is its gradient.
An error would reveal that it is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpnoise.learn.problem import lay_out

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from dpnoise._types import Array
    from dpnoise._validation import Problems
    from dpnoise.learn.problem import Problem

# Up to this size neither fitted values nor products with features can overflow single precision.
LIMIT = 1e15


def public_number(problems: Problems, name: str, given: float | None) -> float:
    """Public constant in [1e-15, 1e15]; 1, and a problem recorded, where it is refused."""
    good = problems.number(name, given, low=1.0 / LIMIT, high=LIMIT)
    return float(given) if good and given is not None else 1.0


def public_vector(problems: Problems, name: str, given: ArrayLike | None, features: int) -> Array:
    """Public constants in [1e-15, 1e15], one or one for each feature, in shape (features,).

    Ones, and a problem recorded, where they are refused.
    """
    expected = f"one number in [1e-15, 1e15], or {features} of them: public, not from the data"
    try:
        values = np.asarray(given, dtype=np.float64)
        good = bool(np.all((values >= 1.0 / LIMIT) & (values <= LIMIT)))
        good = good and values.shape in {(), (features,)}
    except (TypeError, ValueError, OverflowError):
        good = False
    if not problems.require(good, name, expected, given):
        return np.ones(features)
    return np.broadcast_to(values, (features,)).astype(np.float64)


def bounded_problem(
    X: Array,
    y: Array,
    usable: NDArray[np.bool_],
    *,
    loss: str,
    penalty: str,
    strength: float,
    intercept: bool,
    bounds: Array,
    scales: Array,
    target_bound: float = 1.0,
) -> Problem:
    """Learning problem of clipped data, every constant of which comes from public numbers.

    Records that are not `usable`, shape (N,), and those with features that are not finite
    contribute nothing. `bounds` b_i and `scales` s_i, shape (K,), come from `public_vector`, and
    `target_bound`, for targets of the squared loss, from `public_number`. The rest is as for
    `dpnoise.learn.problem.make_problem` and checked by the caller.
    """
    usable = usable & np.isfinite(X).all(axis=1)
    features = np.where(usable[:, None], np.clip(X, -bounds, bounds), 0.0)
    limit = target_bound if loss == "squared" else 1.0
    target = np.where(usable, np.clip(y, -limit, limit), 0.0)
    if intercept:
        features = np.column_stack([features, usable.astype(np.float64)])
        scales = np.append(scales, 1.0)
    return lay_out(
        features,
        target,
        loss=loss,
        penalty=penalty,
        strength=strength,
        intercept=intercept,
        mean_squares=scales**2,
    )


def farthest_fit(
    problem: Problem,
    *,
    bounds: Array,
    target_bound: float,
    step: float,
    clip: float,
    noise: Array,
    orders: NDArray[np.int64],
) -> float:
    """Upper bound on every |x'w - y| that a descent can meet, for any data within the bounds.

    An update of coordinate i moves w_i by at most step / M_i (C_i + 2 C_i |t| / N), t its unit
    noise, shape (L, K), and proximal operators shrink. The bound depends on the noise and public
    constants alone: `bounds`, shape (K,), is 1 for the intercept.
    """
    moves = 1.0 + 2.0 * np.abs(noise) / problem.size
    visits = np.zeros(problem.coordinates)
    np.add.at(visits, orders.ravel(), moves.ravel())
    reach = visits * step / problem.smoothness * problem.clip_levels(clip)
    return float(bounds @ reach) + target_bound
