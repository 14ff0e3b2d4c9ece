"""Counts behind the heat maps: what became of the trips, and the sensitivities."""

import numpy as np

from city_maps import town
from dpnoise_papers.balle_wang_2018.settings import CityCounts, HeatMap, HeatMapErrors
from dpnoise_papers.balle_wang_2018.tables.heat_map_data import heat_map_data

CITY = CityCounts(seed=5, events_per_cab=5, bandwidth=80.0, reach=200.0, passengers_per_trip=1.6,
                  rows=30, columns=8, events=4000)  # fmt: skip
SHARED = {"seed": 5, "delta": 1e-6, "repetitions": 2, "methods": ("flat",)}
FIGURES = (
    HeatMap(hour=0, epsilon=1.0, **SHARED),
    HeatMap(hour=8, epsilon=1.0, **SHARED),
    HeatMapErrors(hours=(20, 8), epsilons=(1.0,), **SHARED),
)


def test_every_hour_that_a_figure_names_has_a_row():
    table = heat_map_data(CITY, *FIGURES, town(hours=(8,)))
    assert table["hour"].tolist() == [0, 8, 20]
    assert table["source"].tolist() == ["synthetic"] * 3
    total = table[["malformed", "outside", "beyond_limit", "kept"]].sum(axis=1)
    assert total.tolist() == table["events"].tolist()
    assert np.allclose(table["sensitivity"], 5)
    assert np.allclose(table["sensitivity_replace"], 5 * np.sqrt(2))
    # Five trips are ten events, at one junction or apart.
    assert set(table["trips_sensitivity"]) == set(table["trips_sensitivity_greatest"]) == {10.0}
    assert set(table["trips_sensitivity_least"]) == {5.0}
    assert table["deviation"].iloc[1] == 17.5  # half the junctions at 5, half at 40
    assert (table["edges"] + table["loops"] + table["parallels"] == table["sections"]).all()


def test_without_a_map_the_city_is_synthetic():
    table = heat_map_data(CITY, *FIGURES, None)
    assert set(table["city"]) == {"synthetic city"}
    assert np.allclose(table["total"], 4000)
