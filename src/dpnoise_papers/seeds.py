"""One independent random stream for each thing that is drawn.

A stream is named by its scope: the config's seed, the experiment, its parameters and
the repetition. Results therefore depend neither on the number of cores nor on the order
in which jobs run nor on which other jobs exist.
"""

from __future__ import annotations

import hashlib

import numpy as np

from dpnoise._validation import is_integer


def generator(seed: int, *scope: str | float) -> np.random.Generator:
    """Random generator of a scope: the same stream for the same arguments on every machine.

    `seed` is that of the config, `scope` says what the stream is for, from the general to the
    particular. 1 and 1.0 and "1" name three different streams. ValueError if the seed is not a
    non-negative integer.
    """
    if not is_integer(seed) or seed < 0:
        raise ValueError(f"seed: expected a non-negative integer, got {seed!r}")
    text = "\x1f".join(f"{type(part).__name__}:{part!r}" for part in (int(seed), *scope))
    digest = hashlib.blake2b(text.encode(), digest_size=32).digest()
    return np.random.default_rng(np.random.SeedSequence(int.from_bytes(digest, "little")))
