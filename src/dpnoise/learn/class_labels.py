"""Public labels of the two classes of a private classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from dpnoise._types import Array
    from dpnoise._validation import Problems


def two_labels(problems: Problems, classes: ArrayLike | None, kind: np.dtype) -> NDArray:
    """Two sorted labels that fit data of type `kind`; what is wrong with `classes` is recorded."""
    labels = np.asarray(classes)
    try:
        labels = np.unique(labels)
    except TypeError:  # labels that cannot be sorted
        labels = labels[:0]
    good = classes is not None and np.ndim(classes) == 1 and labels.shape == (2,)
    good = good and bool(np.all(labels == labels))  # noqa: PLR0124 - not NaN, of whatever type
    if not problems.require(good, "classes", "the two labels, public, not from the data", classes):
        # the wording that scikit-learn's tools look for
        problems.add("Only binary classification is supported.")
        return np.array([0, 1])
    kinds = {"numbers" if dtype.kind in "biuf" else dtype.kind for dtype in (labels.dtype, kind)}
    alike = len(kinds) == 1 or "O" in kinds
    expected = f"labels of the type of classes, {labels.dtype}"
    problems.require(alike, "y", expected, f"an array of type {kind}")
    return labels


def label_signs(classes: NDArray, labels: NDArray) -> Array:
    """Signs of labels: -1 for the first class, +1 for the second, 0 for any other label."""
    place = dict(zip(classes.tolist(), (-1.0, 1.0), strict=True))
    return np.array([place.get(one, 0.0) if _hashable(one) else 0.0 for one in labels.tolist()])


def _hashable(label: object) -> bool:
    """Whether a label can be looked up; one that cannot, such as a list, is no class."""
    try:
        hash(label)
    except TypeError:
        return False
    return True
