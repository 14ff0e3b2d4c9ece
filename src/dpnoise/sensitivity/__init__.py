"""Sensitivity sets: what one person can change in a vector of answers (docs/sensitivity.md).

The public names are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpnoise._imports import lazy_names

if TYPE_CHECKING:  # what type checkers and editors see
    from dpnoise.sensitivity.at_most import AtMost
    from dpnoise.sensitivity.balls import L1, L2, Box, LInf
    from dpnoise.sensitivity.base import Sensitivity
    from dpnoise.sensitivity.convert import add_remove, as_sensitivity, replace_one
    from dpnoise.sensitivity.counts import Counts
    from dpnoise.sensitivity.ellipsoid import Ellipsoid, enclosing_ellipsoid
    from dpnoise.sensitivity.from_frame import BoundedCounts
    from dpnoise.sensitivity.product import Product

_MODULES = {
    "AtMost": "dpnoise.sensitivity.at_most",
    "BoundedCounts": "dpnoise.sensitivity.from_frame",
    "Box": "dpnoise.sensitivity.balls",
    "Counts": "dpnoise.sensitivity.counts",
    "Ellipsoid": "dpnoise.sensitivity.ellipsoid",
    "L1": "dpnoise.sensitivity.balls",
    "L2": "dpnoise.sensitivity.balls",
    "LInf": "dpnoise.sensitivity.balls",
    "Product": "dpnoise.sensitivity.product",
    "Sensitivity": "dpnoise.sensitivity.base",
    "add_remove": "dpnoise.sensitivity.convert",
    "as_sensitivity": "dpnoise.sensitivity.convert",
    "enclosing_ellipsoid": "dpnoise.sensitivity.ellipsoid",
    "replace_one": "dpnoise.sensitivity.convert",
}

__getattr__, __dir__ = lazy_names(__name__, _MODULES)

__all__ = [
    "L1",
    "L2",
    "AtMost",
    "BoundedCounts",
    "Box",
    "Counts",
    "Ellipsoid",
    "LInf",
    "Product",
    "Sensitivity",
    "add_remove",
    "as_sensitivity",
    "enclosing_ellipsoid",
    "replace_one",
]
