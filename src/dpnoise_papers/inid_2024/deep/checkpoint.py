"""States of a training run on disk, from which a killed job goes on to the same result.

Random draws are named by their step (`dpnoise_papers.seeds`), so the parameters and what was
recorded so far are the whole state. A file is written whole or not at all.
"""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise_papers.result_files import write_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_DIGEST = "digest"


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
