"""No iteration cap is silent: each raises, or leaves a result that errs on the private side.

The caps are found in the source: loops over a constant range, `while` loops and calls of iterative
solvers. Each has to be listed here, with what exercises it or what bounds its error: a new
loop is added to `CAPS` (with a check that runs into it), `FIXED` or `ENDS` (with the reason).
"""

import ast
import math
from collections import Counter
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import dpnoise
import dpnoise_papers
from dpnoise import (
    L2,
    Budget,
    LInf,
    allocate,
    calibrate,
    calibrate_joint,
    epsilon_at,
    gaussian_sigma,
    privacy_profile,
    vector_profile,
)
from dpnoise.calibration import budget, certify, cross_check, scalar, scalar_search
from dpnoise.calibration.cover.ordered import OneShape
from dpnoise.calibration.cover.search import cover
from dpnoise.calibration.equal_variance import increasing_root
from dpnoise.calibration.histogram.families import rival_by_std
from dpnoise.calibration.histogram.grids import searched_by_epsilon, searched_by_std
from dpnoise.noise import (
    DiscreteGaussian,
    FlippedHuber,
    Gaussian,
    Laplace,
    OffsetSymmetricGaussian,
    Subbotin,
    staircase_2d_gamma,
)
from dpnoise.optimality.bounds import minimum_cost
from dpnoise.optimality.cube_search import cube_transport
from dpnoise.optimality.graded_test import GradedTest
from dpnoise.optimality.product_test import ProductTest
from dpnoise.optimality.radial_floor import staircase_minimum
from dpnoise.privacy.lattice.bounds import lattice_bounds
from dpnoise_papers.balle_wang_2018.as_printed import algorithm_1 as balle_wang_algorithm_1
from dpnoise_papers.inid_2024.as_printed import algorithm_1 as inid_algorithm_1

PACKAGES = Path(dpnoise.__file__).parent, Path(dpnoise_papers.__file__).parent
TESTS = Path(__file__).parent
_SOLVERS = {
    "brentq", "minimize", "minimize_scalar", "linprog", "milp", "quad", "root_scalar", "fsolve",
    "least_squares", "newton", "bisect", "curve_fit", "LogisticRegression", "Lasso",
}  # fmt: skip


def constant(node):
    """Whether an expression is made of literals and constants of the module."""
    parts = list(ast.walk(node))
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    kinds = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop)
    known = all(isinstance(part, (*kinds, ast.expr_context)) for part in parts)
    return known and all(name.lstrip("_").isupper() for name in names)


def loops(tree):
    """Yield the place and the kind of each loop that a constant ends, or nothing but a test."""

    def visit(node, place):
        for child in ast.iter_child_nodes(node):
            named = isinstance(child, ast.FunctionDef | ast.ClassDef)
            inner = (*place, child.name) if named else place
            if isinstance(child, ast.While):
                yield ".".join(inner), "while"
            elif isinstance(child, ast.For) and isinstance(child.iter, ast.Call):
                name = ast.unparse(child.iter.func)
                if name == "range" and all(map(constant, child.iter.args)):
                    yield ".".join(inner), ast.unparse(child.iter)
                elif name.endswith("count"):
                    yield ".".join(inner), "count"
            if isinstance(child, ast.Call):
                name = ast.unparse(child.func).rsplit(".", maxsplit=1)[-1]
                if name in _SOLVERS and inner:
                    yield ".".join(inner), name
            yield from visit(child, inner)

    yield from visit(tree, ())


def found():
    """Return each place with its number of loops of that kind."""
    places = Counter()
    for file in (file for package in PACKAGES for file in sorted(package.rglob("*.py"))):
        package = next(package for package in PACKAGES if package in file.parents)
        module = ".".join(file.relative_to(package.parent).with_suffix("").parts)
        places.update((module, *loop) for loop in loops(ast.parse(file.read_text("utf-8"))))
    return {" ".join(place): number for place, number in places.items()}


# --- Caps that a computation may reach: what happens then.


def raises(call):
    def check():
        with pytest.raises(RuntimeError):
            call()

    return check


def doublings_of_a_printed_algorithm():
    """NaN, as documented: its result is judged, not used."""
    assert np.isnan(balle_wang_algorithm_1(0.5, 1e-6))


def halvings_of_a_printed_algorithm():
    assert np.isnan(inid_algorithm_1(1.0, 1e-6, tolerance=1e-9)[0])


def search_in_several_dimensions():
    """Fewer rounds find noise that is larger, and certified all the same."""
    epsilon, delta, dimension = 1.0, 1e-4, 2
    less = calibrate("offset-symmetric-gaussian", epsilon=epsilon, delta=delta, dimension=dimension)
    assert vector_profile(less.noise, 1.0, epsilon, copies=dimension).upper <= delta


