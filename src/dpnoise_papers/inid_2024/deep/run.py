"""What a training run depends on, checked before it starts."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise._validation import Problems, is_integer

if TYPE_CHECKING:
    from dpnoise_papers.inid_2024.deep.images import Images
    from dpnoise_papers.inid_2024.deep.scales import Noise
    from dpnoise_papers.inid_2024.deep_settings import GroupBy, Network, Precision

_VERSION = 1  # of the algorithm: checkpoints of another one are refused
MINIMUM_CLIP, MAXIMUM_CLIP = 1e-6, 1e6


class Trial(NamedTuple):
    """One network of a run: the name of its random stream, and its learning rate."""

    stream: tuple[str | int, ...]
    learning_rate: float


@dataclass(frozen=True, kw_only=True)
class Run:
    """Private training of several networks that differ in seed and learning rate.

    Attributes
    ----------
    network : Network
        Structure of each.
    groups : {"tensor", "module", "layer"}
        Groups of parameters, for which gradients and noise are recorded.
    whole : bool
        Whether the gradient is clipped as a whole (global clipping); else each group by itself.
    noise : {"gaussian", "laplace"}
        Clipped in l2 or l1.
    clips, scales : tuple of float, shape (M,)
        Threshold, and scale of the noise in the sum, of each clipped group. Scales of 0 are for
        comparison: nothing is private then.
    rate : float
        q, the chance of each sample to be in a batch.
    epochs : int
        Of `steps` each.
    trials : tuple of Trial
        The networks.
    seed, scope : int, tuple of str
        Beginning of the names of all random streams.
    chunk : int
        How many samples of each network are differentiated at once.
    precision : {"float32", "bfloat16"}
        In which layers compute.
    stop : bool
        Whether a loss that is not finite ends the run with an error.
    steps : int, optional
        round(1 / q) by default.
    """

    network: Network
    groups: GroupBy
    whole: bool
    noise: Noise
    clips: tuple[float, ...]
    scales: tuple[float, ...]
    rate: float
    epochs: int
    trials: tuple[Trial, ...]
    seed: int
    scope: tuple[str | int, ...]
    chunk: int
    precision: Precision = "float32"
    stop: bool = True
    steps: int | None = None

    def __post_init__(self) -> None:
        """Refuse settings out of range; the message names every problem."""
        problems = Problems("training")
        problems.require(self.noise in {"gaussian", "laplace"}, "noise", "a known one", self.noise)
        problems.require(bool(self.clips), "clips", "one for each group", self.clips)
        same = len(self.clips) == len(self.scales)
        problems.require(same, "scales", f"{len(self.clips)}, one for each group", self.scales)
        for clip in self.clips:
            problems.number("clipping threshold", clip, low=MINIMUM_CLIP, high=MAXIMUM_CLIP)
        for scale in self.scales:
            problems.number("noise scale", scale, low=0.0, high=1e30)
        problems.number("rate", self.rate, low=1e-6, high=1.0)
        counts = (("epochs", self.epochs, 1), ("chunk", self.chunk, 2), ("steps", self.steps, 1))
        for name, value, low in counts:
            if name == "steps" and value is None:
                continue
            expected = f"a whole number, at least {low}"
            problems.require(is_integer(value) and value >= low, name, expected, value)
        problems.require(bool(self.trials), "trials", "at least one", self.trials)
        for trial in self.trials:
            problems.number("learning rate", trial.learning_rate, low=0.0, high=1e6, open_low=True)
        problems.raise_if_any()

    @property
    def order(self) -> int:
        """Order of the norm of clipping."""
        return 2 if self.noise == "gaussian" else 1

    @property
    def epoch_steps(self) -> int:
        """Steps of an epoch."""
        return self.steps or max(1, round(1.0 / self.rate))

    def digest(self, data: Images) -> str:
        """Digest of these settings and of the data."""
        digest = hashlib.blake2b(f"{_VERSION} {self!r}".encode(), digest_size=16)
        for array in (data.train, data.train_labels, data.test, data.test_labels):
            digest.update(f"{array.dtype} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


class Batch(NamedTuple):
    """Poisson samples of all trials, padded to one length.

    Attributes
    ----------
    indices : numpy.ndarray of int, shape (R, B)
        Of the samples; 0 where there is none.
    present : numpy.ndarray of bool, shape (R, B)
        Where there is one.
    noise : numpy.ndarray, shape (R, K)
        Of scale 1.
    """

    indices: np.ndarray
    present: np.ndarray
    noise: np.ndarray


def draw(generators: list[np.random.Generator], run: Run, samples: int, parameters: int) -> Batch:
    """Samples and noise of one step.

    Parameters
    ----------
    generators : list of numpy.random.Generator
        One for each trial.
    run : Run
        Settings.
    samples, parameters : int
        N and K.

    Returns
    -------
    Batch
        Each sample is in the batch of a trial with chance q, independently. B is 0 where all
        batches are empty, else at least 2.
    """
    members, noise = [], []
    for generator in generators:
        members.append(np.flatnonzero(generator.random(samples) < run.rate))
        if run.noise == "gaussian":
            noise.append(generator.standard_normal(parameters))
        else:
            noise.append(generator.laplace(size=parameters))
    most = max(map(len, members))
    present = np.arange(max(most, 2) if most else 0) < np.array([[len(one)] for one in members])
    indices = np.zeros(present.shape, dtype=np.int64)
    indices[present] = np.concatenate(members)
    return Batch(indices, present, np.stack(noise))
