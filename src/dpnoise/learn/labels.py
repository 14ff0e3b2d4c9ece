"""Public labels of a classifier, and the labels of records among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from dpnoise._validation import Problems


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
    found = [place.get(one, -1) if _hashable(one) else -1 for one in labels.tolist()]
    return np.array(found, dtype=np.intp)


def _hashable(label: object) -> bool:
    """Whether a label can be looked up; one that cannot, such as a list, is no class."""
    try:
        hash(label)
    except TypeError:
        return False
    return True
