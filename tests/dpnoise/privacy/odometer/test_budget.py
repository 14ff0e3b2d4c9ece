"""The odometer: known totals, refusals that change nothing, monotone and on the private side."""

import copy
import math
import pickle
import re

import numpy as np
import pytest

from dpnoise import (
    L1,
    L2,
    AtMost,
    Box,
    Budget,
    BudgetExceededError,
    Counts,
    Gaussian,
    Laplace,
    LInf,
    SampledGaussian,
    SampledLaplace,
    Staircase,
    Subbotin,
    TruncatedLaplace,
    calibrate,
    epsilon_at,
    vector_profile,
)
from dpnoise.joint.noise import NormStaircase, RadialNoise
from dpnoise.mechanisms.noise import IndependentNoise
from dpnoise.noise import KNorm

DELTA = 1e-6


def test_five_gaussian_and_one_laplace_release():
    budget = Budget(3.0, DELTA, relation="replace-one")
    budget.spend(Gaussian(4.0), 1.0, times=5)
    budget.spend(Laplace(3.0), 1.0)
    found = budget.epsilon_of()
    assert found == pytest.approx(2.8046943, abs=1e-7)
    noise = [Gaussian(4.0)] * 5 + [Laplace(3.0)]
    assert vector_profile(noise, np.ones(6), found).upper <= DELTA
    assert vector_profile(noise, np.ones(6), found * (1 - 1e-6)).lower > DELTA


def test_a_release_beyond_the_budget_is_refused_and_changes_nothing():
    budget = Budget(1.0, DELTA, relation="replace-one")
    budget.spend(Gaussian(8.0), 1.0)
    before, left = budget.epsilon_of(), budget.remaining()
    with pytest.raises(BudgetExceededError, match=r"^budget: Gaussian\(sigma=2.0\).*nothing was"):
        budget.spend(Gaussian(2.0), 1.0)
    with pytest.raises(ValueError, match=r"times: expected.*got 0; sensitivity: expected.*got -1"):
        budget.spend(Gaussian(9.0), -1, times=0)
    assert (budget.epsilon_of(), budget.remaining()) == (before, left)
    budget.spend(Gaussian(9.0), 1.0)
    assert budget.epsilon_of() > before


def test_what_remains_can_be_spent_and_not_much_more():
    budget = Budget(2.0, DELTA, relation="replace-one")
    budget.spend(Gaussian(6.0), 1.0)
    left = budget.remaining()
    assert left > 0.1
    budget.spend_dp(left)
    assert budget.epsilon_of() <= 2.0
    with pytest.raises(BudgetExceededError):
        budget.spend_dp(2.5)


def test_pure_releases_add_up_without_rounding():
    """0.1 ten times is more than 1: the double is above the decimal number."""
    budget = Budget(1.0, relation="replace-one")
    assert budget.adaptive
    budget.spend(Laplace(2.0), 1.0)
    assert (budget.epsilon_of(), budget.remaining()) == (0.5, 0.5)
    budget.spend(Laplace(4.0), 1.0, times=2)
    assert (budget.epsilon_of(), budget.remaining()) == (1.0, 0.0)
    assert Budget(2.0, relation="replace-one").epsilon_of() == 0.0
    with pytest.raises(BudgetExceededError):
        Budget(1.0, relation="replace-one").spend_dp(0.1, times=10)
    Budget(1.0, relation="replace-one").spend_dp(0.125, times=8)
    with pytest.raises(BudgetExceededError):
        Budget(1.0, relation="replace-one").spend(Gaussian(100.0), 1.0)


