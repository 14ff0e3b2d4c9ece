"""Settings of flipped-huber-2023, one field for each section of config.yaml."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from dpnoise_papers.settings import Grid, NonNegative, Points, Positive, Section, within


def _odd(points: int) -> int:
    if points % 2 == 0:
        raise ValueError("expected an odd number, so that 0 is on the grid")
    return points


class Densities(Section):
    """Flipped Huber densities.

    Attributes
    ----------
    parameters : tuple of (alpha, gamma)
        One density each.
    half_width : float
        The grid runs from minus to plus this; the transitions at -alpha and alpha are added.
    points : int
        Odd, so that 0 is one of them.
    """

    parameters: Annotated[tuple[tuple[NonNegative, Positive], ...], Field(min_length=1)]
    half_width: Positive
    points: Annotated[Points, AfterValidator(_odd)]


class FisherInformation(Section):
    """Normalised Fisher information; `ratios` is the grid of alpha/gamma, to which 0 is added."""

    ratios: Annotated[Grid, within(1e-100, 1e100)]


class Settings(Section):
    """All settings of the paper."""

    model_config = ConfigDict(extra="allow", strict=True)  # TODO: closed once all are here

    figure_1: Densities
    figure_2: FisherInformation
