"""Build the tasks of the papers from verified tables.

Features stay untouched here (no scaling, no intercept); experiments decide that. Recipes
follow the references of flipped-huber-2023, Table III and inid-2024, Figures 5 and 6:
scikit-learn's California ratios, OpenML 823 for Houses, red against white for Wine.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dpnoise_papers.data.dataset import Dataset, DatasetUnavailable
from dpnoise_papers.data.fetch import NotFoundError, obtain
from dpnoise_papers.data.places import mirror_folder
from dpnoise_papers.data.registry import known_set
from dpnoise_papers.data.tables import Table, fingerprint

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

Columns = dict[str, np.ndarray]


def load(
    name: str,
    *,
    cache: str | os.PathLike = "data/raw",
    mirror: str | os.PathLike | None = None,
    offline: bool = False,
    registry: str | os.PathLike | None = None,
) -> Dataset:
    """Return a data set with verified content.

    Parameters
    ----------
    name : str
        One of `dpnoise_papers.data.names()`.
    cache : path
        Folder of verified downloads, tried first.
    mirror : path, optional
        Folder of further copies, tried next; by default the one that the environment
        variable DPNOISE_DATA_MIRROR names, and none if "".
    offline : bool
        Do not ask the official sources, which are tried last.
    registry : path, optional
        The registry, by default the repository's data/registry.yaml.

    Returns
    -------
    Dataset
        Features in the units of the source, labels +1 and -1.

    Raises
    ------
    DatasetUnavailable
        If no place has a good copy; the reason names each and why it failed.
    ValueError
        If the name is unknown or the registry is wrong.
    """
    entry, wanted = known_set(name, registry)
    tables, sources, reasons = [], [], []
    for table, details in wanted.items():
        try:
            found, source = obtain(
                table, details, cache=Path(cache), mirror=mirror_folder(mirror), offline=offline
            )
        except NotFoundError as error:
            reasons += error.reasons
        else:
            tables.append(found)
            sources.append(source)
    if reasons:
        raise DatasetUnavailable(name, "; ".join(dict.fromkeys(reasons)))
    return build(name, entry, tables, "; ".join(dict.fromkeys(sources)) or "scikit-learn")


def build(name: str, entry: Mapping, tables: list[Table], source: str) -> Dataset:
    """Return the data set that a recipe makes of tables, after verifying it.

    Raises
    ------
    DatasetUnavailable
        If the result is not what the registry describes.
    """
    features, target, extra = RECIPES[entry["recipe"]](*tables)
    X = np.column_stack(list(features.values()))
    found = fingerprint((*features, "target"), np.column_stack([X, target]))
    if list(X.shape) != entry["shape"] or found != entry["fingerprint"]:
        raise DatasetUnavailable(
            name,
            f"{source}: expected shape {entry['shape']} and fingerprint "
            f"{entry['fingerprint'][:12]}, got {list(X.shape)} and {found[:12]}",
        )
    return Dataset(
        name, entry["title"], entry["task"], X, target, tuple(features), extra, source, found
    )


def _last_column(table: Table) -> tuple[Columns, np.ndarray, Columns]:
    *features, target = table.columns
    return {column: table[column] for column in features}, table[target].copy(), {}


def _california(table: Table) -> tuple[Columns, np.ndarray, Columns]:
    """Return scikit-learn's version: averages per household, value in units of 100,000."""
    households = table["households"]
    features = {
        "median_income": table["median_income"],
        "housing_median_age": table["housing_median_age"],
        "average_rooms": table["total_rooms"] / households,
        "average_bedrooms": table["total_bedrooms"] / households,
        "population": table["population"],
        "average_occupancy": table["population"] / households,
        "latitude": table["latitude"],
        "longitude": table["longitude"],
    }
    counts = {column: table[column] for column in ("total_rooms", "total_bedrooms", "households")}
    return features, table["median_house_value"] / 100_000.0, counts


def _houses(table: Table) -> tuple[Columns, np.ndarray, Columns]:
    """Return OpenML 823: +1 (its class P) for a longitude below the mean longitude."""
    order = (
        "median_house_value",
        "median_income",
        "housing_median_age",
        "total_rooms",
        "total_bedrooms",
        "population",
        "households",
        "latitude",
    )
    longitude = table["longitude"]
    mean = math.fsum(longitude) / len(longitude)  # the same on every machine
    target = np.where(longitude < mean, 1.0, -1.0)
    return {column: table[column] for column in order}, target, {"longitude": longitude}


def _wine(red: Table, white: Table) -> tuple[Columns, np.ndarray, Columns]:
    """Return +1 for red and -1 for white; the tasters' quality is kept beside."""
    features = {c: np.concatenate([red[c], white[c]]) for c in red.columns if c != "quality"}
    target = np.repeat([1.0, -1.0], [len(red.values), len(white.values)])
    return features, target, {"quality": np.concatenate([red["quality"], white["quality"]])}


def _bundled_diabetes() -> tuple[Columns, np.ndarray, Columns]:
    """Return scikit-learn's copy in the units of measurement.

    Its scaled version is computed at load time, hence not the same to the last bit
    everywhere; after standardisation both agree to rounding.
    """
    from sklearn.datasets import load_diabetes  # noqa: PLC0415 - 1 s that only one set needs

    bundle = load_diabetes(scaled=False)
    features = dict(zip(bundle.feature_names, bundle.data.T, strict=True))
    return features, bundle.target.astype(float), {}


RECIPES: dict[str, Callable[..., tuple[Columns, np.ndarray, Columns]]] = {
    "last-column": _last_column,
    "california": _california,
    "houses": _houses,
    "wine": _wine,
    "bundled-diabetes": _bundled_diabetes,
}
