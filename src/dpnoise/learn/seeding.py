"""Generator of the noise of a private release, with a warning where it is seeded."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dpnoise._validation import Problems


class SeededNoiseWarning(UserWarning):
    """Warning that a private release draws its noise from a seed or generator of the caller.

    Whoever knows the seed, or learns the state of the generator from other draws, can draw the
    noise again and subtract it. A generator seeded by the operating system cannot be told from
    another one, so that every `random_state` but None warns.
    """


def noise_generator(
    problems: Problems,
    random_state: int | np.random.Generator | None,
    epsilon: float,
    *,
    stacklevel: int = 4,
) -> np.random.Generator:
    """Random generator of the noise, once all settings have been checked.

    Raises a ValueError for what `problems` holds and for a bad `random_state`. None is a generator
    seeded by the operating system; anything else warns of `SeededNoiseWarning`, unless epsilon is
    infinite and there is no noise. `stacklevel` leads to the line that called the release.
    """
    try:
        rng = np.random.default_rng(random_state)
    except (TypeError, ValueError):
        rng = np.random.default_rng()  # never used: the problem is raised below
        expected = "None, a non-negative integer or a numpy.random.Generator"
        problems.require(False, "random_state", expected, random_state)
    problems.raise_if_any()
    if random_state is not None and epsilon != np.inf:
        message = (
            f"{problems.subject}: noise from a given random_state is not private: whoever knows "
            "the seed or the generator's state can subtract it. Leave random_state out except for "
            "tests and simulations on public data"
        )
        warnings.warn(message, SeededNoiseWarning, stacklevel=stacklevel)
    return rng
