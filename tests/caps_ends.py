"""Loops and solvers of the source that end by themselves, and why."""

# --- Loops and solvers that end by themselves.
ENDS = {
    "dpnoise.privacy.sampled.contour search range(_WIDENINGS)": ("None: another account is asked"),
    "dpnoise.privacy.sampled.contour Contour.epsilon_at range(_STEPS)": (
        "bounds are taken on either side of wherever it ends"
    ),
    "dpnoise.privacy.sampled.lines _ends range(_WIDENINGS)": "None: another account is asked",
    "dpnoise.privacy.sampled.rounded Rounded._end range(_DOUBLINGS)": "0 and infinity are bounds",
    "dpnoise.privacy.sampled.rounded Rounded._end brentq": "raises if it does not converge",
    "dpnoise.privacy.sampled.transform _MixedLine.affordable range(_HALVINGS)": (
        "few points: what they leave out is bounded"
    ),
    "dpnoise.privacy.sampled.multiplier _root range(_MOVES)": (
        "the end of the range of multipliers; bounds are taken with what is found"
    ),
    "dpnoise.privacy.sampled.multiplier _by_bracket range(_POLISH)": (
        "bounds are taken with what is found"
    ),
    "dpnoise.privacy.sampled.transform GaussianLine.values while": (
        "each pass takes at least one point"
    ),
    "dpnoise.privacy.sampled.stretches StretchLoss._panels range(_GROWTHS)": (
        "the bound on the error of the last rule counts, whatever it is"
    ),
    "dpnoise.privacy.sampled.relations PairComposition.log_delta range(_HALVINGS)": (
        "the bounds so far hold"
    ),
    "dpnoise.privacy.sampled.composition Composition._inverted range(_TRIES)": (
        "the closest bounds so far, which hold"
    ),
    "dpnoise.privacy.sampled.composition Composition._bracketed range(_DOUBLINGS)": (
        "an infinite upper bound, or a bracket down to 0"
    ),
    "dpnoise.privacy.sampled.tangents approximate range(_STEPS)": (
        "a search between two ends instead"
    ),
    "dpnoise.privacy.sampled.tangents by_tangents range(_STEPS)": (
        "a search between two ends instead"
    ),
    "dpnoise.privacy.sampled.composition Composition._bracketed brentq": (
        "raises if it does not converge"
    ),
    "dpnoise.privacy.sampled.composition Composition._certified range(_POLISH)": (
        "bounds are taken on either side of wherever it ends"
    ),
    "dpnoise.privacy.sampled.composition Composition._certified range(_WIDENINGS)": (
        "0 and infinity are bounds"
    ),
    "dpnoise.privacy.sampled.multiplier _by_bracket range(_MOVES)": (
        "raises unless the upper bound on delta was seen to be kept"
    ),
    "dpnoise.privacy.sampled.multiplier _near while": "at the end of the range of multipliers",
    "dpnoise.privacy.sampled.multiplier _near brentq": "raises if it does not converge",
    "dpnoise.privacy.sampled.multiplier _by_secants range(_SECANTS)": (
        "None: a search by a bracket instead"
    ),
    "dpnoise.privacy.sampled.multiplier _root brentq": ("raises if it does not converge"),
    "dpnoise.certificates.checker mills while": "each term is below half the one before",
    "dpnoise.auditing.events _step while": "the step halves at least, down to the finest",
    "dpnoise.releases.entropy Entropy.integers while": (
        "a rejection sampler: ends with probability 1"
    ),
    "dpnoise.releases.vectors _Stairs._exactly while": (
        "terms fall like a geometric series, whose rest is bounded; an interval halves"
    ),
    "dpnoise.releases.aggregates _drawn while": "halves an interval of integers",
    "dpnoise.releases.continuous steps while": (
        "a point that doubles, or falls to 0, which is always reached; an interval halves"
    ),
    "dpnoise.releases.sums integer_draws while": "each pass draws most of what is missing",
    "dpnoise.releases.vectors _Column.__init__ while": (
        "a rejection sampler: ends with probability 1"
    ),
    "dpnoise.calibration.histogram.search gaussian_epsilon brentq": (
        "raises if it does not converge"
    ),
    "dpnoise.calibration.histogram.calibrate rival_by_std brentq": "raises if it does not converge",
    "dpnoise.calibration.histogram.search Cells.masses brentq": "raises if it does not converge",
    "dpnoise.calibration.histogram.search plan brentq": "raises if it does not converge",
    "dpnoise.calibration.histogram.search minimum_epsilon brentq": (
        "raises if it does not converge"
    ),
    "dpnoise.calibration.histogram.search descend minimize": (
        "a search: what it leads to is certified, larger if it ends early"
    ),
    "dpnoise.mechanisms.methods staircase while": "a few doubles down",
    "dpnoise_papers.cluster.client submit while": "trials end with an error after PATIENCE s",
    "dpnoise_papers.cluster.slurm _tell while": "a thread that ends with its process",
    "dpnoise_papers.cluster.slurm cancel while": "trials end at a time that is given",
    "dpnoise_papers.descent.harness race while": "fewer trials are left in each round",
    "dpnoise_papers.verify.paths.inid_2024 minimum_cost brentq": (
        "raises where it does not converge"
    ),
    "dpnoise_papers.oracles.densities Density.crossing brentq": (
        "raises where it does not converge"
    ),
    "dpnoise_papers.oracles.gaussian epsilon_at brentq": "raises where it does not converge",
    "dpnoise_papers.oracles.gaussian _decided while": (
        "doubles the precision up to a cap, then raises"
    ),
    "dpnoise_papers.oracles.gaussian sigma brentq": "raises where it does not converge",
    "dpnoise_papers.verify.variances _tilted minimize_scalar": (
        "a recomputation: a minimum that is missed shows as a disagreement"
    ),
    "dpnoise_papers.oracles.densities _hinted minimize_scalar": (
        "a recomputation: a minimum that is missed shows as a disagreement"
    ),
    "dpnoise_papers.oracles.densities minimum minimize_scalar": (
        "a recomputation: a minimum that is missed shows as a disagreement"
    ),
    "dpnoise_papers.oracles.densities minimum_in_box minimize_scalar": (
        "a recomputation: a minimum that is missed shows as a disagreement"
    ),
    "dpnoise_papers.oracles.densities minimum_in_box.variance brentq": (
        "raises where it does not converge"
    ),
    "dpnoise_papers.oracles.densities scale_that_spends brentq": (
        "raises where it does not converge"
    ),
    "dpnoise_papers.verify.paths.inid_2024 composed_epsilon brentq": (
        "raises where it does not converge"
    ),
    "dpnoise_papers.verify.paths.inid_2024 pure_step brentq": "raises where it does not converge",
    "dpnoise_papers.verify.paths.inid_2024 renyi_multiplier brentq": (
        "raises where it does not converge"
    ),
    "dpnoise_papers.verify.paths.scalar_noise _at_variance brentq": (
        "raises where it does not converge"
    ),
    "dpnoise_papers.verify.paths.scalar_noise _bound minimize_scalar": (
        "a recomputation: a minimum that is missed shows as a disagreement"
    ),
    "dpnoise_papers.verify.paths.vector_noise _factor brentq": (
        "raises where it does not converge"
    ),
    "dpnoise_papers.verify.variances box_error minimize_scalar": (
        "a recomputation: a minimum that is missed shows as a disagreement"
    ),
    "dpnoise_papers.verify.variances minimum_moment minimize_scalar": (
        "a recomputation: a minimum that is missed shows as a disagreement"
    ),
    "dpnoise_papers.verify.variances split_error minimize_scalar": (
        "a recomputation: a minimum that is missed shows as a disagreement"
    ),
    "dpnoise.joint.calibrate minimum minimize_scalar": (
        "a place to look; what is found is certified"
    ),
    "dpnoise.privacy.lattice.discrete ListedLoss._hull while": "each pass takes a corner away",
    "dpnoise.joint.calibrate pure_scale while": "a few doubles up",
    "dpnoise.mechanisms.blocks Partitions.blocks while": "a block starts before it ends",
    "dpnoise.releases.points _order while": "words that appear twice are drawn anew",
    "dpnoise.releases.points _rising while": "an integer below 2^n, kept with a chance of 1/2",
    "dpnoise.sensitivity.cut_cube uniform_points while": (
        "a rejection sampler: ends with probability 1, each point after about sqrt(K) trials"
    ),
    "dpnoise.privacy.composition shared_log_delta while": "a few doubles down",
    "dpnoise.allocation.search Descent._step_along brentq": "raises if it does not converge",
    "dpnoise.calibration.integers scale_for_points while": (
        "each pass adds one of finitely many points, or returns"
    ),
    "dpnoise.calibration.certify _enlarged while": "raises at the largest enlargement",
    "dpnoise.calibration.closed_forms pure_scale while": "one or two doubles up",
    "dpnoise.calibration.search EqualVarianceSearch._least minimize_scalar": (
        "a place to look; only what is solved for there is kept"
    ),
    "dpnoise.calibration.cover _lowered while": (
        "removes an interval, or doubles a step up to 1 and returns 0"
    ),
    "dpnoise.calibration.cover _epsilon brentq": "raises if it does not converge",
    "dpnoise.calibration.staircase_search _Search.epsilon brentq": "raises, and is certified after",
    "dpnoise.calibration.staircase_search _Search.minima minimize_scalar": (
        "any gamma will do, and is certified after"
    ),
    "dpnoise.calibration.search increasing_root brentq": "raises if it does not converge",
    "dpnoise.calibration.published _coarse_to_fine while": "halves an integer",
    "dpnoise.calibration.published _vector_search while": "halves an interval of integers",
    "dpnoise.calibration.published first_private_index while": "halves intervals of integers",
    "dpnoise.optimality.bounds pure_envelope while": ("masses rise to one of finitely many values"),
    "dpnoise_papers.inid_2024.tables.bisection repaired_algorithm_1 while": (
        "halves to a tolerance or to neighbouring doubles"
    ),
    "dpnoise.optimality.bounds _choose_cells while": "cells grow to a bound",
    "dpnoise.optimality.bounds _violated while": "one shift less each time",
    "dpnoise.optimality.scalar_floor scalar_certificate while": "halves an integer down to 1",
    "dpnoise.sensitivity.mean_largest mean_of_largest while": "grows until the tail is negligible",
    "dpnoise.optimality.rearrangement grouped while": "halves an integer down to 1",
    "dpnoise.optimality.radial_test radial_test while": "halves an integer down to 1",
    "dpnoise.optimality.radial_test _Design.caps while": "two nodes more each time, to the last",
    "dpnoise.optimality.radial_test _highest.value while": "halves an interval to a share of it",
    "dpnoise.optimality.graded_test graded_test while": "halves an integer down to 1",
    "dpnoise.optimality.graded_test _program linprog": (
        "no test unless solved; what the values prove is computed from them alone"
    ),
    "dpnoise.optimality.bounds minimum_cost while": (
        "cells double to a bound; the gap is part of the result"
    ),
    "dpnoise.optimality.scalar_floor LatticeProgram._run linprog": "raises unless solved",
    "dpnoise_papers.data.city.roads two_core while": "fewer edges each time",
    "dpnoise.denoise.wavelets uniform_spanning_tree while": ("a random walk, almost surely finite"),
    "dpnoise.denoise.trend_filtering _minimum_flow linprog": "raises unless solved",
    "dpnoise.denoise.trend_solver certain_signs while": "at least one more sign each time",
    "dpnoise.denoise.wavelets _form_wavelets while": "fewer nodes each time",
    "dpnoise_papers.flipped_huber_2023.theory.counterexamples _two_fold quad": (
        "50 digits; compared with a closed form"
    ),
    "dpnoise_papers.balle_wang_2018.theory.algorithm _searched while": (
        "doubles until B passes delta, which it does at a finite point, then halves to 30 digits"
    ),
    "dpnoise_papers.balle_wang_2018.tables.gaussian_calibration gain_crossings brentq": (
        "raises if it does not converge"
    ),
    "dpnoise_papers.flipped_huber_slides.tables largest_each brentq": (
        "raises if it does not converge"
    ),
    "dpnoise_papers.inid_2024.tables.corollary_6 _minimum_factor brentq": "raises, and is verified",
    "dpnoise_papers.inid_2024.deep.accounting minimum_multiplier brentq": (
        "raises, and the budget is checked"
    ),
    "dpnoise_papers.inid_2024.deep.accounting minimum_multiplier while": (
        "steps to a maximum that raises, down to where epsilon is exceeded, and at last up to the"
        " end that keeps it"
    ),
    "dpnoise_papers.inid_2024.theory.bisection _budgets while": (
        "draws again what has no bracket, a minor share"
    ),
    "dpnoise_papers.inid_2024.theory.optimum _minimum minimize": (
        "only feasible values count: ending early shows as a violation, never hides one"
    ),
    "dpnoise_papers.inid_2024.tables.two_dimensions _split minimize_scalar": (
        "the error of some split: ending early cannot make it less than any split has"
    ),
    "dpnoise_papers.inid_2024.tables.two_dimensions staircase_crossings brentq": (
        "raises if it does not converge"
    ),
    "dpnoise_papers.inid_2024.tables.pca_variants _shrunk brentq": (
        "raises, and is enlarged to the private side"
    ),
    "dpnoise_papers.inid_2024.tables.pca_variants _shrunk while": (
        "falls by 1 to where delta is exceeded"
    ),
    "dpnoise_papers.flipped_huber_2023.tables.scalar _at_variance brentq": (
        "raises if it does not converge"
    ),
    "dpnoise_papers.flipped_huber_2023.tables.variances _gamma_of while": (
        "halves to a tolerance above rounding"
    ),
    "dpnoise_papers.flipped_huber_2023.tables.variances _smallest_private while": (
        "its steps grow, to the end of the box"
    ),
    "dpnoise_papers.flipped_huber_2023.tables.variances _smallest_private brentq": (
        "raises if it does not converge; what is returned was seen to be private"
    ),
    "dpnoise_papers.flipped_huber_2023.tables.vector_privacy _attack minimize": (
        "an attack: what it saw, lower bounds all"
    ),
    "dpnoise_papers.flipped_huber_2023.theory.mechanisms largest_shift while": (
        "draws until there are enough"
    ),
    "dpnoise_papers.flipped_huber_2023.tables.remarks _beyond quad": (
        "smooth and monotone: the tests compare it with the closed form"
    ),
    "dpnoise_papers.flipped_huber_2023.theory.mechanisms minimum_information while": (
        "draws until there are enough"
    ),
    "dpnoise_papers.flipped_huber_2023.theory.mechanisms log_concave while": (
        "draws until there are enough"
    ),
    "dpnoise.learn.optimum _model Lasso": "first-order conditions are checked afterwards",
    "dpnoise.learn.optimum _model LogisticRegression": (
        "first-order conditions are checked afterwards"
    ),
    "dpnoise.learn.optimum _sparse_logistic while": "halves down to 1e-12",
    "dpnoise.noise.integers DiscreteGaussian._direct_sum count": "terms fall below 1e-18",
    "dpnoise.noise.integers IntegerNoise.rvs while": "more than half of all draws count",
    "dpnoise.noise.exact _decided while": "64 more bits each time decide but for 2^-60",
    "dpnoise.noise.exact _successes while": "at most exp(-1) of the events happen each time",
    "dpnoise.noise.exact geometric while": "more than half of all draws count",
    "dpnoise.calibration.integers smallest_scale brentq": (
        "raises if it does not converge; the result is a scale seen to be private"
    ),
    "dpnoise.privacy.odometer.accounts ExactAccount._by_profile brentq": (
        "raises if it does not converge; the result is an epsilon seen to be private"
    ),
    "dpnoise.privacy.vector _cells while": "one cell less each time",
    "dpnoise.privacy.inversion.inversion Inversion._plan while": "the blur grows to its bound",
    "dpnoise.privacy.lattice.sums sum_weights while": "halves an integer",
    "dpnoise.privacy.lattice.plan _saddle brentq": "raises if it does not converge",
    "dpnoise.privacy.lattice.plan ShiftedNoise._reach while": (
        "doubles; psi grows at least linearly"
    ),
}

# Places with several loops of one kind.
SEVERAL = {
    "dpnoise_papers.flipped_huber_2023.tables.remarks _beyond quad": 3,
    "dpnoise_papers.balle_wang_2018.theory.algorithm _searched while": 2,
    "dpnoise_papers.oracles.densities minimum minimize_scalar": 2,
    "dpnoise.privacy.sampled.composition Composition._bracketed range(_DOUBLINGS)": 2,
    "dpnoise.privacy.sampled.rounded Rounded._end range(_DOUBLINGS)": 2,
    "dpnoise_papers.inid_2024.deep.accounting minimum_multiplier while": 3,
    "dpnoise.privacy.lattice.discrete ListedLoss._hull while": 2,
    "dpnoise.denoise.wavelets uniform_spanning_tree while": 2,
    "dpnoise.denoise.wavelets _form_wavelets while": 2,
    "dpnoise.releases.vectors _Stairs._exactly while": 2,
    "dpnoise.releases.continuous steps while": 3,
}
