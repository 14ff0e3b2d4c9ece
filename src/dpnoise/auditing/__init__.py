"""Statistical lower bounds on the privacy loss of a sampler.

The public names are imported on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
