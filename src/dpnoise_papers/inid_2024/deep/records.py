"""Records of private training, and states on disk from which a killed job goes on.

Losses, norms and accuracies of each epoch are tables; they are not private and no part of what a
data holder would release.

Random draws are named by their step (`dpnoise_papers.seeds`), so the parameters and what was
recorded so far are the whole state. A file is written whole or not at all.
"""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

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
_SAMPLES, _DROPPED, _LOSS, _ACCURACY = range(4)  # of `Records.totals`
_NORM, _CLIPPED, _SIGNAL, _NOISE = range(4)  # of `Records.by_group`; squares of the last two
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
        At the end.
    """

    epochs: pd.DataFrame
    groups: pd.DataFrame
    parameters: dict[str, np.ndarray]


class Records:
    """Records of all networks of a run: of finished epochs, and sums over the current one."""

    def __init__(self, run: Run, groups: Sequence[Group]) -> None:
        self.run, self.groups = run, groups
        networks = len(run.trials)
        self.totals = np.zeros((0, networks, 4))
        self.by_group = np.zeros((0, networks, len(groups), 4))
        self.begin_epoch()

    @property
    def state(self) -> dict[str, np.ndarray]:
        """Finished epochs, as `restore` takes them."""
        return {"totals": self.totals, "by_group": self.by_group}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Set the finished epochs."""
        self.totals, self.by_group = state["totals"], state["by_group"]

    def begin_epoch(self) -> None:
        """Sums of zero."""
        self._total, self._parts = (
            np.zeros(done.shape[1:]) for done in (self.totals, self.by_group)
        )

    def add_samples(
        self, kept: np.ndarray, dropped: np.ndarray, losses: np.ndarray, norms: np.ndarray,
        clipped: np.ndarray,
    ) -> None:  # fmt: skip
        """Count some samples of a step.

        Numbers of samples `kept` and `dropped` and sums of the losses of those kept have shape
        (R,), sums of their norms and numbers of those that were clipped have shape (R, M).
        """
        self._total[:, _SAMPLES] += kept + dropped
        self._total[:, _DROPPED] += dropped
        self._total[:, _LOSS] += losses
        self._parts[..., _NORM] += norms
        self._parts[..., _CLIPPED] += clipped

    def add_step(self, signal: np.ndarray, noise: np.ndarray) -> None:
        """Count the squared norms of the clipped sum and of the noise over q N, shape (R, M)."""
        self._parts[..., _SIGNAL] += signal
        self._parts[..., _NOISE] += noise

    def end_epoch(self, accuracy: np.ndarray) -> None:
        """Finish an epoch after which networks have this accuracy in per cent, shape (R,)."""
        total, parts = self._total, self._parts
        with np.errstate(invalid="ignore", divide="ignore"):
            counted = total[:, _SAMPLES] - total[:, _DROPPED]
            total[:, _LOSS] /= counted
            parts[..., [_NORM, _CLIPPED]] /= counted[:, None, None]
        parts[..., [_SIGNAL, _NOISE]] /= self.run.epoch_steps
        total[:, _ACCURACY] = accuracy
        self.totals = np.concatenate([self.totals, total[None]])
        self.by_group = np.concatenate([self.by_group, parts[None]])
        self.begin_epoch()

    def refuse_diverged(self) -> None:
        """RuntimeError if the last epoch had samples and no finite loss."""
        last = self.totals[-1]
        bad = np.flatnonzero((last[:, _SAMPLES] > 0) & ~np.isfinite(last[:, _LOSS]))
        if self.run.stop and bad.size:
            rates = sorted({self.run.trials[k].learning_rate for k in bad})
            message = (
                f"{' '.join(map(str, self.run.scope))}: training diverged in epoch "
                f"{len(self.totals)}: expected a finite loss, got {last[bad[0], _LOSS]} at "
                f"learning rates {rates} (lower them)"
            )
            raise RuntimeError(message)

    def tables(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Tables `epochs` and `groups` of `Trained`."""
        run = self.run
        epochs, groups = [], []
        for epoch, (totals, by_group) in enumerate(
            zip(self.totals, self.by_group, strict=True), start=1
        ):
            for trial, total, parts in zip(run.trials, totals, by_group, strict=True):
                head = ["/".join(map(str, trial.stream)), trial.learning_rate, epoch]
                norms = np.sqrt(parts[:, [_SIGNAL, _NOISE]].sum(0))
                epochs.append([*head, *total, parts[:, _CLIPPED].mean(), *norms])
                for m, (group, part) in enumerate(zip(self.groups, parts, strict=True)):
                    k = 0 if run.whole else m
                    about = [group.name, group.size, run.clips[k], run.scales[k]]
                    squares = part[[_SIGNAL, _NOISE]]
                    groups.append([*head, *about, part[_NORM], part[_CLIPPED], *np.sqrt(squares)])
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
            f"{path}: expected a checkpoint of these settings and data ({digest}), got one of "
            f"others ({found}); delete it to start again"
        )
        raise ValueError(message)
    return state
