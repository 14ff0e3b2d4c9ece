"""A histogram in cells of half a sensitivity, of variance 9, for the tests of its parts."""

import math

import numpy as np
import pytest

from dpnoise.calibration.histogram.cells import Cells


@pytest.fixture
def histogram():
    """Cells and masses."""
    cells = Cells.of(2, 60, math.exp(-0.5))
    x = np.arange(60) / 2
    return cells, cells.masses(0.7 * np.sqrt(1 + x * x), 9.0)
