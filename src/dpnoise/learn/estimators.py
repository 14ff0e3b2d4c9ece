"""Private linear models with the manners of scikit-learn.

`DPLinearRegression` and `DPLogisticRegression` fit by private coordinate descent, Algorithm 3
of flipped-huber-2023: `make_problem` lays out the data, `coordinate_noise` calibrates and
certifies the noise, `descend` runs. All settings and data are checked before anything is
drawn, and every problem is named in one message.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from dpnoise._check import Problems
from dpnoise.calibration.zcdp import MECHANISMS, coordinate_noise
from dpnoise.learn.cd import ITERATES, ORDERS, coordinate_orders, descend
from dpnoise.learn.problem import make_problem

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from sklearn.utils import Tags

    from dpnoise.learn.problem import Problem


class _CoordinateDescent(BaseEstimator):
    """Settings and fit common to both estimators."""

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float | None = None,
        mechanism: str = "gaussian-tight",
        penalty: str = "none",
        strength: float = 0.0,
        passes: int = 10,
        step: float = 1.0,
        clip: float = 1.0,
        order: str = "cyclic",
        iterate: str = "last",
        fit_intercept: bool = True,
        xi_grid: int = 1000,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.mechanism = mechanism
        self.penalty = penalty
        self.strength = strength
        self.passes = passes
        self.step = step
        self.clip = clip
        self.order = order
        self.iterate = iterate
        self.fit_intercept = fit_intercept
        self.xi_grid = xi_grid
        self.random_state = random_state

    def _check_settings(self, problems: Problems) -> None:
        """Add whatever is wrong with the settings; `make_problem` checks the penalty."""
        if self.epsilon != math.inf:
            problems.number("epsilon", self.epsilon, low=1e-100, high=1e12)
        if self.delta is not None:
            problems.number("delta", self.delta, low=1e-300, high=1.0, open_high=True)
        for name in ("step", "clip"):
            problems.number(name, getattr(self, name), low=1e-15, high=1e15)
        for name in ("passes", "xi_grid"):
            value = getattr(self, name)
            count = isinstance(value, int | np.integer) and not isinstance(value, bool)
            problems.require(count and value >= 1, name, "a whole number of at least 1", value)
        for name, allowed in (
            ("mechanism", MECHANISMS),
            ("order", ORDERS),
            ("iterate", ITERATES),
            ("fit_intercept", (True, False)),
        ):
            value = getattr(self, name)
            expected = "one of " + ", ".join(map(str, allowed))
            problems.require(value in allowed, name, expected, value)

    def _descend(
        self, problems: Problems, X: NDArray[np.float64], y: NDArray[np.float64], loss: str
    ) -> NDArray[np.float64]:
        """Fit, set the attributes that do not depend on the loss, return the weights."""
        self._check_settings(problems)
        problem: Problem | None = None
        try:
            problem = make_problem(
                X,
                y,
                loss=loss,
                penalty=self.penalty,
                strength=self.strength,
                intercept=bool(self.fit_intercept),
            )
        except ValueError as error:
            problems.add(str(error))
        try:
            rng = np.random.default_rng(self.random_state)
        except (TypeError, ValueError):
            expected = "None, a non-negative integer or a numpy.random.Generator"
            problems.require(False, "random_state", expected, self.random_state)
        problems.raise_if_any()

        # The clipped gradients are summed in double precision, in an order that the compiler
        # chooses: replacing one sample moves the sum by 2 C_i and at most this much more.
        rounding = 1.0 + problem.size**2 * 2.0**-52
        self.sensitivities_ = problem.sensitivities(self.clip) * rounding
        shape = (self.passes, problem.coordinates)
        orders = coordinate_orders(self.order, shape, rng)
        if self.epsilon == math.inf:
            self.noise_, unit = None, np.zeros(shape)
        else:
            self.noise_ = coordinate_noise(
                self.mechanism,
                epsilon=self.epsilon,
                delta=problem.size**-2.0 if self.delta is None else self.delta,
                coordinates=problem.coordinates,
                passes=self.passes,
                sensitivities=self.sensitivities_,
                grid=self.xi_grid,
            )
            unit = self.noise_.unit.rvs(shape, rng) * rounding
        weights = descend(
            problem,
            steps=[self.step],
            clips=[self.clip],
            noise=unit[None],
            orders=orders[None],
            iterate=self.iterate,
        )[0, 0, 0]
        if not np.isfinite(weights).all():
            message = f"{type(self).__name__}: the descent diverged with step={self.step!r}"
            raise ArithmeticError(message)
        self.n_iter_ = int(self.passes)
        return weights

    def _split(self, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """Return coefficients and intercept."""
        return (weights[:-1], float(weights[-1])) if self.fit_intercept else (weights, 0.0)


class DPLinearRegression(RegressorMixin, _CoordinateDescent):
    """Least squares under (epsilon, delta)-differential privacy, by coordinate descent.

    Minimises mean((x'w - y)^2) / 2 plus strength |w|_1 or strength/2 |w|_2^2; features and
    target are taken as they are, so standardise them by public constants first.

    Parameters
    ----------
    epsilon : float
        In [1e-100, 1e12], or inf for no noise (to compare with the non-private optimum; the
        gradients are clipped all the same).
    delta : float, optional
        In [1e-300, 1); 1/N^2 if left out, as in the papers.
    mechanism : {"gaussian-tight", "gaussian", "flipped-huber"}
        See `dpnoise.calibration.coordinate_noise`. "gaussian-tight" needs the least noise.
    penalty : {"none", "l1", "l2"}
    strength : float
        Of the penalty, >= 0. The intercept is not penalised.
    passes : int
        L: times that all K coordinates are updated, at least 1.
    step : float
        Coordinate i steps by step / M_i, with M_i the mean of x_i^2 (a quarter of it for the
        logistic loss).
    clip : float
        Per-sample gradients of coordinate i are clipped at C_i = clip sqrt(M_i / sum M).
    order : {"cyclic", "random"}
    iterate : {"last", "averaged"}
        Whether the last iterate or the mean over the passes is returned.
    fit_intercept : bool
        The intercept is one more coordinate, released once more in every pass: all
        coordinates then get more noise.
    xi_grid : int
        Values of xi tried by the search of "flipped-huber".
    random_state : int or numpy.random.Generator, optional
        Seeds noise and order. Leave it out where privacy matters: whoever knows the seed can
        take the noise off.

    Attributes
    ----------
    coef_ : float64 array, shape (n_features,)
    intercept_ : float
    noise_ : CoordinateNoise or None
        The unit noise with its certified account; None if epsilon is inf.
    sensitivities_ : float64 array, shape (K,)
        lambda_i = 2 C_i / N by coordinate, the intercept last, rounded up for the rounding
        of sums. Every update got noise `noise_.scaled(sensitivities_[i])`.
    n_iter_ : int
        The number of passes.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, naming everything that is wrong with settings and data.
    ArithmeticError
        From `fit`, if the step is so long that the weights overflow.

    Notes
    -----
    Neighbouring data sets differ by the replacement of one sample, features and label. By the
    account in `noise_`, the weights and every iterate on the way to them are
    (epsilon, delta)-differentially private. Assumed public, and not protected: N, the scale
    of the features through the constants M_i, the set of labels, and error messages about
    the data. Noise is sampled in ordinary floating point from a statistical generator, which
    is not hardened against attacks on its low-order bits or state. Choosing settings by
    looking at results on private data is a release of its own that the account leaves out.

    Source: flipped-huber-2023, section VI-B and Algorithm 3.
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit to features of shape (N, n_features) and real targets of shape (N,)."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_all_finite=False)
        weights = self._descend(Problems(type(self).__name__), X, y, "squared")
        self.coef_, self.intercept_ = self._split(weights)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the fitted values, shape (N,)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return X @ self.coef_ + self.intercept_


class DPLogisticRegression(ClassifierMixin, _CoordinateDescent):
    """Binary logistic regression under (epsilon, delta)-differential privacy.

    Minimises mean(log(1 + exp(-y (x'w)))) plus the penalty, with y = -1 for the first and
    +1 for the second label in sorted order. Parameters, errors, and what is protected and
    what is assumed public: as for `DPLinearRegression`.

    Attributes
    ----------
    classes_ : array, shape (2,)
        The labels, sorted.
    coef_ : float64 array, shape (1, n_features)
    intercept_ : float64 array, shape (1,)
    noise_, sensitivities_, n_iter_, n_features_in_
        As for `DPLinearRegression`.
    """

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that there are two classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit to features of shape (N, n_features) and two labels of any kind, shape (N,)."""
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite=False)
        check_classification_targets(y)
        problems = Problems(type(self).__name__)
        classes, index = np.unique(y, return_inverse=True)
        if not problems.require(len(classes) == 2, "y", "two classes", classes[:5].tolist()):
            # the wording that scikit-learn's tools look for
            kind = "one class" if len(classes) < 2 else type_of_target(y)
            problems.add(
                f"Only binary classification is supported. The type of the target is {kind}"
            )
            index = np.arange(len(y)) % 2  # any two labels, so that the features are checked
        weights = self._descend(problems, X, 2.0 * index - 1.0, "logistic")
        self.classes_ = classes
        coefficients, intercept = self._split(weights)
        self.coef_, self.intercept_ = coefficients[None], np.array([intercept])
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the log-odds of the second class, shape (N,)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return X @ self.coef_[0] + self.intercept_[0]

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probabilities of both classes, shape (N, 2)."""
        odds = self.decision_function(X)
        return np.column_stack([expit(-odds), expit(odds)])

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the likelier label, shape (N,)."""
        second = self.decision_function(X) > 0
        return self.classes_[second.astype(int)]
