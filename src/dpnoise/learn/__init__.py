"""Learning under differential privacy, with a scikit-learn interface; for the papers, its parts.

The public names are imported on first use (extra `learn`).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
