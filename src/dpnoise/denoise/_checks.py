"""Checks of arguments that several denoisers share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpnoise._validation import floats, is_integer

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise._validation import Problems

LARGEST = 1e100  # of a datum or sigma, so that its square has a double
_ORDERS = (0, 1, 2)  # of trend filtering


def vectors(problems: Problems, y: ArrayLike, minimum_dimension: int = 1) -> Array:
    """Vectors along the last axis, of at least `minimum_dimension` numbers each."""
    array = floats(problems, "y", y, low=-LARGEST, high=LARGEST)
    d = array.shape[-1] if array.ndim else 0
    if d < minimum_dimension:
        problems.add(f"y: expected dimension d >= {minimum_dimension}, got shape {array.shape}")
    return array


def standard_deviation(problems: Problems, sigma: float) -> float:
    """Positive standard deviation of the noise; NaN where it is refused."""
    good = problems.number("sigma", sigma, low=0.0, high=LARGEST, open_low=True)
    return float(sigma) if good else math.nan


def check_dimension(problems: Problems, d: int, minimum: int) -> None:
    """Record a problem unless `d` is an integer of at least `minimum`."""
    good = is_integer(d) and d >= minimum
    problems.require(good, "d", f"an integer of at least {minimum}", d)


def check_order(problems: Problems, order: int) -> None:
    """Record a problem unless the order of trend filtering is 0, 1 or 2."""
    problems.require(is_integer(order) and order in _ORDERS, "order", "0, 1 or 2", order)


def node_values(problems: Problems, nodes: int, y: ArrayLike) -> Array:
    """Signals on a graph: one number for each node along the last axis."""
    array = floats(problems, "y", y, low=-LARGEST, high=LARGEST)
    fits = array.ndim > 0 and array.shape[-1] == nodes
    if not fits:
        problems.add(f"y: expected one number for each of {nodes} nodes, got shape {array.shape}")
    return array


def node_signal(problems: Problems, nodes: int, y: ArrayLike) -> Array:
    """One signal on a graph, shape (nodes,)."""
    array = node_values(problems, nodes, y)
    if array.ndim > 1:
        problems.add(f"y: expected shape ({nodes},), got {array.shape}")
    return array
