"""Noise for differential privacy: the least noise for a sensitivity set, with proof.

The front is twenty names by five nouns, which `dir(dpnoise)` shows:

- sensitivity set, what one person can change: `Counts`, `AtMost`, `Box`, `L1`, `L2`, `LInf`,
  `Ellipsoid`, `Product`;
- noise: `Gaussian`, `Laplace`, `FlippedHuber` (all families: `dpnoise.noise`);
- mechanism, how noise is chosen for a set: `best`, `compare`;
- release, values with noise and what is proved of them: `release`, `certify`, `verify`;
- budget, what releases cost: `Budget`, `privacy_profile`, `epsilon_at`, `vector_profile`.

Everything else that is public is imported from here as well (`from dpnoise import calibrate`), and
listed with the subpackage that defines it: cases of `best` for one family or one number
(`dpnoise.calibration`, `dpnoise.joint`, `dpnoise.allocation`), conversions of sets
(`dpnoise.sensitivity`), audits (`dpnoise.auditing`) and their results.

Names are imported on first use, so that `import dpnoise` costs almost nothing. Inside the package
every import names the module that defines what it needs.
"""

import lazy_loader

from dpnoise._version import __version__ as __version__

__all__ = [
    "L1",
    "L2",
    "AtMost",
    "Box",
    "Budget",
    "Counts",
    "Ellipsoid",
    "FlippedHuber",
    "Gaussian",
    "LInf",
    "Laplace",
    "Product",
    "best",
    "certify",
    "compare",
    "epsilon_at",
    "privacy_profile",
    "release",
    "vector_profile",
    "verify",
]

__getattr__, _, _PUBLIC = lazy_loader.attach_stub(__name__, __file__)


def __dir__() -> list[str]:
    """The names of the front; all public names are in `__init__.pyi`."""
    return sorted(__all__)
