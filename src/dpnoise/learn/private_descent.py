"""Settings and fit that the private linear models share: DP-CD between public bounds.

Nothing here, errors included, depends on the data but through noisy updates: settings, the shape
of the data and public constants are checked, values are clipped
(`dpnoise.learn.bounded_problem`), the noise is calibrated by `coordinate_noise`, and whether the
descent could leave single precision is decided by the noise before the data are touched.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpnoise._imports import imports_of
from dpnoise._validation import Problems, is_integer
from dpnoise.calibration.coordinate_noise import MECHANISMS, coordinate_noise
from dpnoise.learn.bounded_problem import (
    LIMIT,
    bounded_problem,
    farthest_fit,
    public_vector,
)
from dpnoise.learn.cd import ITERATES, ORDERS, coordinate_orders, descend
from dpnoise.learn.charging import charge, check_budget_setting, refuse_unfitted
from dpnoise.learn.kernel import ROUNDING
from dpnoise.learn.missing_values import as_target, convert_with_nan, refuse_mask
from dpnoise.learn.pipelines import warn_behind_leaks
from dpnoise.learn.privacy_warnings import warn_of_large_delta, warn_of_repeated_fits
from dpnoise.learn.problem import check_penalty
from dpnoise.learn.seeding import noise_generator
from dpnoise.sensitivity.relation import REPLACE_ONE, promise

with imports_of("learn"):
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from dpnoise._types import Array
    from dpnoise.privacy.odometer.budget import Budget
    from dpnoise.privacy.odometer.ledger import Ledger

_MAXIMUM_COUNT = 10**6  # of passes, and of values of xi
_WEIGHTS = (
    "sample_weight: not supported: a weight multiplies what its record can change, which the "
    "sensitivity 2 C_i / N does not allow for"
)


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateDescent(BaseEstimator):
    """Base of `DPLinearRegression`, which documents the settings, and `DPLogisticRegression`."""

    feature_bounds: ArrayLike | None = None
    feature_scales: ArrayLike | None = None
    epsilon: float = 1.0
    delta: float | None = None
    mechanism: str = "gaussian-tight"
    penalty: str = "none"
    strength: float = 0.0
    passes: int = 10
    step: float = 1.0
    clip: float = 1.0
    order: str = "cyclic"
    iterate: str = "last"
    fit_intercept: bool = True
    xi_grid: int = 1000
    random_state: int | np.random.Generator | None = None
    budget: Budget | None = None

    privacy_preserving = True

    def _check_settings(self, problems: Problems) -> None:
        """Record whatever is wrong with the settings that do not concern the data's shape."""
        if not (np.ndim(self.epsilon) == 0 and self.epsilon == math.inf):
            problems.number("epsilon", self.epsilon, low=1e-100, high=1e12)
        if self.delta is not None:
            problems.number("delta", self.delta, low=1e-300, high=1.0, open_high=True)
        for name in ("step", "clip"):
            problems.number(name, getattr(self, name), low=1e-15, high=1e15)
        for name in ("passes", "xi_grid"):
            value = getattr(self, name)
            good = is_integer(value) and 1 <= value <= _MAXIMUM_COUNT
            problems.require(good, name, f"a whole number from 1 to {_MAXIMUM_COUNT}", value)
        for name, allowed in (
            ("mechanism", MECHANISMS),
            ("order", ORDERS),
            ("iterate", ITERATES),
            ("fit_intercept", (True, False)),
        ):
            value = getattr(self, name)
            expected = "one of " + ", ".join(map(str, allowed))
            problems.require(np.ndim(value) == 0 and value in allowed, name, expected, value)
        check_penalty(problems, self.penalty, self.strength)
        check_budget_setting(problems, self.budget, self.epsilon)

    def spending(self) -> Ledger:
        """What the fit costs a `Budget`: all updates of all coordinates, by `budget.spend(model)`.

        A ValueError is raised before `fit`, and for an infinite epsilon.
        """
        noise = getattr(self, "noise_", None)
        if noise is None:
            refuse_unfitted(self)
        return replace(noise.spending(), relation=REPLACE_ONE)

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

    def _descend(
        self,
        problems: Problems,
        X: Array,
        targets: Array,
        *,
        usable: NDArray[np.bool_],
        loss: str,
        target_bound: float = 1.0,
    ) -> Array:
        """Fitted weights, shape (m, K), for targets of shape (m, N).

        One account covers the updates of all m fits: the noise of each is that of m L passes. Sets
        the attributes that do not depend on the loss.
        """
        self._check_settings(problems)
        features = X.shape[1]
        bounds = public_vector(problems, "feature_bounds", self.feature_bounds, features)
        scales = bounds
        if self.feature_scales is not None:
            scales = public_vector(problems, "feature_scales", self.feature_scales, features)
        problems.require(len(X) >= 2, "X", "at least 2 samples", f"{len(X)} sample")
        rng = noise_generator(problems, self.random_state, self.epsilon, stacklevel=5)
        delta = len(X) ** -2.0 if self.delta is None else float(self.delta)
        if self.epsilon != math.inf:
            warn_of_large_delta(type(self).__name__, delta, len(X), "N", stacklevel=4)
            warn_behind_leaks(self, stacklevel=5)
            warn_of_repeated_fits(self, stacklevel=5)
        problems_of = [
            bounded_problem(
                X,
                y,
                usable,
                loss=loss,
                penalty=self.penalty,
                strength=self.strength,
                intercept=bool(np.all(self.fit_intercept)),
                bounds=bounds,
                scales=scales,
                target_bound=target_bound,
            )
            for y in targets
        ]
        problem = problems_of[0]  # what follows depends on what they share

        # Sums of clipped gradients are added in double precision, in an order that the compiler
        # chooses: replacing one sample moves the total by 2 C_i ROUNDING, to which the descent
        # scales its noise, and at most this much more.
        rounding = 1.0 + problem.size**2 * 2.0**-52
        self.sensitivities_ = problem.sensitivities(self.clip) * ROUNDING * rounding
        shape = (len(problems_of), self.passes, problem.coordinates)
        orders = np.array([coordinate_orders(self.order, shape[1:], rng) for _ in problems_of])
        if self.epsilon == math.inf:
            self.noise_, self.promise_, unit = None, None, np.zeros(shape)
        else:
            self.noise_ = coordinate_noise(
                self.mechanism,
                epsilon=self.epsilon,
                delta=delta,
                coordinates=problem.coordinates,
                passes=self.passes * len(problems_of),
                sensitivities=self.sensitivities_,
                grid=self.xi_grid,
            )
            self.promise_ = promise(REPLACE_ONE, "in one record", self.epsilon, delta)
            charge(self)
            unit = self.noise_.unit.rvs(shape, rng) * rounding
        farthest = max(
            farthest_fit(
                problem,
                bounds=np.append(bounds, 1.0) if self.fit_intercept else bounds,
                target_bound=target_bound,
                step=self.step,
                clip=self.clip,
                noise=noise * ROUNDING,
                orders=order,
            )
            for noise, order in zip(unit, orders, strict=True)
        )
        if not farthest <= LIMIT:
            message = (
                f"{type(self).__name__}: with step={self.step!r} and noise of this size the "
                f"descent could diverge, to fitted values of {farthest:.3g}"
            )
            raise ArithmeticError(message)
        self.n_iter_ = int(self.passes)
        return np.array(
            [
                descend(
                    one,
                    steps=[self.step],
                    clips=[self.clip],
                    noise=noise[None],
                    orders=order[None],
                    iterate=self.iterate,
                )[0, 0, 0]
                for one, noise, order in zip(problems_of, unit, orders, strict=True)
            ]
        )

    def _split(self, weights: Array) -> tuple[Array, Array]:
        """Coefficients, shape (m, n_features), and intercepts, shape (m,)."""
        if self.fit_intercept:
            return weights[:, :-1], weights[:, -1]
        return weights, np.zeros(len(weights))
