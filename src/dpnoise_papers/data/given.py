"""Data of one step of the pipeline, present or not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dpnoise_papers.data.city.counts import read_city
from dpnoise_papers.data.images import read_images
from dpnoise_papers.data.sets import DatasetUnavailable, read_prepared

if TYPE_CHECKING:
    from dpnoise_papers.data.city.counts import City
    from dpnoise_papers.data.images import ImageSet
    from dpnoise_papers.data.sets import Dataset


def read_data(npz: str) -> Dataset | City | ImageSet | None:
    """Prepared data set, city or images, or None if not to be had; the status lies beside it."""
    if Path(npz).parent.name == "city":
        return read_city(npz)
    if Path(npz).parent.name == "images":
        return read_images(npz)
    try:
        return read_prepared(npz)
    except DatasetUnavailable:
        return None
