"""Steps of a scikit-learn pipeline before a private estimator: what leaks, scalers, components.

What stands before a private estimator must not depend on the data beyond the record that it maps,
or be private itself: the mean that `StandardScaler` subtracts is a release without noise. Which
steps are safe is decided by their kinds, never by data. scikit-learn does not tell a step of its
pipeline, so that a fit looks for pipelines among its callers.

`PrivateScaler` is safe: between public bounds it releases the mean of u and of u^2 for each
feature, u the value clipped to its bounds and mapped to [-1, 1]. Replacing one of N records moves
them by at most 2/N and 1/N, whatever the records are, and `allocate` divides the budget over these
2 K numbers. `DPPCA` takes private principal components, by `dp_pca`.
"""

from __future__ import annotations

import inspect
import math
import traceback
import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from dpnoise._imports import imports_of
from dpnoise._validation import Problems
from dpnoise.allocation.allocate import allocate
from dpnoise.learn.pca import ReleaseSettings, clip_rows, released_components
from dpnoise.learn.problem import LIMIT, public_vector
from dpnoise.learn.safeguards import (
    PrivacyLeakWarning,
    PrivateFit,
    check_budget_setting,
    convert_with_nan,
    noise_generator,
    warn_of_large_delta,
    warn_of_repeated_fits,
)
from dpnoise.noise.exponential_power import Gaussian, Laplace
from dpnoise.privacy.odometer.ledger import guaranteed
from dpnoise.privacy.odometer.releases import read_release
from dpnoise.sensitivity.relation import ADD_REMOVE, REPLACE_ONE, promise

with imports_of("learn"):
    from sklearn.base import (
        BaseEstimator,
        ClassNamePrefixFeaturesOutMixin,
        OneToOneFeatureMixin,
        TransformerMixin,
    )
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import FeatureUnion, Pipeline
    from sklearn.utils.validation import check_is_fitted, validate_data

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike
    from sklearn.utils import Tags

    from dpnoise._types import Array
    from dpnoise.noise.base import Noise
    from dpnoise.privacy.odometer.budget import Budget
    from dpnoise.privacy.odometer.ledger import Ledger

_NOTHING = ("passthrough", "drop", None)


def leaking_steps(estimator: object) -> list[str]:
    """Steps of a pipeline whose fit may read the data without protection.

    Parameters
    ----------
    estimator : estimator of scikit-learn
        A `Pipeline`, `ColumnTransformer` or `FeatureUnion`, nested or not, or a single step.

    Returns
    -------
    list of str
        Their names and kinds, in order. Safe are the estimators of `dpnoise.learn`, "passthrough"
        and "drop", and classes with the attribute `privacy_preserving = True`, by which you declare
        that the output for a record depends on that record, on public constants and on private
        releases alone, errors and warnings included. Whatever is listed is not known to be safe.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from dpnoise.learn import DPPCA, PrivateScaler, leaking_steps
    >>> leaking_steps(make_pipeline(StandardScaler(), DPPCA()))
    ['standardscaler (StandardScaler)']
    >>> leaking_steps(make_pipeline(PrivateScaler(low=0.0, high=1.0), DPPCA()))
    []
    """
    return list(_leaks("", estimator))


def _leaks(name: str, step: object) -> Iterator[str]:
    """Names of the leaking parts of a step."""
    parts: list[tuple[str, object]] | None = None
    if isinstance(step, Pipeline):
        parts = [(part, one) for part, one in step.steps]
    elif isinstance(step, FeatureUnion):
        parts = [(part, one) for part, one in step.transformer_list]
    elif isinstance(step, ColumnTransformer):
        parts = [(part, one) for part, one, _ in step.transformers]
        parts.append(("remainder", step.remainder))
    if parts is not None:
        for part, one in parts:
            yield from _leaks(f"{name}{'.' if name else ''}{part}", one)
        return
    nothing = isinstance(step, str | None) and step in _NOTHING
    if not nothing and not getattr(step, "privacy_preserving", False):
        kind = type(step).__name__
        yield f"{name} ({kind})" if name else kind


