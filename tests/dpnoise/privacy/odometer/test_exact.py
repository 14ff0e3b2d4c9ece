"""Releases of Poisson samples by dp_accounting, beside its own accountant and the exact account."""

import math

import pytest

from dpnoise import (
    Budget,
    BudgetExceededError,
    DiscreteLaplace,
    FlippedHuber,
    Gaussian,
    Laplace,
    TruncatedLaplace,
)
from dpnoise.noise import KNorm
from dpnoise.privacy.loss_distribution import loss_distribution

dp_accounting = pytest.importorskip("dp_accounting")


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_the_peer_finds_the_same_epsilon(relation):
    from dp_accounting.pld.pld_privacy_accountant import PLDAccountant
    from dp_accounting.privacy_accountant import NeighboringRelation as Relation

    which = Relation.REPLACE_ONE if relation == "replace-one" else Relation.ADD_OR_REMOVE_ONE
    peer = PLDAccountant(which)
    event = dp_accounting.PoissonSampledDpEvent(0.05, dp_accounting.GaussianDpEvent(2.0))
    peer.compose(event, 200)
    budget = Budget(20.0, 1e-5, relation=relation)
    budget.spend(Gaussian(6.0), 3.0, times=200, sampling=0.05)
    assert budget.epsilon_of() == pytest.approx(peer.get_epsilon(1e-5), rel=1e-4)


def test_a_sample_of_everything_is_no_sample():
    whole, sampled = (
        Budget(20.0, 1e-5, relation="replace-one"),
        Budget(20.0, 1e-5, relation="add-remove"),
    )
    for budget in (whole, sampled):
        budget.spend(Laplace(4.0), 1.0, times=2)
        budget.spend_dp(0.1)
    whole.spend(Gaussian(3.0), 1.0, times=4)
    sampled.spend(Gaussian(3.0), 1.0, times=4, sampling=1.0)
    assert sampled.epsilon_of() == pytest.approx(whole.epsilon_of(), rel=1e-8)
    assert sampled.remaining() == pytest.approx(20.0 - sampled.epsilon_of())
    assert sampled.rdp(2.0) == math.inf


def test_other_noise_beside_a_sample_of_everything_is_counted_as_exactly():
    for noise in (FlippedHuber(1.0, 3.0), TruncatedLaplace(2.0, 60.0), DiscreteLaplace(3.0)):
        whole, sampled = (
            Budget(20.0, 1e-5, relation="replace-one"),
            Budget(20.0, 1e-5, relation="add-remove"),
        )
        for budget in (whole, sampled):
            budget.spend(noise, 1, times=2)
        whole.spend(Gaussian(3.0), 1.0)
        sampled.spend(Gaussian(3.0), 1.0, sampling=1.0)
        assert whole.epsilon_of() <= sampled.epsilon_of() * (1 + 1e-7)
        assert sampled.epsilon_of() <= whole.epsilon_of() * (1 + 1e-3)


def test_a_distribution_goes_to_dp_accounting_and_back():
    direct, back = (
        Budget(20.0, 1e-6, relation="replace-one"),
        Budget(20.0, 1e-6, relation="replace-one"),
    )
    direct.spend(FlippedHuber(0.5, 3.0), 1.0, times=6)
    there = loss_distribution(FlippedHuber(0.5, 3.0), 1.0)
    back.spend_distribution(there.self_compose(2), times=3)
    assert back.epsilon_of() == pytest.approx(direct.epsilon_of(), rel=1e-6)
    assert back.epsilon_of() == pytest.approx(
        there.self_compose(6).get_epsilon_for_delta(1e-6), rel=1e-6
    )


def test_a_distribution_of_another_kind_is_refused():
    budget = Budget(1.0, 1e-6, relation="replace-one")
    coarse = loss_distribution(Gaussian(4.0), 1.0, interval=1e-2)
    for wrong in (coarse, 0.3):
        with pytest.raises(ValueError, match=r"distribution: expected a pessimistic.*0.0001"):
            budget.spend_distribution(wrong)
    with pytest.raises(BudgetExceededError, match="2 times privacy loss distribution"):
        budget.spend_distribution(loss_distribution(Gaussian(4.0), 1.0), times=2)
    assert budget.epsilon_of() == 0.0


def test_what_cannot_be_counted_is_refused():
    budget = Budget(20.0, 1e-5, relation="replace-one")
    with pytest.raises(ValueError, match="noise: expected Gaussian noise beside sampling"):
        budget.spend(Laplace(4.0), 1.0, sampling=0.1)
    with pytest.raises(ValueError, match=r"sampling.*got 0.*sensitivity.*got 0"):
        budget.spend(Gaussian(4.0), 0.0, sampling=0)
    with pytest.raises(ValueError, match=r"sigma / sensitivity.*got 9.99"):
        budget.spend(Gaussian(1e-9), 1.0, sampling=0.1)
    budget.spend(Gaussian(4.0), 1.0, sampling=0.1)
    before = budget.epsilon_of()
    with pytest.raises(ValueError, match="losses reach beyond"):
        budget.spend(Gaussian(1e-3), 1.0)
    assert budget.epsilon_of() == before
    with pytest.raises(ValueError, match="no sampled one"):
        Budget(1.0, 1e-5, account="gaussian-filter", relation="replace-one").spend(
            Gaussian(4.0), 1.0, sampling=0.1
        )


def test_joint_noise_beside_samples_counts_by_its_largest_loss():
    budget = Budget(9.0, 1e-5, relation="add-remove")
    budget.spend(Gaussian(2.0), 1.0, times=10, sampling=0.1)
    alone = budget.epsilon_of()
    budget.spend(KNorm(2, 3, 4.0), 1.0)
    assert alone < budget.epsilon_of() <= alone + 0.25 + 1e-3
