"""Maps show what the tables say, on one scale; files are the same on every run."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection

from city_maps import town
from dpnoise_papers.balle_wang_2018.figures import heat_maps as figures
from dpnoise_papers.balle_wang_2018.settings import CityCounts, HeatMap, HeatMapErrors
from dpnoise_papers.balle_wang_2018.tables.heat_maps import heat_map_errors, heat_maps
from dpnoise_papers.style import save

CITY = CityCounts(seed=3, events_per_cab=5, bandwidth=80.0, reach=200.0, passengers_per_trip=1.6,
                  rows=12, columns=8, events=500)  # fmt: skip
METHODS = ["analytic", "flat", "wavelets", "trend-filtering-0"]
BUDGET = {"seed": 3, "delta": 1e-6, "repetitions": 2, "methods": METHODS}
ERRORS = HeatMapErrors(hours=(0, 8), epsilons=(0.5, 2.0), **BUDGET)


@pytest.fixture(scope="module")
def tables():
    return heat_maps(CITY, HeatMap(hour=8, epsilon=0.5, **BUDGET), town())


def panels(figure):
    return [axes for axes in figure.axes if _lines(axes) and axes.get_label() != "<colorbar>"]


def _lines(axes):
    return [item for item in axes.collections if isinstance(item, LineCollection)]


def test_a_row_of_maps_on_one_scale(tables):
    errors, maps, roads = tables
    figure = figures.maps(*tables)
    rows = panels(figure)
    assert len(rows) == 4  # the truth and all methods but the flat map
    collections = [_lines(axes)[0] for axes in rows]
    assert len({(c.norm.vmin, c.norm.vmax) for c in collections}) == 1
    for collection, method in zip(
        collections, ["truth", "analytic", "wavelets", "trend-filtering-0"], strict=True
    ):
        values = maps[method].to_numpy()[roads[["u", "v"]]]
        assert np.allclose(collection.get_array(), np.mean(values, axis=1))
        assert len(collection.get_segments()) == len(roads)
    below = [axes.texts[0].get_text() for axes in rows]
    wanted = errors.set_index("method")["rmse_first"].drop("flat")
    assert below == ["RMSE", *(f"{value:.2f}" for value in wanted)]


def test_printed_errors_stand_below_ours_and_our_own_maps_behind(tables):
    errors, maps, roads = tables
    extra = errors[errors["method"] == "flat"].assign(method="classical")
    printed = pd.DataFrame({"method": ["wavelets", np.nan], "printed": [12.28, 3784.0]})
    figure = figures.maps(pd.concat([extra, errors]), maps.assign(classical=0.0), roads, printed)
    rows = panels(figure)
    assert [axes.texts[1].get_text() for axes in rows] == ["(printed)", "", "(12.28)", "", ""]
    assert [axes.get_title().endswith("*") for axes in rows] == [False] * 4 + [True]


def test_synthetic_counts_are_called_so(tables):
    assert "SYNTHETIC" in figures.maps(*tables).get_suptitle()
    real = tables[0].assign(source="scaled")
    assert "SYNTHETIC" not in figures.maps(real, *tables[1:]).get_suptitle()
    table = heat_map_errors(CITY, ERRORS, town(), part="8")
    assert "SYNTHETIC" in figures.errors(table).axes[0].get_title(loc="left")


def test_lightness_tells_the_count_in_print():
    red, green, blue, _ = figures._SHADES(np.linspace(0, 1, 64)).T
    assert np.all(np.diff(0.2126 * red + 0.7152 * green + 0.0722 * blue) < 0)


def test_upright_turns_without_stretching():
    rng = np.random.default_rng(1)
    angle = np.radians(29)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    points = (rng.uniform(-0.5, 0.5, (500, 2)) * [1, 6]) @ turn
    x, y, north = figures._upright(points)
    assert np.ptp(y) > 5 * np.ptp(x)
    assert np.linalg.norm(north) == pytest.approx(1)
    # the direction of north is where a step to the north leads
    stepped = np.vstack([points, points.mean(axis=0), points.mean(axis=0) + np.array([0, 1e-6])])
    x, y, north = figures._upright(stepped)
    assert np.allclose([x[-1] - x[-2], y[-1] - y[-2]], 1e-6 * north, atol=1e-12)
    assert north[1] > 0
    centred = points - points.mean(axis=0)
    assert np.allclose(np.hypot(*figures._upright(points)[:2]), np.linalg.norm(centred, axis=1))


def test_errors_of_several_hours():
    parts = [heat_map_errors(CITY, ERRORS, town(), part=hour) for hour in ("0", "8")]
    figure = figures.errors(pd.concat(parts))
    drawn = [axes for axes in figure.axes if axes.lines]
    assert len(drawn) == 2
    for axes, part in zip(drawn, parts, strict=True):
        drawn_errors = sorted(tuple(line.get_ydata()) for line in axes.lines)
        assert drawn_errors == sorted(tuple(rows["mse"]) for _, rows in part.groupby("method"))
        assert axes.get_yscale() == "log"


def test_the_same_bytes_every_time(tables, tmp_path):
    first, second = (save(figures.maps(*tables), tmp_path / name / "map") for name in "ab")
    assert all(a.read_bytes() == b.read_bytes() for a, b in zip(first, second, strict=True))
