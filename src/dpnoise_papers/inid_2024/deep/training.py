"""Private stochastic gradient descent with noise by group of parameters.

Each step takes every sample with chance q, clips the gradient of each by group, adds noise to the
sum and moves the parameters by the learning rate times that over q N. Neighbouring data sets differ
by the presence of one sample (add or remove): the account of Poisson samples needs it, and the
divisor q N does not depend on the batch. An empty batch is a step of noise alone.

What is reproducible. A run is a function of its settings and data alone: not of cores, of the
moment at which it was killed or stopped, or, for two or more, of the number of networks trained at
once. Another kind of processor or a GPU may round a gradient differently, and the tables may then
differ.

On a GPU the images lie in its memory. Samples and noise of a step are drawn by the processor, from
the same generators as without a GPU, while earlier steps are computed; nothing is read back before
the end of an epoch.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from tqdm import tqdm

from dpnoise._imports import imports_of
from dpnoise_papers.inid_2024.deep.network import (
    clipped_sum,
    initial_parameters,
    parameter_groups,
    residual_network,
    sample_gradients,
)
from dpnoise_papers.inid_2024.deep.run import (
    CLIPPED,
    DROPPED,
    LOSS,
    SAMPLES,
    OutOfTimeError,
    Records,
    Trained,
    draw,
    read_state,
    save_state,
)
from dpnoise_papers.seeds import generator

with imports_of("deep"):
    import torch
    from torch import Tensor, nn
    from torch.func import functional_call, vmap
    from torch.utils import deterministic

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from dpnoise_papers.inid_2024.deep.run import Images, Run, TimeLimit
    from dpnoise_papers.inid_2024.settings import Precision

_TESTED = 500  # images at once, or as many as a chunk has
_ALONE = {"cuda"}  # devices that differentiate one network after another


class NoDeviceError(RuntimeError):
    """A device that this machine lacks."""


def train(
    run: Run,
    data: Images,
    *,
    checkpoint: Path | None = None,
    device: str = "cpu",
    limit: TimeLimit | None = None,
) -> Trained:
    """Networks trained privately, with a record of each epoch.

    Parameters
    ----------
    run : Run
        Settings.
    data : Images
        Training and test data.
    checkpoint : pathlib.Path, optional
        File of the state after each epoch and where time ran out, from which the run goes on to
        the same result. A run that it shows as finished needs no device.
    device : {"cpu", "cuda"}
        Where to compute.
    limit : TimeLimit, optional
        When to stop, which needs a checkpoint.

    Returns
    -------
    Trained
        Records and parameters.

    Raises
    ------
    ValueError
        If settings, data, device and checkpoint do not fit.
    NoDeviceError
        If there is no such device.
    DivergedError
        If a loss is not finite (with `run.stop`).
    OutOfTimeError
        If time ran out. The checkpoint has all steps so far.
    """
    digest = run.digest(data, device)
    state = read_state(checkpoint, digest) if checkpoint else None
    if state and _PARAMETERS not in state:
        records = Records(run)
        records.totals = state["totals"]
        return Trained(records.table(), {})
    if limit and limit.passed():
        raise OutOfTimeError
    with one_result(device, run.precision) as place:
        trainer = _Trainer(run, data, place)
        if state:
            trainer.restore(state)
        records, steps = trainer.records, run.epochs * run.epoch_steps
        name = " ".join(map(str, run.scope))
        left = range(trainer.step, steps)
        for step in tqdm(left, name, steps, initial=trainer.step, disable=None):
            trainer.take_step()
            ended = (step + 1) % run.epoch_steps == 0
            if ended:
                trainer.end_epoch()
                records.refuse_diverged()  # before it is saved: a second attempt says the same
            last, late = step + 1 == steps, limit is not None and limit.passed()
            if checkpoint and (ended or late):
                save_state(checkpoint, digest, trainer.state(finished=last))
            if late and not last:
                raise OutOfTimeError
        return Trained(records.table(), trainer.arrays())


def _structure(run: Run, data: Images) -> nn.Module:
    """Network without values."""
    _, channels, _, _ = data.train.shape
    return residual_network(run.network, channels, int(data.train_labels.max()) + 1)


_PARAMETERS = "parameters"  # in the state of a run that is not finished


class _Trainer:
    """State of a run between steps, and its steps.

    On a GPU networks are differentiated one after another: it has work enough with one, and its
    convolutions with one set of weights are those that everybody uses.
    """

    def __init__(self, run: Run, data: Images, device: torch.device) -> None:
        self.run, self.device, self.alone = run, device, device.type in _ALONE
        self.images, self.labels = self._moved(data.train, data.train_labels)
        self.test, self.test_labels = self._moved(data.test, data.test_labels)
        self.model = _structure(run, data)
        self.groups = parameter_groups(self.model, whole=run.whole)
        if len(run.clips) != len(self.groups):
            expected = f"{len(self.groups)}, one for each group"
            raise ValueError(f"training: clips: expected {expected}, got {len(run.clips)}")
        self.names = [name for name, _ in self.model.named_parameters()]
        self.batch = run.rate * len(self.images)
        sizes = [group.size for group in self.groups]
        self.scales = torch.repeat_interleave(
            torch.tensor(run.scales, dtype=torch.float64), torch.tensor(sizes)
        ).to(device)
        rates = [trial.learning_rate for trial in run.trials]
        self.rates = torch.tensor(rates, dtype=torch.float64, device=device)[:, None]
        self.records = Records(run)
        self.step = 0
        networks, parameters = len(run.trials), len(self.scales)
        self.flat = torch.zeros(networks, parameters, device=device)
        exact = {"dtype": torch.float64, "device": device}
        self.sums = torch.zeros(self.flat.shape, **exact)
        self.total = torch.zeros(networks, 4, **exact)
        for row, trial in zip(self.flat, run.trials, strict=True):
            stream = generator(run.seed, *run.scope, *trial.stream, "initial")
            drawn = initial_parameters(self.model, stream)
            row.copy_(torch.cat([drawn[name].flatten() for name in self.names]))

    def _moved(self, images: np.ndarray, labels: np.ndarray) -> tuple[Tensor, Tensor]:
        moved = torch.as_tensor(images, dtype=torch.float32, device=self.device)
        return moved, torch.as_tensor(labels, dtype=torch.int64, device=self.device)

    def _named(self, flat: Tensor) -> dict[str, Tensor]:
        """Parameters by name, which share the memory of `flat`."""
        shapes = {name: value.shape for name, value in self.model.named_parameters()}
        parts = flat.split([shape.numel() for shape in shapes.values()], dim=-1)
        return {
            name: part.unflatten(-1, shape)
            for (name, shape), part in zip(shapes.items(), parts, strict=True)
        }

    def arrays(self) -> dict[str, np.ndarray]:
        """Parameters of all networks."""
        return {name: _array(value) for name, value in self._named(self.flat).items()}

    def state(self, *, finished: bool = False) -> dict[str, np.ndarray]:
        """Everything that later steps and the records depend on; the records if it is finished."""
        if finished:
            return {"totals": self.records.totals}
        own = {_PARAMETERS: _array(self.flat), "total": _array(self.total)}
        return own | {"step": np.array(self.step), "totals": self.records.totals}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Set the state that `state` returned."""
        self.flat.copy_(torch.from_numpy(state[_PARAMETERS]))
        self.total.copy_(torch.from_numpy(state["total"]))
        self.step = int(state["step"])
        self.records.totals = state["totals"]

    def take_step(self) -> None:
        """Descend once."""
        run = self.run
        streams = [(*run.scope, *trial.stream, "step", self.step) for trial in run.trials]
        generators = [generator(run.seed, *stream) for stream in streams]
        batch = draw(generators, run, len(self.images), len(self.scales))
        for start in range(0, batch.present.shape[1], run.chunk):
            part = slice(start, start + run.chunk)
            # padded to two at least, as `network` says
            more = ((0, 0), (0, max(2 - batch.present[:, part].shape[1], 0)))
            self._add(np.pad(batch.indices[:, part], more), np.pad(batch.present[:, part], more))
        self._move(batch.noise)
        self.step += 1

    def _add(self, chosen: np.ndarray, present: np.ndarray) -> None:
        """Add the clipped gradients of some samples of each trial, and count them."""
        run = self.run
        indices, members = self._sent(chosen), self._sent(present)
        networks = range(len(run.trials))
        for some in [slice(r, r + 1) for r in networks] if self.alone else [slice(None)]:
            own, there = indices[some], members[some]
            gradients, losses = sample_gradients(
                self.model, self._named(self.flat[some]), self.images[own], self.labels[own]
            )
            found = clipped_sum(gradients, self.groups, run.clips, run.order, there)
            kept, total = found.kept, self.total[some]
            self.sums[some] += found.sums
            total[:, SAMPLES] += there.sum(1)
            total[:, DROPPED] += (there & ~kept).sum(1)
            total[:, LOSS] += losses.masked_fill(~kept, 0.0).sum(1, dtype=torch.float64)
            total[:, CLIPPED] += found.clipped.sum((1, 2))

    def _move(self, noise: np.ndarray) -> None:
        """Move the parameters by the sum and noise of scale 1, and start another sum."""
        moved = self.sums + self._sent(noise) * self.scales
        self.flat.copy_(self.flat - self.rates * moved / self.batch)
        self.sums.zero_()

    def _sent(self, array: np.ndarray) -> Tensor:
        """Array on the device, which may still be on its way."""
        tensor = torch.from_numpy(array)
        waiting = tensor.pin_memory() if self.device.type == "cuda" else tensor
        return waiting.to(self.device, non_blocking=True)

    def end_epoch(self) -> None:
        """Record an epoch, and start another one."""
        self.records.end_epoch(_array(self.total), self._accuracy())
        self.total.zero_()

    def _accuracy(self) -> np.ndarray:
        """Accuracy of each trial on the test data, in per cent."""

        def logits(values: dict[str, Tensor], images: Tensor) -> Tensor:
            return functional_call(self.model, values, (images,))

        right = torch.zeros(len(self.run.trials), dtype=torch.int64, device=self.device)
        with torch.no_grad():
            parameters, size = self._named(self.flat), max(_TESTED, self.run.chunk)
            for start in range(0, len(self.test), size):
                part = slice(start, start + size)
                found = vmap(logits, in_dims=(0, None))(parameters, self.test[part])
                right += (found.argmax(-1) == self.test_labels[part]).sum(-1)
        return 100.0 * _array(right) / len(self.test)