def test_refusals_without_delta_say_what_epsilon_is():
    """Infinite for Gaussian noise, the sum of the largest losses for Laplace noise."""
    budget = Budget(1.0, relation="add-remove")
    budget.spend(SampledLaplace(2.0, 0.01), times=3)
    spent = budget.epsilon_of()
    before = re.escape(f"(spent before: epsilon = {spent!r}); nothing was spent")
    for step in (SampledGaussian(1.0, 1e-6), SampledGaussian(1e4, 1.0), SampledGaussian(3.0, 0.1)):
        with pytest.raises(BudgetExceededError, match=f"got an infinite epsilon, .* {before}"):
            budget.spend(step)
    with pytest.raises(BudgetExceededError, match=f"got an infinite epsilon, .* {before}"):
        budget.spend(Gaussian(1.0), 1.0, sampling=0.01)
    with pytest.raises(BudgetExceededError, match=f"got an infinite epsilon, .* {before}"):
        budget.spend(Gaussian(100.0), 1.0)
    with pytest.raises(BudgetExceededError, match=f"got a delta above 0 {before}"):
        budget.spend_dp(0.1, 1e-9)
    with pytest.raises(BudgetExceededError, match=f"largest losses add up {before}") as found:
        budget.spend(SampledLaplace(2.0, 0.01), times=1000)
    told = float(re.search(r"got epsilon = (\S+), as", str(found.value)).group(1))
    assert told == pytest.approx(1003 * math.log(1.0 + 0.01 * math.expm1(0.5)), rel=1e-9)
    assert budget.epsilon_of() == spent
    with pytest.raises(BudgetExceededError, match="got more; nothing was spent"):
        Budget(1.0, 1e-5, relation="add-remove").spend(SampledGaussian(1.0, 1.0))


def test_pure_mechanisms_count_as_randomized_response():
    """Composed exactly, K losses of epsilon or -epsilon are binomial."""
    K, epsilon, delta = 30, 0.2, 1e-4
    budget = Budget(10.0, delta, relation="replace-one")
    budget.spend_dp(epsilon, times=K)
    found = budget.epsilon_of()
    p = math.exp(epsilon) / (1.0 + math.exp(epsilon))
    n = np.arange(K + 1)
    mass = np.array([math.comb(K, k) * p**k * (1 - p) ** (K - k) for k in n])
    loss = epsilon * (2.0 * n - K)

    def exact(e):
        return float(np.sum(mass * np.maximum(-np.expm1(e - loss), 0.0)))

    assert exact(found) <= delta < exact(found * (1 - 1e-6))
    assert found < K * epsilon


def test_failures_add_to_delta():
    budget = Budget(1.0, 1e-5, relation="replace-one")
    budget.spend_dp(0.25, 4e-6, times=2)
    assert budget.epsilon_of(1e-5) <= 0.5
    assert budget.epsilon_of(7e-6) == math.inf
    with pytest.raises(BudgetExceededError):
        budget.spend_dp(0.0, 4e-6)


@pytest.mark.parametrize(
    ("noise", "size", "same", "per"),
    [
        (KNorm(1, 7, 5.0), 1.5, Laplace(5.0), 1.5),
        (KNorm(math.inf, 1, 5.0), 1.5, Laplace(5.0), 1.5),
        (KNorm(2, 1, 5.0), 1.5, Laplace(5.0), 1.5),
        (NormStaircase(L1(1.0, of=2), 0.3, 0.2), 1.0, Staircase(0.3, 1.0, 0.5), 1.0),
        (NormStaircase(L1(1.0, of=2), 0.15, 0.2), 1.5, Staircase(0.3, 1.0, 0.5), 1.0),
    ],
)
def test_noise_of_vectors(noise, size, same, per):
    one, other = (
        Budget(9.0, DELTA, relation="replace-one"),
        Budget(9.0, DELTA, relation="replace-one"),
    )
    one.spend(noise, size, times=3)
    other.spend(same, per, times=3)
    one.spend(Gaussian(9.0), 1.0)
    other.spend(Gaussian(9.0), 1.0)
    assert one.epsilon_of() == pytest.approx(other.epsilon_of(), rel=1e-9)
    one.spend(noise, 0.0, times=10**8)
    assert one.epsilon_of() == pytest.approx(other.epsilon_of(), rel=1e-9)


def test_a_budget_that_is_spent_exactly_has_zero_left():
    budget = Budget(1.0, relation="replace-one")
    budget.spend_dp(0.5, times=2)
    assert str(budget.remaining()) == "0.0"


def test_numbers_of_numpy_count_as_numbers():
    budget = Budget(np.float32(1.0), np.float32(1e-6), relation="replace-one")
    budget.spend_dp(np.float32(0.5), np.float32(1e-7), np.int32(2))
    assert budget.epsilon_of() == pytest.approx(1.0, rel=1e-4)
    noise = RadialNoise(LInf(1.0, of=2), scale=5.0)
    with pytest.raises(ValueError, match="sensitivity: expected a finite number"):
        budget.spend(noise, np.ones(2))


