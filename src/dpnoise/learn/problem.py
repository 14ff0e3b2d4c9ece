"""Regularised learning problem in the form that coordinate descent works on.

Empirical risk minimisation of flipped-huber-2023, appendix D:

    minimise  (1/N) sum_n loss(w; x_n, y_n) + psi(w),

with loss (x'w - y)^2 / 2 or log(1 + exp(-y x'w)) and psi the sum of strength |w_i| or of
strength/2 w_i^2. The coordinate-wise smoothness constants M_i set steps and clipping levels.

The papers take M_i = mean of x_i^2 (a quarter of it for the logistic loss) as given, but these are
statistics of the data: published or used unprotected, they reveal one extreme record. What
`make_problem` lays out is therefore for reproductions and public data, and a descent on it is not
private. The estimators take data from `bounded`, and

    M_i = s_i^2 (squared loss) or s_i^2 / 4 (logistic loss)

with public scales s_i, by default the public bounds b_i >= |x_i|; data are clipped to the bounds.
With s_i = b_i the M_i are upper bounds of the papers' constants, so that a step of 1 cannot
overshoot. Privacy needs no more than that M_i does not depend on the data: each update's
sensitivity is 2 C_i / N because per-sample gradients are clipped at C_i, whatever the records are.
Features and real targets are first mapped from their public ranges to [-1, 1], so that clipping
levels, noise and the number of passes do not depend on anybody's units.

A record of `bounded` with a value that is not finite, or with a label outside the public
classes, counts in N and contributes nothing: its row, the intercept included, is all zeros, and so
is its gradient. An error would reveal that it is there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpnoise._validation import Problems

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from dpnoise._types import Array

# Single precision, in which the columns are stored, squares numbers of these sizes.
_MINIMUM, _MAXIMUM = 1e-15, 1e15

ROWS = 4  # in which the samples of a column lie
_LINE = 64  # bytes of a cache line: vectors that lie in one are read fastest
_PAGE = 4096  # bytes of a page: what is stored that far before what is read delays the read

LOSSES = ("squared", "logistic")
PENALTIES = ("none", "l1", "l2")
# Up to this size neither fitted values nor products with features can overflow single precision.
LIMIT = 1e15


def zeros(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Zeros of single precision that begin with a cache line."""
    padded = np.zeros(4 * math.prod(shape) + _LINE, dtype=np.uint8)
    first = -padded.ctypes.data % _LINE
    return padded[first : first + 4 * math.prod(shape)].view(np.float32).reshape(shape)


