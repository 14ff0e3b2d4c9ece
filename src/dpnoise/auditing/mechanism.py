"""Audit of a mechanism that publishes several numbers in each run, such as a private fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpnoise._validation import Problems, is_integer
from dpnoise.auditing.audit import FEWEST
from dpnoise.auditing.sampler import audit_sampler, read_generator

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from dpnoise.auditing.audit import Audit


def audit_mechanism(
    mechanism: Callable[[object, np.random.Generator], ArrayLike],
    data: object,
    neighbour: object,
    *,
    epsilon: float,
    delta: float = 0.0,
    runs: int = 2000,
    confidence: float = 0.9999,
    seed: int | np.random.Generator = 0,
) -> Audit:
    """Audit of the claim that a mechanism is (epsilon, delta)-differentially private.

    Parameters
    ----------
    mechanism : callable
        Takes a data set and a generator; returns everything that it publishes in one run as
        numbers, shape (d,). NaN is a value of its own, for what is not published (after an error,
        say).
    data, neighbour : object
        Two neighbouring data sets.
    epsilon, delta : float
        The claim.
    runs : int
        Of the mechanism on each data set, at least 4; one half chooses the events (at most
        10,000 or a quarter), the others judge them.
    confidence : float
        In (0, 1): of all bounds of the result together.
    seed : int or numpy.random.Generator
        Of the generator that the mechanism draws from.

    Returns
    -------
    Audit

    Raises
    ------
    ValueError
        Naming everything that is wrong with the settings.

    References
    ----------
    Jagielski, Ullman & Oprea, "Auditing differentially private machine learning", NeurIPS 2020.

    Examples
    --------
    >>> from dpnoise import audit_mechanism
    >>> def leaky(x, generator):  # noise of half the scale that epsilon = 1 needs
    ...     return [x + generator.laplace(scale=0.5)]
    >>> audit_mechanism(leaky, 0.0, 1.0, epsilon=1.0).contradicted
    True
    """
    problems = Problems("audit")
    problems.number("epsilon", epsilon, low=0.0, high=700.0)
    problems.number("delta", delta, low=0.0, high=1.0)
    problems.number("confidence", confidence, low=0.0, high=1.0, open_low=True, open_high=True)
    enough = is_integer(runs) and runs >= FEWEST
    problems.require(enough, "runs", f"a whole number of at least {FEWEST}", runs)
    rng = read_generator(problems, seed)
    problems.raise_if_any()
    first, second = (
        np.array([np.ravel(mechanism(one, rng)) for _ in range(runs)], dtype=float)
        for one in (data, neighbour)
    )
    return audit_sampler(first, second, epsilon=epsilon, delta=delta, confidence=confidence)
