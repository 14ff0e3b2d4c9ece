"""Private training: steps against a plain loop, resumed runs, noise, refusals, one result."""

import numpy as np
import pytest

import deep_toys as toys
from dpnoise_papers.config import load

torch = pytest.importorskip("torch")
from dpnoise_papers.inid_2024.deep import training  # noqa: E402
from dpnoise_papers.inid_2024.deep.network import (  # noqa: E402
    initial_parameters,
    parameter_groups,
    residual_network,
    sample_gradients,
)
from dpnoise_papers.inid_2024.deep.run import (  # noqa: E402
    DivergedError,
    Images,
    OutOfTimeError,
    Trial,
    draw,
    read_state,
    save_state,
    search_trials,
)
from dpnoise_papers.inid_2024.deep.training import (  # noqa: E402
    NoDeviceError,
    one_result,
    train,
)
from dpnoise_papers.seeds import generator  # noqa: E402

DATA = toys.images()


@pytest.fixture(params=["cpu", "cpu, one network after another", "cuda"])
def device(request, monkeypatch):
    """Each kind of device that is there, and a CPU that takes the steps as a GPU does."""
    kind = request.param.split(",")[0]
    if kind == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device here")
    if kind != request.param:
        monkeypatch.setattr(training, "_ALONE", {"cpu"})
    return kind


def same(one, two, *, records=False):
    """Whether two runs, or their records, came out the same to the last bit."""
    tables = one.epochs.equals(two.epochs)
    if records or not tables:
        return tables
    names = one.parameters.keys() == two.parameters.keys()
    return names and all(
        np.array_equal(one.parameters[k], two.parameters[k]) for k in one.parameters
    )


def plain(run, trial, data):
    """DP-SGD as a textbook has it: a loop over samples, in float64."""
    model = residual_network(run.network, 1, 3)
    rng = generator(run.seed, *run.scope, *trial.stream, "initial")
    values = {name: v.double() for name, v in initial_parameters(model, rng).items()}
    groups = parameter_groups(model, whole=run.whole)
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
def test_a_run_is_that_of_a_plain_loop(changes, device):
    run = toys.run(epochs=2, **changes)
    found = train(run, DATA, device=device)
    for k, trial in enumerate(run.trials[:2]):
        expected = plain(run, trial, DATA)
        for name, value in expected.items():
            assert np.allclose(found.parameters[name][k], value, rtol=1e-3, atol=2e-4)


def test_it_learns(device):
    run = toys.run(scales=(0.0,) * 6, epochs=15, rate=0.5)
    last = train(run, DATA, device=device).epochs.query("epoch == 15")
    assert (last["accuracy"] > 90).all()
    assert (last["train_loss"] < 0.5).all()


def test_chunks_and_threads_move_nothing(device):
    whole = train(toys.run(), DATA, device=device)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        chunks = train(toys.run(chunk=3), DATA, device=device)
        assert torch.get_num_threads() == 2  # as it was
    finally:
        torch.set_num_threads(before)
    for name, value in whole.parameters.items():
        assert np.allclose(chunks.parameters[name], value, rtol=1e-4, atol=1e-5)


def test_networks_do_not_depend_on_how_many_are_trained_at_once(device):
    """To the last bit on the machines seen for two and more; one alone to rounding."""
    together = train(toys.run(), DATA, device=device)
    two = train(toys.run(trials=toys.TRIALS[1:]), DATA, device=device)
    one = train(toys.run(trials=toys.TRIALS[2:]), DATA, device=device)
    for name, value in together.parameters.items():
        assert np.allclose(two.parameters[name], value[1:], rtol=1e-4, atol=1e-5)
        assert np.allclose(one.parameters[name][0], value[2], rtol=1e-3, atol=1e-4)


def test_the_same_run_has_the_same_bytes(device):
    assert same(train(toys.run(), DATA, device=device), train(toys.run(), DATA, device=device))