def steps_of_a_better_member():
    """A larger variance of a member is as good a start: the bound stays below the optimum."""
    least = calibrate("laplace", epsilon=1.0, delta=1e-3).variance
    proved = cover(OneShape(Laplace), budget.Budget(1.0, 1e-3, 1.0, 1), 1.5 * least, 1e-2, 50)
    assert proved.variance < least


def steps_back_of_a_staircase():
    """Certified, or (epsilon, 0)-DP noise."""
    found = calibrate("staircase", epsilon=1.0, delta=1e-6, dimension=7)
    assert vector_profile(found.noise, 1.0, 1.0, copies=7).upper <= 1e-6


def steps_of_gaussian_calibration():
    """From below the root, an early end leaves more noise than needed."""
    epsilon, delta = np.array([0.01, 1.0, 5.0]), 1e-6
    sigma = gaussian_sigma(epsilon, delta)
    for e, s in zip(epsilon, sigma, strict=True):
        assert privacy_profile(Gaussian(s), 1.0, e) <= delta


def rounds_of_the_inverse():
    for noise in (Gaussian(1.0), FlippedHuber(1.0, 2.0), DiscreteGaussian(3.0)):
        for delta in (1e-9, 0.01, 0.3):
            epsilon = epsilon_at(noise, 1.0, delta)
            assert epsilon == math.inf or privacy_profile(noise, 1.0, epsilon) <= delta


def search_of_a_histogram():
    """An earlier end leaves noise that is larger, and certified all the same."""
    less = searched_by_std(5.0, 10, 1e-6)
    assert vector_profile(less.noise, 1.0, less.epsilon, copies=10).upper <= 1e-6


def search_by_std_gives_up():
    """`calibrate_histogram` then hands out another family's noise."""
    with pytest.raises((RuntimeError, ArithmeticError)):
        searched_by_std(5.0, 10, 1e-6)


def halvings_of_an_epsilon():
    """Without a bracket, what the search has found stays."""
    assert rival_by_std(2.0, 2.8, 2, 1e-3) is None


def variance_of_a_histogram():
    less = searched_by_epsilon(2.66, 10, 1e-6)
    assert less.epsilon == 2.66
    assert vector_profile(less.noise, 1.0, 2.66, copies=10).upper <= 1e-6


def doublings_of_an_odometer():
    """No epsilon is promised."""
    budget = Budget(1e4, 1e-6)
    budget.spend(Gaussian(0.1), 1.0)
    assert budget.epsilon_of() == math.inf
    assert budget.remaining() == 0.0


def halvings_of_what_is_left():
    budget = Budget(2.0, 1e-6, account="gaussian-filter")
    budget.spend(Gaussian(4.0), 1.0)
    budget.spend_dp(budget.remaining())


def doublings_of_an_integer_scale():
    """Noise that was seen to be private, or none."""
    try:
        found = calibrate("discrete-gaussian", epsilon=20.0, delta=1e-6)
    except RuntimeError:
        return
    assert privacy_profile(found.noise, 1, 20.0) <= 1e-6


def rounds_of_the_limit():
    few = minimum_cost(1.0, 1e-3, cells=6)
    assert 0.0 < few.lower <= few.upper
    assert np.max(few.noise.deltas(1.0)) <= 1e-3


def divisions_of_the_graded_test():
    """The bound is true; with fewer divisions it is lower."""
    values = np.outer(np.exp(0.5 * np.arange(6.0)), [0.1, 1.0])
    test = GradedTest(1, 2, np.array([0.2, 0.9]), values, 1.0)
    assert test.value(2, 1.0, 1e-3) / 2.0 <= 2.978


def rounds_of_the_radial_floor():
    """The minimum stays enclosed; fewer rounds leave a wider interval."""
    low, upper, _ = staircase_minimum(2, 1.0)
    assert low <= 2.978121175232 <= upper


def halvings_of_the_product_test():
    """Lam stays on the side where the integral is at most 1: a smaller bound."""
    ones = np.full(10, 0.1)
    assert ProductTest(1, 4e-5).bound(LInf(1.0, 10), 0.3, 0.0, ones) <= 327.0


def halvings_of_the_transport():
    """Nothing is claimed that the certificate does not prove."""
    found = cube_transport(2, 1.0)
    assert found is None or found.bound(LInf(1.0, 2), 1.0, 0.0, np.full(2, 0.5)) < 4.0


def attempts_of_the_inversion():
    one = vector_profile(FlippedHuber(1.0, 2.0), 1.0, 0.5, copies=3)
    other = lattice_bounds([(FlippedHuber(1.0, 2.0), 1.0, 3)], 0.5)
    assert one.log_lower <= other.log_upper
    assert other.log_lower <= one.log_upper


