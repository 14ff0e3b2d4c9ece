"""Caps that a computation may reach: values of the cap to try, and what is then asserted."""

import numpy as np

import caps_checks as checks
from dpnoise import (
    Counts,
    allocate,
    privacy_profile,
)
from dpnoise.calibration import scalar
from dpnoise.calibration.search import increasing_root
from dpnoise.noise import (
    DiscreteGaussian,
    Gaussian,
    Laplace,
    Subbotin,
    staircase_2d_gamma,
)
from dpnoise.privacy.second import half_lines
from dpnoise.sensitivity.spheroid import Axes, around

CAPS = [
    ("dpnoise.sensitivity.spheroid", "_BISECTIONS", (1, 5), checks.spheroid_around_counts),
    (
        "dpnoise.sensitivity.spheroid",
        "_ENLARGEMENTS",
        (0,),
        checks.raises(lambda: around(Counts(2, of=3, relation="add-remove"), Axes(1.0, 1.0))),
    ),
    ("dpnoise.allocation.scales", "_ROUNDS", (0, 1), checks.rounds_of_the_descent),
    (
        "dpnoise.allocation.scales",
        "_EVALUATIONS",
        (0,),
        checks.raises(lambda: allocate([2.0, 1.0], noise=Laplace(1.0), epsilon=1.0, delta=0.001)),
    ),
    (
        "dpnoise_papers.balle_wang_2018.gaussian_calibration",
        "_DOUBLINGS",
        (0,),
        checks.doublings_of_a_printed_algorithm,
    ),
    (
        "dpnoise_papers.balle_wang_2018.gaussian_calibration",
        "_MIDDLES",
        (1,),
        checks.doublings_of_a_printed_algorithm,
    ),
    ("dpnoise.calibration.budget", "_IMPROVEMENTS", (0, 1), checks.improvements_of_a_certificate),
    ("dpnoise.calibration.staircase_search", "_STEPS", (1, 2), checks.steps_back_of_a_staircase),
    (
        "dpnoise.calibration.search",
        "_BRACKETS",
        (0, 1),
        checks.raises(lambda: increasing_root(lambda x: x - 50.0, 0.0, 1.0)),
    ),
    ("dpnoise.calibration.search", "_SCANS", (0,), checks.search_in_several_dimensions),
    ("dpnoise.calibration.search", "_ROUNDS", (1,), checks.search_in_several_dimensions),
    ("dpnoise.privacy.gaussian", "_STEPS", (0, 1, 2), checks.steps_of_gaussian_calibration),
    (
        "dpnoise_papers.inid_2024.tables.bisection",
        "_HALVINGS",
        (1, 5),
        checks.halvings_of_a_printed_algorithm,
    ),
    ("dpnoise.optimality.bounds", "_ROUNDS", (1,), checks.rounds_of_the_limit),
    ("dpnoise.optimality.closed_forms", "_ROUNDS", (0, 1, 3), checks.rounds_of_the_radial_floor),
    (
        "dpnoise.calibration.scalar",
        "_KINK_STEPS",
        (0, 1),
        checks.raises(lambda: scalar.kink_shape(np.array(0.5), np.array(1e-06))),
    ),
    (
        "dpnoise.privacy.second",
        "_DOUBLINGS",
        (0,),
        checks.raises(lambda: half_lines(Gaussian(1.0), 0.001, 0.5)),
    ),
    (
        "dpnoise.calibration.scalar",
        "_STEPS",
        (1, 2, 5, 30),
        checks.steps_of_the_scale_on_the_private_side,
    ),
    ("dpnoise.calibration.scalar", "_ROUNDS", (0,), checks.rounds_of_a_scalar_minimum),
    ("dpnoise.denoise.trend_solver", "_REPAIRS", (0, 1), checks.repairs_of_trend_filtering),
    ("dpnoise.joint.calibrate", "_CERTIFICATES", (0,), checks.certificates_of_joint_noise),
    ("dpnoise.calibration.integers", "_DOUBLINGS", [1, 2], checks.doublings_of_an_integer_scale),
    ("dpnoise.privacy.odometer.accounts", "_DOUBLINGS", [1, 2], checks.doublings_of_an_odometer),
    (
        "dpnoise.noise.integers",
        "_STEPS",
        (0,),
        checks.raises(lambda: DiscreteGaussian(3.0).isf(1e-09)),
    ),
    ("dpnoise.noise.stepwise", "_STEPS", (0, 1), checks.raises(lambda: staircase_2d_gamma(0.7))),
    ("dpnoise.privacy.inversion.inversion", "_ATTEMPTS", (1,), checks.attempts_of_the_inversion),
    ("dpnoise.releases.continuous", "_REFINEMENTS", (0, 1), checks.refinements_of_a_draw),
    ("dpnoise.releases.continuous", "_REFINEMENTS", (0,), checks.refinements_of_a_vector),
    ("dpnoise.releases.aggregates", "_REFINEMENTS", (0,), checks.refinements_of_a_quantile),
    ("dpnoise.privacy.profile", "_ROUNDS", (0, 1, 2, 5), checks.rounds_of_the_inverse),
    (
        "dpnoise.privacy.shift",
        "_STEPS",
        (0, 1),
        checks.raises(lambda: privacy_profile(Subbotin(1000.0, 1.0), 0.9, 1.0)),
    ),
]
