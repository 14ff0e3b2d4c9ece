"""Type aliases of the library."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.intp]
ComplexArray = NDArray[np.complex128]
WordArray = NDArray[np.int64]
