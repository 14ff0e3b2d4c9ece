"""Private stochastic gradient descent with noise by group of parameters.

Each step takes every sample with chance q, clips the gradient of each by group, adds noise to the
sum and moves the parameters by the learning rate times that over q N. Neighbouring data sets differ
by the presence of one sample (add or remove): the account of Poisson samples needs it, and the
divisor q N does not depend on the batch. An empty batch is a step of noise alone.

Losses, norms and accuracies are recorded for the tables; they are not private and no part of what
a data holder would release.

What is reproducible. A run is a function of its settings and data alone: not of cores, of the
moment at which it was killed, or, for two or more, of the number of networks trained at once.
Another kind of processor or a GPU may round a gradient differently, and the tables may then differ.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from tqdm import tqdm

from dpnoise._extras import imports_of
from dpnoise_papers.inid_2024.deep.checkpoint import read_state, save_state
from dpnoise_papers.inid_2024.deep.gradients import clipped_sum, group_norms, sample_gradients
from dpnoise_papers.inid_2024.deep.network import (
    initial_parameters,
    parameter_groups,
    residual_network,
)
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

    from dpnoise_papers.inid_2024.deep.images import Images
    from dpnoise_papers.inid_2024.deep.run import Run

EPOCH_COLUMNS = [
    "stream", "learning_rate", "epoch", "samples", "dropped", "train_loss", "accuracy", "clipped",
    "signal", "noise_norm",
]  # fmt: skip
GROUP_COLUMNS = [
    "stream", "learning_rate", "epoch", "group", "size", "threshold", "scale", "norm", "clipped",
    "signal", "noise_norm",
]  # fmt: skip


class Trained(NamedTuple):
    """What a run recorded.

    Attributes
    ----------
    epochs : pandas.DataFrame
        `EPOCH_COLUMNS`: for each trial and epoch the number of samples taken and of those dropped
        because their gradient was not finite, mean loss of the others, accuracy (%) on the
        test data, share of samples and groups that were clipped, and root mean squares over
        steps of the norms of the clipped sum and of the noise, both over q N.
    groups : pandas.DataFrame
        `GROUP_COLUMNS`: the same by group, with its number of parameters, threshold and
        scale, and the mean norm before clipping. `threshold` is that of the whole gradient where
        it is clipped as a whole.
    parameters : dict of str to numpy.ndarray, shape (R, ...)
        At the end.
    """

    epochs: pd.DataFrame
    groups: pd.DataFrame
    parameters: dict[str, np.ndarray]


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
    with _deterministic(device):
        trainer = _Trainer(run, data, device)
        digest = run.digest(data)
        state = read_state(checkpoint, digest) if checkpoint else None
        if state:
            trainer.restore(state)
        start = len(trainer.totals)
        name = " ".join(map(str, run.scope))
        for epoch in tqdm(range(start, run.epochs), name, run.epochs, initial=start, disable=None):
            trainer.epoch(epoch)
            if checkpoint:
                save_state(checkpoint, digest, trainer.state())
            trainer.refuse_diverged()
        return trainer.trained()


@contextmanager
def _deterministic(device: str) -> Iterator[None]:
    """One thread and algorithms with one result; afterwards as before."""
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
        yield
    finally:
        deterministic.fill_uninitialized_memory = fill
        torch.use_deterministic_algorithms(before)
        torch.set_num_threads(threads)


class _Trainer:
    """State of a run between epochs, and its steps."""

    def __init__(self, run: Run, data: Images, device: str) -> None:
        self.run, self.device = run, torch.device(device)
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
        trials, groups = len(run.trials), len(self.groups)
        self.totals = np.zeros((0, trials, 4))  # samples, dropped, loss, accuracy
        self.by_group = np.zeros((0, trials, groups, 4))  # norm, clipped, signal^2, noise^2

    def _moved(self, images: np.ndarray, labels: np.ndarray) -> tuple[Tensor, Tensor]:
        moved = torch.as_tensor(images, dtype=torch.float32, device=self.device)
        return moved, torch.as_tensor(labels, dtype=torch.int64, device=self.device)

    def state(self) -> dict[str, np.ndarray]:
        """Everything that later epochs and the records depend on."""
        state = {f"parameter.{name}": _array(self.parameters[name]) for name in self.names}
        return state | {"totals": self.totals, "by_group": self.by_group}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Set the state that `state` returned."""
        self.parameters = {
            name: torch.tensor(state[f"parameter.{name}"], device=self.device)
            for name in self.names
        }
        self.totals, self.by_group = state["totals"], state["by_group"]

    def epoch(self, epoch: int) -> None:
        """Steps of one epoch, and the record of it."""
        steps = self.run.epoch_steps
        totals, by_group = np.zeros(self.totals.shape[1:]), np.zeros(self.by_group.shape[1:])
        for step in range(epoch * steps, (epoch + 1) * steps):
            self._step(step, totals, by_group)
        with np.errstate(invalid="ignore", divide="ignore"):
            counted = totals[:, 0] - totals[:, 1]
            totals[:, 2] /= counted
            by_group[..., :2] /= counted[:, None, None]
        by_group[..., 2:] /= steps
        totals[:, 3] = self._accuracy()
        self.totals = np.concatenate([self.totals, totals[None]])
        self.by_group = np.concatenate([self.by_group, by_group[None]])

    def _step(self, step: int, totals: np.ndarray, by_group: np.ndarray) -> None:
        run = self.run
        generators = [generator(run.seed, *run.scope, *t.stream, "step", step) for t in run.trials]
        batch = draw(generators, run, len(self.images), len(self.scales))
        totals[:, 0] += batch.present.sum(1)
        sums = torch.zeros(batch.noise.shape, dtype=torch.float64, device=self.device)
        for start in range(0, batch.present.shape[1], run.chunk):
            part = slice(start, start + run.chunk)
            sums += self._chunk(batch.indices[:, part], batch.present[:, part], totals, by_group)
        noise = torch.from_numpy(batch.noise).to(self.device) * self.scales
        for k, vector in enumerate((sums, noise), start=2):
            parts = (vector / self.batch).split([group.size for group in self.groups], dim=-1)
            squares = torch.stack([part.square().sum(-1) for part in parts], -1)
            by_group[..., k] += _array(squares)
        change = self.rates * (sums + noise) / self.batch
        sizes = [self.parameters[name][0].numel() for name in self.names]
        for name, part in zip(self.names, change.split(sizes, dim=-1), strict=True):
            old = self.parameters[name]
            self.parameters[name] = (old - part.reshape(old.shape)).to(torch.float32)

    def _chunk(
        self, indices: np.ndarray, present: np.ndarray, totals: np.ndarray, by_group: np.ndarray
    ) -> Tensor:
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
        totals[:, 1] += _array((there & ~found.kept).sum(1))
        totals[:, 2] += _array(torch.where(found.kept, losses, 0.0).sum(1, dtype=torch.float64))
        norms = group_norms(found.norms, self.names, self.groups, run.order)
        by_group[..., 0] += _array(torch.where(found.kept[..., None], norms, 0.0).sum(1))
        by_group[..., 1] += _array(found.clipped.sum(1))
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

    def refuse_diverged(self) -> None:
        """RuntimeError if the last epoch had samples and no finite loss."""
        last = self.totals[-1]
        bad = np.flatnonzero((last[:, 0] > 0) & ~np.isfinite(last[:, 2]))
        if self.run.stop and bad.size:
            rates = sorted({self.run.trials[k].learning_rate for k in bad})
            message = (
                f"{' '.join(map(str, self.run.scope))}: training diverged in epoch "
                f"{len(self.totals)}: expected a finite loss, got {last[bad[0], 2]} at learning "
                f"rates {rates} (lower them)"
            )
            raise RuntimeError(message)

    def trained(self) -> Trained:
        """Records as tables."""
        run = self.run
        epochs, groups = [], []
        for epoch, (totals, by_group) in enumerate(
            zip(self.totals, self.by_group, strict=True), start=1
        ):
            for trial, total, parts in zip(run.trials, totals, by_group, strict=True):
                head = ["/".join(map(str, trial.stream)), trial.learning_rate, epoch]
                norms = np.sqrt(parts[:, 2:].sum(0))
                epochs.append([*head, *total, parts[:, 1].mean(), *norms])
                for m, (group, part) in enumerate(zip(self.groups, parts, strict=True)):
                    k = 0 if run.whole else m
                    about = [group.name, group.size, run.clips[k], run.scales[k]]
                    groups.append([*head, *about, *part[:2], *np.sqrt(part[2:])])
        return Trained(
            pd.DataFrame(epochs, columns=EPOCH_COLUMNS),
            pd.DataFrame(groups, columns=GROUP_COLUMNS),
            {name: _array(self.parameters[name]) for name in self.names},
        )


def _array(tensor: Tensor) -> np.ndarray:
    return tensor.detach().cpu().numpy()
