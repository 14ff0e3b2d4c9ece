"""Denoising a private release: shrinkage, thresholds, wavelets and trend filtering on graphs.

The public names are imported on first use (trend filtering needs the extra `denoise`).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
