"""Every iteration cap of the source, with its check or with what bounds its error."""

import numpy as np

import caps_checks as checks
from dpnoise import (
    Counts,
    allocate,
    privacy_profile,
)
from dpnoise.calibration import scalar
from dpnoise.calibration.histogram.search import searched_by_epsilon
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

# --- Caps that a computation may reach: what happens then.
CAPS = {
    # place: (values of the cap to try, what is then asserted)
    "dpnoise.sensitivity.spheroid smallest_axes range(_BISECTIONS)": (
        (1, 5),
        checks.spheroid_around_counts,
    ),
    "dpnoise.sensitivity.spheroid around range(_ENLARGEMENTS)": (
        (0,),
        checks.raises(lambda: around(Counts(2, of=3, relation="add-remove"), Axes(1.0, 1.0))),
    ),
    "dpnoise.calibration.histogram.search _closer range(_NEWTON)": (
        (1,),
        checks.variance_of_a_histogram,
    ),
    "dpnoise.calibration.histogram.search searched_by_epsilon range(_ROUNDS)": (
        (0,),
        checks.raises(lambda: searched_by_epsilon(2.66, 10, 1e-6)),
    ),
    "dpnoise.calibration.histogram.search _minimum_epsilon range(_ROUNDS)": (
        (0,),
        checks.search_by_std_gives_up,
    ),
    "dpnoise.calibration.histogram.calibrate rival_by_std range(_HALVINGS)": (
        (0,),
        checks.halvings_of_an_epsilon,
    ),
    "dpnoise.calibration.histogram.search descend range(_DESCENTS)": (
        (1,),
        checks.search_of_a_histogram,
    ),
    "dpnoise.calibration.histogram.search Cells.masses range(_DOUBLINGS)": (
        (0,),
        checks.search_by_std_gives_up,
    ),
    "dpnoise.calibration.histogram.search minimum_epsilon range(_WINDOWS)": (
        (0,),
        checks.search_by_std_gives_up,
    ),
    "dpnoise.allocation.search Descent._rounds range(_ROUNDS)": (
        (0, 1),
        checks.rounds_of_the_descent,
    ),
    "dpnoise.allocation.search _certified range(_EVALUATIONS)": (
        (0,),
        checks.raises(lambda: allocate([2.0, 1.0], noise=Laplace(1.0), epsilon=1.0, delta=1e-3)),
    ),
    "dpnoise_papers.balle_wang_2018.tables.gaussian_calibration bisected range(_DOUBLINGS)": (
        (0,),
        checks.doublings_of_a_printed_algorithm,
    ),
    "dpnoise_papers.balle_wang_2018.tables.gaussian_calibration bisected range(_MIDDLES)": (
        (1,),
        checks.doublings_of_a_printed_algorithm,
    ),
    "dpnoise.calibration.certify _enlarged range(_IMPROVEMENTS)": (
        (0, 1),
        checks.improvements_of_a_certificate,
    ),
    "dpnoise.calibration.cover _Search.improved range(_STEPS)": (
        (0, 1),
        checks.steps_of_a_better_member,
    ),
    "dpnoise.calibration.staircase_search _Search.certified range(_STEPS)": (
        (1, 2),
        checks.steps_back_of_a_staircase,
    ),
    "dpnoise.calibration.search increasing_root range(_BRACKETS)": (
        (0, 1),
        checks.raises(lambda: increasing_root(lambda x: x - 50.0, 0.0, 1.0)),
    ),
    "dpnoise.calibration.search EqualVarianceSearch.minimum range(_SCANS)": (
        (0, 1),
        checks.search_in_several_dimensions,
    ),
    "dpnoise.calibration.search EqualVarianceSearch._refined range(_ROUNDS)": (
        (0, 1),
        checks.search_in_several_dimensions,
    ),
    "dpnoise.calibration.gaussian _maximum_mu range(_STEPS)": (
        (0, 1, 2),
        checks.steps_of_gaussian_calibration,
    ),
    "dpnoise_papers.inid_2024.tables.bisection algorithm_1 range(_HALVINGS)": (
        (1, 5),
        checks.halvings_of_a_printed_algorithm,
    ),
    "dpnoise.optimality.bounds _bracket range(_ROUNDS)": ((1,), checks.rounds_of_the_limit),
    "dpnoise.optimality.cube largest_lam range(_HALVINGS)": (
        (0, 5),
        checks.halvings_of_the_transport,
    ),
    "dpnoise.optimality.cube _chain range(_MOST_LINKS)": (
        (1, 9),
        checks.halvings_of_the_transport,
    ),
    "dpnoise.optimality.cube cube_transport range(_BISECTIONS)": (
        (1, 4),
        checks.halvings_of_the_transport,
    ),
    "dpnoise.optimality.cube _product_lam range(_PRODUCT_HALVINGS)": (
        (0, 5),
        checks.halvings_of_the_product_test,
    ),
    "dpnoise.optimality.graded_test gains range(_DIVISIONS)": (
        (0, 1),
        checks.divisions_of_the_graded_test,
    ),
    "dpnoise.optimality.closed_forms smallest_moment range(_ROUNDS)": (
        (0, 1, 3),
        checks.rounds_of_the_radial_floor,
    ),
    "dpnoise.calibration.scalar kink_shape range(_KINK_STEPS)": (
        (0, 1),
        checks.raises(lambda: scalar.kink_shape(np.array(0.5), np.array(1e-6))),
    ),
    "dpnoise.privacy.second _crossing range(_DOUBLINGS)": (
        (0,),
        checks.raises(lambda: half_lines(Gaussian(1.0), 1e-3, 0.5)),
    ),
    "dpnoise.calibration.scalar solve_scale range(_STEPS)": (
        (1, 2, 5, 30),
        checks.steps_of_the_scale_on_the_private_side,
    ),
    "dpnoise.calibration.scalar minimize_on_interval range(_ROUNDS)": (
        (0,),
        checks.rounds_of_a_scalar_minimum,
    ),
    "dpnoise.denoise.trend_solver polish range(_REPAIRS)": (
        (0, 1),
        checks.repairs_of_trend_filtering,
    ),
    "dpnoise.joint.calibrate Search.certified range(_CERTIFICATES)": (
        (0,),
        checks.certificates_of_joint_noise,
    ),
    "dpnoise.learn.optimum _sparse_logistic range(_STEPS)": (
        (0, 1, 3),
        checks.steps_of_the_optimum,
    ),
    "dpnoise.calibration.integers smallest_scale range(_DOUBLINGS)": (
        [1, 2],
        checks.doublings_of_an_integer_scale,
    ),
    "dpnoise.privacy.odometer.accounts ExactAccount._by_profile range(_DOUBLINGS)": (
        [1, 2],
        checks.doublings_of_an_odometer,
    ),
    "dpnoise.privacy.odometer.accounts GaussianFilter.pure_left range(_HALVINGS)": (
        [1, 5],
        checks.halvings_of_what_is_left,
    ),
    "dpnoise.noise.integers IntegerNoise._quantile range(_STEPS)": (
        (0,),
        checks.raises(lambda: DiscreteGaussian(3.0).isf(1e-9)),
    ),
    "dpnoise.noise.vectors staircase_2d_gamma range(_STEPS)": (
        (0, 1),
        checks.raises(lambda: staircase_2d_gamma(0.7)),
    ),
    "dpnoise.privacy.inversion.inversion Inversion.bounds range(_ATTEMPTS)": (
        (1,),
        checks.attempts_of_the_inversion,
    ),
    "dpnoise.releases.continuous Uniform.exceeds range(_REFINEMENTS)": (
        (0, 1),
        checks.refinements_of_a_draw,
    ),
    "dpnoise.releases.vectors _Column._decided range(_REFINEMENTS)": (
        (0,),
        checks.refinements_of_a_vector,
    ),
    "dpnoise.releases.vectors _exactly range(_REFINEMENTS)": ((0,), checks.refinements_of_a_vector),
    "dpnoise.releases.aggregates _drawn range(_REFINEMENTS)": (
        (0,),
        checks.refinements_of_a_quantile,
    ),
    "dpnoise.privacy.profile _solve range(_ROUNDS)": ((0, 1, 2, 5), checks.rounds_of_the_inverse),
    "dpnoise.privacy.scalar.subbotin SubbotinShift._crossing range(_STEPS)": (
        (0, 1),
        checks.raises(lambda: privacy_profile(Subbotin(1000.0, 1.0), 0.9, 1.0)),
    ),
}

