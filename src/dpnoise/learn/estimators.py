"""Private linear models with a scikit-learn interface.

`DPLinearRegression` and `DPLogisticRegression` fit between public bounds (docs/estimators.md), by
gradient descent on whitened features (`dpnoise.learn.whitened`, which has the proof) or by private
coordinate descent, Algorithm 3 of flipped-huber-2023. The papers' version of the latter, which does
not protect statistics of the data, is `dpnoise.learn.problem.make_problem` with `cd.descend`.

Nothing here, errors included, depends on the data but through noisy updates: settings, the shape
of the data and public constants are checked, values are clipped and mapped to [-1, 1]
(`dpnoise.learn.problem.bounded`), the noise is calibrated by `coordinate_noise`, and
whether coordinate descent could leave single precision is decided by the noise before the data are
touched.

The solver is chosen from public numbers and settings. Whitening pays where the noise of the second
moment is below what a mean square can be: `Schedule.strain` has the two as a ratio. On numbers it
was better at any ratio, on labels up to 0.6.

The number of passes over coordinates and the clipping level are chosen from public numbers too
(`chosen_descent`). With M_i at its bound a pass of L brings an explained variance to within about
1 / (1 + L / 5) of its limit, and L passes add noise of a mean square of about
L (2 c K sigma / N)^2, where sigma is that of one Gaussian release and c the clipping level. Their
sum is least at L = N / (4 c K sigma) - 5 for targets of a variance of 0.1; for labels three times
as many passes served better. The constants are rounded from fits to the data sets of
docs/estimators.md; privacy rests on none of them.
"""

from __future__ import annotations

import math
import warnings
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import log_expit, logsumexp

from dpnoise._imports import imports_of
from dpnoise._validation import Problems, is_integer
from dpnoise.calibration.coordinate_noise import MECHANISMS, coordinate_noise
from dpnoise.learn.cd import ROUNDING, descend
from dpnoise.learn.pipelines import warn_behind_leaks
from dpnoise.learn.problem import (
    LIMIT,
    PublicRange,
    bounded,
    check_penalty,
    farthest_fit,
    lay_out,
    public_vector,
)
from dpnoise.learn.safeguards import (
    PrivateFit,
    SmallBudgetWarning,
    as_target,
    check_budget_setting,
    convert_with_nan,
    noise_generator,
    real_numbers,
    refuse_mask,
    warn_of_large_delta,
    warn_of_repeated_fits,
)
from dpnoise.learn.whitened import Schedule, whitened_descent
from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise.sensitivity.relation import REPLACE_ONE, promise

with imports_of("learn"):
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.utils.validation import (
        check_consistent_length,
        check_is_fitted,
        column_or_1d,
        validate_data,
    )

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from dpnoise._types import Array
    from dpnoise.learn.problem import Problem
    from dpnoise.privacy.odometer.budget import Budget