def improvements_of_a_certificate():
    """The first noise that was verified is kept."""
    problem = budget.Budget(1.0, 1e-5, 1.0, 1)
    tight = gaussian_sigma(1.0, 1e-5)
    found = certify.certified_calibration(Gaussian(tight * (1.0 - 1e-9)), problem, method="exact")
    assert found.delta <= 1e-5
    assert found.noise.sigma >= tight * (1.0 - 1e-12)


def rounds_of_the_descent():
    """Without a descent the allocation falls back on a direction and is certified."""
    scales = allocate([2.0, 1.0], noise=Laplace(1.0), epsilon=1.0, delta=1e-3)
    noises = [Laplace(float(s)) for s in np.ravel(scales)]
    assert vector_profile(noises, [2.0, 1.0], 1.0).upper <= 1e-3


def rounds_of_a_scalar_minimum():
    grid = np.array([-1.0, 0.3, 2.0])
    x, value = scalar_search.minimize_on_interval(np.square, grid, np.square(grid))
    assert (x, value) == (0.3, np.square(0.3))  # the best that was seen, no extrapolation


def steps_of_the_scale_on_the_private_side():
    """The greatest scale ratio that was seen to be private, or an error."""

    def steep(d):
        return np.where(d < 0.5, -20.0, 5.0) + np.log(d), np.ones_like(d)

    try:
        log_d = scalar_search.solve_scale(steep, -10.0, np.array([0.0]))
    except RuntimeError:
        return
    assert steep(np.exp(log_d))[0] <= -10.0


def repairs_of_trend_filtering():
    """The duality gap is checked afterwards: a rough solution is refused or within it."""
    from dpnoise.denoise.graph import Graph
    from dpnoise.denoise.trend_filtering import LARGEST_GAP, trend_filter

    graph = Graph(6, np.array([[i, i + 1] for i in range(5)]))
    try:
        fit = trend_filter(graph, [0.0, 1.0, 5.0, 4.0, 9.0, 2.0], 0.7, order=0)
    except ArithmeticError:
        return
    assert fit.gap <= LARGEST_GAP


def certificates_of_joint_noise():
    """Without a verified candidate the noise for delta = 0 is returned."""
    budget = {"epsilon": 1.0, "delta": 1e-6}
    assert calibrate_joint("generalised-gamma", L2(1.0, of=30), **budget).delta == 0.0
    with pytest.raises(RuntimeError):
        calibrate_joint("k-norm", L2(1.0, of=30), epsilon=0.0, delta=1e-6)


def steps_of_the_optimum():
    """First-order conditions are checked afterwards."""
    from dpnoise.learn.optimum import optimum, residual
    from dpnoise.learn.problem import make_problem

    rng = np.random.default_rng(3)
    features = rng.standard_normal((60, 3))
    target = np.sign(features @ [1.0, -2.0, 0.5] + rng.standard_normal(60))
    problem = make_problem(features, target, loss="logistic", penalty="l1", strength=0.02)
    try:
        weights = optimum(problem)
    except ArithmeticError:
        return
    assert residual(problem, weights) <= 1e-7


def refinements_of_a_draw():
    """A number of bits that never decides is refused, not guessed."""
    from dpnoise.releases.refining import Uniform

    with pytest.raises(RuntimeError, match="not known well enough"):
        Uniform(0, _zeros()).exceeds(Gaussian(1.0), Fraction(10**6))


def refinements_of_a_vector():
    from dpnoise.joint.radial import RadialNoise
    from dpnoise.releases.vectors import rounded_vectors

    with pytest.raises(RuntimeError, match="not decided"):
        rounded_vectors(np.zeros((1, 2)), RadialNoise(L2(1.0, of=2), 1.0), np.ones(2), _zeros())


def refinements_of_a_quantile():
    from dpnoise import release

    with pytest.raises(RuntimeError, match="not decided"):
        release.quantile([0.5], 0.5, bounds=(0.0, 1.0), epsilon=1.0)


def _zeros():
    """A source of bits that are all 0, which no comparison of a vector survives."""
    from dpnoise.releases.entropy import Entropy

    return Entropy(bytes)


