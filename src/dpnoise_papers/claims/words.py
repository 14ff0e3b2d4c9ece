"""Words of a verdict: values as the paper writes its own, their noise and their open choices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dpnoise_papers.claims.model import Claim, Printed
    from dpnoise_papers.claims.quantity import Quantity


def unit(printed: Printed | None) -> Callable[[float], str]:
    """How to write values beside a printed number: in percent if it is."""
    if printed is not None and printed.text.endswith("%"):
        return lambda value: f"{100 * value:.6g}%"
    return lambda value: f"{value:.6g}"


def error_words(found: Quantity, place: int, show: Callable[[float], str]) -> str:
    """Noise of a value in words, or nothing if it is deterministic."""
    if found.interval is not None:
        low, high = (show(end[place]) for end in found.interval)
        return f" (99 % of replications: {low} to {high})"
    if found.se is None:
        return ""
    return f" (standard error {show(float(f'{found.se[place]:.2g}'))})"


def choices_words(found: Quantity, place: int, show: Callable[[float], str]) -> str:
    """Range over open choices in words, or nothing if none was varied."""
    low, high = (show(end[place]) for end in found.choices or (found.value, found.value))
    if low == high:
        return ""
    return f" Choices that the paper leaves open move ours from {low} to {high}."


def mixed_words(claim: Claim, rank: NDArray[np.int64]) -> str:
    """Words for rows that disagree over a range that the paper leaves open."""
    if claim.reduce != "open" or len(set(rank)) == 1:
        return ""
    holds, fails = (int(np.sum(rank == place)) for place in (2, 0))
    return (
        f"The paper leaves the range open: of {len(rank)} rows {holds} hold and {fails} fail. "
        "The worst: "
    )
