"""Private principal components with a scikit-learn interface: `DPPCA`, around `dp_pca`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np

from dpnoise._imports import imports_of
from dpnoise._validation import Problems
from dpnoise.learn.charging import check_budget_setting, refuse_unfitted
from dpnoise.learn.pca import ReleaseSettings, clip_rows, released_components
from dpnoise.learn.pipelines import warn_behind_leaks
from dpnoise.learn.safeguards import convert_with_nan, noise_generator, warn_of_repeated_fits
from dpnoise.sensitivity.relation import ADD_REMOVE

with imports_of("learn"):
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.privacy.odometer.budget import Budget
    from dpnoise.privacy.odometer.ledger import Ledger


@dataclass(kw_only=True, eq=False, repr=False)
class DPPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
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
    >>> from dpnoise.learn.decomposition import DPPCA
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

    privacy_preserving = True

    @np.errstate(all="ignore")  # raised or warned of at one sample, they would reveal it
    def fit(self, X: ArrayLike, y: object = None) -> Self:  # noqa: ARG002
        """Fit to samples, shape (N, n_features); `y` is ignored."""
        fewest = 0 if self.relation == ADD_REMOVE else 1
        read = {"dtype": np.float64, "ensure_all_finite": False, "ensure_min_samples": fewest}
        data = convert_with_nan(lambda given: validate_data(self, given, **read), X)
        problems = Problems(type(self).__name__)
        rank = data.shape[1] if self.n_components is None else self.n_components
        settings = ReleaseSettings(
            self.epsilon,
            self.delta,
            self.noise,
            self.allocation,
            self.relation,
            self.max_samples,
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
        self._released = released
        return self

    def spending(self) -> Ledger:
        """What the fit costs a `Budget`, by `budget.spend(model)`.

        A ValueError is raised before `fit`, and for an infinite epsilon.
        """
        released = getattr(self, "_released", None)
        if released is None or released.promise is None:
            refuse_unfitted(self)
        return released.spending()

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