SOLVERS = ("auto", "coordinate", "preconditioned")
_COORDINATE = ("feature_scales", "mechanism", "penalty", "passes", "step", "clip")  # its settings
# Up to which noise gradient descent is chosen: for numbers it was better at any, for labels not.
_STRAINS = {"squared": math.inf, "logistic": 0.6}
_COLUMNS = 1000  # of which the eigenvectors take less than a second
_SMALL = 3.0  # noise of the same measure, which leaves half of a fit or less
_MAXIMUM_COUNT = 10**6  # of passes, and of values of xi
_CLIPS = (0.3, 1.0)  # of a unit of gradients, between which a clipping level is chosen
_MORE_PASSES = {"squared": 1.0, "logistic": 3.0}  # of passes; labels bear more noise than numbers
_SETTLED = 100  # passes beyond which the level grows first
_HEAD = 5  # passes that a descent from zero needs before the rest pay
_PASSES = 1000  # at most, when chosen
_WORK = 2**31  # updates of one sample at most, when chosen: about two seconds
_WEIGHTS = (
    "sample_weight: not supported: a weight multiplies what its record can change, which the "
    "sensitivities do not allow for"
)


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateDescent(PrivateFit, BaseEstimator):
    """Base of `DPLinearRegression`, which documents the settings, and `DPLogisticRegression`."""

    feature_bounds: ArrayLike | None = None
    feature_scales: ArrayLike | None = None
    epsilon: float = 1.0
    delta: float | None = None
    solver: str = "auto"
    mechanism: str = "gaussian-tight"
    penalty: str = "none"
    strength: float = 0.0
    passes: int | None = None
    step: float = 1.0
    clip: float | None = None
    fit_intercept: bool = True
    xi_grid: int = 1000
    random_state: int | np.random.Generator | None = None
    budget: Budget | None = None

    def _check_settings(self, problems: Problems) -> None:
        """Record whatever is wrong with the settings that do not concern the data's shape."""
        if not (np.ndim(self.epsilon) == 0 and self.epsilon == math.inf):
            problems.number("epsilon", self.epsilon, low=1e-100, high=1e12)
        if self.delta is not None:
            problems.number("delta", self.delta, low=1e-300, high=1.0, open_high=True)
        for name in ("step", "clip"):
            value = getattr(self, name)
            if not (name == "clip" and value is None):
                problems.number(name, value, low=1e-15, high=1e15)
        for name in ("passes", "xi_grid"):
            value = getattr(self, name)
            good = is_integer(value) and 1 <= value <= _MAXIMUM_COUNT
            good = good or (name == "passes" and value is None)
            problems.require(good, name, f"a whole number from 1 to {_MAXIMUM_COUNT}", value)
        for name, allowed in (
            ("solver", SOLVERS),
            ("mechanism", MECHANISMS),
            ("fit_intercept", (True, False)),
        ):
            value = getattr(self, name)
            expected = "one of " + ", ".join(map(str, allowed))
            problems.require(np.ndim(value) == 0 and value in allowed, name, expected, value)
        own = self._of_coordinates() if str(self.solver) == "preconditioned" else []
        expected = "'auto' or 'coordinate' beside " + ", ".join(own)
        problems.require(not own, "solver", expected, self.solver)
        check_penalty(problems, self.penalty, self.strength)
        check_budget_setting(problems, self.budget, self.epsilon)

    def _read(
        self, X: ArrayLike, y: ArrayLike | None, refused: dict[str, object]
    ) -> tuple[Array, NDArray]:
        """Features as numbers and the target as one column, whatever their values."""
        if y is None:
            validate_data(self, X, y)  # scikit-learn's refusal
        features = convert_with_nan(
            lambda data: validate_data(self, data, dtype=np.float64, ensure_all_finite=False), X
        )
        refuse_mask(y)
        target = column_or_1d(as_target(y), warn=True)
        check_consistent_length(features, target)
        problems = Problems(type(self).__name__)
        for name in refused:
            problems.add(_WEIGHTS if name == "sample_weight" else f"{name}: unknown argument")
        problems.raise_if_any()
        return features, target

    def _descend(  # noqa: PLR0917
        self,
        problems: Problems,
        X: Array,
        targets: Array,
        usable: NDArray[np.bool_],
        loss: str,
        target: PublicRange,
    ) -> tuple[Array, Array]:
        """Coefficients, shape (m, n_features), and intercepts, shape (m,), for targets (m, N).

        One account covers the releases of all m fits. Sets the attributes that do not depend on the
        loss.
        """
        self._check_settings(problems)
        size, features = X.shape
        centred = bool(np.all(self.fit_intercept))
        given = self.feature_bounds
        ranges = PublicRange.read(problems, "feature_bounds", given, features, centred=centred)
        scales = ranges.half
        if self.feature_scales is not None:
            scales = public_vector(problems, "feature_scales", self.feature_scales, features)
        problems.require(size >= 2, "X", "at least 2 samples", f"{size} sample")
        rng = noise_generator(problems, self.random_state, self.epsilon, stacklevel=5)
        noisy = self.epsilon != math.inf
        delta = size**-2.0 if self.delta is None else float(self.delta)
        sigma = float(gaussian_sigma(float(self.epsilon), delta, 1.0)) if noisy else 0.0
        schedule = Schedule(loss, size, features + centred, len(targets), sigma)
        fits = schedule.strain <= _STRAINS[loss] and schedule.columns <= _COLUMNS
        whitens = not self._of_coordinates() and (fits or self.solver == "preconditioned")
        if whitens:
            found = "preconditioned", schedule.steps, schedule.clip
            small = schedule.strain > _SMALL
        else:
            passes, clip, allowed = chosen_descent(schedule, self.passes, self.clip)
            found, small = ("coordinate", passes, clip), allowed < 1.0 and self.passes is None
        self.solver_, self.n_iter_, self.clip_ = found
        if noisy:
            warn_of_large_delta(type(self).__name__, delta, size, "N", stacklevel=4)
            if small:
                message = (
                    f"{type(self).__name__}: epsilon={self.epsilon:g} with {size} records and "
                    f"{schedule.columns} coefficients leave little beside noise: expect a fit that "
                    "is mostly noise. Take more records, fewer features or a larger epsilon"
                )
                warnings.warn(message, SmallBudgetWarning, stacklevel=4)
            warn_behind_leaks(self, stacklevel=5)
            warn_of_repeated_fits(self, stacklevel=5)
        rows, targets = bounded(X, targets, usable, ranges, target, intercept=centred)
        if whitens:
            self.sensitivities_ = schedule.sensitivities
            draw = self._paid(delta, 1, schedule.releases, rng)
            weights = whitened_descent(schedule, rows, targets, draw)
        else:
            squares = np.append((scales / ranges.half) ** 2, np.ones(int(centred)))
            # The objective is divided by the square of the target's unit, a weight is multiplied by
            # the feature's and divided by the target's.
            power = 2.0 if self.penalty == "l2" else 1.0
            strengths = self.strength * ranges.half**-power * target.half ** (power - 2.0)
            strengths = np.append(strengths, np.zeros(int(centred)))
            asked = loss, self.penalty, strengths, centred, squares
            weights = self._by_coordinate([lay_out(rows, y, *asked) for y in targets], delta, rng)
        coefficients = weights[:, :features] * (target.half / ranges.half)
        if not centred:
            return coefficients, np.zeros(len(weights))
        shift = target.centre - coefficients @ ranges.centre
        return coefficients, weights[:, -1] * target.half + shift

    def _of_coordinates(self) -> list[str]:
        """The settings of coordinate descent that are not at their defaults, and "solver"."""
        defaults = {name: getattr(PrivateDescent, name) for name in _COORDINATE}
        changed = [name for name, one in defaults.items() if np.any(getattr(self, name) != one)]
        return changed + ["solver"] * (self.solver == "coordinate")

    def _paid(
        self, delta: float, coordinates: int, passes: int, rng: np.random.Generator
    ) -> Callable[[tuple[int, ...]], Array]:
        """Draws of unit noise of a shape, by an account that is charged; zeros without noise."""
        if self.epsilon == math.inf:
            self.noise_, self.promise_, self._cost = None, None, None
            return np.zeros
        self.noise_ = coordinate_noise(
            self.mechanism,
            epsilon=self.epsilon,
            delta=delta,
            coordinates=coordinates,
            passes=passes,
            sensitivities=self.sensitivities_[-coordinates:],
            grid=self.xi_grid,
        )
        self.promise_ = promise(REPLACE_ONE, "in one record", self.epsilon, delta)
        self._charge(replace(self.noise_.spending(), relation=REPLACE_ONE))
        unit = self.noise_.unit
        return lambda shape: unit.rvs(shape, rng)

    def _by_coordinate(
        self, problems: list[Problem], delta: float, rng: np.random.Generator
    ) -> Array:
        """Weights, shape (m, K), by coordinate descent for m problems that differ in the target."""
        problem = problems[0]  # what follows depends on what they share
        # C_i = clip sqrt(M_i) of the squared loss, so that 1 clips no gradient at zero weights
        scale = 2.0 if problem.loss == "logistic" else 1.0
        level = self.clip_ * math.sqrt(problem.smoothness.sum()) * scale
        # Sums of clipped gradients are added in double precision, in an order that the compiler
        # chooses: replacing one sample moves the total by 2 C_i ROUNDING, to which the descent
        # scales its noise, and at most this much more.
        rounding = 1.0 + problem.size**2 * 2.0**-52
        self.sensitivities_ = problem.sensitivities(level) * ROUNDING * rounding
        shape = len(problems), self.n_iter_, problem.coordinates
        draw = self._paid(delta, problem.coordinates, self.n_iter_ * len(problems), rng)
        unit = draw(shape) * rounding
        farthest = farthest_fit(problem, step=self.step, clip=level, noise=unit * ROUNDING)
        if not farthest <= LIMIT:
            message = (
                f"{type(self).__name__}: with step={self.step!r} and noise of this size the "
                f"descent could diverge, to {farthest:.3g} times the bounds of the targets"
            )
            raise ArithmeticError(message)
        grid: Any = {"steps": [self.step], "clips": [level]}
        return np.array(
            [
                descend(one, noise=noise[None], **grid)[0, 0, 0]
                for one, noise in zip(problems, unit, strict=True)
            ]
        )


