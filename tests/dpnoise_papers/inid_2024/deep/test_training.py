"""Private training: steps against a plain loop, resumed runs, noise, refusals, one result."""

import math

import numpy as np
import pandas as pd
import pytest

import deep_toys as toys

torch = pytest.importorskip("torch")
from dpnoise_papers.inid_2024.deep import training  # noqa: E402
from dpnoise_papers.inid_2024.deep.network import (  # noqa: E402
    initial_parameters,
    parameter_groups,
    residual_network,
)
from dpnoise_papers.inid_2024.deep.run import (  # noqa: E402
    Images,
    Trial,
    draw,
)
from dpnoise_papers.inid_2024.deep.training import (  # noqa: E402
    one_result,
    train,
)
from dpnoise_papers.seeds import generator  # noqa: E402

DATA = toys.images()


def same(one, two):
    """Whether two runs came out the same to the last bit."""
    tables = one.epochs.equals(two.epochs) and one.groups.equals(two.groups)
    names = one.parameters.keys() == two.parameters.keys()
    return (
        tables
        and names
        and all(np.array_equal(one.parameters[k], two.parameters[k]) for k in one.parameters)
    )


def plain(run, trial, data):
    """DP-SGD as a textbook has it: a loop over samples, in float64."""
    model = residual_network(run.network, 1, 3)
    rng = generator(run.seed, *run.scope, *trial.stream, "initial")
    values = {name: v.double() for name, v in initial_parameters(model, rng).items()}
    groups = parameter_groups(model, "whole" if run.whole else run.groups)
    size = sum(value.numel() for value in values.values())
    scales = np.repeat(run.scales, [group.size for group in groups])
    q = 2 if run.noise == "gaussian" else 1
    for step in range(run.epochs * run.epoch_steps):
        rng = generator(run.seed, *run.scope, *trial.stream, "step", step)
        batch = draw([rng], run, len(data.train), size)
        total = np.zeros(size)
        for k in batch.indices[batch.present]:
            own = {name: value.clone().requires_grad_() for name, value in values.items()}
            logits = torch.func.functional_call(
                model, own, (torch.from_numpy(data.train[k : k + 1]).double(),)
            )
            label = torch.from_numpy(data.train_labels[k : k + 1])
            loss = torch.nn.functional.cross_entropy(logits, label)
            flat = [g.flatten() for g in torch.autograd.grad(loss, list(own.values()))]
            parts = np.split(torch.cat(flat).numpy(), np.cumsum([g.size for g in groups])[:-1])
            total += np.concatenate(
                [
                    part * min(1.0, clip / np.linalg.norm(part, q))
                    for part, clip in zip(parts, run.clips, strict=True)
                ]
            )
        change = trial.learning_rate * (total + scales * batch.noise[0])
        change /= run.rate * len(data.train)
        place = 0
        for name, value in values.items():
            part = torch.from_numpy(change[place : place + value.numel()])
            values[name] = value - part.reshape(value.shape)
            place += value.numel()
    return values


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"noise": "laplace", "clips": (3.0,) * 6},
        {"whole": True, "clips": (1.0,), "scales": (0.3,)},
    ],
)
def test_a_run_is_that_of_a_plain_loop(changes):
    run = toys.run(epochs=2, **changes)
    found = train(run, DATA)
    for k, trial in enumerate(run.trials[:2]):
        expected = plain(run, trial, DATA)
        for name, value in expected.items():
            assert np.allclose(found.parameters[name][k], value, rtol=1e-3, atol=2e-4)


def test_it_learns():
    run = toys.run(scales=(0.0,) * 6, epochs=15, rate=0.5)
    last = train(run, DATA).epochs.query("epoch == 15")
    assert (last["accuracy"] > 90).all()
    assert (last["train_loss"] < 0.5).all()


def test_chunks_and_threads_move_nothing():
    whole = train(toys.run(), DATA)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        chunks = train(toys.run(chunk=3), DATA)
        assert torch.get_num_threads() == 2  # as it was
    finally:
        torch.set_num_threads(before)
    for name, value in whole.parameters.items():
        assert np.allclose(chunks.parameters[name], value, rtol=1e-4, atol=1e-5)


def test_networks_do_not_depend_on_how_many_are_trained_at_once():
    """To the last bit on the machines seen for two and more; one alone to rounding."""
    together = train(toys.run(), DATA)
    two = train(toys.run(trials=toys.TRIALS[1:]), DATA)
    one = train(toys.run(trials=toys.TRIALS[2:]), DATA)
    for name, value in together.parameters.items():
        assert np.allclose(two.parameters[name], value[1:], rtol=1e-4, atol=1e-5)
        assert np.allclose(one.parameters[name][0], value[2], rtol=1e-3, atol=1e-4)


def test_the_same_run_has_the_same_bytes():
    assert same(train(toys.run(), DATA), train(toys.run(), DATA))


@pytest.mark.parametrize("killed", [1, 2, 3])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_killed_run_goes_on_to_the_same_bytes(killed, when, tmp_path, monkeypatch):
    """Killed in an epoch, or while its state was written."""
    whole = train(toys.run(), DATA)
    path = tmp_path / "state.npz"
    save, calls = training.save_state, []

    def dies(*told):
        calls.append(told)
        if when == "after":
            save(*told)
        if len(calls) == killed:
            raise KeyboardInterrupt
        if when == "before":
            save(*told)

    monkeypatch.setattr(training, "save_state", dies)
    with pytest.raises(KeyboardInterrupt):
        train(toys.run(), DATA, checkpoint=path)
    monkeypatch.setattr(training, "save_state", save)
    assert same(train(toys.run(), DATA, checkpoint=path), whole)
    state = path.read_bytes()
    assert same(train(toys.run(), DATA, checkpoint=path), whole)  # nothing is left to do
    assert path.read_bytes() == state


