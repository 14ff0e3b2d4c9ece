"""Statistical lower bounds on the privacy loss of a sampler.

The public names are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpnoise._imports import lazy_names

if TYPE_CHECKING:  # what type checkers and editors see
    from dpnoise.auditing.audit import Audit
    from dpnoise.auditing.noise import audit_families, audit_noise
    from dpnoise.auditing.sampler import audit_mechanism, audit_sampler

_MODULES = {
    "Audit": "dpnoise.auditing.audit",
    "audit_families": "dpnoise.auditing.noise",
    "audit_mechanism": "dpnoise.auditing.sampler",
    "audit_noise": "dpnoise.auditing.noise",
    "audit_sampler": "dpnoise.auditing.sampler",
}

__getattr__, __dir__ = lazy_names(__name__, _MODULES)

__all__ = [
    "Audit",
    "audit_families",
    "audit_mechanism",
    "audit_noise",
    "audit_sampler",
]