def chosen_descent(
    public: Schedule, passes: int | None, clip: float | None
) -> tuple[int, float, float]:
    """Passes and clipping level of least predicted error, and the passes that noise allows.

    What is given stays as it is.
    """
    work = public.size * public.columns * public.fits
    sigma = max(public.sigma * math.sqrt(public.fits), 1e-200)
    budget = _MORE_PASSES[public.loss] * public.size / (4.0 * public.columns * sigma)
    if clip is None:
        settled = _SETTLED if passes is None else passes
        clip = min(max(budget / (settled + _HEAD), _CLIPS[0]), _CLIPS[1])
    allowed = budget / clip - _HEAD
    if passes is None:
        most = max(1, min(_PASSES, _WORK // work))
        passes = round(min(max(allowed, 1.0), float(most)))
    return int(passes), float(clip), allowed


@dataclass(kw_only=True, eq=False, repr=False)
class DPLinearRegression(RegressorMixin, PrivateDescent):
    """Least squares under (epsilon, delta)-differential privacy.

    Minimises mean((x'w - y)^2) / 2 plus strength |w|_1 or strength/2 |w|_2^2 over data clipped to
    public bounds. Features and targets are mapped from their bounds to [-1, 1] first, so that the
    fit does not depend on their units.

    Parameters
    ----------
    feature_bounds : float or array_like of float, shape (n_features,) or (n_features, 2)
        Required: b_i in [1e-15, 1e15], and feature i is clipped to [-b_i, b_i], or rows (low,
        high). Public constants that are not computed from the data, in the unit of each feature.
        Without an intercept a row counts as the larger of its ends.
    feature_scales : float or array_like of float, shape (n_features,), optional
        Public guesses s_i of the root mean square of each feature; the bounds if left out. They
        set steps and clipping levels (M_i = s_i^2, a quarter of it for the logistic loss) and
        nothing else: a bad guess costs accuracy, not privacy.
    epsilon : float
        In [1e-100, 1e12], or inf for no noise (to compare with the non-private optimum; the
        gradients are clipped all the same).
    delta : float, optional
        In [1e-300, 1); 1/N^2 if left out, as in the papers.
    solver : {"auto", "coordinate", "preconditioned"}
        "preconditioned" is gradient descent on features that are made uncorrelated by a noisy
        second moment, which has no other settings. "coordinate" is coordinate descent, to which
        `feature_scales`, `mechanism`, `penalty`, `strength`, `passes`, `step`, `clip` and `xi_grid`
        belong. "auto" takes the first if none of these is set and there are at most 1000
        coefficients; for labels also only where noise is small.
    mechanism : {"gaussian-tight", "gaussian", "flipped-huber"}
        See `dpnoise.calibration.coordinate_noise`. "gaussian-tight" needs the smallest noise.
    penalty : {"none", "l1", "l2"}
    strength : float
        Of the penalty, >= 0. The intercept is not penalised.
    passes : int, optional
        L: times that coordinate descent updates all K coordinates, at least 1; chosen from N, K,
        epsilon and delta if left out, at most 1000.
    step : float
        Coordinate i steps by step / M_i. Steps above 1 can overshoot where s_i = b_i is attained.
    clip : float, optional
        Per-sample gradients of coordinate i are clipped at C_i = clip s_i / b_i, in units of the
        bounds; between 0.3 and 1, chosen like the passes, if left out. At 1 no gradient of the
        logistic loss is clipped, nor one of the squared loss before the first update.
    fit_intercept : bool
        The intercept is one more coordinate, with M = 1 (a quarter of it for the logistic loss):
        all coordinates then get more noise.
    xi_grid : int
        Values of xi tried by the search of "flipped-huber".
    random_state : int or numpy.random.Generator, optional
        For tests and simulations on public data: anything but None raises a `SeededNoiseWarning`
        (at finite epsilon), because whoever knows it can subtract the noise.
    budget : dpnoise.Budget, optional
        What pays: `fit` charges it before any noise is drawn, or raises a `BudgetExceededError`.
        Clones are charged to the same one. Without it, `budget.spend(model)` charges a fit.
    target_bound : float or array_like of float, shape (2,)
        Required: targets are clipped to [-target_bound, target_bound], or to (low, high). Public
        as well.

    Attributes
    ----------
    coef_ : float64 array, shape (n_features,)
    intercept_ : float
    noise_ : CoordinateNoise or None
        The unit noise with its certified account; None if epsilon is inf.
    sensitivities_ : float64 array, shape (K,) or (2,)
        Of coordinate descent lambda_i = 2 C_i / N by coordinate, in units of the bounds, the
        intercept last. Every update got noise `noise_.scaled(sensitivities_[i])`. Else of the
        second moment in the Frobenius norm, which counts as `noise_.releases - n_iter_` releases
        (for C labels `- C n_iter_`), and of a gradient in the l2 norm. Rounded up for the rounding
        of sums.
    promise_ : str or None
        What is guaranteed, in one sentence: one person, a record, is replaced by another. None if
        epsilon is inf.
    solver_ : str
        "coordinate" or "preconditioned".
    n_iter_, n_features_in_ : int
        The numbers of passes, or of gradient steps, and of features.
    clip_ : float
        The clipping level of coordinate descent, as set or as chosen; else the largest length of a
        record's gradient.
    feature_names_in_ : array of str, shape (n_features,)
        Only if the data had names.

    Raises
    ------
    ValueError
        From `fit`, naming everything that is wrong with the settings or with the shape and type of
        the data, and for `sample_weight`; never for a value in the data.
    ArithmeticError
        From `fit` by coordinate descent, if the step is so long or the noise so large that fitted
        values could overflow. Decided from settings and noise alone.

    Warns
    -----
    SmallBudgetWarning
        From `fit`, if the noise does not allow one pass, or leaves half of a fit or less: from
        public numbers alone.

    Notes
    -----
    Neighbouring data sets differ by the replacement of one record, features and target. By the
    account in `noise_`, the weights and every iterate on the way to them are
    (epsilon, delta)-differentially private; all other attributes depend on settings and N alone.
    Public by assumption: N, the number, names and types of the columns, and the settings. A record
    with NaN or infinity contributes nothing. `predict` and `score` are not private. Repeated fits
    compose, and noise is sampled in ordinary floating point: see docs/estimators.md.

    References
    ----------
    flipped-huber-2023, section VI-B and Algorithm 3, with public M_i, and
    `dpnoise.learn.whitened`.

    Examples
    --------
    >>> import numpy as np
    >>> from dpnoise.learn.estimators import DPLinearRegression
    >>> X = np.linspace(-1.0, 1.0, 20_000)[:, None]
    >>> model = DPLinearRegression(feature_bounds=1.0, target_bound=2.0, epsilon=1.0)
    >>> abs(model.fit(X, 0.5 * X[:, 0]).coef_[0] - 0.5) < 0.1
    np.True_
    >>> model.promise_
    'one person replaced by another, in one record: epsilon = 1, delta = 2.5e-09'
    """

    target_bound: ArrayLike | None = None

    @np.errstate(all="ignore")  # raised or warned of at one record, they would reveal it
    def fit(self, X: ArrayLike, y: ArrayLike, **refused: object) -> Self:
        """Fit to features, shape (N, n_features), and real targets, shape (N,).

        Any other argument, such as `sample_weight`, is refused.
        """
        features, given = self._read(X, y, refused)
        problems = Problems(type(self).__name__)
        try:
            target = convert_with_nan(real_numbers, given)
        except (TypeError, ValueError):
            problems.add(f"y: expected real numbers, got an array of type {given.dtype}")
            target = np.zeros(len(features))
        centred = bool(np.all(self.fit_intercept))
        bound = PublicRange.read(problems, "target_bound", self.target_bound, 1, centred=centred)
        coefficients, intercepts = self._descend(
            problems, features, target[None], np.isfinite(target), "squared", bound
        )
        self.coef_, self.intercept_ = coefficients[0], float(intercepts[0])
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Fitted values, shape (N,), at features of shape (N, n_features)."""
        check_is_fitted(self)
        features: Array = validate_data(self, X, dtype=np.float64, reset=False)
        return features @ self.coef_ + self.intercept_


@dataclass(kw_only=True, eq=False, repr=False)
class DPLogisticRegression(ClassifierMixin, PrivateDescent):
    """Logistic regression under (epsilon, delta)-differential privacy.

    Minimises mean(log(1 + exp(-y (x'w)))) plus the penalty, with y = -1 for the first and
    +1 for the second label in sorted order, over data clipped to public bounds. More than two
    labels are fitted one against the rest, all within the one budget.

    Parameters
    ----------
    feature_bounds, feature_scales : as for `DPLinearRegression`
    epsilon, delta, solver, mechanism, penalty, strength : as for `DPLinearRegression`
    passes, step, clip, fit_intercept, xi_grid, random_state, budget : as for `DPLinearRegression`
    classes : array_like, shape (n_classes,)
        Required: the labels, at least two and public; how many records have which is protected. A
        record with another label contributes nothing.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
        The labels as given, sorted.
    coef_ : float64 array, shape (1, n_features) or (n_classes, n_features)
        One row for two labels, else a row for each.
    intercept_ : float64 array, shape (1,) or (n_classes,)
    noise_, sensitivities_, promise_, solver_, n_iter_, clip_, n_features_in_, feature_names_in_
        As for `DPLinearRegression`; `noise_` accounts for the releases of all rows together.

    Raises
    ------
    ValueError, ArithmeticError
        As for `DPLinearRegression`.

    Warns
    -----
    SmallBudgetWarning
        As for `DPLinearRegression`.

    References
    ----------
    As for `DPLinearRegression`.

    Examples
    --------
    >>> import numpy as np
    >>> from dpnoise.learn.estimators import DPLogisticRegression
    >>> X = np.linspace(-1.0, 1.0, 20_000)[:, None]
    >>> y = np.where(X[:, 0] > 0.0, "yes", "no")
    >>> model = DPLogisticRegression(classes=("no", "yes"), feature_bounds=1.0, epsilon=1.0)
    >>> model.fit(X, y).score(X, y) > 0.9
    True
    """

    classes: ArrayLike | None = None

    @np.errstate(all="ignore")  # raised or warned of at one record, they would reveal it
    def fit(self, X: ArrayLike, y: ArrayLike, **refused: object) -> Self:
        """Fit to features, shape (N, n_features), and labels, shape (N,).

        Any other argument, such as `sample_weight`, is refused.
        """
        features, labels = self._read(X, y, refused)
        problems = Problems(type(self).__name__)
        classes = public_labels(problems, self.classes, labels.dtype)
        codes = label_codes(classes, labels)
        rows = np.arange(len(classes)) if len(classes) > 2 else np.array([1])
        signs = np.where(codes == rows[:, None], 1.0, -1.0)
        target = PublicRange(np.zeros(1), np.ones(1))
        found = self._descend(problems, features, signs, codes >= 0, "logistic", target)
        self.coef_, self.intercept_ = found
        self.classes_ = classes
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Log-odds at features of shape (N, n_features).

        Of the second label, shape (N,), or of each against the rest, shape (N, n_classes).
        """
        check_is_fitted(self)
        features: Array = validate_data(self, X, dtype=np.float64, reset=False)
        odds = features @ self.coef_.T + self.intercept_
        return odds if len(self.classes_) > 2 else odds[:, 0]

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Logarithms of the probabilities, shape (N, n_classes), without underflow.

        One against the rest, the probabilities are divided by their sum.
        """
        odds = self.decision_function(X)
        if odds.ndim == 1:
            return log_expit(np.column_stack([-odds, odds]))
        logs = log_expit(odds)
        return logs - logsumexp(logs, axis=1, keepdims=True)

    def predict_proba(self, X: ArrayLike) -> Array:
        """Probabilities, shape (N, n_classes), at features of shape (N, n_features)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: ArrayLike) -> NDArray:
        """Likeliest labels, shape (N,), at features of shape (N, n_features)."""
        odds = self.decision_function(X)
        place = (odds > 0).astype(int) if odds.ndim == 1 else odds.argmax(axis=1)
        return self.classes_[place]


def public_labels(problems: Problems, classes: ArrayLike | None, kind: np.dtype) -> NDArray:
    """Sorted labels, at least two, that fit data of type `kind`; problems are recorded."""
    labels = np.asarray(classes)
    try:
        labels = np.unique(labels)
    except TypeError:  # labels that cannot be sorted
        labels = labels[:0]
    good = classes is not None and np.ndim(classes) == 1 and len(labels) > 1
    good = good and len(labels) == len(np.asarray(classes))
    good = good and bool(np.all(labels == labels))  # noqa: PLR0124 - not NaN, of whatever type
    expected = "the labels, at least two and each once, public, not from the data"
    if not problems.require(good, "classes", expected, classes):
        return np.array([0, 1])
    kinds = {"numbers" if dtype.kind in "biuf" else dtype.kind for dtype in (labels.dtype, kind)}
    alike = len(kinds) == 1 or "O" in kinds
    expected = f"labels of the type of classes, {labels.dtype}"
    problems.require(alike, "y", expected, f"an array of type {kind}")
    return labels


def label_codes(classes: NDArray, labels: NDArray) -> NDArray[np.intp]:
    """Places of labels among the classes, -1 for any other label."""
    place = {label: k for k, label in enumerate(classes.tolist())}
    codes = np.full(len(labels), -1, dtype=np.intp)
    for k, one in enumerate(labels.tolist()):
        with suppress(TypeError):  # of what is no label
            codes[k] = place.get(one, -1)
    return codes
