"""Our accountant in Opacus, beside its own; in the environment of `make test-deep`."""

import doctest

import pytest

pytest.importorskip("opacus")
pytest.importorskip("dp_accounting")

import torch
from opacus import PrivacyEngine
from opacus.accountants import PRVAccountant, RDPAccountant

import dpnoise.learn.opacus
from dpnoise import Gaussian, epsilon_at
from dpnoise.learn.opacus import AddRemoveAccountant, ReplaceOneAccountant

pytestmark = pytest.mark.filterwarnings("ignore")


def stepped(kind, *steps):
    accountant = kind()
    for multiplier, rate, times in steps:
        for _ in range(times):
            accountant.step(noise_multiplier=multiplier, sample_rate=rate)
    return accountant


def test_epsilon_lies_where_the_accountants_of_opacus_say():
    steps = (2.0, 0.05, 100), (1.5, 0.05, 50)
    ours = stepped(AddRemoveAccountant, *steps)
    assert len(ours) == 150
    epsilon = ours.get_epsilon(1e-5)
    assert epsilon == pytest.approx(stepped(PRVAccountant, *steps).get_epsilon(1e-5), rel=2e-2)
    assert epsilon <= stepped(RDPAccountant, *steps).get_epsilon(1e-5)


def test_without_sampling_the_account_is_exact():
    ours = stepped(AddRemoveAccountant, (4.0, 1.0, 4))
    assert ours.get_epsilon(1e-6) == pytest.approx(epsilon_at(Gaussian(2.0), 1.0, 1e-6), rel=1e-7)
    replaced = stepped(ReplaceOneAccountant, (4.0, 1.0, 4)).get_epsilon(1e-6)
    assert replaced == pytest.approx(epsilon_at(Gaussian(2.0), 2.0, 1e-6), rel=1e-7)


def test_an_engine_takes_it_and_a_checkpoint_keeps_it():
    generator = torch.Generator().manual_seed(1)
    data = torch.utils.data.TensorDataset(torch.randn(64, 3, generator=generator))
    model = torch.nn.Linear(3, 1)
    engine = PrivacyEngine(accountant="dpnoise-add-remove")
    model, optimiser, loader = engine.make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=torch.utils.data.DataLoader(data, batch_size=16, generator=generator),
        noise_multiplier=1.5,
        max_grad_norm=1.0,
    )
    for (batch,) in loader:
        optimiser.zero_grad()
        model(batch).square().mean().backward()
        optimiser.step()
    expected = stepped(AddRemoveAccountant, (1.5, 0.25, len(loader))).get_epsilon(1e-5)
    assert engine.get_epsilon(1e-5) == pytest.approx(expected)
    copy = AddRemoveAccountant()
    copy.load_state_dict(engine.accountant.state_dict())
    assert copy.get_epsilon(1e-5) == engine.get_epsilon(1e-5)


def test_no_step_costs_nothing_and_bad_ones_are_refused():
    assert AddRemoveAccountant().get_epsilon(1e-5) == 0.0
    with pytest.raises(ValueError, match="delta"):
        AddRemoveAccountant().get_epsilon(2.0)
    with pytest.raises(ValueError, match="sampling"):
        stepped(AddRemoveAccountant, (1.0, 0.0, 1)).get_epsilon(1e-5)


def test_the_example_runs():
    assert doctest.testmod(dpnoise.learn.opacus).failed == 0
