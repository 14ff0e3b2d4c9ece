"""Seconds per epoch of private training beside Opacus's own loop, in one run on one device.

Random images of the size of CIFAR-10, ResNet-20 with group normalisation, one network. Both take
Poisson batches, clip each gradient as a whole and add Gaussian noise. Opacus clips in float32;
ours adds whole multiples of a small unit, exactly. In the environment of `make deep`, or in one
with a PyTorch for a GPU, which is taken where there is one:

    python benchmarks/deep.py [SAMPLES [RATE]]

On a GPU that is by default an epoch of Table IV, 50 steps of 1000 images of 50,000.
"""

from __future__ import annotations

import sys
import warnings
from time import perf_counter, process_time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from opacus import PrivacyEngine
from torch.utils.data import DataLoader, TensorDataset

from dpnoise_papers.inid_2024.deep.network import initial_parameters, residual_network
from dpnoise_papers.inid_2024.deep.run import Images, Run, Trial
from dpnoise_papers.inid_2024.deep.training import train
from dpnoise_papers.inid_2024.settings import Network

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise_papers.inid_2024.settings import Precision

RESNET_20 = Network(widths=(16, 32, 64), blocks=3, stride=1, normalisation=8)
SCALE, ROUNDS = 1.1392, 3
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
CHUNK, SAMPLES, RATE = (1100, 50_000, 0.02) if DEVICE == "cuda" else (64, 512, 0.5)


class Clock:
    """Times after each step, where training asks whether its time is over."""

    def __init__(self) -> None:
        self.times: list[tuple[float, float]] = []

    def passed(self) -> bool:
        """Never."""
        self.times.append((perf_counter(), process_time()))
        return False


class Way(NamedTuple):
    """A way to train: groups that are clipped, and the precision of layers."""

    groups: int
    precision: Precision

    def __call__(self, data: Images, rate: float) -> tuple[float, float]:
        """Seconds and processor seconds of the second epoch."""
        run = Run(
            network=RESNET_20, whole=self.groups == 1, noise="gaussian",
            clips=(self.groups**-0.5,) * self.groups, scales=(SCALE,) * self.groups, rate=rate,
            epochs=2, trials=(Trial(("one",), 0.1),), seed=0, scope=("benchmark",), chunk=CHUNK,
            precision=self.precision,
        )  # fmt: skip
        clock = Clock()
        train(run, data, device=DEVICE, limit=clock)  # type: ignore[arg-type]
        one, two = np.array(clock.times[run.epoch_steps]), np.array(clock.times[-1])
        return tuple(two - one)


def opacus(data: Images, rate: float) -> tuple[float, float]:
    """Seconds and processor seconds of an epoch as in Opacus's tutorial, in the same chunks."""
    model = residual_network(RESNET_20, 3, 10).to_empty(device="cpu")
    model.load_state_dict(initial_parameters(model, np.random.default_rng(0)))
    model = model.to(DEVICE)
    images = TensorDataset(torch.from_numpy(data.train), torch.from_numpy(data.train_labels))
    loader = DataLoader(images, batch_size=round(rate * len(images)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer, loader = PrivacyEngine().make_private(
        module=model, optimizer=optimizer, data_loader=loader, noise_multiplier=SCALE,
        max_grad_norm=1.0,
    )  # fmt: skip
    wall, processor = perf_counter(), process_time()
    for pictures, labels in loader:
        parts = list(zip(pictures.split(CHUNK), labels.split(CHUNK), strict=True))
        for k, (some, classes) in enumerate(parts):
            optimizer.signal_skip_step(do_skip=k < len(parts) - 1)
            optimizer.zero_grad()
            logits = model(some.to(DEVICE))
            torch.nn.functional.cross_entropy(logits, classes.to(DEVICE)).backward()
            optimizer.step()
    if DEVICE == "cuda":
        torch.cuda.synchronize()
    return perf_counter() - wall, process_time() - processor


def main() -> None:
    """Time all, alternating, and print the median of each and of the ratio, round by round."""
    warnings.simplefilter("ignore")  # of Opacus: noise that is not cryptographic
    torch.set_num_threads(1)
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else SAMPLES
    rate = float(sys.argv[2]) if len(sys.argv) > 2 else RATE
    rng = np.random.default_rng(0)
    images = rng.normal(size=(samples, 3, 32, 32)).astype(np.float32)
    labels = rng.integers(10, size=samples)
    labels[0] = 9
    data = Images(images, labels, images[:10], labels[:10], "random")
    calls: dict[str, Callable[[Images, float], tuple[float, float]]] = {
        "Opacus": opacus,
        "ours": Way(1, "float32"),
        "ours, by layer": Way(20, "float32"),
    }
    if DEVICE == "cuda":
        calls["ours, tensorfloat32"] = Way(1, "tensorfloat32")
    rounds = [{name: call(data, rate) for name, call in calls.items()} for _ in range(ROUNDS)]
    where = torch.cuda.get_device_name() if DEVICE == "cuda" else "one core"
    kind = 0 if DEVICE == "cuda" else 1  # of time that is compared
    print(f"ResNet-20, {samples} images, q = {rate:g}, {where}; medians of {ROUNDS} epochs")
    for name in calls:
        wall, processor = np.median([one[name] for one in rounds], axis=0)
        ratio = np.median([one["Opacus"][kind] / one[name][kind] for one in rounds])
        print(
            f"{name:20} {wall:6.2f} s, of the processor {processor:6.2f} s "
            f"({1e3 * (wall, processor)[kind] / samples:.3f} ms per image), {ratio:.2f} times as "
            "fast as Opacus"
        )


if __name__ == "__main__":
    main()
