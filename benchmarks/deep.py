"""Seconds per epoch of private training beside Opacus's own loop, in one run on one core.

Random images of the size of CIFAR-10, ResNet-20 with group normalisation, one network. Both take
Poisson batches, clip each gradient as a whole and add Gaussian noise. Opacus clips in float32;
ours adds whole multiples of a small unit, exactly. In the environment of `make deep`:

    python benchmarks/deep.py [SAMPLES [RATE]]
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import numpy as np
import torch
from opacus import PrivacyEngine
from torch.utils.data import DataLoader, TensorDataset

from dpnoise_papers.inid_2024.deep.network import initial_parameters, residual_network
from dpnoise_papers.inid_2024.deep.run import Images, Run, Trial
from dpnoise_papers.inid_2024.deep.training import train
from dpnoise_papers.inid_2024.learning_settings import Network

if TYPE_CHECKING:
    from collections.abc import Callable

RESNET_20 = Network(widths=(16, 32, 64), blocks=3, stride=1, normalisation=8)
SCALE, RATE, ROUNDS, CHUNK = 1.1392, 0.5, 3, 64


def ours(data: Images, rate: float) -> None:
    """One epoch of our loop."""
    run = Run(
        network=RESNET_20, groups="layer", whole=True, noise="gaussian", clips=(1.0,),
        scales=(SCALE,), rate=rate, epochs=1, trials=(Trial(("one",), 0.1),), seed=0,
        scope=("benchmark",), chunk=CHUNK,
    )  # fmt: skip
    train(run, data)


def by_layer(data: Images, rate: float) -> None:
    """One epoch of our loop with each of 20 layers clipped by itself."""
    run = Run(
        network=RESNET_20, groups="layer", whole=False, noise="gaussian", clips=(20**-0.5,) * 20,
        scales=(SCALE,) * 20, rate=rate, epochs=1, trials=(Trial(("one",), 0.1),), seed=0,
        scope=("benchmark",), chunk=CHUNK,
    )  # fmt: skip
    train(run, data)


def opacus(data: Images, rate: float) -> None:
    """One epoch as in Opacus's tutorial, its batches cut into the same chunks."""
    model = residual_network(RESNET_20, 3, 10).to_empty(device="cpu")
    model.load_state_dict(initial_parameters(model, np.random.default_rng(0)))
    images = TensorDataset(torch.from_numpy(data.train), torch.from_numpy(data.train_labels))
    loader = DataLoader(images, batch_size=round(rate * len(images)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer, loader = PrivacyEngine().make_private(
        module=model, optimizer=optimizer, data_loader=loader, noise_multiplier=SCALE,
        max_grad_norm=1.0,
    )  # fmt: skip
    for pictures, labels in loader:
        parts = list(zip(pictures.split(CHUNK), labels.split(CHUNK), strict=True))
        for k, (some, classes) in enumerate(parts):
            optimizer.signal_skip_step(do_skip=k < len(parts) - 1)
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(some), classes)
            loss.backward()
            optimizer.step()


def seconds(
    call: Callable[[Images, float], None], data: Images, rate: float
) -> tuple[float, float]:
    """Return wall time and processor time of one epoch."""
    wall, processor = perf_counter(), process_time()
    call(data, rate)
    return perf_counter() - wall, process_time() - processor


def main() -> None:
    """Time both, alternating, and print the median of each and of the ratio, round by round."""
    warnings.simplefilter("ignore")  # of Opacus: noise that is not cryptographic
    torch.set_num_threads(1)
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 512
    rate = float(sys.argv[2]) if len(sys.argv) > 2 else RATE
    rng = np.random.default_rng(0)
    images = rng.normal(size=(samples, 3, 32, 32)).astype(np.float32)
    labels = rng.integers(10, size=samples)
    labels[0] = 9
    data = Images(images, labels, images[:10], labels[:10], "random")
    calls = {"Opacus": opacus, "ours": ours, "ours, by layer": by_layer}
    for call in calls.values():  # warm
        call(replace(data, train=images[:64], train_labels=labels[:64]), 0.5)
    rounds = [
        {name: seconds(call, data, rate) for name, call in calls.items()} for _ in range(ROUNDS)
    ]
    print(f"ResNet-20, {samples} images, q = {rate:g}, one core; medians of {ROUNDS} epochs")
    for name in calls:
        wall, processor = np.median([one[name] for one in rounds], axis=0)
        ratio = np.median([one["Opacus"][1] / one[name][1] for one in rounds])
        print(
            f"{name:15} {wall:6.2f} s, of the processor {processor:6.2f} s "
            f"({1e3 * processor / samples:.2f} ms per image), {ratio:.2f} times as fast as Opacus"
        )


if __name__ == "__main__":
    main()