def test_joint_noise_for_a_sensitivity_set():
    laplace, joint = (
        Budget(9.0, DELTA, relation="replace-one"),
        Budget(9.0, DELTA, relation="replace-one"),
    )
    laplace.spend(Laplace(5.0), 1.0, times=3)
    joint.spend(RadialNoise(LInf(2.0, of=4), scale=5.0), LInf(2.0, of=4), times=2)
    joint.spend(RadialNoise(LInf(1.0, of=4), scale=10.0), L1(2.0, of=4))
    assert joint.epsilon_of() == laplace.epsilon_of()
    stairs = NormStaircase(L2(1.0, of=2), epsilon=0.3, gamma=0.4)
    joint.spend(stairs, 2.0)
    laplace.spend_dp(0.6)
    assert joint.epsilon_of() == laplace.epsilon_of()
    with pytest.raises(ValueError, match="sensitivity: expected a finite number"):
        joint.spend(RadialNoise(LInf(2.0, of=4), scale=5.0), "all")
    with pytest.raises(ValueError, match="expected some for each coordinate of L2"):
        joint.spend(RadialNoise(LInf(2.0, of=4), scale=5.0), L2(1.0, of=5))
    with pytest.raises(ValueError, match=r"expected K-norm or staircase noise .else `spend_dp`"):
        joint.spend(RadialNoise(L2(2.0, of=4), scale=5.0, power=1.5), 1.0)
    assert joint.epsilon_of() == laplace.epsilon_of()


def test_a_staircase_narrower_than_the_sensitivity():
    """Alone it counts exactly, beside others by its pure epsilon."""
    noise, budget = Staircase(0.2, 1.0, 0.4), Budget(9.0, 1e-3, relation="replace-one")
    budget.spend(noise, 2.5)
    alone = budget.epsilon_of()
    assert alone == pytest.approx(float(epsilon_at(noise, 2.5, 1e-3)), rel=1e-7)
    budget.spend(Laplace(50.0), 1.0)
    assert alone <= budget.epsilon_of() <= 0.6 + 0.02


def test_views_bound_the_exact_account():
    budget = Budget(9.0, DELTA, relation="replace-one")
    budget.spend(Gaussian(4.0), 1.0, times=5)
    assert budget.zcdp() == (0.0, 5 / 32)
    assert np.allclose(budget.rdp([1.5, 2.0, 50.0]), np.array([1.5, 2.0, 50.0]) * 5 / 32)
    budget.spend(Laplace(3.0), 1.0)
    xi, eta = budget.zcdp()
    assert xi + eta + 2 * math.sqrt(eta * -math.log(DELTA)) > budget.epsilon_of()
    assert budget.rdp(2.0) >= 5 / 16
    budget.spend_dp(0.0, 1e-9)
    assert budget.rdp(2.0) == math.inf
    assert budget.zcdp() == (math.inf, math.inf)
    other = Budget(9.0, DELTA, relation="replace-one")
    other.spend(Subbotin(3.0, 5.0), 1.0)
    assert other.rdp([2.0, 3.0]).tolist() == [math.inf, math.inf]
    assert other.zcdp() == (math.inf, math.inf)
    assert Budget(1.0, relation="replace-one").rdp(2.0) == 0.0


@pytest.mark.parametrize("beta", [0.3, 1.0, 20.0])
def test_the_renyi_divergence_of_laplace_noise(beta):
    """Mironov (2017), Table II."""
    budget = Budget(9000.0, DELTA, relation="replace-one")
    budget.spend(Laplace(beta), 1.0)
    for a in (1.001, 2.0, 7.5, 64.0):
        up, down = (a - 1) / beta, -a / beta
        terms = a / (2 * a - 1) * math.exp(up) + (a - 1) / (2 * a - 1) * math.exp(down)
        exact = math.log(terms) / (a - 1)
        assert exact * (1 - 1e-12) - 1e-13 <= budget.rdp(a) <= exact * (1 + 1e-9) + 1e-12 / (a - 1)


