"""What a training run depends on, what it records, and states on disk from which it goes on.

Losses and accuracies of each epoch are tables; they are not private and no part of what a data
holder would release. Random draws are named by their step (`dpnoise_papers.seeds`) and the descent
has no memory, so the parameters, the step and what was recorded so far are the whole state; of a
finished run the records are. A file is written whole or not at all.

The networks reported have other seeds than those of the search of the learning rate, and hence
other initial weights, batches and noise. The privacy that choosing a learning rate costs is not
counted, as in the paper.
"""

from __future__ import annotations

import hashlib
import io
import time
import zipfile
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

from dpnoise_papers.result_files import write_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from dpnoise._types import Array
    from dpnoise_papers.data.images import ImageSet
    from dpnoise_papers.inid_2024.deep.noise import Noise
    from dpnoise_papers.inid_2024.settings import Network, Precision

EPOCH_COLUMNS = [
    "stream", "learning_rate", "epoch", "samples", "dropped", "train_loss", "clipped", "accuracy",
]  # fmt: skip
SAMPLES, DROPPED, LOSS, CLIPPED = range(4)  # of `Records.totals`, before the accuracy
_DIGEST = "digest"


class OutOfTimeError(Exception):
    """No time for the next piece of work; what was done so far is kept."""


class TimeLimit:
    """Seconds from now on.

    Parameters
    ----------
    seconds : float
        How many there are.
    clock : callable
        Answers the time in seconds.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._end = clock() + seconds
        self._last: float | None = None
        self._longest = 0.0

    def passed(self) -> bool:
        """Whether twice the longest piece so far would end behind the limit.

        A piece is the time between two calls: one more of them, and what is to be written.
        """
        now = self.clock()
        if self._last is not None:
            self._longest = max(self._longest, now - self._last)
        self._last = now
        return now + 2.0 * self._longest > self._end


_EVERY = 5  # of the digits is for testing
_VERSION = 3  # of the algorithm: checkpoints of another one are refused


@dataclass(frozen=True)
class Images:
    """Labelled images.

    Attributes
    ----------
    train, test : numpy.ndarray of float32, shape (N, channels, height, width)
        Values from 0 to 1, before any scaling that depends on the data.
    train_labels, test_labels : numpy.ndarray of int64, shape (N,)
        Classes from 0.
    name, note : str
        Of the data, and what is not as in the original, or "".
    """

    train: Array
    train_labels: np.ndarray
    test: Array
    test_labels: np.ndarray
    name: str
    note: str = ""

    @cached_property
    def digest(self) -> str:
        """Digest of all images and labels."""
        digest = hashlib.blake2b(digest_size=16)
        for array in (self.train, self.train_labels, self.test, self.test_labels):
            digest.update(f"{array.dtype} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


def digits() -> Images:
    """Digits of scikit-learn, 8 by 8 pixels; every fifth is for testing.

    Returns
    -------
    Images
        1437 images for training and 360 for testing.

    Examples
    --------
    >>> from dpnoise_papers.inid_2024.deep.run import digits
    >>> digits().train.shape
    (1437, 1, 8, 8)
    """
    pixels, labels = load_digits(return_X_y=True)
    images = (pixels / 16.0).astype(np.float32).reshape(-1, 1, 8, 8)
    classes = labels.astype(np.int64)
    tested = np.arange(len(images)) % _EVERY == 0
    return Images(
        images[~tested],
        classes[~tested],
        images[tested],
        classes[tested],
        "digits",
    )


def cifar10(images: ImageSet) -> Images:
    """CIFAR-10 with values from 0 to 1.

    They are pixels over 255: no mean and no deviation of the training data, which are private,
    enters.

    Parameters
    ----------
    images : ImageSet
        From `dpnoise_papers.data.images`.

    Returns
    -------
    Images
        50,000 images for training and 10,000 for testing, as the data set has them; the note says
        where they are not the original pixels.

    Examples
    --------
    >>> import numpy as np
    >>> from dpnoise_papers.data.images import ImageSet
    >>> from dpnoise_papers.inid_2024.deep.run import cifar10
    >>> pixels, labels = np.full((1, 3, 32, 32), 255, np.uint8), np.array([7], np.uint8)
    >>> cifar10(ImageSet("cifar10", "", pixels, labels, pixels, labels)).train.max()
    np.float32(1.0)
    """
    train, test = (
        np.divide(pixels, np.float32(255), dtype=np.float32)
        for pixels in (images.train, images.test)
    )
    labels = (images.train_labels.astype(np.int64), images.test_labels.astype(np.int64))
    return Images(train, labels[0], test, labels[1], images.name, images.note)


class DivergedError(RuntimeError):
    """A loss that is not finite."""


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
    whole : bool
        Whether the gradient is clipped as a whole (global clipping); else each layer by itself.
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
    precision : {"float32", "tensorfloat32"}
        In which layers compute; "tensorfloat32" rounds the factors of a GPU's products to 11 bits,
        and is float32 on a CPU.
    stop : bool
        Whether a loss that is not finite ends the run with an error.
    """

    network: Network
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

    @property
    def order(self) -> int:
        """Order of the norm of clipping."""
        return 2 if self.noise == "gaussian" else 1

    @property
    def epoch_steps(self) -> int:
        """Steps of an epoch."""
        return max(1, round(1.0 / self.rate))

    def digest(self, data: Images, device: str) -> str:
        """Digest of these settings, the data and the kind of device."""
        text = f"{_VERSION} {self!r} {data.digest} {device}"
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


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


