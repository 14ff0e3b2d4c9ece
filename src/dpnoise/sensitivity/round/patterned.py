"""Sets whose extreme points have entries c, -c and 0, how many of either being all that matters.

With them every permutation of their coordinates is in the set, so that a form
a |d|^2 + b (d_1 + ... + d_K)^2 depends on the two numbers alone, and the least ellipsoid around the
set is a spheroid about the diagonal.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from dpnoise.sensitivity.base import Sensitivity
from dpnoise.sensitivity.cut_cube import listed_vertices
from dpnoise.sensitivity.power_sums import above
from dpnoise.sensitivity.round.spheroid import Axes, around, smallest_axes

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.sensitivity.round.base import RoundSet

_SAME = 1e-9  # relative difference of axes that gains 1e-18


class PatternedSet(Sensitivity):
    """A set with extreme points of entries `each`, -`each` and 0."""

    each: float

    @property
    @abstractmethod
    def all_patterns(self) -> list[tuple[int, int]]:
        """How many entries of the extreme points are `each` and -`each`, up to the sign.

        Where there are very many, those that decide the least ellipsoid.
        """

    def _forms(self, squares: Fraction, total: Fraction) -> list[tuple[int, int]]:  # noqa: ARG002
        """Patterns among which is that with the largest symmetric form."""
        return self.all_patterns

    def largest_symmetric_form(self, squares: Fraction, total: Fraction) -> tuple[Fraction, bool]:
        """The largest value at an extreme point, exactly."""
        values = [
            squares * (up + down) + total * (up - down) ** 2
            for up, down in self._forms(squares, total)
        ]
        return above(max(values) * Fraction(self.each) ** 2), True

    def vertices(self) -> Array | None:
        """All extreme points, one of each pair; None if there are many."""
        return listed_vertices(self.dimension, self.all_patterns, self.each)

    @cached_property
    def smallest_ellipsoid(self) -> RoundSet | None:
        """The least spheroid around the set; None if it is a ball, or the set a simpler one."""
        if self.dimension == 1 or self.plain is not self:
            return None
        axes = smallest_axes(self.dimension, self.all_patterns)
        if math.isclose(axes.along, axes.across, rel_tol=_SAME):
            return None
        return around(self, Axes(self.each * axes.along, self.each * axes.across))
