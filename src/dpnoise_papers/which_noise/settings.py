"""Settings of the table over (K, epsilon, delta)."""

from __future__ import annotations

from dpnoise_papers.settings import DeltaOrZero, Dimensions, Distinct, Epsilons, Section


class WhichNoise(Section):
    """The grid: numbers K of coordinates, epsilons, and deltas, 0 among them or not."""

    dimensions: Dimensions
    epsilons: Epsilons
    deltas: Distinct[DeltaOrZero]
