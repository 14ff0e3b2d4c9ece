"""Data sets for supervised learning, and the exception for one that cannot be had."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dpnoise._types import Array


@dataclass(frozen=True, eq=False)
class Dataset:
    """One supervised learning task with verified content.

    `features` are untouched columns in the units of the source, shape (n, p); `target`, shape (n,),
    is in those units for a regression, +1 and -1 for a classification. `extra` holds columns of the
    source that are neither. `source` tells where the copy came from, `refused` which other copies
    were not what they should be, each with the reason; `fingerprint` is the sha256 of names and
    values, see `dpnoise_papers.data.tables.fingerprint`.
    """

    name: str
    title: str
    task: str
    features: Array
    target: Array
    feature_names: tuple[str, ...]
    extra: Mapping[str, Array] = field(default_factory=dict)
    source: str = ""
    fingerprint: str = ""
    refused: tuple[str, ...] = ()


class DatasetUnavailable(Exception):  # noqa: N818 - a state of the world, not a mistake
    """A data set cannot be had here and now.

    `reason` names every place and why it failed; `refused` are the copies that are there and not
    what they should be.
    """

    def __init__(self, name: str, reason: str, refused: Iterable[str] = ()) -> None:
        super().__init__(f"data set {name!r} is not available: {reason}")
        self.refused = list(refused)
        self.name = name
        self.reason = reason
