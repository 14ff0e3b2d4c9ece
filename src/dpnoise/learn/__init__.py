"""Learning under differential privacy, with a scikit-learn interface; for the papers, its parts.

The public names are imported on first use (extra `learn`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpnoise._imports import lazy_names

if TYPE_CHECKING:  # what type checkers and editors see
    from dpnoise.learn.decomposition import DPPCA
    from dpnoise.learn.estimators import DPLinearRegression, DPLogisticRegression
    from dpnoise.learn.grid_search import GridSearchPrice, grid_search_price
    from dpnoise.learn.pca import dp_pca
    from dpnoise.learn.pipelines import leaking_steps
    from dpnoise.learn.privacy_warnings import (
        LargeDeltaWarning,
        PrivacyLeakWarning,
        RepeatedFitsWarning,
    )
    from dpnoise.learn.scalers import PrivateScaler, PublicScaler
    from dpnoise.learn.seeding import SeededNoiseWarning

_MODULES = {
    "DPLinearRegression": "dpnoise.learn.estimators",
    "DPLogisticRegression": "dpnoise.learn.estimators",
    "DPPCA": "dpnoise.learn.decomposition",
    "GridSearchPrice": "dpnoise.learn.grid_search",
    "LargeDeltaWarning": "dpnoise.learn.privacy_warnings",
    "PrivacyLeakWarning": "dpnoise.learn.privacy_warnings",
    "PrivateScaler": "dpnoise.learn.scalers",
    "PublicScaler": "dpnoise.learn.scalers",
    "RepeatedFitsWarning": "dpnoise.learn.privacy_warnings",
    "SeededNoiseWarning": "dpnoise.learn.seeding",
    "dp_pca": "dpnoise.learn.pca",
    "grid_search_price": "dpnoise.learn.grid_search",
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
