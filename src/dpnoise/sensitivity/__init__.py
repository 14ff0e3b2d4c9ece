"""Sensitivity sets: what one person can change in a vector of answers (docs/sensitivity.md).

The public names are imported on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