@pytest.mark.parametrize("killed", [1, 2, 3])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_killed_run_goes_on_to_the_same_bytes(killed, when, tmp_path, monkeypatch, device):
    """Killed in an epoch, or while its state was written."""
    whole = train(toys.run(), DATA, device=device)
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
        train(toys.run(), DATA, checkpoint=path, device=device)
    monkeypatch.setattr(training, "save_state", save)
    again = train(toys.run(), DATA, checkpoint=path, device=device)
    assert same(again, whole, records=(killed, when) == (3, "after"))  # nothing was left to do
    state = path.read_bytes()
    finished = train(toys.run(), DATA, checkpoint=path, device=device)
    assert same(finished, whole, records=True)
    assert not finished.parameters
    assert path.read_bytes() == state


class Steps:
    """A limit that passes after so many steps; the first question is before any."""

    def __init__(self, steps):
        self.left = steps

    def passed(self):
        self.left -= 1
        return self.left < 0


@pytest.mark.parametrize("steps", [1, 2, 5, 100])
def test_a_run_that_stops_for_time_goes_on_at_its_step(steps, tmp_path, device):
    """To the same bytes, and it takes each of its 12 steps once."""
    whole = train(toys.run(), DATA, device=device)
    path, took = tmp_path / "state.npz", []
    while True:
        try:
            found = train(toys.run(), DATA, checkpoint=path, device=device, limit=Steps(steps))
            break
        except OutOfTimeError:
            took.append(int(read_state(path, toys.run().digest(DATA, device))["step"]))
    assert same(found, whole)
    assert took == list(range(steps, 12, steps))


def test_without_time_nothing_is_begun(tmp_path, device):
    with pytest.raises(OutOfTimeError):
        train(toys.run(), DATA, checkpoint=tmp_path / "state", device=device, limit=Steps(0))
    assert not list(tmp_path.iterdir())


def test_a_finished_run_needs_no_device(tmp_path):
    """Its records are read, whatever device they came from."""
    whole = train(toys.run(), DATA, checkpoint=tmp_path / "cpu")
    state = read_state(tmp_path / "cpu", toys.run().digest(DATA, "cpu"))
    save_state(tmp_path / "cuda", toys.run().digest(DATA, "cuda"), state)
    found = train(toys.run(), DATA, checkpoint=tmp_path / "cuda", device="cuda")
    assert same(found, whole, records=True)


def test_a_checkpoint_of_another_device_is_refused(tmp_path):
    train(toys.run(epochs=1), DATA, checkpoint=tmp_path / "state")
    with pytest.raises(ValueError, match=r"expected a checkpoint of these settings, data and dev"):
        train(toys.run(epochs=1), DATA, checkpoint=tmp_path / "state", device="cuda")


def test_checkpoints_of_the_table_can_be_carried(tmp_path):
    """Of its largest run, after the last epoch but one; finished: all cells in 16 MiB."""
    table = load("config.yaml").inid_2024.table_4_cifar10
    networks = max(len(table.learning_rates) * table.search, table.repetitions)
    run = toys.run(
        network=table.network, rate=table.rate, epochs=table.epochs, clips=(1.0,) * 20,
        scales=(1.0,) * 20, trials=search_trials(range(networks), 1),
    )  # fmt: skip
    labels = np.arange(50) % 10
    data = Images(*[np.zeros((50, 3, 32, 32), "f4"), labels] * 2, name="toy")
    trainer = training._Trainer(run, data, torch.device("cpu"))
    rng = np.random.default_rng(0)
    for _ in range(table.epochs - 1):
        trainer.records.end_epoch(rng.random((networks, 4)), rng.random(networks))
    save_state(tmp_path / "state", "digest", trainer.state())
    assert (tmp_path / "state").stat().st_size < 2**24
    save_state(tmp_path / "finished", "digest", trainer.state(finished=True))
    assert (tmp_path / "finished").stat().st_size * 2 * len(table.cells) < 2**24


@pytest.mark.parametrize(
    "changes", [{"rate": 0.5}, {"scales": (0.2,) * 6}, {"seed": 6}, {"epochs": 4}]
)
def test_a_checkpoint_of_other_settings_is_refused(changes, tmp_path, device):
    path = tmp_path / "state.npz"
    train(toys.run(epochs=1), DATA, checkpoint=path, device=device)
    with pytest.raises(ValueError, match="expected a checkpoint of these settings"):
        train(toys.run(**({"epochs": 1} | changes)), DATA, checkpoint=path, device=device)