def warn_behind_leaks(estimator: object, *, stacklevel: int) -> None:
    """Warning where a caller is the fit of a pipeline with leaking steps before `estimator`."""
    found: list[str] = []
    child = estimator
    for frame, _ in traceback.walk_stack(inspect.currentframe()):
        owner = frame.f_locals.get("self")
        if isinstance(owner, Pipeline) and owner is not child:
            places = [k for k, (_, one) in enumerate(owner.steps) if one is child]
            before = owner.steps[: places[0] if places else -1]
            found = [leak for name, one in before for leak in _leaks(name, one)] + found
            child = owner
    if found:
        message = (
            f"{type(estimator).__name__}: the pipeline's {', '.join(found)} may read the data "
            "without protection, which voids the guarantee. Use PrivateScaler, or "
            "a class with privacy_preserving = True (dpnoise.learn.leaking_steps)"
        )
        warnings.warn(message, PrivacyLeakWarning, stacklevel=stacklevel)


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateScaler(PrivateFit, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Features standardised by a private mean and a private standard deviation.

    Parameters
    ----------
    low, high : float or array_like of float, shape (n_features,)
        Required: the bounds of each feature, public constants in its unit. Values beyond them are
        clipped.
    epsilon : float
        In [1e-9, 1e4], or inf for no noise.
    delta : float, optional
        In [0, 1): 0 for Laplace noise, else Gaussian; 1/N^2 if left out.
    limit : float
        Standardised values are clipped to [-limit, limit], a public constant: the `feature_bounds`
        of what follows.
    random_state : int or numpy.random.Generator, optional
        For tests and simulations on public data, as for `DPLinearRegression`.
    budget : dpnoise.Budget, optional
        Charged by `fit` before any noise is drawn, as for `DPLinearRegression`.

    Attributes
    ----------
    mean_, scale_ : float64 array, shape (n_features,)
        Private estimates, in the unit of each feature. A standard deviation below that of its noise
        is replaced by it.
    noise_scales_ : float64 array, shape (2 n_features,) or None
        Sigma (Gaussian) or beta (Laplace) of the noise on the means of u, then of u^2; from
        settings and N alone. None if epsilon is inf.
    promise_ : str or None
        What is guaranteed, in one sentence: one person, a record, is replaced by another. None if
        epsilon is inf.
    n_features_in_ : int
    feature_names_in_ : array of str, shape (n_features,)
        Only if the data had names.

    Raises
    ------
    ValueError
        From `fit`, naming everything that is wrong with the settings; never for a value in the
        data.

    Warns
    -----
    SeededNoiseWarning, LargeDeltaWarning, PrivacyLeakWarning
        From `fit`.

    Notes
    -----
    Neighbouring data sets differ by the replacement of one record; N is public. The budget is spent
    beside that of the estimator that follows: the two compose. A value that is not finite counts
    as the middle of its bounds in `fit`, and NaN remains NaN in `transform`.

    Examples
    --------
    >>> import numpy as np
    >>> from dpnoise.learn import PrivateScaler
    >>> X = np.linspace(40.0, 60.0, 20_000)[:, None]
    >>> scaler = PrivateScaler(low=0.0, high=120.0, epsilon=1.0).fit(X)
    >>> bool(abs(scaler.mean_[0] - 50.0) < 1.0)
    True
    """

    low: ArrayLike | None = None
    high: ArrayLike | None = None
    epsilon: float = 1.0
    delta: float | None = None
    limit: float = 5.0
    random_state: int | np.random.Generator | None = None
    budget: Budget | None = None

    @np.errstate(all="ignore")  # raised or warned of at one record, they would reveal it
    def fit(self, X: ArrayLike, y: object = None) -> Self:  # noqa: ARG002
        """Fit to features of shape (N, n_features); `y` is ignored."""
        values = self._read(X, reset=True)
        problems = Problems(type(self).__name__)
        low, high = self._range(problems, values.shape[1])
        if not (np.ndim(self.epsilon) == 0 and self.epsilon == math.inf):
            problems.number("epsilon", self.epsilon, low=1e-9, high=1e4)
        if self.delta is not None:
            problems.number("delta", self.delta, low=0.0, high=1.0, open_high=True)
        problems.require(len(values) >= 2, "X", "at least 2 samples", f"{len(values)} sample")
        problems.number("limit", self.limit, low=1.0 / LIMIT, high=LIMIT)
        check_budget_setting(problems, self.budget, self.epsilon)
        rng = noise_generator(problems, self.random_state, self.epsilon)
        size, features = values.shape
        delta = size**-2.0 if self.delta is None else float(self.delta)
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
        unit = np.clip((np.where(np.isfinite(values), values, middle) - middle) / half, -1.0, 1.0)
        means = np.concatenate([unit.mean(axis=0), (unit**2).mean(axis=0)])
        smallest = np.zeros(features)
        self.noise_scales_, self.promise_, self._cost = None, None, None
        if self.epsilon != math.inf:
            name = type(self).__name__
            warn_of_large_delta(name, delta, size, "N", stacklevel=3)
            warn_behind_leaks(self, stacklevel=4)
            warn_of_repeated_fits(self, stacklevel=4)
            kind: type[Gaussian | Laplace] = Gaussian if delta > 0.0 else Laplace
            # A computed mean of N numbers up to 1 is off by at most N 2^-53 at either neighbour.
            rounding = 1.0 + float(size) ** 2 * 2.0**-51
            sensitivities = np.repeat([2.0 / size, 1.0 / size], features) * rounding
            family = kind.__name__.lower()
            self.noise_scales_ = allocate(
                sensitivities, noise=family, epsilon=float(self.epsilon), delta=delta
            )
            self.promise_ = promise(REPLACE_ONE, "in one record", float(self.epsilon), delta)
            self._charge(self._spent(kind, sensitivities, delta))
            standard: Noise = kind(1.0)
            means += self.noise_scales_ * standard.rvs(2 * features, rng)
            smallest = self.noise_scales_[features:] * standard.std()
        centre = np.clip(means[:features], -1.0, 1.0)
        spread = np.sqrt(np.clip(means[features:] - centre**2, smallest, 1.0))
        self.mean_ = middle + half * centre
        self.scale_ = half * np.where(spread > 0.0, spread, 1.0)
        return self

    def __sklearn_tags__(self) -> Tags:
        """Tags of scikit-learn: NaN passes through."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _read(self, X: ArrayLike, *, reset: bool) -> Array:
        """Features as numbers, whatever their values."""
        read = {"dtype": np.float64, "ensure_all_finite": False, "reset": reset}
        return convert_with_nan(lambda given: validate_data(self, given, **read), X)

    def _range(self, problems: Problems, features: int) -> tuple[Array, Array]:
        """The bounds of each feature; problems are recorded."""
        low, high = (
            public_vector(problems, name, given, features, low=-LIMIT)
            for name, given in (("low", self.low), ("high", self.high))
        )
        apart = bool(problems.found) or bool(np.all(high - low >= 1.0 / LIMIT))
        problems.require(apart, "low, high", "low < high in every feature", (self.low, self.high))
        return low, high

    def _spent(self, kind: type[Gaussian | Laplace], sensitivities: Array, delta: float) -> Ledger:
        """The ledger of a fit, which has the relation of replaced records."""
        problems = Problems("budget")
        noises = [kind(scale) for scale in self.noise_scales_.tolist()]  # type: ignore[union-attr]
        found = read_release(problems, noises, sensitivities.tolist())
        promised = guaranteed(float(self.epsilon), delta)
        found = promised if problems.found else replace(found, stated=promised.stated)
        return replace(found, relation=REPLACE_ONE)

    @np.errstate(all="ignore")
    def transform(self, X: ArrayLike) -> Array:
        """Features of shape (N, n_features), standardised and clipped."""
        check_is_fitted(self)
        values = self._read(X, reset=False)
        low, high = self._range(Problems(""), values.shape[1])
        standard = (np.clip(values, low, high) - self.mean_) / self.scale_
        return np.clip(standard, -float(self.limit), float(self.limit))


@dataclass(kw_only=True, eq=False, repr=False)
class DPPCA(PrivateFit, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Principal components about the origin, under (epsilon, delta)-differential privacy.

    Nothing is centred: a mean of the data would be a release of its own. Subtract a public
    centre first if there is one.

    Parameters
    ----------
    n_components : int, optional
        1 to the number of features; all of them if left out.
    bound : float
        In [1e-50, 1e50]; samples longer than this, in l2 norm, are shortened to it. A constant
        that does not depend on the data.
    epsilon, delta, noise, allocation, relation, max_samples, random_state
        As for `dpnoise.learn.pca.dp_pca`; the relation is required.
    budget : dpnoise.Budget, optional
        What pays: `fit` charges it before any noise is drawn, or raises a `BudgetExceededError`.
        Clones are charged to the same one. Without it, `budget.spend(model)` charges a fit.

    Attributes
    ----------
    components_ : float64 array, shape (n_components, n_features)
        Orthonormal rows.
    eigenvalues_ : float64 array, shape (n_components,)
        Of the released matrix, falling.
    second_moment_ : float64 array, shape (n_features, n_features)
        The released matrix: the sum of x x' over clipped samples, plus symmetric noise.
    diagonal_scale_, off_diagonal_scale_ : float
        Of the noise in `second_moment_`: sigma (Gaussian) or beta (Laplace).
    promise_ : str or None
        What is guaranteed, in one sentence; None if epsilon is inf.
    n_features_in_ : int
    feature_names_in_ : array of str, shape (n_features,)
        Only if the data had names.

    Raises
    ------
    ValueError
        From `fit`, naming everything that is wrong with the settings and with the shape and type
        of the data; never for a value in the data.

    Warns
    -----
    SeededNoiseWarning
        From `fit`, for a `random_state` with finite epsilon.

    Notes
    -----
    See `dpnoise.learn.pca.dp_pca` for the noise, and for what is protected and what is assumed
    public; docs/estimators.md says what is proved and what is tested. A sample with NaN or infinity
    contributes nothing. `transform` is not private: it maps the samples that it is given.

    References
    ----------
    inid-2024, section VI-B, with the sensitivities at the top of `dpnoise.learn.pca` instead.

    Examples
    --------
    >>> import numpy as np
    >>> from dpnoise.learn.pipelines import DPPCA
    >>> X = np.linspace(-1.0, 1.0, 5000)[:, None] * [0.8, 0.1, 0.1]
    >>> model = DPPCA(n_components=1, epsilon=1.0, delta=1e-6, relation="replace-one")
    >>> model.fit(X).components_.shape
    (1, 3)
    >>> model.promise_
    'one person replaced by another, in one row: epsilon = 1, delta = 1e-06'
    """

    n_components: int | None = field(default=None, kw_only=False)
    epsilon: float = 1.0
    delta: float = 1e-6
    bound: float = 1.0
    noise: str = "gaussian"
    allocation: str = "optimal"
    relation: str | None = None
    max_samples: int | None = None
    random_state: int | np.random.Generator | None = None
    budget: Budget | None = None

    @np.errstate(all="ignore")  # raised or warned of at one sample, they would reveal it
    def fit(self, X: ArrayLike, y: object = None) -> Self:  # noqa: ARG002
        """Fit to samples, shape (N, n_features); `y` is ignored."""
        fewest = 0 if self.relation == ADD_REMOVE else 1
        read = {"dtype": np.float64, "ensure_all_finite": False, "ensure_min_samples": fewest}
        data = convert_with_nan(lambda given: validate_data(self, given, **read), X)
        problems = Problems(type(self).__name__)
        rank = data.shape[1] if self.n_components is None else self.n_components
        settings = ReleaseSettings(
            self.epsilon, self.delta, self.noise, self.allocation, self.relation, self.max_samples
        )
        settings.check(problems, data.shape, rank, rank_name="n_components")
        problems.number("bound", self.bound, low=1e-50, high=1e50)
        check_budget_setting(problems, self.budget, self.epsilon)
        rng = noise_generator(problems, self.random_state, self.epsilon)
        settings.warn(type(self).__name__, len(data), stacklevel=3)
        if self.epsilon != np.inf:
            warn_behind_leaks(self, stacklevel=4)
            warn_of_repeated_fits(self, stacklevel=4)
        rows = clip_rows(data, float(self.bound))
        released = released_components(rows, int(rank), settings, rng, self.budget)
        square = float(self.bound) ** 2
        self.components_ = np.ascontiguousarray(released.components.T)
        self.eigenvalues_ = released.eigenvalues * square
        self.second_moment_ = released.matrix * square
        self.diagonal_scale_ = released.diagonal_scale * square
        self.off_diagonal_scale_ = released.off_diagonal_scale * square
        self.promise_ = released.promise
        self._cost = released._cost  # noqa: SLF001  (None without noise)
        return self

    @property
    def _n_features_out(self) -> int:
        """Number of names that `get_feature_names_out` makes."""
        return len(self.components_)

    def transform(self, X: ArrayLike) -> Array:
        """Coordinates, shape (N, n_components), of samples along the components."""
        check_is_fitted(self)
        data: Array = validate_data(self, X, dtype=np.float64, reset=False)
        return data @ self.components_.T

    def inverse_transform(self, X: ArrayLike) -> Array:
        """Reconstruction of samples from their coordinates, shape (N, n_components)."""
        check_is_fitted(self)
        data = np.asarray(X, dtype=np.float64)
        problems = Problems(type(self).__name__)
        rank = len(self.components_)
        fits = data.ndim == 2 and data.shape[1] == rank
        problems.require(fits, "X", f"shape (N, {rank})", data.shape)
        problems.raise_if_any()
        return data @ self.components_
