"""Runs of Table III: paired noise, numbered streams, more budget."""

import numpy as np
import pytest

from dpnoise.noise import FlippedHuber
from dpnoise_papers.flipped_huber_2023.tables import table_3_runs
from dpnoise_papers.flipped_huber_2023.tables.table_3_noise import account
from dpnoise_papers.flipped_huber_2023.tables.table_3_runs import EXACT, Runs
from dpnoise_papers.flipped_huber_2023.tables.table_3_splits import make_split
from table_3_toys import LOGISTIC, NAMES, SQUARED, dataset, settings

LOSSES = pytest.mark.parametrize("loss", ["squared", "logistic"])
TWO = {"low": 0.1, "high": 1.0, "count": 2, "spacing": "log"}


def split_of(loss="squared", index=0, seed=2023, task=None, **setting):
    tasks = {NAMES[loss]: {**(SQUARED if loss == "squared" else LOGISTIC), **(task or {})}}
    return make_split(dataset(loss), settings(seed=seed, tasks=tasks, setting=setting), index)


def runs_of(loss="squared", trials=range(3), first=0, threads=1, **changes):
    chosen = settings(passes=[5], clips=TWO, **changes)
    asked = {(mechanism, EXACT): chosen.passes for mechanism in chosen.mechanisms}
    runs = Runs(dataset(loss), chosen, asked, trials=max(trials) + 1, first=first)
    runs.run(trials, threads)
    return runs


def seen_by_descend(monkeypatch, **changes):
    """Return what is handed to the algorithm, call by call: one for each noise and trial."""
    calls = []

    def spy(problem, **arguments):
        calls.append(arguments)
        return np.zeros((2, 2, len(arguments["noise"]), problem.coordinates))

    monkeypatch.setattr(table_3_runs, "descend", spy)
    runs_of(**changes)
    return calls


@LOSSES
def test_flipped_huber_noise_with_alpha_zero_gives_the_very_numbers_of_gaussian_noise(loss):
    unit = account(split_of(loss), "flipped-huber", settings(), 5).unit
    assert isinstance(unit, FlippedHuber)
    assert unit.alpha == 0.0
    nmse = runs_of(loss).nmse
    assert np.array_equal(nmse["flipped-huber", EXACT], nmse["gaussian", EXACT])
    assert not np.array_equal(nmse["gaussian-tight", EXACT], nmse["gaussian", EXACT])


def test_every_mechanism_maps_the_same_uniforms(monkeypatch):
    # at this budget the search of the paper ends at alpha > 0, so three distributions differ
    small = {"epsilon": 0.1, "delta": 1e-9, "xi_grid": 200}
    calls = seen_by_descend(monkeypatch, trials=[0], **small)
    chosen = settings(**small)
    units = [
        account(make_split(dataset(), chosen, 0), m, chosen, 5).unit for m in chosen.mechanisms
    ]
    assert units[1].alpha > 0
    assert len(calls) == 3
    uniforms = [u.cdf(call["noise"]) for u, call in zip(units, calls, strict=True)]
    assert uniforms[0].shape == (1, 5, 3)
    assert np.allclose(uniforms[1], uniforms[0], rtol=1e-9, atol=0.0)
    assert np.allclose(uniforms[2], uniforms[0], rtol=1e-9, atol=0.0)


def test_the_noise_does_not_depend_on_the_order_of_coordinates(monkeypatch):
    cyclic = seen_by_descend(monkeypatch, trials=[0, 1], setting={"order": "cyclic"})
    shuffled = seen_by_descend(monkeypatch, trials=[0, 1], setting={"order": "random"})
    assert len(cyclic) == len(shuffled) == 4
    assert all(
        np.array_equal(one["noise"], two["noise"])
        for one, two in zip(cyclic, shuffled, strict=True)
    )
    assert np.array_equal(cyclic[0]["orders"], np.broadcast_to(np.arange(3), (1, 5, 3)))
    first, same, second, _ = (call["orders"] for call in shuffled)
    assert set(first.ravel()) == {0, 1, 2}
    assert np.array_equal(first, same)
    assert not np.array_equal(first, second)


@LOSSES
@pytest.mark.parametrize("order", ["cyclic", "random"])
def test_a_trial_does_not_depend_on_which_others_run(loss, order):
    # a distribution with alpha > 0, whose quantile function is solved for and not a formula
    chosen = {"epsilon": 0.1, "delta": 1e-9, "xi_grid": 200, "setting": {"order": order}}
    together = runs_of(loss, range(4), **chosen)
    alone = runs_of(loss, [2], **chosen)
    threaded = runs_of(loss, [3, 2, 1, 0], threads=3, **chosen)
    later = runs_of(loss, [0], first=2, **chosen)
    for key, nmse in together.nmse.items():
        assert nmse.shape == (1, 2, 2, 4)
        assert np.array_equal(alone.nmse[key][..., 2], nmse[..., 2])
        assert np.isinf(alone.nmse[key][..., :2]).all()
        assert np.array_equal(threaded.nmse[key], nmse)
        assert np.array_equal(later.nmse[key][..., 0], nmse[..., 2])
        assert np.array_equal(threaded.test_error[key[0]], together.test_error[key[0]])
    nmse = together.nmse["gaussian", EXACT]
    assert len(np.unique(nmse)) == nmse.size


def test_trials_of_one_run_of_the_protocol_share_a_partition():
    known = settings(setting={"split": "fixed"})
    asked = {("gaussian", EXACT): known.passes}
    runs = Runs(dataset(), known, asked, trials=6, first=9, together=3)
    parts = [runs.trial(place).split for place in range(6)]
    targets = [part.test_target for part in parts]
    assert all(np.array_equal(target, targets[0]) for target in targets[:3])
    assert all(np.array_equal(target, targets[3]) for target in targets[3:])
    assert not np.array_equal(targets[0], targets[3])
    # those of the table itself are all one run, on a partition of its own
    table = Runs(dataset(), known, asked, trials=6)
    whole = [table.trial(place).split.test_target for place in range(6)]
    assert all(np.array_equal(target, whole[0]) for target in whole)
    assert not any(np.array_equal(target, whole[0]) for target in targets)
    assert not np.array_equal(*(runs._draw(runs.trial(place), 2)[0] for place in (0, 1)))


def mean_of(epsilon, passes, trials, step, clip):
    """Return NMSE and the difference in test error of one configuration, means over trials."""
    grids = {
        name: {"low": value, "high": 2.0 * value, "count": 2, "spacing": "log"}
        for name, value in (("steps", step), ("clips", clip))
    }
    chosen = settings(
        mechanisms=["gaussian-tight"], passes=[passes], **grids, setting={"split": "fixed"}
    ).model_copy(update={"epsilon": epsilon})
    runs = Runs(dataset(), chosen, {("gaussian-tight", EXACT): [passes]}, trials=trials)
    runs.run(range(trials), 1)
    split = make_split(dataset(), chosen, 0)
    excess = runs.test_error["gaussian-tight"][0, 0, 0] - split.test_error(split.optimum)
    return runs.nmse["gaussian-tight", EXACT][0, 0, 0].mean(), abs(excess).max()


def test_with_hardly_any_noise_the_optimum_is_reached():
    nmse, excess = mean_of(1e12, 100, 1, 1.0, 50.0)
    assert nmse < 1e-6
    assert excess < 1e-3


def test_more_budget_helps():
    loss = [mean_of(epsilon, 5, 50, 0.5, 2.0)[0] for epsilon in (0.1, 1.0, 10.0, 100.0)]
    assert np.all(np.diff(loss) < 0)