@pytest.mark.parametrize(
    "changes", [{"rate": 0.5}, {"scales": (0.2,) * 6}, {"seed": 6}, {"epochs": 4}]
)
def test_a_checkpoint_of_other_settings_is_refused(changes, tmp_path):
    path = tmp_path / "state.npz"
    train(toys.run(epochs=1), DATA, checkpoint=path)
    with pytest.raises(ValueError, match="expected a checkpoint of these settings"):
        train(toys.run(**({"epochs": 1} | changes)), DATA, checkpoint=path)


def test_empty_batches_are_steps_of_noise():
    """Without a sample parameters move by the noise alone."""
    data = Images(DATA.train[:1], np.array([2]), DATA.test, DATA.test_labels, "toy")
    trials = tuple(Trial(("report", k), 0.5) for k in range(8))
    run = toys.run(rate=0.05, epochs=1, trials=trials)
    found = train(run, data)
    taken = found.epochs["samples"].to_numpy()
    assert (taken == 0).any()
    lone = found.epochs.query("samples == 0")
    for k in np.flatnonzero(taken == 0):
        expected = plain(run, run.trials[k], data)
        for name, value in expected.items():
            assert np.allclose(found.parameters[name][k], value, rtol=1e-4, atol=1e-5)
    assert lone["train_loss"].isna().all()
    assert lone["signal"].eq(0).all()
    assert (found.epochs["noise_norm"] > 0).all()


def test_recorded_noise_is_that_of_the_scales():
    """Mean square of the noise of group m over q N: K_m s_m^2 / (q N)^2, twice for Laplace."""
    for noise, factor in (("gaussian", 1.0), ("laplace", 2.0)):
        run = toys.run(noise=noise, rate=0.02, epochs=1)
        groups = train(run, DATA).groups
        expected = factor * groups["size"] * groups["scale"] ** 2 / (0.02 * 40) ** 2
        ratio = groups["noise_norm"] ** 2 / expected
        slack = 6.0 * math.sqrt(5.0 / (50 * 40))
        assert np.all(np.abs(ratio - 1.0) < slack)


def test_records_by_group_add_up():
    run = toys.run()
    found = train(run, DATA)
    squares = found.groups.assign(
        signal=found.groups["signal"] ** 2, noise_norm=found.groups["noise_norm"] ** 2
    )
    keys = ["stream", "epoch"]
    total = squares.groupby(keys, sort=False)[["signal", "noise_norm"]].sum() ** 0.5
    expected = found.epochs.set_index(keys)[["signal", "noise_norm"]]
    pd.testing.assert_frame_equal(total.sort_index(), expected.sort_index())
    groups = found.groups
    most = groups["threshold"] * 40 / (0.25 * 40)  # all samples in one batch
    assert (groups["signal"] <= most).all()
    assert groups["clipped"].between(0, 1).all()
    model = residual_network(run.network, 1, 3)
    sizes = [group.size for group in parameter_groups(model, "layer")]
    assert groups["size"].tolist() == sizes * 9


def test_global_clipping_is_recorded_by_group():
    found = train(toys.run(whole=True, clips=(1.0,), scales=(0.2,)), DATA)
    assert found.groups["group"].nunique() == 6
    assert found.groups["threshold"].eq(1.0).all()
    by_trial = found.groups.groupby(["stream", "epoch"])["clipped"]
    assert by_trial.max().equals(by_trial.min())


def test_a_bad_image_is_dropped_and_counted():
    train_images = DATA.train.copy()
    train_images[3] = np.nan
    data = Images(train_images, DATA.train_labels, DATA.test, DATA.test_labels, "toy")
    found = train(toys.run(rate=1.0), data)
    assert found.epochs["dropped"].eq(1).all()
    assert np.isfinite(found.epochs["train_loss"]).all()


def test_a_diverged_loss_stops_the_run():
    hopeless = tuple(Trial(("report", k), 1e6) for k in range(2))
    with pytest.raises(RuntimeError, match=r"toy: training diverged in epoch \d+: expected"):
        train(toys.run(trials=hopeless, scales=(1e30,) * 6), DATA)
    found = train(toys.run(trials=hopeless, scales=(1e30,) * 6, stop=False), DATA)
    assert not np.isfinite(found.epochs["train_loss"]).all()


def test_thresholds_for_other_groups_are_refused():
    with pytest.raises(ValueError, match="clips: expected 6, one for each group, got 2"):
        train(toys.run(clips=(1.0, 1.0), scales=(1.0, 1.0)), DATA)


def test_bfloat16_trains():
    found = train(toys.run(precision="bfloat16"), DATA)
    exact = train(toys.run(), DATA)
    assert np.isfinite(found.epochs["train_loss"]).all()
    assert not same(found, exact)


def test_a_missing_gpu_is_told():
    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(RuntimeError, match=r"expected a CUDA device, found none"):
        train(toys.run(), DATA, device="cuda")
    with pytest.raises(ValueError, match="device: expected 'cpu' or 'cuda', got 'tpu'"):
        train(toys.run(), DATA, device="tpu")


def test_deterministic_settings_are_restored():
    before = torch.get_num_threads()
    for _ in range(2):
        assert not torch.are_deterministic_algorithms_enabled()
        assert torch.get_num_threads() == before
        with one_result("cpu"):
            assert torch.are_deterministic_algorithms_enabled()
            assert torch.get_num_threads() == 1