CAPS = {
    # place: (values of the cap to try, what is then asserted)
    "dpnoise.calibration.histogram.grids _closer range(_NEWTON)": (
        (1,),
        variance_of_a_histogram,
    ),
    "dpnoise.calibration.histogram.grids searched_by_epsilon range(_ROUNDS)": (
        (0,),
        raises(lambda: searched_by_epsilon(2.66, 10, 1e-6)),
    ),
    "dpnoise.calibration.histogram.grids _minimum_epsilon range(_ROUNDS)": (
        (0,),
        search_by_std_gives_up,
    ),
    "dpnoise.calibration.histogram.families rival_by_std range(_HALVINGS)": (
        (0,),
        halvings_of_an_epsilon,
    ),
    "dpnoise.calibration.histogram.search descend range(_ROUNDS)": ((1,), search_of_a_histogram),
    "dpnoise.calibration.histogram.cells Cells.masses range(_DOUBLINGS)": (
        (0,),
        search_by_std_gives_up,
    ),
    "dpnoise.calibration.histogram.composition minimum_epsilon range(_WINDOWS)": (
        (0,),
        search_by_std_gives_up,
    ),
    "dpnoise.allocation.descent Descent._rounds range(_ROUNDS)": ((0, 1), rounds_of_the_descent),
    "dpnoise.allocation.exact_search _certified range(_EVALUATIONS)": (
        (0,),
        raises(lambda: allocate([2.0, 1.0], noise=Laplace(1.0), epsilon=1.0, delta=1e-3)),
    ),
    "dpnoise_papers.balle_wang_2018.as_printed _search range(_DOUBLINGS)": (
        (0,),
        doublings_of_a_printed_algorithm,
    ),
    "dpnoise_papers.balle_wang_2018.as_printed _search range(_MIDDLES)": (
        (1,),
        doublings_of_a_printed_algorithm,
    ),
    "dpnoise.calibration.certify _enlarged range(_IMPROVEMENTS)": (
        (0, 1),
        improvements_of_a_certificate,
    ),
    "dpnoise.calibration.cover.search _Search.improved range(_STEPS)": (
        (0, 1),
        steps_of_a_better_member,
    ),
    "dpnoise.calibration.staircase_search _Search.certified range(_STEPS)": (
        (1, 2),
        steps_back_of_a_staircase,
    ),
    "dpnoise.calibration.equal_variance increasing_root range(_BRACKETS)": (
        (0, 1),
        raises(lambda: increasing_root(lambda x: x - 50.0, 0.0, 1.0)),
    ),
    "dpnoise.calibration.equal_variance EqualVarianceSearch.minimum range(_SCANS)": (
        (0, 1),
        search_in_several_dimensions,
    ),
    "dpnoise.calibration.equal_variance EqualVarianceSearch._refined range(_ROUNDS)": (
        (0, 1),
        search_in_several_dimensions,
    ),
    "dpnoise.calibration.gaussian _maximum_mu range(_STEPS)": (
        (0, 1, 2),
        steps_of_gaussian_calibration,
    ),
    "dpnoise_papers.inid_2024.as_printed algorithm_1 range(_HALVINGS)": (
        (1, 5),
        halvings_of_a_printed_algorithm,
    ),
    "dpnoise.optimality.bounds _bracket range(_ROUNDS)": ((1,), rounds_of_the_limit),
    "dpnoise.optimality.cube_transport largest_lam range(_HALVINGS)": (
        (0, 5),
        halvings_of_the_transport,
    ),
    "dpnoise.optimality.cube_search _chain range(_MOST_LINKS)": (
        (1, 9),
        halvings_of_the_transport,
    ),
    "dpnoise.optimality.cube_search cube_transport range(_BISECTIONS)": (
        (1, 4),
        halvings_of_the_transport,
    ),
    "dpnoise.optimality.product_test _largest_lam range(_HALVINGS)": (
        (0, 5),
        halvings_of_the_product_test,
    ),
    "dpnoise.optimality.graded_test gains range(_DIVISIONS)": (
        (0, 1),
        divisions_of_the_graded_test,
    ),
    "dpnoise.optimality.radial_floor staircase_minimum range(_ROUNDS)": (
        (0, 1, 3),
        rounds_of_the_radial_floor,
    ),
    "dpnoise.calibration.scalar kink_shape range(_STEPS)": (
        (0, 1),
        raises(lambda: scalar.kink_shape(np.array(0.5), np.array(1e-6))),
    ),
    "dpnoise.calibration.cross_check _crossing range(_DOUBLINGS)": (
        (0,),
        raises(lambda: cross_check.half_lines(Gaussian(1.0), 1e-3, 0.5)),
    ),
    "dpnoise.calibration.scalar_search solve_scale range(_STEPS)": (
        (1, 2, 5, 30),
        steps_of_the_scale_on_the_private_side,
    ),
    "dpnoise.calibration.scalar_search minimize_on_interval range(_ROUNDS)": (
        (0,),
        rounds_of_a_scalar_minimum,
    ),
    "dpnoise.denoise.trend_solver polish range(_REPAIRS)": ((0, 1), repairs_of_trend_filtering),
    "dpnoise.joint.search Search.certified range(_CERTIFICATES)": (
        (0,),
        certificates_of_joint_noise,
    ),
    "dpnoise.learn.optimum _sparse_logistic range(_STEPS)": ((0, 1, 3), steps_of_the_optimum),
    "dpnoise.calibration.integers smallest_scale range(_DOUBLINGS)": (
        [1, 2],
        doublings_of_an_integer_scale,
    ),
    "dpnoise.privacy.odometer.exact ExactAccount.epsilon_of range(_DOUBLINGS)": (
        [1, 2],
        doublings_of_an_odometer,
    ),
    "dpnoise.privacy.odometer.filters GaussianFilter.pure_left range(_HALVINGS)": (
        [1, 5],
        halvings_of_what_is_left,
    ),
    "dpnoise.noise.integers IntegerNoise._quantile range(_STEPS)": (
        (0,),
        raises(lambda: DiscreteGaussian(3.0).isf(1e-9)),
    ),
    "dpnoise.noise.staircase_2d staircase_2d_gamma range(_STEPS)": (
        (0, 1),
        raises(lambda: staircase_2d_gamma(0.7)),
    ),
    "dpnoise.privacy.inversion.inversion Inversion.bounds range(_ATTEMPTS)": (
        (1,),
        attempts_of_the_inversion,
    ),
    "dpnoise.releases.refining Uniform.exceeds range(_REFINEMENTS)": (
        (0, 1),
        refinements_of_a_draw,
    ),
    "dpnoise.releases.vectors _Column._decided range(_REFINEMENTS)": (
        (0,),
        refinements_of_a_vector,
    ),
    "dpnoise.releases.vectors _exactly range(_REFINEMENTS)": ((0,), refinements_of_a_vector),
    "dpnoise.releases.quantiles _drawn range(_REFINEMENTS)": ((0,), refinements_of_a_quantile),
    "dpnoise.privacy.profile _solve range(_ROUNDS)": ((0, 1, 2, 5), rounds_of_the_inverse),
    "dpnoise.privacy.scalar.subbotin SubbotinShift._crossing range(_STEPS)": (
        (0, 1),
        raises(lambda: privacy_profile(Subbotin(1000.0, 1.0), 0.9, 1.0)),
    ),
}