def _array(tensor: Tensor) -> np.ndarray:
    """Copy of a tensor."""
    return tensor.detach().cpu().numpy().copy()


def check_device(device: str) -> None:
    """Refuse a device that there is not.

    Parameters
    ----------
    device : {"cpu", "cuda"}
        Its kind.

    Raises
    ------
    ValueError
        If it is none of these.
    NoDeviceError
        If there is no such device.
    """
    if device not in {"cpu", "cuda"}:
        raise ValueError(f"device: expected 'cpu' or 'cuda', got {device!r}")
    if device == "cuda" and not torch.cuda.is_available():
        raise NoDeviceError("device: expected a CUDA device, found none (or set device: cpu)")


@contextmanager
def one_result(device: str, precision: Precision = "float32") -> Iterator[torch.device]:
    """Device whose results do not vary between runs; settings are afterwards as before.

    One thread, and deterministic algorithms only.

    Parameters
    ----------
    device : {"cpu", "cuda"}
        Where to compute.
    precision : {"float32", "tensorfloat32"}
        With the second, factors of products may be rounded to TensorFloat-32 on a GPU.

    Yields
    ------
    torch.device
        The same.

    Raises
    ------
    ValueError
        If it is none of these.
    NoDeviceError
        If there is no such device.
    """
    check_device(device)
    if device == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # before cuBLAS starts
    products = [torch.backends.cuda.matmul, torch.backends.cudnn.conv]
    precisions = [product.fp32_precision for product in products]
    threads, before = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    fill = deterministic.fill_uninitialized_memory
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    deterministic.fill_uninitialized_memory = False  # a quarter of the time; none is read here
    for product in products:
        product.fp32_precision = "tf32" if precision == "tensorfloat32" else "ieee"
    try:
        yield torch.device(device)
    finally:
        for product, old in zip(products, precisions, strict=True):
            product.fp32_precision = old
        deterministic.fill_uninitialized_memory = fill
        torch.use_deterministic_algorithms(before)
        torch.set_num_threads(threads)
