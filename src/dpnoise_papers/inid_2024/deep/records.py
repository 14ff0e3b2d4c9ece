"""Records of private training, and states on disk from which a killed job goes on.

Losses, norms and accuracies of each epoch are tables; they are not private and no part of what a
data holder would release.

Random draws are named by their step (`dpnoise_papers.seeds`) and the descent has no memory, so the
parameters, the step and what was recorded so far are the whole state; of a finished run the records
are. A file is written whole or not at all.
"""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from dpnoise_papers.inid_2024.deep.run import DivergedError
from dpnoise_papers.result_files import write_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from dpnoise_papers.inid_2024.deep.network import Group
    from dpnoise_papers.inid_2024.deep.run import Run

EPOCH_COLUMNS = [
    "stream", "learning_rate", "epoch", "samples", "dropped", "train_loss", "accuracy", "clipped",
    "signal", "noise_norm",
]  # fmt: skip
GROUP_COLUMNS = [
    "stream", "learning_rate", "epoch", "group", "size", "threshold", "scale", "norm", "clipped",
    "signal", "noise_norm",
]  # fmt: skip
SAMPLES, DROPPED, LOSS = range(3)  # of `Records.totals`, before the accuracy
NORM, CLIPPED, SIGNAL, NOISE = range(4)  # of `Records.by_group`; squares of the last two
_DIGEST = "digest"


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
        At the end; empty for a run that was found finished, whose checkpoint has none.
    """

    epochs: pd.DataFrame
    groups: pd.DataFrame
    parameters: dict[str, np.ndarray]


class Records:
    """Records of all networks of a run: those of finished epochs.

    Attributes
    ----------
    totals : numpy.ndarray, shape (E, R, 4)
        By epoch and network: samples, those dropped, mean loss and accuracy.
    by_group : numpy.ndarray, shape (E, R, M, 4)
        By group, too: mean norm, share clipped, and mean squares of signal and noise.
    """

    def __init__(self, run: Run, groups: Sequence[Group]) -> None:
        self.run, self.groups = run, groups
        networks = len(run.trials)
        self.totals = np.zeros((0, networks, 4))
        self.by_group = np.zeros((0, networks, len(groups), 4))

    @property
    def state(self) -> dict[str, np.ndarray]:
        """Finished epochs, as `restore` takes them."""
        return {"totals": self.totals, "by_group": self.by_group}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Set the finished epochs."""
        self.totals, self.by_group = state["totals"], state["by_group"]

    def end_epoch(self, total: np.ndarray, parts: np.ndarray, accuracy: np.ndarray) -> None:
        """Finish an epoch.

        Parameters
        ----------
        total : numpy.ndarray, shape (R, 3)
            Sums over its steps: `SAMPLES`, `DROPPED` and `LOSS`, of those not dropped.
        parts : numpy.ndarray, shape (R, M, 4)
            `NORM` and `CLIPPED` of the samples not dropped; `SIGNAL` and `NOISE`, squared norms of
            the clipped sum and of the noise over q N.
        accuracy : numpy.ndarray, shape (R,)
            In per cent, after it.
        """
        total, parts = total.copy(), parts.copy()
        with np.errstate(invalid="ignore", divide="ignore"):
            counted = total[:, SAMPLES] - total[:, DROPPED]
            total[:, LOSS] /= counted
            parts[..., [NORM, CLIPPED]] /= counted[:, None, None]
        parts[..., [SIGNAL, NOISE]] /= self.run.epoch_steps
        whole = np.concatenate([total, accuracy[:, None]], axis=1)
        self.totals = np.concatenate([self.totals, whole[None]])
        self.by_group = np.concatenate([self.by_group, parts[None]])

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

    def tables(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Tables `epochs` and `groups` of `Trained`."""
        run = self.run
        epochs, groups = [], []
        for epoch, (totals, by_group) in enumerate(
            zip(self.totals, self.by_group, strict=True), start=1
        ):
            for trial, total, parts in zip(run.trials, totals, by_group, strict=True):
                head = ["/".join(map(str, trial.stream)), trial.learning_rate, epoch]
                norms = np.sqrt(parts[:, [SIGNAL, NOISE]].sum(0))
                epochs.append([*head, *total, parts[:, CLIPPED].mean(), *norms])
                for m, (group, part) in enumerate(zip(self.groups, parts, strict=True)):
                    k = 0 if run.whole else m
                    about = [group.name, group.size, run.clips[k], run.scales[k]]
                    squares = part[[SIGNAL, NOISE]]
                    groups.append([*head, *about, part[NORM], part[CLIPPED], *np.sqrt(squares)])
        return (
            pd.DataFrame(epochs, columns=EPOCH_COLUMNS),
            pd.DataFrame(groups, columns=GROUP_COLUMNS),
        )


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
