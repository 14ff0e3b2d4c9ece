"""What a mechanism is to `compare`: how to find its noise, and whether that takes time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise.mechanisms.request import Request
    from dpnoise.mechanisms.vector_noise import VectorNoise


class Found(NamedTuple):
    """Noise that keeps the budget of a request, and a proved upper bound on its delta there."""

    noise: VectorNoise
    delta: float


def quick(request: Request) -> bool:  # noqa: ARG001  (one signature for all)
    """The answer of a mechanism that is found in milliseconds."""
    return False


@dataclass(frozen=True)
class Method:
    """One entry of the registry.

    Attributes
    ----------
    name : str
        As in the table.
    family : str
        The family of its noise, as `best` is asked for it; several mechanisms may share one.
    reference : str
        Where the mechanism is published.
    find : callable
        The best noise of the mechanism for a request; None if it does not apply. ValueError and
        RuntimeError say why it applies and cannot be had.
    slow : callable
        Whether that takes some tenths of a second or more, by counts alone.
    """

    name: str
    family: str
    reference: str
    find: Callable[[Request], Found | None]
    slow: Callable[[Request], bool] = quick
