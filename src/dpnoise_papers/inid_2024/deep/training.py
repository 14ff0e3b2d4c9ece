"""Private stochastic gradient descent with noise by group of parameters.

Each step takes every sample with chance q, clips the gradient of each by group, adds noise to the
sum and moves the parameters by the learning rate times that over q N. Neighbouring data sets differ
by the presence of one sample (add or remove): the account of Poisson samples needs it, and the
divisor q N does not depend on the batch. An empty batch is a step of noise alone.

What is reproducible. A run is a function of its settings and data alone: not of cores, of the
moment at which it was killed, or, for two or more, of the number of networks trained at once.
Another kind of processor or a GPU may round a gradient differently, and the tables may then differ.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from tqdm import tqdm

from dpnoise._imports import imports_of
from dpnoise_papers.inid_2024.deep.gradients import clipped_sum, group_norms, sample_gradients
from dpnoise_papers.inid_2024.deep.network import (
    initial_parameters,
    parameter_groups,
    residual_network,
)
from dpnoise_papers.inid_2024.deep.records import Records, Trained, read_state, save_state
from dpnoise_papers.inid_2024.deep.run import draw
from dpnoise_papers.seeds import generator

with imports_of("deep"):
    import torch
    from torch import Tensor
    from torch.func import functional_call, vmap
    from torch.utils import deterministic

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from dpnoise_papers.inid_2024.deep.run import Images, Run


def train(
    run: Run, data: Images, *, checkpoint: Path | None = None, device: str = "cpu"
) -> Trained:
    """Networks trained privately, with a record of each epoch.

    Parameters
    ----------
    run : Run
        Settings.
    data : Images
        Training and test data.
    checkpoint : pathlib.Path, optional
        File of the state after each epoch, from which a killed run goes on to the same result.
    device : {"cpu", "cuda"}
        Where to compute.

    Returns
    -------
    Trained
        Records and parameters.

    Raises
    ------
    ValueError
        If settings, data and checkpoint do not fit.
    RuntimeError
        If there is no such device, or if a loss is not finite (with `run.stop`).
    """
    with one_result(device) as place:
        trainer = _Trainer(run, data, place)
        digest = run.digest(data)
        state = read_state(checkpoint, digest) if checkpoint else None
        if state:
            trainer.restore(state)
        start = len(trainer.records.totals)
        name = " ".join(map(str, run.scope))
        for epoch in tqdm(range(start, run.epochs), name, run.epochs, initial=start, disable=None):
            trainer.epoch(epoch)
            trainer.records.refuse_diverged()  # before it is saved: a second attempt says the same
            if checkpoint:
                save_state(checkpoint, digest, trainer.state())
        return Trained(*trainer.records.tables(), trainer.arrays())


class _Trainer:
    """State of a run between epochs, and its steps."""

    def __init__(self, run: Run, data: Images, device: torch.device) -> None:
        self.run, self.device = run, device
        _, channels, _, _ = data.train.shape
        classes = int(data.train_labels.max()) + 1
        self.images, self.labels = self._moved(data.train, data.train_labels)
        self.test, self.test_labels = self._moved(data.test, data.test_labels)
        self.model = residual_network(run.network, channels, classes)
        self.groups = parameter_groups(self.model, run.groups)
        self.clipped = parameter_groups(self.model, "whole") if run.whole else self.groups
        if len(run.clips) != len(self.clipped):
            expected = f"{len(self.clipped)}, one for each group"
            raise ValueError(f"training: clips: expected {expected}, got {len(run.clips)}")
        self.names = [name for name, _ in self.model.named_parameters()]
        self.batch = run.rate * len(self.images)
        sizes = [group.size for group in self.clipped]
        self.scales = torch.repeat_interleave(
            torch.tensor(run.scales, dtype=torch.float64), torch.tensor(sizes)
        ).to(self.device)
        rates = [trial.learning_rate for trial in run.trials]
        self.rates = torch.tensor(rates, dtype=torch.float64, device=self.device)[:, None]
        drawn = [
            initial_parameters(self.model, generator(run.seed, *run.scope, *t.stream, "initial"))
            for t in run.trials
        ]
        self.parameters = {
            name: torch.stack([one[name] for one in drawn]).to(self.device) for name in self.names
        }
        self.records = Records(run, self.groups)

    def _moved(self, images: np.ndarray, labels: np.ndarray) -> tuple[Tensor, Tensor]:
        moved = torch.as_tensor(images, dtype=torch.float32, device=self.device)
        return moved, torch.as_tensor(labels, dtype=torch.int64, device=self.device)

    def arrays(self) -> dict[str, np.ndarray]:
        """Parameters of all networks."""
        return {name: _array(self.parameters[name]) for name in self.names}

    def state(self) -> dict[str, np.ndarray]:
        """Everything that later epochs and the records depend on."""
        parameters = {f"parameter.{name}": value for name, value in self.arrays().items()}
        return parameters | self.records.state

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Set the state that `state` returned."""
        self.parameters = {
            name: torch.tensor(state[f"parameter.{name}"], device=self.device)
            for name in self.names
        }
        self.records.restore(state)

    def epoch(self, epoch: int) -> None:
        """Steps of one epoch, and the record of it."""
        steps = self.run.epoch_steps
        for step in range(epoch * steps, (epoch + 1) * steps):
            self._step(step)
        self.records.end_epoch(self._accuracy())

    def _step(self, step: int) -> None:
        run = self.run
        generators = [generator(run.seed, *run.scope, *t.stream, "step", step) for t in run.trials]
        batch = draw(generators, run, len(self.images), len(self.scales))
        sums = torch.zeros(batch.noise.shape, dtype=torch.float64, device=self.device)
        for start in range(0, batch.present.shape[1], run.chunk):
            part = slice(start, start + run.chunk)
            sums += self._chunk(batch.indices[:, part], batch.present[:, part])
        noise = torch.from_numpy(batch.noise).to(self.device) * self.scales
        self.records.add_step(self._squares(sums), self._squares(noise))
        change = self.rates * (sums + noise) / self.batch
        sizes = [self.parameters[name][0].numel() for name in self.names]
        for name, part in zip(self.names, change.split(sizes, dim=-1), strict=True):
            old = self.parameters[name]
            self.parameters[name] = (old - part.reshape(old.shape)).to(torch.float32)

    def _squares(self, vector: Tensor) -> np.ndarray:
        """Squared norms of a vector over q N, by group."""
        parts = (vector / self.batch).split([group.size for group in self.groups], dim=-1)
        return _array(torch.stack([part.square().sum(-1) for part in parts], -1))

    def _chunk(self, indices: np.ndarray, present: np.ndarray) -> Tensor:
        """Clipped sum of some samples of each trial."""
        run = self.run
        if indices.shape[1] == 1:  # padded to two, as `gradients` says
            indices, present = np.repeat(indices, 2, axis=1), np.pad(present, ((0, 0), (0, 1)))
        chosen = torch.from_numpy(indices).to(self.device)
        gradients, losses = sample_gradients(
            self.model,
            self.parameters,
            self.images[chosen],
            self.labels[chosen],
            bfloat16=run.precision == "bfloat16",
        )
        there = torch.from_numpy(present).to(self.device)
        found = clipped_sum(gradients, self.clipped, run.clips, run.order, there)
        norms = group_norms(found.norms, self.names, self.groups, run.order)
        self.records.add_samples(
            _array(found.kept.sum(1)),
            _array((there & ~found.kept).sum(1)),
            _array(torch.where(found.kept, losses, 0.0).sum(1, dtype=torch.float64)),
            _array(torch.where(found.kept[..., None], norms, 0.0).sum(1)),
            _array(found.clipped.sum(1)),
        )
        return found.sums

    def _accuracy(self) -> np.ndarray:
        """Accuracy of each trial on the test data, in per cent."""

        def logits(values: dict[str, Tensor], images: Tensor) -> Tensor:
            return functional_call(self.model, values, (images,))

        right = torch.zeros(len(self.run.trials), dtype=torch.int64, device=self.device)
        with torch.no_grad():
            for start in range(0, len(self.test), 500):
                part = slice(start, start + 500)
                found = vmap(logits, in_dims=(0, None))(self.parameters, self.test[part])
                right += (found.argmax(-1) == self.test_labels[part]).sum(-1)
        return 100.0 * _array(right) / len(self.test)


def _array(tensor: Tensor) -> np.ndarray:
    return tensor.detach().cpu().numpy()


@contextmanager
def one_result(device: str) -> Iterator[torch.device]:
    """Device whose results do not vary between runs; settings are afterwards as before.

    One thread, and deterministic algorithms only.

    Parameters
    ----------
    device : {"cpu", "cuda"}
        Where to compute.

    Yields
    ------
    torch.device
        The same.

    Raises
    ------
    ValueError
        If it is none of these.
    RuntimeError
        If there is no such device.
    """
    if device not in {"cpu", "cuda"}:
        raise ValueError(f"device: expected 'cpu' or 'cuda', got {device!r}")
    if device == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        if not torch.cuda.is_available():
            raise RuntimeError("device: expected a CUDA device, found none (or set device: cpu)")
    threads, before = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    fill = deterministic.fill_uninitialized_memory
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    deterministic.fill_uninitialized_memory = False  # a quarter of the time; none is read here
    try:
        yield torch.device(device)
    finally:
        deterministic.fill_uninitialized_memory = fill
        torch.use_deterministic_algorithms(before)
        torch.set_num_threads(threads)
