import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection

from city_maps import town
from dpnoise_papers.balle_wang_2018 import figures
from dpnoise_papers.balle_wang_2018.figures import (
    denoised_histograms,
    denoised_means,
    deviations,
    gain,
    histogram_curves,
    mean_curves,
)
from dpnoise_papers.balle_wang_2018.heat_maps import heat_map_errors, heat_maps
from dpnoise_papers.balle_wang_2018.settings import CityCounts, HeatMap, HeatMapErrors
from dpnoise_papers.claims.interval import ends
from dpnoise_papers.style import OURS

BOUNDS = pd.DataFrame(
    {"column": ["gain", "gain", "other"], "printed": [1.4, 1.5, 7.0],
     "place": ["Section 5.1", "abstract", "nowhere"]}
)  # fmt: skip
EPSILONS, DELTAS = [0.01, 0.1, 1.0], [1e-8, 1e-4]
SCALES = {"cgm": 2.0, "agm": 1.0, "laplace": 3.0, "agm-js": 0.5, "agm-js-plus": 0.4,
          "agm-th": 0.7, "zero": 0.6}  # fmt: skip
DIMENSIONS = [4, 64, 1024]
CITY = CityCounts(events_per_cab=5, passengers_per_trip=1.6)
METHODS = ["analytic", "flat", "wavelets", "trend-filtering-0"]
BUDGET = {"seed": 3, "delta": 1e-6, "repetitions": 2, "methods": METHODS}
ERRORS = HeatMapErrors(hours=(0, 8), epsilons=(0.5, 2.0), **BUDGET)


@pytest.fixture
def table():
    rows = [
        (e, d, 3 / e - np.log10(d), 2 / e, 2 - d - e / 2, 1 / d, 1.2 / d)
        for d in DELTAS for e in EPSILONS
    ]  # fmt: skip
    columns = ["epsilon", "delta", "classical", "analytic", "gain", "at_zero", "theorem_2"]
    return pd.DataFrame(rows, columns=columns)


def drawn(axes):
    return {tuple(line.get_ydata()) for line in axes.get_lines()}


def test_deviations_have_both_curves_and_both_limits_per_delta(table):
    figure = deviations(table)
    assert len(figure.axes) == 2
    for axes, (delta, rows) in zip(figure.axes, table.groupby("delta"), strict=True):
        assert drawn(axes) == {
            tuple(rows["classical"]), tuple(rows["analytic"]), (1 / delta,) * 2, (1.2 / delta,) * 2
        }  # fmt: skip
        assert axes.get_xscale() == axes.get_yscale() == "log"
    assert len(deviations(table[table["delta"] == 1e-4]).axes) == 1


@pytest.mark.parametrize(
    ("rows", "by", "words"),
    [
        (slice(None), "delta", [r"$\delta = 10^{-8}$", r"$\delta = 10^{-4}$"]),
        (slice(0, 6, 3), "epsilon", [r"$\epsilon = 0.01$"]),
    ],
)
def test_gains_have_a_line_per_value_and_two_guides(table, rows, by, words):
    table = table.iloc[rows]
    figure = gain(table, BOUNDS)
    lines = {tuple(rows["gain"]) for _, rows in table.groupby(by)}
    guides = {(1.4, 1.4), (1.5, 1.5)}
    whole, near = figure.axes
    assert drawn(whole) == drawn(near) == lines | guides
    assert near.get_ylim() == (1.0, 3.0)
    assert near.get_yscale() == "linear"
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts[: len(words)] == words
    assert texts[len(words) :] == ["printed: at least 1.4 (Section 5.1), 1.5 (abstract)"]


@pytest.fixture
def curves():
    rows = [
        (e, d, m, s * d / e, 0.1 * s)
        for e in (0.1, 1.0) for d in DIMENSIONS for m, s in SCALES.items()
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["epsilon", "dimension", "method", "error", "error_se"])


def test_errors_and_ratios_of_every_mechanism(curves):
    figure = histogram_curves(curves)
    assert len(figure.axes) == 4
    for epsilon, (left, right) in zip((0.1, 1.0), (figure.axes[:2], figure.axes[2:]), strict=True):
        rows = curves[curves["epsilon"] == epsilon]
        expected = {tuple(own["error"]) for _, own in rows.groupby("method")}
        assert {tuple(line.get_ydata()) for line in left.get_lines() if len(line.get_ydata())} == (
            expected
        )
        ratios = {line.get_ydata()[0] for line in right.get_lines()}
        assert np.allclose(sorted(ratios), sorted(SCALES.values()))
        assert len(left.collections) == len(SCALES)
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words[-1] == OURS
    assert len(words) == len(SCALES) + 1


def test_bands_are_the_intervals_of_the_verdict(curves):
    axes = mean_curves(curves).axes[0]
    band = axes.collections[0].get_paths()[0].vertices
    low, high = ends(
        curves[(curves["epsilon"] == 0.1) & (curves["method"] == "cgm")],
        "error",
    )
    assert band[:, 1].max() == pytest.approx(high.max())
    assert band[:, 1].min() == pytest.approx(low.min())
    shared = curves[(curves["epsilon"] == 0.1) & (curves["method"] == "agm")]["error"].to_numpy()
    over = mean_curves(curves).axes[1].collections[0].get_paths()[0].vertices
    assert over[:, 1].max() == pytest.approx((high / shared).max())


def test_denoised_alone_with_one_panel_per_epsilon(curves):
    figure = denoised_means(curves)
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        r"$\epsilon = 0.1$", r"$\epsilon = 1$"
    ]  # fmt: skip
    for axes, epsilon in zip(figure.axes, (0.1, 1.0), strict=True):
        first = {line.get_ydata()[0] for line in axes.get_lines() if len(line.get_ydata())}
        denoised = [SCALES[m] * 4 / epsilon for m in ("agm-js", "agm-js-plus", "agm-th", "zero")]
        assert np.allclose(sorted(first), sorted(denoised))


def test_the_axis_names_the_norm_of_the_error(curves):
    for draw, norm in (
        (mean_curves, "ell_2"), (denoised_means, "ell_2"),
        (histogram_curves, "ell_1"), (denoised_histograms, "ell_1"),
    ):  # fmt: skip
        assert norm in draw(curves).axes[0].get_ylabel()


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


def test_upright_turns_without_stretching():
    rng = np.random.default_rng(1)
    angle = np.radians(29)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    points = (rng.uniform(-0.5, 0.5, (500, 2)) * [1, 6]) @ turn
    x, y = figures._upright(points)
    assert np.ptp(y) > 5 * np.ptp(x)
    stepped = np.vstack([points, points.mean(axis=0), points.mean(axis=0) + np.array([0, 1e-6])])
    x, y = figures._upright(stepped)
    assert y[-1] > y[-2]  # a step to the north leads upwards
    centred = points - points.mean(axis=0)
    assert np.allclose(np.hypot(*figures._upright(points)), np.linalg.norm(centred, axis=1))


def test_errors_of_several_hours():
    parts = [heat_map_errors(CITY, ERRORS, town(), part=hour) for hour in ("0", "8")]
    figure = figures.errors(pd.concat(parts))
    drawn = [axes for axes in figure.axes if axes.lines]
    assert len(drawn) == 2
    for axes, part in zip(drawn, parts, strict=True):
        drawn_errors = sorted(tuple(line.get_ydata()) for line in axes.lines)
        assert drawn_errors == sorted(tuple(rows["mse"]) for _, rows in part.groupby("method"))
        assert axes.get_yscale() == "log"
