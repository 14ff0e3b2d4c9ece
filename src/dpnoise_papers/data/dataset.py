"""Data sets for supervised learning, and the exception for one that cannot be had."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpnoise._types import Array


@dataclass(frozen=True, eq=False)
class Dataset:
    """One supervised learning task with verified content.

    Parameters
    ----------
    name, title : str
        Name in the registry, and what it is called in full.
    task : {"regression", "classification"}
        What the target is for.
    features : array, shape (n, p), float64
        Untouched columns, in the units of the source.
    target : array, shape (n,), float64
        Units of the source for regression, +1 and -1 for classification.
    feature_names : tuple of str
        One name for each column.
    extra : mapping of str to array, shape (n,)
        Columns of the source that are neither feature nor target.
    source : str
        Where the copy came from.
    fingerprint : str
        sha256 of names and values, see `dpnoise_papers.data.tables.fingerprint`.
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


class DatasetUnavailable(Exception):  # noqa: N818 - a state of the world, not a mistake
    """A data set cannot be had here and now.

    Parameters
    ----------
    name : str
        Name of the data set.
    reason : str
        Every place that was tried and why it failed.
    """

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"data set {name!r} is not available: {reason}")
        self.name = name
        self.reason = reason
