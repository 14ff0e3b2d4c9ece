"""The fuzzer (`make fuzz`): a little of it, and the defects that it has to catch."""

from __future__ import annotations

import dataclasses
import math
import time
import warnings

import mpmath
import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from dpnoise import vector_profile
from dpnoise.noise import FlippedHuber, Gaussian, Subbotin
from dpnoise.privacy import accounts, gaussian, profile, vector
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise.privacy.inversion import inversion
from dpnoise.privacy.inversion.inversion import LogBounds
from dpnoise.privacy.lattice import bounds as lattice
from dpnoise.privacy.sampled import composition, mechanism
from dpnoise.privacy.sampled.composition import Composition
from dpnoise.privacy.sampled.lines import Contour
from dpnoise.privacy.sampled.pairs import REMOVED, Kind, one_step, pair_of
from exact_noise import exact_noise
from fuzz import CHECKS, checks_exact, checks_range, runner, sampled_references
from fuzz.references import reference_bounds
from fuzz.runner import Report, run, run_case
from oracles import samples


@pytest.fixture(autouse=True)
def one_core():
    """Processor time is what a call takes, not what threads of BLAS spend waiting."""
    with threadpool_limits(1):
        yield


def violations(name, *, seed=0, cases=60):
    """Return the first violation of a check, if any."""
    report = Report()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in range(cases):
            run_case(report, name, CHECKS[name][0], seed, number)
            if report.violations:
                break
    return report.violations


SEARCHES = {"attack-all", "best-exhaustive", "best-quick"}  # seconds each


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.slow] * (n in SEARCHES)) for n in sorted(CHECKS)],
)
def test_a_little_of_it_finds_nothing(name):
    assert violations(name, seed=2027, cases=2) == []


def test_checks_share_the_time_and_sets_are_counted():
    chosen = {name: CHECKS[name] for name in ("exact-stairs", "scalar-inverse", "exact-gaussian")}
    report = run(chosen, seed=1, cases=12)
    assert report.checks.total() == 12
    assert set(report.checks) == set(chosen)
    assert report.relations >= 12
    assert run(chosen, seed=1, sets=5).sets.total() >= 5


def test_a_case_depends_on_its_number_alone():
    first, second = Report(), Report()
    for report, numbers in ((first, range(4)), (second, [3])):
        for number in numbers:
            run_case(report, "scalar-inverse", CHECKS["scalar-inverse"][0], 5, number)
    assert first.last == second.last


@pytest.mark.parametrize("copies", [1, 2, 7, 30])
@pytest.mark.parametrize("epsilon", [0.0, 0.4, 3.0])
def test_the_reference_encloses_the_gaussian(copies, epsilon):
    low, high = reference_bounds([(Gaussian(2.0), 1.0, copies)], epsilon)
    exact = gaussian_log_delta(0.5 * math.sqrt(copies), epsilon)
    assert low <= exact <= high
    assert high - low < 1e-3


def test_the_oracle_ends_where_the_loss_is_reached_beyond_all_numbers():
    """Subbotin noise with p just above 1: the search for the crossing went on for ever."""
    assert exact_noise(Subbotin(1.0000001, 1.0)).log_delta(1.0, 3.0) == -mpmath.inf
    assert exact_noise(Subbotin(1.05, 1.0)).log_delta(1.0, 2.0) < -1e6


def test_the_reference_knows_the_value_of_the_tie():
    # alpha = 2, gamma = 2, two coordinates, epsilon = 1: 0.0508746.
    low, high = reference_bounds([(FlippedHuber(2.0, 2.0), 1.0, 2)], 1.0, size=2**14)
    assert math.exp(low) <= 0.0508746 + 1e-7
    assert math.exp(high) >= 0.0508746 - 1e-7
    found = vector_profile(FlippedHuber(2.0, 2.0), 1.0, 1.0, copies=2)
    assert found.lower <= math.exp(high)
    assert found.upper >= math.exp(low)


def _profile_off(patch):
    original = profile._log_delta
    patch.setattr(profile, "_log_delta", lambda *args: original(*args) - 1e-6)


def _stretch_dropped(patch):
    """The stretch is dropped where its loss is stationary at epsilon, as it once was."""
    original = inversion._beyond

    def dropping(cut, x):
        rows = original(cut, x)
        tie = (np.abs(cut.zeta_0 - x) <= 1e-12) & (cut.zeta_1 == 0.0)
        rows[tie, 0] = 0.0
        return rows

    patch.setattr(inversion, "_beyond", dropping)


def _five_steps(patch):
    patch.setattr(profile, "_ROUNDS", 5)


def _bounds_too_low(patch):
    original = vector._many

    def low(*args):
        found = original(*args)
        moved = {f.name: getattr(found, f.name) - 0.003 for f in dataclasses.fields(found)}
        return type(found)(**moved)

    patch.setattr(vector, "_many", low)


def _one_copy_less(patch):
    original = vector.loss_transform
    patch.setattr(
        vector,
        "loss_transform",
        lambda shares: original({k: max(n - 1, 1) for k, n in shares.items()}),
    )


def _one_sample_less(patch):
    original = Composition.__init__

    def fewer(self, steps, other=None):
        original(self, {step: max(n - 1, 1) for step, n in steps.items()}, other)

    patch.setattr(Composition, "__init__", fewer)


def _scale_off(patch):
    original = Contour._log_scale
    patch.setattr(Contour, "_log_scale", lambda *args: original(*args) + 1e-4)


