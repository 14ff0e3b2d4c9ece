"""Learning under differential privacy, with a scikit-learn interface; for the papers, its parts.

The public names are imported on first use (extra `learn`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpnoise._imports import lazy_names

if TYPE_CHECKING:  # what type checkers and editors see
    from dpnoise.learn.charging import GridSearchPrice, grid_search_price
    from dpnoise.learn.decomposition import DPPCA
    from dpnoise.learn.estimators import DPLinearRegression, DPLogisticRegression
    from dpnoise.learn.pca import dp_pca
    from dpnoise.learn.pipelines import PrivateScaler, PublicScaler, leaking_steps
    from dpnoise.learn.safeguards import (
        LargeDeltaWarning,
        PrivacyLeakWarning,
        RepeatedFitsWarning,
        SeededNoiseWarning,
    )

_MODULES = {
    "DPLinearRegression": "dpnoise.learn.estimators",
    "DPLogisticRegression": "dpnoise.learn.estimators",
    "DPPCA": "dpnoise.learn.decomposition",
    "GridSearchPrice": "dpnoise.learn.charging",
    "LargeDeltaWarning": "dpnoise.learn.safeguards",
    "PrivacyLeakWarning": "dpnoise.learn.safeguards",
    "PrivateScaler": "dpnoise.learn.pipelines",
    "PublicScaler": "dpnoise.learn.pipelines",
    "RepeatedFitsWarning": "dpnoise.learn.safeguards",
    "SeededNoiseWarning": "dpnoise.learn.safeguards",
    "dp_pca": "dpnoise.learn.pca",
    "grid_search_price": "dpnoise.learn.charging",
    "leaking_steps": "dpnoise.learn.pipelines",
}

__getattr__, __dir__ = lazy_names(__name__, _MODULES)

__all__ = [
    "DPPCA",
    "DPLinearRegression",
    "DPLogisticRegression",
    "GridSearchPrice",
    "LargeDeltaWarning",
    "PrivacyLeakWarning",
    "PrivateScaler",
    "PublicScaler",
    "RepeatedFitsWarning",
    "SeededNoiseWarning",
    "dp_pca",
    "grid_search_price",
    "leaking_steps",
]