def in_rows(values: Array) -> NDArray[np.float32]:
    """Values of N samples, shape (..., N), as the kernel reads them: float32, shape (..., ROWS, H).

    Sample n is at place n of the ROWS * H, zeros follow. A row is of whole cache lines, not of
    whole pages.
    """
    shape, size = values.shape[:-1], values.shape[-1]
    line = _LINE // 4
    row = line * -(-size // (ROWS * line))
    if 4 * row % _PAGE == 0:
        row += line
    rows = zeros((*shape, ROWS * row))
    rows[..., :size] = values
    return rows.reshape(*shape, ROWS, row)


@dataclass(frozen=True)
class Problem:
    """Validated problem, from `make_problem` or `dpnoise.learn.problem.lay_out`.

    Attributes
    ----------
    features : float64 array, shape (N, K)
        With a last column of ones if an intercept is fitted.
    target : float64 array, shape (N,)
        -1 and +1 for the logistic loss.
    loss, penalty : str
    strengths : float64 array, shape (K,)
        Penalty strength by coordinate; 0 for the intercept.
    smoothness : float64 array, shape (K,)
        The constants M_i.
    columns : float32 array, shape (K, 4, H)
        What the kernel reads: features by coordinate, multiplied by the label for the
        logistic loss, with sample n at place n of the 4 H and zeros after them.
    intercept : bool
        Whether the last column is an unpenalised column of ones.
    """

    features: Array
    target: Array
    loss: str
    penalty: str
    strengths: Array
    smoothness: Array
    columns: NDArray[np.float32]
    intercept: bool = False

    @property
    def size(self) -> int:
        """Number of samples N."""
        return self.features.shape[0]

    @property
    def coordinates(self) -> int:
        """Number of coordinates K, the intercept included."""
        return self.features.shape[1]

    def clip_levels(self, clip: ArrayLike) -> Array:
        """Clipping levels C_i = clip sqrt(M_i / sum M), shape (..., K) for clips of shape (...)."""
        share = np.sqrt(self.smoothness / self.smoothness.sum())
        return np.multiply.outer(np.asarray(clip, dtype=float), share)

    def sensitivities(self, clip: ArrayLike) -> Array:
        """Sensitivities of the updates under replace-one, lambda_i = 2 C_i / N, shape (..., K)."""
        return 2.0 * self.clip_levels(clip) / self.size

    def objective(self, weights: ArrayLike) -> Array:
        """Value of the objective, shape (...), at weights of shape (..., K)."""
        w = np.asarray(weights, dtype=float)
        values = w @ self.features.T  # in place from here on: fresh arrays of this size are slow
        if self.loss == "squared":
            values -= self.target
            risk = 0.5 * np.mean(np.square(values, out=values), axis=-1)
        else:  # np.logaddexp(0, -margin), which is not vectorised
            values *= -self.target
            decay = np.abs(values)
            np.log1p(np.exp(np.negative(decay, out=decay), out=decay), out=decay)
            decay += np.maximum(values, 0.0, out=values)
            risk = np.mean(decay, axis=-1)
        penalty = {"none": 0.0, "l1": np.abs(w), "l2": 0.5 * w**2}[self.penalty]
        return risk + np.sum(self.strengths * penalty, axis=-1)


def make_problem(
    features: ArrayLike,
    target: ArrayLike,
    *,
    loss: str,
    penalty: str = "none",
    strength: float = 0.0,
    intercept: bool = False,
) -> Problem:
    """Learning problem of the papers, with constants M_i from the data, validated.

    Not private: the constants M_i are means of squares of the data, and errors name columns.

    Parameters
    ----------
    features : array_like, shape (N, K)
        N >= 2, no constant column (`intercept` is for that), largest magnitude
        of each column in [1e-15, 1e15].
    target : array_like, shape (N,)
        Real values up to 1e15 (squared loss) or the labels -1 and +1 (logistic loss).
    loss : {"squared", "logistic"}
    penalty : {"none", "l1", "l2"}
    strength : float
        Regularisation strength lambda >= 0.
    intercept : bool
        Append an unpenalised column of ones.

    Returns
    -------
    Problem

    Raises
    ------
    ValueError
        Naming everything that is wrong with the input.

    References
    ----------
    flipped-huber-2023, appendix D.

    Examples
    --------
    >>> problem = make_problem([[1.0, 0.0], [3.0, 2.0]], [1.0, 2.0], loss="squared")
    >>> problem.smoothness.tolist(), problem.sensitivities(1.0).round(3).tolist()
    ([5.0, 2.0], [0.845, 0.535])
    """
    problems = Problems("learning problem")
    problems.require(loss in LOSSES, "loss", f"one of {', '.join(LOSSES)}", loss)
    check_penalty(problems, penalty, strength)
    X = np.asarray(features, dtype=float)
    y = np.asarray(target, dtype=float)
    _check_data(problems, X, y, loss)
    problems.raise_if_any()
    strengths = np.full(X.shape[1], float(strength))
    if intercept:
        X, strengths = np.column_stack([X, np.ones(len(X))]), np.append(strengths, 0.0)
    return lay_out(X, y, loss, penalty, strengths, intercept, np.mean(X**2, axis=0))


def check_penalty(problems: Problems, penalty: str, strength: float) -> None:
    """Record whatever is wrong with the penalty of a problem."""
    known = np.ndim(penalty) == 0 and penalty in PENALTIES
    problems.require(known, "penalty", "one of " + ", ".join(PENALTIES), penalty)
    problems.number("strength", strength, low=0.0)


def lay_out(  # noqa: PLR0917
    features: Array,
    target: Array,
    loss: str,
    penalty: str,
    strengths: Array,
    intercept: bool,
    mean_squares: Array,
) -> Problem:
    """Learning problem of checked data and settings, in the form that the kernel reads.

    Features include the column of the intercept, if there is one. M_i = `mean_squares`, of the data
    or public, for the squared loss, a quarter of it for the logistic loss. `strengths` are those of
    the penalty by coordinate.
    """
    strengths = strengths * (penalty != "none")
    signed = features * target[:, None] if loss == "logistic" else features
    smoothness = mean_squares * (0.25 if loss == "logistic" else 1.0)
    columns = in_rows(signed.T)
    return Problem(features, target, loss, penalty, strengths, smoothness, columns, intercept)


def _check_data(problems: Problems, X: Array, y: Array, loss: str) -> None:
    """Add to `problems` whatever is wrong with the arrays."""
    if not problems.require(X.ndim == 2, "features", "an array of shape (N, K)", X.shape):
        return
    problems.require(y.shape == X.shape[:1], "target", f"shape {X.shape[:1]}", y.shape)
    problems.require(X.shape[1] >= 1, "features", "at least one column", X.shape)
    if not problems.require(len(X) >= 2, "features", "at least 2 samples", f"{len(X)} sample"):
        return
    finite = np.isfinite(X).all(axis=0)
    bad = np.flatnonzero(~finite).tolist()
    problems.require(not bad, "features", "finite values", f"NaN or infinity in columns {bad}")
    varies = np.any(X[0] != X, axis=0)
    constant = np.flatnonzero(finite & ~varies).tolist()
    problems.require(not constant, "features", "columns that vary", f"constant columns {constant}")
    size = np.abs(X).max(axis=0)
    extreme = np.flatnonzero(finite & varies & ((size < _MINIMUM) | (size > _MAXIMUM))).tolist()
    expected = f"largest magnitudes in [{_MINIMUM:g}, {_MAXIMUM:g}]"
    problems.require(not extreme, "features", expected, f"others in columns {extreme}")
    if problems.require(bool(np.isfinite(y).all()), "target", "finite values", "NaN or infinity"):
        if loss == "logistic":
            labels = np.unique(y)
            two = labels.tolist() == [-1.0, 1.0]
            problems.require(two, "target", "the two labels -1 and +1", labels[:5].tolist())
        elif loss == "squared" and y.size:
            largest = float(np.abs(y).max())
            problems.require(largest <= _MAXIMUM, "target", f"up to {_MAXIMUM:g}", largest)


def public_vector(
    problems: Problems, name: str, given: ArrayLike | None, features: int, low: float = 1e-15
) -> Array:
    """Public constants in [low, 1e15], one or one for each feature, in shape (features,).

    Ones, and a problem recorded, where they are refused.
    """
    expected = f"one number in [{low:.16g}, 1e15], or {features} of them: public, not from the data"
    try:
        values = np.asarray(given, dtype=np.float64)
        good = bool(np.all((values >= low) & (values <= LIMIT)))
        good = good and values.shape in {(), (features,)}
    except (TypeError, ValueError, OverflowError):
        good = False
    if not problems.require(good, name, expected, given):
        return np.ones(features)
    return np.broadcast_to(values, (features,)).astype(np.float64)


@dataclass(frozen=True)
class PublicRange:
    """Public ranges [centre - half, centre + half] of K columns, each of shape (K,)."""

    centre: Array
    half: Array

    @classmethod
    def read(
        cls, problems: Problems, name: str, given: ArrayLike | None, columns: int, *, centred: bool
    ) -> PublicRange:
        """Ranges from bounds b of [-b, b], one or `columns` of them, or from rows (low, high).

        Ranges that are not `centred` become the smallest [-b, b] that holds them. Those of [-1, 1],
        and a problem recorded, where they are refused.
        """
        expected = (
            f"bounds b of [-b, b] in [1e-15, 1e15], one number or {columns} of them, or rows "
            "(low, high) in [-1e15, 1e15] with low < high: public, not from the data"
        )
        try:
            text = np.asarray(given).dtype.kind in "US"
            values = np.full((), math.nan) if text else np.asarray(given, dtype=np.float64)
            if values.ndim < 2 and not (columns == 1 and values.shape == (2,)):
                values = np.stack([-values, values], axis=-1)
            low, high = np.moveaxis(np.broadcast_to(values, (columns, 2)), -1, 0)
            good = bool(np.all((np.abs([low, high]) <= LIMIT) & (high - low >= 2.0 / LIMIT)))
        except (TypeError, ValueError, OverflowError):
            good = False
        if not problems.require(good, name, expected, given):
            low, high = -np.ones(columns), np.ones(columns)
        if not centred:
            high = np.maximum(np.abs(low), np.abs(high))
            low = -high
        return cls(0.5 * (low + high), 0.5 * (high - low))

    def unit(self, values: Array) -> Array:
        """Values of shape (..., K), clipped to the ranges and mapped to [-1, 1]."""
        return np.clip((values - self.centre) / self.half, -1.0, 1.0)


def bounded(
    X: Array,
    targets: Array,
    usable: NDArray[np.bool_],
    ranges: PublicRange,
    target: PublicRange,
    *,
    intercept: bool,
) -> tuple[Array, Array]:
    """Features, shape (N, K), and targets, shape (m, N), clipped and mapped to [-1, 1].

    Features get the column of the intercept. Records that are not `usable`, shape (N,), and those
    with features that are not finite are zeros throughout. `ranges` are those of the features and
    `target` that of the targets, [-1, 1] for labels.
    """
    usable = usable & np.isfinite(X).all(axis=1)
    rows = np.where(usable[:, None], ranges.unit(X), 0.0)
    if intercept:
        rows = np.column_stack([rows, usable.astype(np.float64)])
    return rows, np.where(usable, target.unit(targets), 0.0)


def farthest_fit(problem: Problem, *, step: float, clip: float, noise: Array) -> float:
    """Upper bound on every |x'w - y| that a descent can meet, for any data in [-1, 1].

    An update of coordinate i moves w_i by at most step / M_i (C_i + 2 C_i |t| / N), t its unit
    noise, shape (m, L, K) for m descents, and proximal operators shrink. The bound depends on the
    noise and public constants alone.
    """
    moves = np.sum(1.0 + 2.0 * np.abs(noise) / problem.size, axis=1)
    reach = moves * step / problem.smoothness * problem.clip_levels(clip)
    return float(np.max(np.sum(reach, axis=1))) + 1.0
