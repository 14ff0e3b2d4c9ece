"""Learning tasks of the papers, built from verified tables.

Features stay untouched here (no scaling, no intercept); experiments decide that. Recipes
follow the references of flipped-huber-2023, Table III and inid-2024, Figures 5 and 6:
scikit-learn's California ratios, OpenML 823 for Houses, red against white for Wine. A set whose
features and target are columns of one table needs no recipe.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise_papers.data.copies import places_of
from dpnoise_papers.data.dataset import Dataset, DatasetUnavailable
from dpnoise_papers.data.fetch import obtain_all
from dpnoise_papers.data.registry import read_registry
from dpnoise_papers.data.tables import Table, fingerprint

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from dpnoise._types import Array
    from dpnoise_papers.data.registry import TaskEntry

    Columns = dict[str, Array]
    Parts = tuple[Columns, Array, Columns]  # features, target, and what is kept beside


def load(
    name: str,
    *,
    registry: str | os.PathLike[str] | None = None,
    **where: Any,  # noqa: ANN401 - those of `places_of`
) -> Dataset:
    """Data set with verified content: features in the units of the source, labels +1 and -1.

    `where` are the keywords of `dpnoise_papers.data.copies.places_of`: cache, mirror, offline and
    source. DatasetUnavailable if no place has a good copy, with the reason of each; ValueError if
    the name is unknown or the registry is wrong.
    """
    entry, wanted = read_registry(registry).find(name)
    found = obtain_all(wanted, places_of(registry, **where))
    if found.reason:
        raise DatasetUnavailable(name, found.reason, found.refused)
    source = "; ".join(found.sources) or "scikit-learn"
    made = build(name, entry, list(found.tables.values()), source)
    return replace(made, refused=tuple(found.refused))


def build(name: str, entry: TaskEntry, tables: Sequence[Table], source: str) -> Dataset:
    """Data set that is made of tables, in the order of its entry in the registry.

    DatasetUnavailable if the result is not what the registry describes.
    """
    features, target, extra = parts(entry.recipe, entry.target, tables)
    X = np.column_stack(list(features.values()))
    found = fingerprint((*features, "target"), np.column_stack([X, target]))
    if list(X.shape) != entry.shape or found != entry.fingerprint:
        raise DatasetUnavailable(
            name,
            f"{source}: expected shape {entry.shape} and fingerprint "
            f"{entry.fingerprint[:12]}, got {list(X.shape)} and {found[:12]}",
        )
    return Dataset(name, entry.title, entry.task, X, target, tuple(features), extra, source, found)


def parts(recipe: str | None, target: str | None, tables: Sequence[Table]) -> Parts:
    """Features, target and other columns of a learning task, each of shape (n,).

    `recipe` is a key of `RECIPES`, or None for one table whose columns are taken as they stand;
    then `target` is the column to predict, by default the last.
    """
    if recipe is not None:
        return RECIPES[recipe](*tables)
    (table,) = tables
    target = target or table.columns[-1]
    features = {column: table[column] for column in table.columns if column != target}
    return features, table[target].copy(), {}


def _california(table: Table) -> Parts:
    """California as in scikit-learn: averages per household, value in units of 100,000."""
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


def _houses(table: Table) -> Parts:
    """Houses as in OpenML 823: +1 (its class P) for a longitude below the mean longitude."""
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


def _wine(red: Table, white: Table) -> Parts:
    """Wine with +1 for red and -1 for white; the tasters' quality is kept beside."""
    features = {c: np.concatenate([red[c], white[c]]) for c in red.columns if c != "quality"}
    target = np.repeat([1.0, -1.0], [len(red.values), len(white.values)])
    return features, target, {"quality": np.concatenate([red["quality"], white["quality"]])}


def _bundled_diabetes() -> Parts:
    """Copy of scikit-learn in the units of measurement.

    Its scaled version is computed at load time, hence not the same to the last bit
    everywhere; after standardisation both agree to rounding.
    """
    from sklearn.datasets import load_diabetes  # noqa: PLC0415 - 1 s that only one set needs

    bundle = load_diabetes(scaled=False)
    features = dict(zip(bundle.feature_names, bundle.data.T, strict=True))
    return features, bundle.target.astype(float), {}


RECIPES: dict[str, Callable[..., Parts]] = {
    "california": _california,
    "houses": _houses,
    "wine": _wine,
    "bundled-diabetes": _bundled_diabetes,
}
