"""Denoising a private release: shrinkage, thresholds, wavelets and trend filtering on graphs.

The public names are imported on first use (trend filtering needs the extra `denoise`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpnoise._imports import lazy_names

if TYPE_CHECKING:  # what type checkers and editors see
    from dpnoise.denoise.graph import Graph
    from dpnoise.denoise.shrinkage import (
        bayes_risk,
        james_stein,
        james_stein_bayes_risk,
        james_stein_sure,
        soft_threshold,
        soft_threshold_sure,
        sure_threshold,
        universal_threshold,
    )
    from dpnoise.denoise.trend_filtering import (
        TrendChoice,
        TrendFit,
        choose_by_sure,
        trend_filter,
        trend_path,
    )
    from dpnoise.denoise.wavelets import WaveletBasis, breadth_first_tree, uniform_spanning_tree

_MODULES = {
    "Graph": "dpnoise.denoise.graph",
    "TrendChoice": "dpnoise.denoise.trend_filtering",
    "TrendFit": "dpnoise.denoise.trend_filtering",
    "WaveletBasis": "dpnoise.denoise.wavelets",
    "bayes_risk": "dpnoise.denoise.shrinkage",
    "breadth_first_tree": "dpnoise.denoise.wavelets",
    "choose_by_sure": "dpnoise.denoise.trend_filtering",
    "james_stein": "dpnoise.denoise.shrinkage",
    "james_stein_bayes_risk": "dpnoise.denoise.shrinkage",
    "james_stein_sure": "dpnoise.denoise.shrinkage",
    "soft_threshold": "dpnoise.denoise.shrinkage",
    "soft_threshold_sure": "dpnoise.denoise.shrinkage",
    "sure_threshold": "dpnoise.denoise.shrinkage",
    "trend_filter": "dpnoise.denoise.trend_filtering",
    "trend_path": "dpnoise.denoise.trend_filtering",
    "uniform_spanning_tree": "dpnoise.denoise.wavelets",
    "universal_threshold": "dpnoise.denoise.shrinkage",
}

__getattr__, __dir__ = lazy_names(__name__, _MODULES)

__all__ = [
    "Graph",
    "TrendChoice",
    "TrendFit",
    "WaveletBasis",
    "bayes_risk",
    "breadth_first_tree",
    "choose_by_sure",
    "james_stein",
    "james_stein_bayes_risk",
    "james_stein_sure",
    "soft_threshold",
    "soft_threshold_sure",
    "sure_threshold",
    "trend_filter",
    "trend_path",
    "uniform_spanning_tree",
    "universal_threshold",
]