def test_every_problem_is_named_at_once():
    with pytest.raises(ValueError, match=r"budget: epsilon.*delta.*relation"):
        Budget(-1, 1.0, relation="swap")
    with pytest.raises(ValueError, match="delta: expected 0 or at least 1e-300"):
        Budget(1.0, 1e-310, relation="replace-one")
    budget = Budget(1.0, DELTA, relation="replace-one")
    with pytest.raises(ValueError, match=r"times.*noise: expected noise of one number, got 'lap"):
        budget.spend("laplace", 1.0, times=True)
    with pytest.raises(ValueError, match=r"times.*delta.*got 1"):
        budget.spend_dp(0.1, 1, times=1.0)
    with pytest.raises(ValueError, match=r"epsilon of the release.*got 800"):
        budget.spend_dp(800)
    with pytest.raises(ValueError, match=r"orders.*got 1"):
        budget.rdp(1.0)
    with pytest.raises(ValueError, match=r"delta.*got 1.5"):
        budget.epsilon_of(1.5)
    assert budget.epsilon_of() == 0.0
    assert repr(budget) == "Budget(epsilon=1.0, delta=1e-06, relation='replace-one')"


ONE = Laplace(2.0), 1.0


def test_an_entry_without_a_relation_is_refused():
    budget = Budget(3.0, 1e-6)
    for spend in (lambda: budget.spend(*ONE), lambda: budget.spend_dp(0.5)):
        with pytest.raises(ValueError, match=r"in the sensitivity set.*or as relation=, got None"):
            spend()
    assert budget.relation is None
    assert budget.epsilon_of() == 0.0


@pytest.mark.parametrize("first", ["add-remove", "replace-one"])
def test_the_first_entry_decides_and_others_are_refused_with_what_joins_them(first):
    second = "replace-one" if first == "add-remove" else "add-remove"
    budget = Budget(3.0)
    with pytest.raises(BudgetExceededError):
        budget.spend_dp(4.0, relation=second)  # nothing is recorded
    assert budget.relation is None
    budget.spend(Laplace(2.0), LInf(1.0, relation=first))
    assert budget.relation == first
    with pytest.raises(ValueError, match=r"relation: expected.*got None"):
        budget.spend(*ONE)
    for spend in (
        lambda: budget.spend(Laplace(2.0), LInf(1.0, relation=second)),
        lambda: budget.spend(*ONE, relation=second),
        lambda: budget.spend_dp(0.5, relation=second),
    ):
        with pytest.raises(
            ValueError, match=r"replace_one\(set\) makes a set for 'add-remove' one"
        ):
            spend()
    assert budget.epsilon_of() == 0.5
    budget.spend_dp(0.5, relation=first)
    assert budget.epsilon_of() == 1.0


def test_a_budget_for_one_relation_gives_it_to_numbers_and_refuses_other_sets():
    budget = Budget(3.0, relation="add-remove")
    budget.spend(*ONE)
    budget.spend_dp(0.5)
    assert budget.epsilon_of() == 1.0
    assert repr(budget).endswith("relation='add-remove')")
    with pytest.raises(ValueError, match="'add-remove' and 'replace-one'"):
        budget.spend(Laplace(2.0), LInf(1.0, relation="replace-one"))
    with pytest.raises(ValueError, match="the set and relation="):
        budget.spend(Laplace(2.0), LInf(1.0, relation="replace-one"), relation="add-remove")
    with pytest.raises(ValueError, match="relation: expected 'add-remove'"):
        Budget(1.0, relation="both")


def test_a_box_is_charged_as_its_numbers_and_another_set_by_its_largest_norm():
    plain = Budget(3.0, relation="add-remove")
    plain.spend([Laplace(2.0)] * 2, [1.0, 0.5])
    box = Budget(3.0)
    box.spend([Laplace(2.0)] * 2, Box([1.0, 0.5], relation="add-remove"))
    assert box.epsilon_of() == plain.epsilon_of() == 0.75
    box.spend([Laplace(2.0)] * 2, L2(1.0, of=2, relation="add-remove"))
    assert box.epsilon_of() == pytest.approx(0.75 + math.sqrt(2.0) / 2.0, rel=1e-12)
    for one, ball in ((Laplace(2.0), L1(0.5, of=9)), (Gaussian(8.0), L2(1.0, of=3))):
        whole, number = Budget(3.0, DELTA), Budget(3.0, DELTA)
        whole.spend(one, ball.stating("add-remove"))
        number.spend(one, 0.5 if one == Laplace(2.0) else 1.0, relation="add-remove")
        assert whole.epsilon_of() == number.epsilon_of()
    ball = L2(1.0, of=2, relation="add-remove")
    joint = Budget(3.0)
    joint.spend(RadialNoise(ball, 1.0), ball)
    assert joint.epsilon_of() == 1.0