def test_empty_batches_are_steps_of_noise(device):
    """Without a sample parameters move by the noise alone."""
    data = Images(DATA.train[:1], np.array([2]), DATA.test, DATA.test_labels, "toy")
    trials = tuple(Trial(("report", k), 0.5) for k in range(8))
    run = toys.run(rate=0.05, epochs=1, trials=trials)
    found = train(run, data, device=device)
    taken = found.epochs["samples"].to_numpy()
    assert (taken == 0).any()
    lone = found.epochs.query("samples == 0")
    for k in np.flatnonzero(taken == 0):
        expected = plain(run, run.trials[k], data)
        for name, value in expected.items():
            assert np.allclose(found.parameters[name][k], value, rtol=1e-4, atol=1e-5)
    assert lone["train_loss"].isna().all()


def test_the_share_of_clipped_groups_is_that_of_a_plain_loop(device):
    """By layer of the six, and of the whole gradient; nothing is clipped far above every norm."""
    for changes in ({}, {"whole": True, "clips": (1.0,), "scales": (0.2,)}):
        run = toys.run(epochs=1, rate=1.0, **changes)
        found = train(run, DATA, device=device).epochs["clipped"]
        model = residual_network(run.network, 1, 3)
        for trial, share in zip(run.trials, found, strict=True):
            rng = generator(run.seed, *run.scope, *trial.stream, "initial")
            values = {name: v[None] for name, v in initial_parameters(model, rng).items()}
            images, labels = torch.from_numpy(DATA.train), torch.from_numpy(DATA.train_labels)
            gradients, _ = sample_gradients(model, values, images[None], labels[None])
            over = [
                torch.cat([gradients[name].flatten(2) for name in group.tensors], -1).norm(dim=-1)
                > clip
                for group, clip in zip(
                    parameter_groups(model, whole=run.whole), run.clips, strict=True
                )
            ]
            assert share == pytest.approx(float(torch.stack(over).double().mean()), abs=1e-12)
        far = toys.run(epochs=1, **changes | {"clips": (1e6,) * len(run.clips)})
        assert train(far, DATA, device=device).epochs["clipped"].eq(0).all()


def test_a_bad_image_is_dropped_and_counted(device):
    train_images = DATA.train.copy()
    train_images[3] = np.nan
    data = Images(train_images, DATA.train_labels, DATA.test, DATA.test_labels, "toy")
    found = train(toys.run(rate=1.0), data, device=device)
    assert found.epochs["dropped"].eq(1).all()
    assert np.isfinite(found.epochs["train_loss"]).all()


def test_a_diverged_loss_stops_the_run(device):
    hopeless = tuple(Trial(("report", k), 1e6) for k in range(2))
    with pytest.raises(DivergedError, match=r"toy: training diverged in epoch \d+: expected"):
        train(toys.run(trials=hopeless, scales=(1e30,) * 6), DATA, device=device)
    found = train(toys.run(trials=hopeless, scales=(1e30,) * 6, stop=False), DATA, device=device)
    assert not np.isfinite(found.epochs["train_loss"]).all()


def test_thresholds_for_other_groups_are_refused(device):
    with pytest.raises(ValueError, match="clips: expected 6, one for each group, got 2"):
        train(toys.run(clips=(1.0, 1.0), scales=(1.0, 1.0)), DATA, device=device)


def test_cpu_and_gpu_agree():
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device here")
    one, two = (train(toys.run(), DATA, device=kind) for kind in ("cpu", "cuda"))
    for name, value in one.parameters.items():
        assert np.allclose(two.parameters[name], value, rtol=1e-3, atol=2e-4)
    assert one.epochs["samples"].equals(two.epochs["samples"])  # the same draws


def test_a_missing_gpu_is_told():
    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(NoDeviceError, match=r"expected a CUDA device, found none"):
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
