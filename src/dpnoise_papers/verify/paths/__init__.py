"""Independent paths by result table and column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpnoise_papers.verify.paths import inid_2024, scalar_noise, vector_noise

if TYPE_CHECKING:
    from dpnoise_papers.verify.paths.common import Paths

SLOW = frozenset(vector_noise.PATHS)  # seconds a cell


def all_paths() -> Paths:
    """Every path, by the result table (as in the claims) and its column."""
    return {**inid_2024.PATHS, **scalar_noise.PATHS, **vector_noise.PATHS}