def test_a_budget_lists_what_was_spent_and_what_is_left():
    budget = Budget(3.0, DELTA, relation="replace-one")
    budget.spend(Gaussian(4.0), 1.0, times=5)
    budget.spend_dp(0.25)
    assert [(one.what, one.times) for one in budget.entries] == [
        ("Gaussian(sigma=4.0) at sensitivity 1.0", 5),
        ("(0.25, 0.0)-DP", 1),
    ]
    shown = str(budget)
    assert "5 x Gaussian(sigma=4.0) at sensitivity 1.0: epsilon = 2.549 alone" in shown
    assert f"left: {budget.remaining():.4g}" in shown
    with pytest.raises(BudgetExceededError):
        budget.spend_dp(2.9)
    assert len(budget.entries) == 2
    budget.entries.clear()
    assert len(budget.entries) == 2


def test_a_copy_shows_and_does_not_spend():
    """Else an estimator that is cloned, or sent to another process, would spend twice."""
    budget = Budget(1.0, relation="replace-one")
    budget.spend_dp(0.5)
    for other in (copy.copy(budget), copy.deepcopy(budget), pickle.loads(pickle.dumps(budget))):  # noqa: S301
        assert other.epsilon_of() == 0.5
        with pytest.raises(ValueError, match=r"expected the original.*got a copy"):
            other.spend_dp(0.1)
    budget.spend_dp(0.25)
    assert budget.epsilon_of() == 0.75


def test_basic_composition_of_stated_guarantees_is_enough():
    """Two halves of a budget fit it, whatever the rounding of the profile."""
    half = calibrate("gaussian", epsilon=0.5, delta=5e-7)
    budget = Budget(1.0, 1e-6, relation="replace-one")
    budget.spend(half, times=2)
    assert budget.epsilon_of() <= 1.0
    whole = Budget(0.5, 5e-7, relation="replace-one")
    whole.spend(half)
    with pytest.raises(BudgetExceededError):
        whole.spend_dp(0.01)


def test_a_result_states_all_the_rest():
    budget = Budget(3.0, DELTA, relation="replace-one")
    found = calibrate("laplace", epsilon=0.5, dimension=3)
    with pytest.raises(ValueError, match="sensitivity: expected none beside a result"):
        budget.spend(found, 1.0)
    with pytest.raises(ValueError, match="noise with a sensitivity, or what `best`"):
        budget.spend(Laplace(1.0))
    budget.spend(found, times=2)
    assert budget.epsilon_of(0.0) == 1.0
    tight, one = Budget(3.0, DELTA, relation="replace-one"), found.noise
    tight.spend([one] * 6, [1.0] * 6)
    assert budget.epsilon_of() == tight.epsilon_of()


# --- true differences -----------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [Staircase(0.4, 1.0, 0.4), TruncatedLaplace(3.0, 30.0)], ids=repr)
def test_noise_by_coordinate_counts_for_the_coordinates_that_move(noise):
    """For people in one or two of twenty groups as for one or two numbers."""
    for m in (1, 2):
        one, other = (Budget(50.0, 0.5, relation="add-remove") for _ in range(2))
        one.spend(noise, Counts(m, of=20, relation="add-remove"), times=3)
        other.spend(noise, 1.0, times=3 * m)
        assert one.epsilon_of(1e-3) == other.epsilon_of(1e-3)
    wide = Budget(50.0, 0.5, relation="add-remove")
    scales = np.array([3.0, 1.0, 2.0])
    wide.spend(IndependentNoise(noise, scales), AtMost(2, of=3, relation="add-remove"))
    pair = Budget(50.0, 0.5, relation="add-remove")
    pair.spend([noise, noise], [1.0, 0.5])  # the two smallest scales
    assert wide.epsilon_of(1e-3) == pytest.approx(pair.epsilon_of(1e-3), rel=1e-9)
