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

from __future__ import annotations

from typing import TYPE_CHECKING

from dpnoise._imports import lazy_names
from dpnoise._version import __version__ as __version__

if TYPE_CHECKING:  # what type checkers and editors see
    from dpnoise.allocation.allocate import allocate as allocate
    from dpnoise.auditing.noise import audit_families as audit_families
    from dpnoise.auditing.noise import audit_noise as audit_noise
    from dpnoise.auditing.sampler import audit_mechanism as audit_mechanism
    from dpnoise.auditing.sampler import audit_sampler as audit_sampler
    from dpnoise.calibration.calibrate import calibrate as calibrate
    from dpnoise.calibration.calibrate import variance_bound as variance_bound
    from dpnoise.calibration.coordinate_noise import coordinate_noise as coordinate_noise
    from dpnoise.calibration.gaussian import gaussian_sigma as gaussian_sigma
    from dpnoise.calibration.histogram.calibrate import calibrate_histogram as calibrate_histogram
    from dpnoise.certificates.certificate import Certificate as Certificate
    from dpnoise.certificates.certificate import CertificateError as CertificateError
    from dpnoise.certificates.certify import certify, verify
    from dpnoise.joint.calibrate import calibrate_joint as calibrate_joint
    from dpnoise.mechanisms.compare import best, compare
    from dpnoise.noise.exponential_power import Gaussian, Laplace
    from dpnoise.noise.exponential_power import Subbotin as Subbotin
    from dpnoise.noise.exponential_power import TruncatedLaplace as TruncatedLaplace
    from dpnoise.noise.grafted import FlippedHuber
    from dpnoise.noise.grafted import Huber as Huber
    from dpnoise.noise.grafted import (
        OffsetSymmetricGaussian as OffsetSymmetricGaussian,
    )
    from dpnoise.noise.integers import DiscreteGaussian as DiscreteGaussian
    from dpnoise.noise.integers import DiscreteLaplace as DiscreteLaplace
    from dpnoise.noise.integers import DiscreteStaircase as DiscreteStaircase
    from dpnoise.noise.stepwise import Histogram as Histogram
    from dpnoise.noise.stepwise import Staircase as Staircase
    from dpnoise.privacy.loss_distribution import loss_distribution as loss_distribution
    from dpnoise.privacy.odometer.budget import Budget
    from dpnoise.privacy.odometer.budget import BudgetExceededError as BudgetExceededError
    from dpnoise.privacy.profile import epsilon_at, privacy_profile
    from dpnoise.privacy.sampled.errors import sampled_errors as sampled_errors
    from dpnoise.privacy.sampled.mechanism import SampledGaussian as SampledGaussian
    from dpnoise.privacy.sampled.mechanism import SampledLaplace as SampledLaplace
    from dpnoise.privacy.sampled.mechanism import sampled_delta as sampled_delta
    from dpnoise.privacy.sampled.mechanism import sampled_epsilon as sampled_epsilon
    from dpnoise.privacy.sampled.multiplier import noise_multiplier as noise_multiplier
    from dpnoise.privacy.vector import vector_profile
    from dpnoise.privacy.zcdp import zcdp as zcdp
    from dpnoise.releases.opendp import opendp_measurement as opendp_measurement
    from dpnoise.releases.release import release
    from dpnoise.sensitivity.at_most import AtMost
    from dpnoise.sensitivity.balls import L1, L2, Box, LInf
    from dpnoise.sensitivity.convert import add_remove as add_remove
    from dpnoise.sensitivity.convert import as_sensitivity as as_sensitivity
    from dpnoise.sensitivity.convert import replace_one as replace_one
    from dpnoise.sensitivity.counts import Counts
    from dpnoise.sensitivity.ellipsoid import Ellipsoid
    from dpnoise.sensitivity.ellipsoid import enclosing_ellipsoid as enclosing_ellipsoid
    from dpnoise.sensitivity.from_frame import from_frame as from_frame
    from dpnoise.sensitivity.product import Product

_MODULES = {
    "AtMost": "dpnoise.sensitivity.at_most",
    "Box": "dpnoise.sensitivity.balls",
    "Budget": "dpnoise.privacy.odometer.budget",
    "BudgetExceededError": "dpnoise.privacy.odometer.budget",
    "Certificate": "dpnoise.certificates.certificate",
    "CertificateError": "dpnoise.certificates.certificate",
    "Counts": "dpnoise.sensitivity.counts",
    "DiscreteGaussian": "dpnoise.noise.integers",
    "DiscreteLaplace": "dpnoise.noise.integers",
    "DiscreteStaircase": "dpnoise.noise.integers",
    "Ellipsoid": "dpnoise.sensitivity.ellipsoid",
    "FlippedHuber": "dpnoise.noise.grafted",
    "Gaussian": "dpnoise.noise.exponential_power",
    "Histogram": "dpnoise.noise.stepwise",
    "Huber": "dpnoise.noise.grafted",
    "L1": "dpnoise.sensitivity.balls",
    "L2": "dpnoise.sensitivity.balls",
    "LInf": "dpnoise.sensitivity.balls",
    "Laplace": "dpnoise.noise.exponential_power",
    "OffsetSymmetricGaussian": "dpnoise.noise.grafted",
    "Product": "dpnoise.sensitivity.product",
    "SampledGaussian": "dpnoise.privacy.sampled.mechanism",
    "SampledLaplace": "dpnoise.privacy.sampled.mechanism",
    "Staircase": "dpnoise.noise.stepwise",
    "Subbotin": "dpnoise.noise.exponential_power",
    "TruncatedLaplace": "dpnoise.noise.exponential_power",
    "add_remove": "dpnoise.sensitivity.convert",
    "allocate": "dpnoise.allocation.allocate",
    "as_sensitivity": "dpnoise.sensitivity.convert",
    "audit_families": "dpnoise.auditing.noise",
    "audit_mechanism": "dpnoise.auditing.sampler",
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
    "from_frame": "dpnoise.sensitivity.from_frame",
    "gaussian_sigma": "dpnoise.calibration.gaussian",
    "loss_distribution": "dpnoise.privacy.loss_distribution",
    "noise_multiplier": "dpnoise.privacy.sampled.multiplier",
    "opendp_measurement": "dpnoise.releases.opendp",
    "privacy_profile": "dpnoise.privacy.profile",
    "release": "dpnoise.releases.release",
    "replace_one": "dpnoise.sensitivity.convert",
    "sampled_delta": "dpnoise.privacy.sampled.mechanism",
    "sampled_epsilon": "dpnoise.privacy.sampled.mechanism",
    "sampled_errors": "dpnoise.privacy.sampled.errors",
    "variance_bound": "dpnoise.calibration.calibrate",
    "vector_profile": "dpnoise.privacy.vector",
    "verify": "dpnoise.certificates.certify",
    "zcdp": "dpnoise.privacy.zcdp",
}


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

__getattr__, __dir__ = lazy_names(__name__, _MODULES, __all__)