def search_trials(rates: Iterable[float], networks: int) -> tuple[Trial, ...]:
    """Networks of a search, as many for each learning rate; of one number, they have one seed."""
    return tuple(Trial(("search", k), rate) for rate in rates for k in range(networks))


def report_trials(rate: float, networks: int) -> tuple[Trial, ...]:
    """Networks that are reported, with the learning rate of the search."""
    return tuple(Trial(("report", k), rate) for k in range(networks))


def best_rate(epochs: pd.DataFrame, last: int, name: str) -> float:
    """Learning rate with the highest mean accuracy after an epoch, the smallest of equals.

    Of those at which no network diverged.

    Parameters
    ----------
    epochs : pandas.DataFrame
        Records of the networks of a search, as `Trained` has them.
    last : int
        The epoch.
    name : str
        Of what is trained, for the error.

    Returns
    -------
    float
        One of the column `learning_rate`.

    Raises
    ------
    DivergedError
        If networks of all learning rates diverged.
    """
    diverged = (epochs["samples"] > 0) & ~np.isfinite(epochs["train_loss"])
    good = epochs[~epochs["learning_rate"].isin(epochs.loc[diverged, "learning_rate"])]
    if good.empty:
        tried = sorted(set(epochs["learning_rate"]))
        message = f"{name}: expected a learning rate with finite losses, got none of {tried}"
        raise DivergedError(message)
    means = good[good["epoch"] == last].groupby("learning_rate")["accuracy"].mean()
    return float(means[means == means.max()].index.min())


class Trained(NamedTuple):
    """What a run recorded.

    Attributes
    ----------
    epochs : pandas.DataFrame
        `EPOCH_COLUMNS`: for each trial and epoch the number of samples taken and of those dropped
        because their gradient was not finite, of the others mean loss and the share of clipped
        groups, and accuracy (%) on the test data.
    parameters : dict of str to numpy.ndarray, shape (R, ...)
        At the end; empty for a run that was found finished, whose checkpoint has none.
    """

    epochs: pd.DataFrame
    parameters: dict[str, np.ndarray]


class Records:
    """Records of all networks of a run: those of finished epochs.

    Attributes
    ----------
    totals : numpy.ndarray, shape (E, R, 5)
        By epoch and network: samples, those dropped, mean loss, share clipped and accuracy.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.totals = np.zeros((0, len(run.trials), 5))

    def end_epoch(self, total: np.ndarray, accuracy: np.ndarray) -> None:
        """Finish an epoch.

        Parameters
        ----------
        total : numpy.ndarray, shape (R, 4)
            Sums over its steps: `SAMPLES`, `DROPPED`, and of those not dropped `LOSS` and
            `CLIPPED` groups.
        accuracy : numpy.ndarray, shape (R,)
            In per cent, after it.
        """
        total = total.copy()
        with np.errstate(invalid="ignore", divide="ignore"):
            total[:, [LOSS, CLIPPED]] /= (total[:, SAMPLES] - total[:, DROPPED])[:, None]
        total[:, CLIPPED] /= len(self.run.clips)
        whole = np.concatenate([total, accuracy[:, None]], axis=1)
        self.totals = np.concatenate([self.totals, whole[None]])

    def refuse_diverged(self) -> None:
        """DivergedError if the last epoch had samples and no finite loss."""
        last = self.totals[-1]
        bad = np.flatnonzero((last[:, SAMPLES] > 0) & ~np.isfinite(last[:, LOSS]))
        if self.run.stop and bad.size:
            rates = sorted({self.run.trials[k].learning_rate for k in bad})
            message = (
                f"{' '.join(map(str, self.run.scope))}: training diverged in epoch "
                f"{len(self.totals)}: expected a finite loss, got {last[bad[0], LOSS]} at "
                f"learning rates {rates} (lower them)"
            )
            raise DivergedError(message)

    def table(self) -> pd.DataFrame:
        """Table `epochs` of `Trained`."""
        rows = [
            ["/".join(map(str, trial.stream)), trial.learning_rate, epoch, *total]
            for epoch, totals in enumerate(self.totals, start=1)
            for trial, total in zip(self.run.trials, totals, strict=True)
        ]
        return pd.DataFrame(rows, columns=EPOCH_COLUMNS)


def save_state(path: Path, digest: str, state: Mapping[str, np.ndarray]) -> None:
    """Write the state of a run.

    Parameters
    ----------
    path : pathlib.Path
        File, replaced if it is there.
    digest : str
        Of everything that the run depends on.
    state : mapping of str to numpy.ndarray
        What the run goes on from.
    """
    content = io.BytesIO()
    arrays: dict[str, Any] = {**state, _DIGEST: np.array(digest)}
    np.savez(content, **arrays)
    write_bytes(content.getvalue(), path)


def read_state(path: Path, digest: str) -> dict[str, np.ndarray] | None:
    """State that `save_state` wrote, or None if there is no file.

    Parameters
    ----------
    path : pathlib.Path
        File.
    digest : str
        Of the run that would go on.

    Returns
    -------
    dict of str to numpy.ndarray or None
        What was saved.

    Raises
    ------
    ValueError
        If the file is damaged or of another run.
    """
    if not path.exists():
        return None
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            state = dict(file)
        found = str(state.pop(_DIGEST))
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile) as error:
        message = f"{path}: expected a checkpoint, got a damaged file (delete it to start again)"
        raise ValueError(message) from error
    if found != digest:
        message = (
            f"{path}: expected a checkpoint of these settings, data and device ({digest}), got one "
            f"of others ({found}); delete it to start again"
        )
        raise ValueError(message)
    return state