# --- Fixed numbers of steps, each of which shrinks the error by a known factor, and what tests it.
FIXED = {
    "dpnoise.certificates.checker exp range(1, BITS // 8)": "the rest of the series is added",
    "dpnoise.mechanisms.blocks _plan range(_GRIDS)": "more plans to choose from",
    "dpnoise.mechanisms.blocks gaussian_mu range(_ROUNDS)": (
        "the private end of an interval, after any number of rounds; test_blocks"
    ),
    "dpnoise_papers.verify.allocation _minimised range(_SECTIONS)": (
        "golden sections to below rounding; a miss shows as a disagreement"
    ),
    "dpnoise.learn.kernel _advance_logistic range(ROWS)": "all rows of the samples",
    "dpnoise.learn.kernel _advance_squared range(ROWS)": "all rows of the samples",
    "dpnoise_papers.review.pictures _palette range(RARE)": "as many colours as a palette gets",
    "dpnoise.privacy.scalar.unimodal UnimodalShift._bounds range(_ROUNDS)": (
        "cells left undecided count in full in the upper bound"
    ),
    "dpnoise.allocation.gradient _saddle range(3)": (
        "a search direction; what it leads to is certified"
    ),
    "dpnoise.calibration.cross_check _crossing range(_ROUNDS)": (
        "ends valid after any number of rounds"
    ),
    "dpnoise.calibration.scalar_profiles offset_gaussian_variance.far range(_DEPTH, 1, -1)": (
        "a continued fraction of positive terms; test_calibration_shape_profiles"
    ),
    "dpnoise.denoise.trend_penalty choose_by_sure range(_REFINEMENTS)": (
        "more penalties to choose from"
    ),
    "dpnoise.denoise.largest_penalty _potential range(2)": (
        "one refinement; the dual gap is checked"
    ),
    "dpnoise_papers.inid_2024.theory.dispersion _transfers range(4)": "draws, no iteration",
    "dpnoise_papers.flipped_huber_2023.tables.remarks loss_tail range(_HALVINGS)": (
        "halves to the last digit; errs upwards"
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
    "dpnoise.noise.offset_symmetric_gaussian OffsetSymmetricGaussian._magnitude.far range(6)": (
        "Newton's method from the right of a convex function; exercised below"
    ),
    "dpnoise.noise.offset_symmetric_gaussian OffsetSymmetricGaussian._magnitude.near range(4)": (
        "the error squares from below 0.03 each time; exercised below"
    ),
    "dpnoise.noise.subbotin Subbotin._magnitude.far range(4)": "Newton's method; exercised below",
    "dpnoise.noise.subbotin _log_upper_gamma range(_TERMS, 0, -1)": (
        "a continued fraction; exercised below"
    ),
    "dpnoise.privacy.gaussian mills_slope.far range(_DEPTH, 1, -1)": (
        "a continued fraction of positive terms; test_privacy_gaussian against Arb balls"
    ),
    "dpnoise.privacy.inversion.inversion Inversion._saddle range(2)": (
        "a choice of contour: bounds hold on any"
    ),
    "dpnoise.privacy.lattice.plan make_plan range(2)": "a choice of lattice: bounds hold on any",
    "dpnoise.privacy.lattice.rounding round_down range(_PASSES)": (
        "the result is checked cell by cell"
    ),
    "dpnoise.privacy.lattice.rounding round_down range(_RAISES)": (
        "the result is checked cell by cell"
    ),
    "dpnoise.privacy.lattice.nodes ShiftedNoise._radii range(60)": (
        "a choice of cuts: bounds hold on any"
    ),
}

# --- Loops and solvers that end by themselves.
ENDS = {
    "dpnoise.certificates.checker mills while": "each term is below half the one before",
    "dpnoise.releases.entropy Entropy.integers while": (
        "a rejection sampler: ends with probability 1"
    ),
    "dpnoise.releases.layers _Stairs._exactly while": (
        "terms fall like a geometric series, whose rest is bounded; an interval halves"
    ),
    "dpnoise.releases.quantiles _drawn while": "halves an interval of integers",
    "dpnoise.releases.refining steps while": (
        "a point that doubles, or falls to 0, which is always reached; an interval halves"
    ),
    "dpnoise.releases.sums integer_draws while": "each pass draws most of what is missing",
    "dpnoise.releases.vectors _Column.__init__ while": (
        "a rejection sampler: ends with probability 1"
    ),
    "dpnoise.calibration.histogram.grids gaussian_epsilon brentq": (
        "raises if it does not converge"
    ),
    "dpnoise.calibration.histogram.families rival_by_std brentq": "raises if it does not converge",
    "dpnoise.calibration.histogram.cells Cells.masses brentq": "raises if it does not converge",
    "dpnoise.calibration.histogram.composition plan brentq": "raises if it does not converge",
    "dpnoise.calibration.histogram.composition minimum_epsilon brentq": (
        "raises if it does not converge"
    ),
    "dpnoise.calibration.histogram.search descend minimize": (
        "a search: what it leads to is certified, larger if it ends early"
    ),
    "dpnoise.mechanisms.independent staircase while": "a few doubles down",
    "dpnoise_papers.descent.harness race while": "fewer trials are left in each round",
    "dpnoise_papers.verify.allocation minimum_cost brentq": "raises where it does not converge",
    "dpnoise_papers.verify.densities Density.crossing brentq": (
        "raises where it does not converge"
    ),
    "dpnoise_papers.verify.gaussian epsilon_at brentq": "raises where it does not converge",
    "dpnoise_papers.verify.gaussian log_delta while": (
        "doubles the precision up to a cap, then raises"
    ),
    "dpnoise_papers.verify.gaussian sigma brentq": "raises where it does not converge",
    "dpnoise_papers.verify.lattice _tilted minimize_scalar": (
        "a recomputation: a minimum that is missed shows as a disagreement"
    ),
    "dpnoise_papers.verify.minima _hinted minimize_scalar": (
        "a recomputation: a minimum that is missed shows as a disagreement"
    ),
    "dpnoise_papers.verify.minima minimum minimize_scalar": (
        "a recomputation: a minimum that is missed shows as a disagreement"
    ),
    "dpnoise_papers.verify.minima minimum_in_box minimize_scalar": (
        "a recomputation: a minimum that is missed shows as a disagreement"
    ),
    "dpnoise_papers.verify.minima minimum_in_box.variance brentq": (
        "raises where it does not converge"
    ),
    "dpnoise_papers.verify.minima scale_that_spends brentq": "raises where it does not converge",
    "dpnoise_papers.verify.paths.accounts composed_epsilon brentq": (
        "raises where it does not converge"
    ),
    "dpnoise_papers.verify.paths.accounts pure_step brentq": "raises where it does not converge",
    "dpnoise_papers.verify.paths.accounts renyi_multiplier brentq": (
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
    "dpnoise_papers.verify.stairs box_error minimize_scalar": (
        "a recomputation: a minimum that is missed shows as a disagreement"
    ),
    "dpnoise_papers.verify.stairs minimum_moment minimize_scalar": (
        "a recomputation: a minimum that is missed shows as a disagreement"
    ),
    "dpnoise_papers.verify.stairs split_error minimize_scalar": (
        "a recomputation: a minimum that is missed shows as a disagreement"
    ),
    "dpnoise.joint.search minimum minimize_scalar": "a place to look; what is found is certified",
    "dpnoise.joint.search pure_scale while": "a few doubles up",
    "dpnoise.mechanisms.partition Partitions.blocks while": "a block starts before it ends",
    "dpnoise.sensitivity.at_most AtMost._accepted while": (
        "a rejection sampler: ends with probability 1, each point after about sqrt(K) trials"
    ),
    "dpnoise.calibration.delta_bounds shared_log_delta while": "a few doubles down",
    "dpnoise.allocation.descent Descent._step_along brentq": "raises if it does not converge",
    "dpnoise.calibration.certify _enlarged while": "raises at the largest enlargement",
    "dpnoise.calibration.scale_family pure_scale while": "one or two doubles up",
    "dpnoise.calibration.equal_variance EqualVarianceSearch._refined minimize_scalar": (
        "a place to look; only what is solved for there is kept"
    ),
    "dpnoise.calibration.cover.search _lowered while": (
        "removes an interval, or doubles a step up to 1 and returns 0"
    ),
    "dpnoise.calibration.cover.staircase _epsilon brentq": "raises if it does not converge",
    "dpnoise.calibration.staircase_search _Search.epsilon brentq": "raises, and is certified after",
    "dpnoise.calibration.staircase_search _Search.minima minimize_scalar": (
        "any gamma will do, and is certified after"
    ),
    "dpnoise.calibration.equal_variance increasing_root brentq": "raises if it does not converge",
    "dpnoise.calibration.grid _coarse_to_fine while": "halves an integer",
    "dpnoise.calibration.grid _vector_search while": "halves an interval of integers",
    "dpnoise.calibration.grid first_private_index while": "halves intervals of integers",
    "dpnoise.optimality.histogram pure_envelope while": (
        "masses rise to one of finitely many values"
    ),
    "dpnoise_papers.inid_2024.as_printed repaired_algorithm_1 while": (
        "halves to a tolerance or to neighbouring doubles"
    ),
    "dpnoise.optimality.bounds _choose_cells while": "cells grow to a bound",
    "dpnoise.optimality.bounds _violated while": "one shift less each time",
    "dpnoise.optimality.scalar_floor scalar_certificate while": "halves an integer down to 1",
    "dpnoise.optimality.rearrangement rearrangements while": "halves an integer down to 1",
    "dpnoise.optimality.radial_search radial_test while": "halves an integer down to 1",
    "dpnoise.optimality.radial_search _Design.caps while": "two nodes more each time, to the last",
    "dpnoise.optimality.radial_search _highest.value while": "halves an interval to a share of it",
    "dpnoise.optimality.graded_search graded_test while": "halves an integer down to 1",
    "dpnoise.optimality.graded_search _program linprog": (
        "no test unless solved; what the values prove is computed from them alone"
    ),
    "dpnoise.optimality.bounds minimum_cost while": (
        "cells double to a bound; the gap is part of the result"
    ),
    "dpnoise.optimality.program LatticeProgram._run linprog": "raises unless solved",
    "dpnoise_papers.data.city.roads two_core while": "fewer edges each time",
    "dpnoise.denoise.spanning_trees uniform_spanning_tree while": (
        "a random walk, almost surely finite"
    ),
    "dpnoise.denoise.largest_penalty _minimum_flow linprog": "raises unless solved",
    "dpnoise.denoise.trend_solver certain_signs while": "at least one more sign each time",
    "dpnoise.denoise.wavelets _form_wavelets while": "fewer nodes each time",
    "dpnoise_papers.flipped_huber_2023.theory.counterexamples _two_fold quad": (
        "50 digits; compared with a closed form"
    ),
    "dpnoise_papers.balle_wang_2018.tables.gaussian_calibration gain_crossings brentq": (
        "raises if it does not converge"
    ),
    "dpnoise_papers.inid_2024.tables.corollary_6 _minimum_factor brentq": "raises, and is verified",
    "dpnoise_papers.inid_2024.deep.accounting minimum_multiplier brentq": (
        "raises, and the budget is checked"
    ),
    "dpnoise_papers.inid_2024.deep.accounting minimum_multiplier while": (
        "steps to a maximum that raises, then down to where epsilon is exceeded"
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
    "dpnoise_papers.flipped_huber_2023.tables.scalar_losses _at_variance brentq": (
        "raises if it does not converge"
    ),
    "dpnoise_papers.flipped_huber_2023.tables.search_box _gamma_of while": (
        "halves to a tolerance above rounding"
    ),
    "dpnoise_papers.flipped_huber_2023.tables.search_box _smallest_private while": (
        "at least halves, from the private side"
    ),
    "dpnoise_papers.flipped_huber_2023.tables.theorem_8_search _attack minimize": (
        "an attack: what it saw, lower bounds all"
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
    "dpnoise.noise.discrete_gaussian DiscreteGaussian._direct_sum count": "terms fall below 1e-18",
    "dpnoise.noise.integers IntegerNoise.rvs while": "more than half of all draws count",
    "dpnoise.noise.exact_draws _decided while": "64 more bits each time decide but for 2^-60",
    "dpnoise.noise.exact_draws _successes while": "at most exp(-1) of the events happen each time",
    "dpnoise.noise.exact_draws geometric while": "more than half of all draws count",
    "dpnoise.calibration.integers smallest_scale brentq": (
        "raises if it does not converge; the result is a scale seen to be private"
    ),
    "dpnoise.privacy.odometer.exact ExactAccount.epsilon_of brentq": (
        "raises if it does not converge; the result is an epsilon seen to be private"
    ),
    "dpnoise.privacy.grouping _cells while": "one cell less each time",
    "dpnoise.privacy.inversion.inversion Inversion._plan while": "the blur grows to its bound",
    "dpnoise.privacy.lattice.sums sum_weights while": "halves an integer",
    "dpnoise.privacy.lattice.plan _saddle brentq": "raises if it does not converge",
    "dpnoise.privacy.lattice.nodes ShiftedNoise._reach while": (
        "doubles; psi grows at least linearly"
    ),
}

# Places with several loops of one kind.
SEVERAL = {
    "dpnoise_papers.verify.minima minimum minimize_scalar": 2,
    "dpnoise_papers.inid_2024.deep.accounting minimum_multiplier while": 2,
    "dpnoise.denoise.spanning_trees uniform_spanning_tree while": 2,
    "dpnoise.denoise.wavelets _form_wavelets while": 2,
    "dpnoise.releases.layers _Stairs._exactly while": 2,
    "dpnoise.releases.refining steps while": 3,
}


def test_every_cap_is_listed():
    places = found()
    listed, present = {*CAPS, *FIXED, *ENDS}, set(places)
    assert present - listed == set(), "caps that this file does not exercise"
    assert listed - present == set(), "caps that the source does not have"
    assert {place: n for place, n in places.items() if n > 1} == SEVERAL, "a new loop beside one"


def test_the_search_for_caps_finds_them():
    tree = ast.parse(
        "def f(n):\n for _ in range(_MOST):\n  break\n for _ in range(n): pass\n"
        " for k in range(2 * 30, 1, -1): pass\n while n: pass\n return optimize.brentq(f, 0, 1)"
    )
    kinds = [kind for _, kind in loops(tree)]
    assert kinds == ["range(_MOST)", "range(2 * 30, 1, -1)", "while", "brentq"]


class Cap:
    """A number of steps that counts how often it was asked for."""

    def __init__(self, steps):
        self.steps, self.asked = steps, 0

    def __index__(self):
        self.asked += 1
        return self.steps


@pytest.mark.parametrize("place", CAPS)
def test_a_cap_that_is_reached_is_not_silent(place, monkeypatch):
    module, _, kind = place.split(" ", maxsplit=2)
    module = import_module(module)
    values, check = CAPS[place]
    name = kind.removeprefix("range(").removesuffix(")")
    assert isinstance(getattr(module, name), int)
    for value in values:
        cap = Cap(value)
        monkeypatch.setattr(module, name, cap)
        check()
        assert cap.asked > 0  # the loop was reached


@pytest.mark.parametrize(
    "noise",
    [Subbotin(p, 1.0) for p in (1.0001, 1.01, 3.0, 294.0, 1000.0)]
    + [OffsetSymmetricGaussian(t, 1.0) for t in (0.0, 1e-9, 0.3, 5.0, 1e3, 1e100)],
    ids=repr,
)
def test_fixed_steps_of_quantiles_are_enough(noise):
    """From the centre to tails of 1e-300: log P(|T| > x) is the level that was asked for."""
    tail = np.concatenate(
        [10.0 ** -np.linspace(0.31, 300, 200), 0.5 - 10.0 ** -np.linspace(1, 9, 60)]
    )
    x = noise.isf(tail)
    log_tail = noise.logsf(x)
    # By a unit in the last place of x the logarithm moves by x g(x) / P(T > x) units.
    steep = x * np.exp(noise.logpdf(x) - log_tail)
    slack = 1e-13 * np.maximum(1.0, np.abs(log_tail)) + 2.0**-49 * steep
    assert np.all(np.abs(log_tail - np.log(tail)) <= slack)
