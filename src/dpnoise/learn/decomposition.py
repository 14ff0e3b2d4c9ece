"""Private principal components with a scikit-learn interface: `DPPCA`, around `dp_pca`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from dpnoise._validation import Problems
from dpnoise.learn.missing_values import convert_with_nan
from dpnoise.learn.pca import check_request, clip_rows, released_components
from dpnoise.learn.seeding import noise_generator, warn_if_seeded

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class DPPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Principal components about the origin, under (epsilon, delta)-differential privacy.

    Nothing is centred: a mean of the data would be a release of its own. Subtract a public
    centre first if there is one.

    Parameters
    ----------
    n_components : int, optional
        1 to the number of features; all of them if left out.
    epsilon : float
        In [1e-100, 1e12], or inf for no noise (rows are clipped all the same).
    delta : float
        In [1e-300, 1) for Gaussian noise; not used by Laplace noise.
    bound : float
        In [1e-50, 1e50]; samples longer than this, in l2 norm, are shortened to it. A constant
        that does not depend on the data.
    noise : {"gaussian", "laplace"}
    allocation : {"optimal", "iid"}
    neighbouring : {"replace-one", "add-remove"}
    max_samples : int, optional
        A public bound on N. Required by "add-remove", where N itself is private; N if left out
        with "replace-one".
    random_state : int or numpy.random.Generator, optional
        For tests and simulations on public data: anything but None raises a `SeededNoiseWarning`,
        because whoever knows it can subtract the noise.

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

    Source: inid-2024, section VI-B, with sensitivities that hold.

    Examples
    --------
    >>> import numpy as np
    >>> from dpnoise.learn.decomposition import DPPCA
    >>> X = np.linspace(-1.0, 1.0, 5000)[:, None] * [0.8, 0.1, 0.1]
    >>> DPPCA(n_components=1, epsilon=1.0, delta=1e-6).fit(X).components_.shape
    (1, 3)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        bound: float = 1.0,
        noise: str = "gaussian",
        allocation: str = "optimal",
        neighbouring: str = "replace-one",
        max_samples: int | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.n_components = n_components
        self.epsilon = epsilon
        self.delta = delta
        self.bound = bound
        self.noise = noise
        self.allocation = allocation
        self.neighbouring = neighbouring
        self.max_samples = max_samples
        self.random_state = random_state

    @np.errstate(all="ignore")  # raised or warned of at one sample, they would tell it
    def fit(self, X: ArrayLike, y: object = None) -> Self:  # noqa: ARG002
        """Fit to samples of shape (N, n_features); `y` is ignored."""
        least = 0 if self.neighbouring == "add-remove" else 1
        read = {"dtype": np.float64, "ensure_all_finite": False, "ensure_min_samples": least}
        X = convert_with_nan(lambda data: validate_data(self, data, **read), X)
        problems = Problems(type(self).__name__)
        rank = X.shape[1] if self.n_components is None else self.n_components
        budget = {
            name: getattr(self, name)
            for name in ("epsilon", "delta", "noise", "allocation", "neighbouring")
        }
        check_request(
            problems,
            X.shape,
            rank,
            max_samples=self.max_samples,
            rank_name="n_components",
            **budget,
        )
        problems.number("bound", self.bound, low=1e-50, high=1e50)
        rng = noise_generator(problems, self.random_state)
        problems.raise_if_any()
        warn_if_seeded(self.random_state, self.epsilon, type(self).__name__)
        most = len(X) if self.max_samples is None else int(self.max_samples)
        rows = clip_rows(X, float(self.bound))
        released = released_components(rows, int(rank), most=most, rng=rng, **budget)
        square = float(self.bound) ** 2
        self.components_ = np.ascontiguousarray(released.components.T)
        self.eigenvalues_ = released.eigenvalues * square
        self.second_moment_ = released.matrix * square
        self.diagonal_scale_ = released.diagonal_scale * square
        self.off_diagonal_scale_ = released.off_diagonal_scale * square
        return self

    @property
    def _n_features_out(self) -> int:
        """Tell `get_feature_names_out` how many names to make."""
        return len(self.components_)

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return coordinates along the components, shape (N, n_components)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return X @ self.components_.T

    def inverse_transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the samples in the components' span with these coordinates, shape (N, M)."""
        check_is_fitted(self)
        X = np.asarray(X, dtype=np.float64)
        problems = Problems(type(self).__name__)
        expected = f"shape (N, {len(self.components_)})"
        problems.require(
            X.ndim == 2 and X.shape[1] == len(self.components_), "X", expected, X.shape
        )
        problems.raise_if_any()
        return X @ self.components_