# --- Fixed numbers of steps, each of which shrinks the error by a known factor, and what tests it.
FIXED = {
    "dpnoise.privacy.gaussian _mean_slope range(_DEPTH - 1, 2 * _TERMS, -1)": (
        "the profile, to 1e-12"
    ),
    "dpnoise.privacy.gaussian _mean_slope range(2 * _TERMS - 1, 0, -2)": "the profile, to 1e-12",
    "dpnoise.privacy.inversion.trapezoid _log_deltas range(_CHUNKS)": "what has not faded is NaN",
    "dpnoise.calibration.search EqualVarianceSearch._least range(_DIVISIONS)": (
        "the account is asked one by one instead"
    ),
    "dpnoise.certificates.checker exp range(1, BITS // 8)": "the rest of the series is added",
    "dpnoise.mechanisms.blocks _plan range(_GRIDS)": "more plans to choose from",
    "dpnoise.mechanisms.blocks gaussian_mu range(_ROUNDS)": (
        "the private end of an interval, after any number of rounds; test_blocks"
    ),
    "dpnoise_papers.verify.paths.inid_2024 _minimised range(_SECTIONS)": (
        "golden sections to below rounding; a miss shows as a disagreement"
    ),
    "dpnoise.learn.kernel _advance_logistic range(ROWS)": "all rows of the samples",
    "dpnoise.learn.kernel _advance_squared range(ROWS)": "all rows of the samples",
    "dpnoise_papers.review.pictures _palette range(RARE)": "as many colours as a palette gets",
    "dpnoise.privacy.scalar.shift UnimodalShift._bounds range(_ROUNDS)": (
        "cells left undecided count in full in the upper bound"
    ),
    "dpnoise.allocation.search _saddle range(3)": (
        "a search direction; what it leads to is certified"
    ),
    "dpnoise.privacy.second _crossing range(_ROUNDS)": ("ends valid after any number of rounds"),
    "dpnoise.calibration.scalar offset_gaussian_variance.far range(_DEPTH, 1, -1)": (
        "a continued fraction of positive terms; test_calibration_shape_profiles"
    ),
    "dpnoise.denoise.trend_filtering choose_by_sure range(_REFINEMENTS)": (
        "more penalties to choose from"
    ),
    "dpnoise.denoise.trend_filtering _potential range(2)": (
        "one refinement; the dual gap is checked"
    ),
    "dpnoise_papers.inid_2024.theory.dispersion _transfers range(4)": "draws, no iteration",
    "dpnoise_papers.inid_2024.theory.bisection _lower_end range(1, _MOST_HALVINGS + 1)": (
        "not a number when it runs out; exercised in test_bisection"
    ),
    "dpnoise_papers.flipped_huber_2023.tables.remarks loss_tail range(_HALVINGS)": (
        "halves to the last digit; errs upwards"
    ),
    "dpnoise_papers.balle_wang_2018.theory.integrals where_loss_is range(_STEPS)": (
        "halves to the last digit"
    ),
    "dpnoise_papers.flipped_huber_2023.theory.mechanisms _integral range(60)": (
        "halves to the last digit"
    ),
    "dpnoise_papers.flipped_huber_2023.theory.mechanisms _by_lemma_11 range(70)": (
        "halves to the last digit"
    ),
    "dpnoise_papers.flipped_huber_2023.theory.mechanisms level_sets range(60)": (
        "halves to the last digit"
    ),
    "dpnoise_papers.flipped_huber_2023.theory.mechanisms log_concave range(80)": (
        "halves to the last digit"
    ),
    "dpnoise_papers.flipped_huber_2023.theory.scalar _bisect range(100)": (
        "halves to the last digit"
    ),
    "dpnoise_papers.flipped_huber_2023.theory.scalar always_less range(40)": (
        "halves to 1e-11, and takes the private end"
    ),
    "dpnoise.noise.grafted OffsetSymmetricGaussian._magnitude.far range(6)": (
        "Newton's method from the right of a convex function; exercised below"
    ),
    "dpnoise.noise.grafted OffsetSymmetricGaussian._magnitude.near range(4)": (
        "the error squares from below 0.03 each time; exercised below"
    ),
    "dpnoise.noise.exponential_power Subbotin._magnitude.far range(4)": (
        "Newton's method; exercised below"
    ),
    "dpnoise.noise.exponential_power _log_upper_gamma range(_TERMS, 0, -1)": (
        "a continued fraction; exercised below"
    ),
    "dpnoise.privacy.gaussian mills_slope.far range(_DEPTH, 1, -1)": (
        "a continued fraction of positive terms; test_privacy_gaussian against Arb balls"
    ),
    "dpnoise.privacy.inversion.inversion Inversion._saddle range(2)": (
        "a choice of contour: bounds hold on any"
    ),
    "dpnoise.privacy.lattice.plan make_plan range(2)": "a choice of lattice: bounds hold on any",
    "dpnoise.privacy.lattice.sums round_down range(_PASSES)": (
        "the result is checked cell by cell"
    ),
    "dpnoise.privacy.lattice.sums round_down range(_RAISES)": (
        "the result is checked cell by cell"
    ),
    "dpnoise.privacy.lattice.plan ShiftedNoise._radii range(60)": (
        "a choice of cuts: bounds hold on any"
    ),
}
