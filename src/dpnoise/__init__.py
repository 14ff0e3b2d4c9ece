"""Noise for differential privacy: distributions, their exact privacy, calibration, allocation.

The public names are imported on first use, so that `import dpnoise` costs almost nothing. Inside
the package every import names the module that defines what it needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpnoise._lazy import lazy_names
from dpnoise._version import __version__ as __version__

if TYPE_CHECKING:  # what type checkers and editors see
    from dpnoise.allocation.allocate import allocate
    from dpnoise.auditing.families import audit_families
    from dpnoise.auditing.mechanism import audit_mechanism
    from dpnoise.auditing.noise import audit_noise
    from dpnoise.auditing.sampler import audit_sampler
    from dpnoise.calibration.calibrate import calibrate
    from dpnoise.calibration.coordinate_noise import coordinate_noise
    from dpnoise.calibration.gaussian import gaussian_sigma
    from dpnoise.calibration.histogram.calibrate import calibrate_histogram
    from dpnoise.calibration.variance_bound import variance_bound
    from dpnoise.certificates.certificate import Certificate, CertificateError
    from dpnoise.certificates.certify import certify
    from dpnoise.certificates.verify import verify
    from dpnoise.joint.calibrate import calibrate_joint
    from dpnoise.mechanisms.compare import best, compare
    from dpnoise.noise.discrete_gaussian import DiscreteGaussian
    from dpnoise.noise.discrete_laplace import DiscreteLaplace
    from dpnoise.noise.discrete_staircase import DiscreteStaircase
    from dpnoise.noise.flipped_huber import FlippedHuber
    from dpnoise.noise.gaussian import Gaussian
    from dpnoise.noise.histogram import Histogram
    from dpnoise.noise.huber import Huber
    from dpnoise.noise.laplace import Laplace
    from dpnoise.noise.offset_symmetric_gaussian import OffsetSymmetricGaussian
    from dpnoise.noise.staircase import Staircase
    from dpnoise.noise.subbotin import Subbotin
    from dpnoise.noise.truncated_laplace import TruncatedLaplace
    from dpnoise.privacy.loss_distribution import loss_distribution
    from dpnoise.privacy.odometer.budget import Budget, BudgetExceededError
    from dpnoise.privacy.profile import epsilon_at, privacy_profile
    from dpnoise.privacy.vector import vector_profile
    from dpnoise.privacy.zcdp import zcdp
    from dpnoise.releases.opendp import opendp_measurement
    from dpnoise.releases.release import release
    from dpnoise.sensitivity.at_most import AtMost
    from dpnoise.sensitivity.balls import L1, L2, LInf
    from dpnoise.sensitivity.box import Box
    from dpnoise.sensitivity.convert import as_sensitivity
    from dpnoise.sensitivity.counts import Counts
    from dpnoise.sensitivity.ellipsoid import Ellipsoid, enclosing_ellipsoid
    from dpnoise.sensitivity.neighbours import add_remove, replace_one
    from dpnoise.sensitivity.product import Product

_MODULES = {
    "AtMost": "dpnoise.sensitivity.at_most",
    "Box": "dpnoise.sensitivity.box",
    "Budget": "dpnoise.privacy.odometer.budget",
    "BudgetExceededError": "dpnoise.privacy.odometer.budget",
    "Certificate": "dpnoise.certificates.certificate",
    "CertificateError": "dpnoise.certificates.certificate",
    "Counts": "dpnoise.sensitivity.counts",
    "DiscreteGaussian": "dpnoise.noise.discrete_gaussian",
    "DiscreteLaplace": "dpnoise.noise.discrete_laplace",
    "DiscreteStaircase": "dpnoise.noise.discrete_staircase",
    "Ellipsoid": "dpnoise.sensitivity.ellipsoid",
    "FlippedHuber": "dpnoise.noise.flipped_huber",
    "Gaussian": "dpnoise.noise.gaussian",
    "Histogram": "dpnoise.noise.histogram",
    "Huber": "dpnoise.noise.huber",
    "L1": "dpnoise.sensitivity.balls",
    "L2": "dpnoise.sensitivity.balls",
    "LInf": "dpnoise.sensitivity.balls",
    "Laplace": "dpnoise.noise.laplace",
    "OffsetSymmetricGaussian": "dpnoise.noise.offset_symmetric_gaussian",
    "Product": "dpnoise.sensitivity.product",
    "Staircase": "dpnoise.noise.staircase",
    "Subbotin": "dpnoise.noise.subbotin",
    "TruncatedLaplace": "dpnoise.noise.truncated_laplace",
    "add_remove": "dpnoise.sensitivity.neighbours",
    "allocate": "dpnoise.allocation.allocate",
    "as_sensitivity": "dpnoise.sensitivity.convert",
    "audit_families": "dpnoise.auditing.families",
    "audit_mechanism": "dpnoise.auditing.mechanism",
    "audit_noise": "dpnoise.auditing.noise",
    "audit_sampler": "dpnoise.auditing.sampler",
    "best": "dpnoise.mechanisms.compare",
    "calibrate": "dpnoise.calibration.calibrate",
    "calibrate_histogram": "dpnoise.calibration.histogram.calibrate",
    "calibrate_joint": "dpnoise.joint.calibrate",
    "certify": "dpnoise.certificates.certify",
    "compare": "dpnoise.mechanisms.compare",
    "coordinate_noise": "dpnoise.calibration.coordinate_noise",
    "enclosing_ellipsoid": "dpnoise.sensitivity.ellipsoid",
    "epsilon_at": "dpnoise.privacy.profile",
    "gaussian_sigma": "dpnoise.calibration.gaussian",
    "loss_distribution": "dpnoise.privacy.loss_distribution",
    "opendp_measurement": "dpnoise.releases.opendp",
    "privacy_profile": "dpnoise.privacy.profile",
    "release": "dpnoise.releases.release",
    "replace_one": "dpnoise.sensitivity.neighbours",
    "variance_bound": "dpnoise.calibration.variance_bound",
    "vector_profile": "dpnoise.privacy.vector",
    "verify": "dpnoise.certificates.verify",
    "zcdp": "dpnoise.privacy.zcdp",
}

__getattr__, __dir__ = lazy_names(__name__, _MODULES)

__all__ = [
    "L1",
    "L2",
    "AtMost",
    "Box",
    "Budget",
    "BudgetExceededError",
    "Certificate",
    "CertificateError",
    "Counts",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "DiscreteStaircase",
    "Ellipsoid",
    "FlippedHuber",
    "Gaussian",
    "Histogram",
    "Huber",
    "LInf",
    "Laplace",
    "OffsetSymmetricGaussian",
    "Product",
    "Staircase",
    "Subbotin",
    "TruncatedLaplace",
    "add_remove",
    "allocate",
    "as_sensitivity",
    "audit_families",
    "audit_mechanism",
    "audit_noise",
    "audit_sampler",
    "best",
    "calibrate",
    "calibrate_histogram",
    "calibrate_joint",
    "certify",
    "compare",
    "coordinate_noise",
    "enclosing_ellipsoid",
    "epsilon_at",
    "gaussian_sigma",
    "loss_distribution",
    "opendp_measurement",
    "privacy_profile",
    "release",
    "replace_one",
    "variance_bound",
    "vector_profile",
    "verify",
    "zcdp",
]
