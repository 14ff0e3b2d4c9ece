"""Steps of a scikit-learn pipeline that read the data without protection.

What stands before a private estimator must not depend on the data beyond the record that it maps,
or be private itself: the mean that `StandardScaler` subtracts is a release without noise. Which
steps are safe is decided by their kinds, never by data. scikit-learn does not tell a step of its
pipeline, so that a fit looks for pipelines among its callers.
"""

from __future__ import annotations

import inspect
import traceback
import warnings
from typing import TYPE_CHECKING

from dpnoise._imports import imports_of
from dpnoise.learn.privacy_warnings import PrivacyLeakWarning

with imports_of("learn"):
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import FeatureUnion, Pipeline

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    >>> from dpnoise.learn import DPPCA, PublicScaler, leaking_steps
    >>> leaking_steps(make_pipeline(StandardScaler(), DPPCA()))
    ['standardscaler (StandardScaler)']
    >>> leaking_steps(make_pipeline(PublicScaler(low=0.0, high=1.0), DPPCA()))
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
    elif not (isinstance(step, str | None) and step in _NOTHING) and not getattr(
        step, "privacy_preserving", False
    ):
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
            "without protection, which voids the guarantee. Use PublicScaler or PrivateScaler, or "
            "a class with privacy_preserving = True (dpnoise.learn.leaking_steps)"
        )
        warnings.warn(message, PrivacyLeakWarning, stacklevel=stacklevel)
