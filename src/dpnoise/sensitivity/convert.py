"""A number, a vector or a set, read as a sensitivity set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpnoise._validation import Problems
from dpnoise.sensitivity.balls import LInf
from dpnoise.sensitivity.base import Sensitivity, check_dimension, check_size
from dpnoise.sensitivity.box import Box
from dpnoise.sensitivity.relation import check_relation, joined

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def as_sensitivity(
    sensitivity: float | ArrayLike | Sensitivity,
    dimension: int | None = None,
    *,
    relation: str | None = None,
) -> Sensitivity:
    """A sensitivity set from a number, a vector or a set.

    Parameters
    ----------
    sensitivity : float, array_like of shape (K,), or Sensitivity
        A number bounds the change of every coordinate (`LInf`), a vector that of each (`Box`);
        a set is returned as it is.
    dimension : int, optional
        The number K of coordinates. With a number it is 1 by default; otherwise it must be that
        of the vector or set.
    relation : {"add-remove", "replace-one"}, optional
        Which data sets are neighbours; with a set that states its relation it must be that one.

    Returns
    -------
    Sensitivity
        The set.

    Raises
    ------
    ValueError
        If an argument is out of range or the two do not fit; the message names every problem.

    Examples
    --------
    >>> from dpnoise import as_sensitivity
    >>> as_sensitivity(1.0, 3)
    LInf(radius=1.0, of=3)
    >>> as_sensitivity([1.0, 0.5], relation="add-remove")
    Box(lambdas=(1.0, 0.5), relation='add-remove')
    """
    problems = Problems("sensitivity")
    if dimension is not None:
        check_dimension(problems, "dimension", dimension)
    check_relation(problems, relation)
    array = isinstance(sensitivity, list | tuple) or getattr(sensitivity, "ndim", 0) > 0
    if not array and not isinstance(sensitivity, Sensitivity):
        value = sensitivity.item() if isinstance(sensitivity, np.ndarray) else sensitivity
        check_size(problems, "sensitivity", value)
        problems.raise_if_any()
        count = 1 if dimension is None else int(dimension)
        return LInf(float(value), count, relation=relation)  # type: ignore[arg-type]  # checked
    problems.raise_if_any()
    found = sensitivity if isinstance(sensitivity, Sensitivity) else Box(sensitivity)  # type: ignore[arg-type]
    fits = dimension in (None, found.dimension)
    problems.require(fits, "dimension", f"that of the sensitivity, {found.dimension}", dimension)
    joined(problems, found.relation, relation, "the set and relation=")
    problems.raise_if_any()
    return found.stating(relation)
