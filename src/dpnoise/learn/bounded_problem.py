"""Learning problem whose constants are public: data clipped to bounds known beforehand.

Private coordinate descent needs constants M_i, from which steps and clipping levels follow. The
papers take M_i = mean of x_i^2 (a quarter of it for the logistic loss) as given, but these are
statistics of the data: published or used unprotected, they tell one extreme record. Here

    M_i = s_i^2 (squared loss) or s_i^2 / 4 (logistic loss)

with public scales s_i, by default the public bounds b_i >= |x_i|; data are clipped to the bounds.
With s_i = b_i the M_i are upper bounds of the papers' constants, so that a step of 1 cannot
overshoot. Privacy needs no more than that M_i does not depend on the data: each update's
sensitivity is 2 C_i / N because per-sample gradients are clipped at C_i, whatever the records are.

A record with a value that is not finite, or with a label outside the public classes, counts in N
and contributes nothing: its row is all zeros, the intercept's one included, and so is its gradient.
To refuse it would tell that it is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpnoise.learn.problem import LOSSES, PENALTIES, Problem

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from dpnoise._types import Array
    from dpnoise._validation import Problems

# Beyond this neither fitted values nor products with features could overflow single precision.
LIMIT = 1e15


def public_vector(problems: Problems, name: str, given: ArrayLike | None, features: int) -> Array:
    """Return positive public constants by feature, shape (features,); record what is wrong.

    `given` is one number in [1e-15, 1e15] or one for each feature.
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


def usable_rows(X: Array) -> NDArray[np.bool_]:
    """Return which records hold finite numbers only, shape (N,)."""
    return np.isfinite(X).all(axis=1)


def bounded_problem(
    problems: Problems,
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
) -> Problem | None:
    """Clip the data, lay them out, and take every constant from public numbers.

    Parameters
    ----------
    problems : Problems
        Where whatever is wrong with the settings is recorded. Nothing that depends on values in
        the data ever is.
    X : float64 array, shape (N, K)
    y : float64 array, shape (N,)
        Real values (squared loss), -1 and +1 (logistic loss).
    usable : bool array, shape (N,)
        The other records contribute nothing.
    loss, penalty, strength, intercept
        As for `dpnoise.learn.problem.make_problem`.
    bounds, scales : float64 array, shape (K,)
        b_i and s_i, from `public_vector`.
    target_bound : float
        In [1e-15, 1e15]; targets of the squared loss are clipped to it.

    Returns
    -------
    Problem or None
        None if something is wrong.
    """
    problems.require(loss in LOSSES, "loss", f"one of {', '.join(LOSSES)}", loss)
    expected = "one of " + ", ".join(PENALTIES)
    known = np.ndim(penalty) == 0 and penalty in PENALTIES
    problems.require(known, "penalty", expected, penalty)
    problems.number("strength", strength, low=0.0)
    problems.require(len(X) >= 2, "X", "at least 2 samples", f"{len(X)} sample")
    problems.number("target_bound", target_bound, low=1.0 / LIMIT, high=LIMIT)
    if problems.found:
        return None
    kept = usable[:, None]
    features = np.where(kept, np.clip(X, -bounds, bounds), 0.0)
    limit = target_bound if loss == "squared" else 1.0
    target = np.where(usable, np.clip(y, -limit, limit), 0.0)
    if intercept:
        features = np.column_stack([features, usable.astype(np.float64)])
        scales = np.append(scales, 1.0)
    strengths = np.full(features.shape[1], float(strength) if penalty != "none" else 0.0)
    if intercept:
        strengths[-1] = 0.0
    signed = features * target[:, None] if loss == "logistic" else features
    return Problem(
        features=features,
        target=target,
        loss=loss,
        penalty=penalty,
        strengths=strengths,
        smoothness=scales**2 * (0.25 if loss == "logistic" else 1.0),
        columns=np.ascontiguousarray(signed.T, dtype=np.float32),
        intercept=intercept,
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
    """Return a bound on every |x'w - y| that a descent can meet, for any data within the bounds.

    An update of coordinate i moves w_i by at most step / M_i (C_i + 2 C_i |t| / N), t its unit
    noise, and proximal operators shrink. The bound depends on the noise and public constants alone.

    Parameters
    ----------
    problem : Problem
    bounds : float64 array, shape (K,)
        On each feature, 1 for the intercept.
    target_bound, step, clip : float
    noise, orders : arrays, shape (L, K)
        Unit noise of the updates, and which coordinate each one takes.
    """
    moves = 1.0 + 2.0 * np.abs(noise) / problem.size
    visits = np.zeros(problem.coordinates)
    np.add.at(visits, orders.ravel(), moves.ravel())
    reach = visits * step / problem.smoothness * problem.clip_levels(clip)
    return float(bounds @ reach) + target_bound
