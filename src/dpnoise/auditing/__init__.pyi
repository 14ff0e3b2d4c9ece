# Public names and the modules that define them, for `lazy_loader` and type checkers.

from .audit import Audit as Audit
from .sampler import audit_noise as audit_noise
from .sampler import audit_sampler as audit_sampler