def _closed_form_off(patch):
    original = composition.one_step

    def off(*args):
        return LogBounds(*(log_delta + 1e-8 for log_delta in original(*args)))

    patch.setattr(composition, "one_step", off)


def _lower_end_too_high(patch):
    original = mechanism.deltas_of

    def off(_, high):
        return original(high, high)._replace(lower=1.001 * math.exp(high))

    patch.setattr(mechanism, "deltas_of", off)


def _sigma_too_small(patch):
    original = gaussian._mu_of_one
    patch.setattr(gaussian, "_mu_of_one", lambda *args: original(*args) * (1 + 1e-9))


def _difference_at_negative_epsilons(patch):
    """As it once was: 1 - e^-x (1 - delta) loses the digits of a small epsilon."""
    original = accounts.gaussian_delta

    def off(square, epsilon):
        if epsilon >= 0.0:
            return original(square, epsilon)
        fall = math.exp(epsilon)
        return tuple(1.0 - fall * (1.0 - x) for x in original(square, -epsilon))

    patch.setattr(checks_exact, "gaussian_delta", off)


def _losses_added_in_doubles(patch):
    """As it once was: delta is 0 at a largest loss that was rounded down."""
    patch.setattr(lattice, "Fraction", float)


@pytest.mark.parametrize(
    ("defect", "name", "seed"),
    [
        (_difference_at_negative_epsilons, "exact-gaussian", 0),
        (_losses_added_in_doubles, "exact-stairs", 1),
        (_profile_off, "scalar-truth", 0),
        (_stretch_dropped, "vector-copies", 7),
        (_five_steps, "scalar-inverse", 0),
        (_bounds_too_low, "vector-copies", 0),
        (_one_copy_less, "vector-copies", 0),
        (_sigma_too_small, "budget-gaussian", 0),
        (_one_sample_less, "sampled-few", 0),
        (_scale_off, "sampled-reflected", 0),
    ],
)
def test_planted_defects_are_caught(monkeypatch, defect, name, seed):
    """Within some hundred cases for most seeds; with these seeds within a few."""
    assert not violations(name, seed=seed, cases=3)
    with monkeypatch.context() as patch:
        defect(patch)
        assert violations(name, seed=seed)


@pytest.mark.parametrize(
    ("defect", "kind", "cases"),
    [
        (_closed_form_off, "one", 60),
        (_one_sample_less, "everybody", 60),
        pytest.param(_one_sample_less, "two", 8, marks=pytest.mark.slow),
        pytest.param(_lower_end_too_high, "many", 8, marks=pytest.mark.slow),
    ],
)
def test_defects_are_caught_by_questions_of_each_kind(monkeypatch, defect, kind, cases):
    monkeypatch.setattr(checks_range, "KINDS", {kind: 1.0})
    assert not violations("sampled-range", cases=3)
    with monkeypatch.context() as patch:
        defect(patch)
        assert violations("sampled-range", cases=cases)


@pytest.mark.parametrize("sigma", [0.3, 1.0, 20.0])
@pytest.mark.parametrize("rate", [1e-4, 0.1, 0.9])
def test_references_of_samples_agree(sigma, rate):
    """Two steps by quadrature are between tests and moments; one step is its closed form."""
    for share in (0.1, 1.0, 5.0):
        epsilon = share * rate / sigma
        low = sampled_references.log_lower(sigma, rate, 2, epsilon)
        high = sampled_references.log_upper(sigma, rate, 2, epsilon)
        exact, error = sampled_references.log_two_steps((sigma, rate), (sigma, rate), epsilon)
        assert error < 1e-3
        assert low - error <= exact <= high + error
        one = one_step(pair_of(Kind(sigma, rate), REMOVED), epsilon).estimate
        assert one <= exact + error
        delta = math.exp(one)
        ends = delta * (1.0 - 1e-9), delta * (1.0 + 1e-9)
        assert samples.one_step_within(sigma, rate, epsilon, *ends)
        assert not samples.one_step_within(sigma, rate, epsilon, ends[1], 1.0)
        assert not samples.one_step_within(sigma, rate, epsilon, 0.0, ends[0])


@pytest.mark.parametrize(
    ("sigma", "rate", "epsilon", "delta"),
    [  # by quadrature with mpmath, to 40 digits
        (0.23924915111595965, 5.6961470211048225e-05, 0.41631248754055605, 4.27693717006434e-05),
        (0.027675607704481266, 6.429856972034521e-07, 1587.64694294622, 2.2437743973695034e-22),
    ],
)
def test_two_steps_by_quadrature_are_off_by_no_more_than_told(sigma, rate, epsilon, delta):
    """Next to a kink, and where e^epsilon / rate has no double."""
    exact, error = sampled_references.log_two_steps((sigma, rate), (sigma, rate), epsilon)
    assert abs(math.expm1(exact - math.log(delta))) <= error < 1e-3


def test_a_hang_is_a_violation(monkeypatch):
    monkeypatch.setattr(runner, "HANG", 0.05)

    def endless():
        start = time.process_time()
        while time.process_time() - start < 5.0:
            pass

    report = Report()
    run_case(report, "hang", lambda _, report: report.call(endless), 0, 0)
    assert "no answer" in report.violations[0][1]


def test_nan_warnings_and_raw_errors_are_violations():
    def overflow(_, report):
        report.call(math.exp, 1e3)

    report = Report()
    run_case(report, "raw", overflow, 0, 0)
    report.within((-1.0, -0.9), math.nan, math.nan, 0.0, "truth")
    assert len(report.violations) == 2
    assert "OverflowError" in report.violations[0][1]
    assert report.violations[0][1].startswith("exp(1000.0)")
