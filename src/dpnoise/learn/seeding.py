"""Generator of the noise of a private release, with a warning where it is seeded."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dpnoise._validation import Problems


class SeededNoiseWarning(UserWarning):
    """A private release draws its noise from a seed or a generator that the caller chose.

    Whoever knows the seed, or learns the state of the generator from other draws, can draw the
    noise again and subtract it. A generator seeded by the operating system cannot be told from
    another one, so that every `random_state` but None warns.
    """


def noise_generator(
    problems: Problems, random_state: int | np.random.Generator | None
) -> np.random.Generator | None:
    """Return the generator that a caller asks for, recording a problem if there is none.

    None stands for a generator seeded by the operating system.
    """
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        expected = "None, a non-negative integer or a numpy.random.Generator"
        problems.require(False, "random_state", expected, random_state)
    return None


def warn_if_seeded(
    random_state: int | np.random.Generator | None,
    epsilon: float,
    subject: str,
    *,
    stacklevel: int = 4,
) -> None:
    """Warn of noise that can be drawn again; there is none where epsilon is infinite."""
    if random_state is not None and epsilon != np.inf:
        message = (
            f"{subject}: noise from a given random_state is not private: whoever knows the seed or "
            "the generator's state can subtract it. Leave random_state out except for tests and "
            "simulations on public data"
        )
        warnings.warn(message, SeededNoiseWarning, stacklevel=stacklevel)
