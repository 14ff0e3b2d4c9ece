"""The floor under every mechanism, as far as one is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpnoise.optimality.floor import floor

if TYPE_CHECKING:
    from dpnoise.mechanisms.request import Request


def mean_floor(request: Request) -> float:
    """Proved lower bound on the mean variance of any additive noise; 0 where none is known."""
    weights = request.weights / np.sum(request.weights)
    try:
        found = floor(
            request.sensitivity, epsilon=request.epsilon, delta=request.delta, weights=weights
        )
    except ValueError:  # a budget out of its range
        return 0.0
    return found.value
