from datetime import datetime
from typing import get_args

import numpy as np
import pytest

from city_maps import grid, town
from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise_papers.balle_wang_2018.heat_maps import (
    all_hours,
    heat_map_data,
    heat_map_errors,
    heat_maps,
    map_noise,
    panel_labels,
)
from dpnoise_papers.balle_wang_2018.settings import CityCounts, Denoising, HeatMap, HeatMapErrors
from dpnoise_papers.data.city import City, Hour, Tally

CITY = CityCounts(events_per_cab=5, passengers_per_trip=1.6)
METHODS = get_args(Denoising)
FAST = [method for method in METHODS if method not in {"trend-filtering-1", "trend-filtering-2"}]


def _map(methods):
    return HeatMap(seed=3, hour=8, epsilon=0.5, delta=1e-6, repetitions=3, methods=methods)


def _errors(city, epsilons, methods):
    settings = HeatMapErrors(seed=3, hours=(8,), epsilons=epsilons, delta=1e-6, repetitions=20,
                             methods=methods)  # fmt: skip
    return heat_map_errors(CITY, settings, city, part="8")


@pytest.fixture(scope="module")
def made():
    return heat_maps(CITY, _map(METHODS), town())


def test_sigma_is_that_of_the_paper(made):
    """Raw RMSE 40.29 is sigma at epsilon = 0.5, delta = 1e-6, Delta = 5."""
    errors, _, _ = made
    sigma = errors.set_index("method")["sigma"]
    assert round(sigma["analytic"], 2) == 40.29
    assert sigma["classical"] == pytest.approx(5 * np.sqrt(2 * np.log(1.25e6)) / 0.5, rel=1e-12)
    assert (errors["sensitivity"] == 5).all()


def test_errors_are_those_of_the_maps(made):
    errors, maps, roads = made
    assert errors["method"].tolist() == list(METHODS)
    assert maps["junction"].tolist() == list(range(112))
    assert len(roads) == 13 * 8 + 14 * 7
    for row in errors.itertuples():
        mse = np.mean((maps[row.method] - maps["truth"]) ** 2)
        assert row.rmse_first == pytest.approx(np.sqrt(mse))
    # The root mean square of sigma times 112 unit normals, up to three standard errors.
    raw = errors.set_index("method").loc["analytic"]
    assert abs(raw["rmse"] - raw["sigma"]) < 4 * raw["sigma"] / np.sqrt(2 * 112 * 3)
    assert 0 < raw["rmse_se"] < raw["sigma"] / np.sqrt(112)
    noise = (maps[["analytic", "classical"]].sub(maps["truth"], axis=0)).to_numpy()
    sigma = errors.set_index("method")["sigma"]
    assert np.allclose(noise[:, 0] / sigma["analytic"], noise[:, 1] / sigma["classical"])
    assert np.ptp(maps["flat"]) == 0


def test_raw_error_is_the_variance():
    """The mean of |z|^2 sigma^2 over 400 x 20 draws: four standard errors miss 1 in 15,000."""
    table = _errors(town(20, 20), [0.5, 2.0], ["analytic"])
    expected = gaussian_sigma(table["epsilon"], 1e-6, 5.0) ** 2
    error = expected * np.sqrt(2 / (400 * 20))
    assert np.all(np.abs(table["mse"] - expected) < 4 * error)
    # and the standard error is one: its own scatter over 20 repetitions is 16 %
    assert np.all(np.abs(table["mse_se"] / error - 1) < 0.65)


def test_a_town_of_two_halves():
    """Where the signal is two constants, fusing beats shrinking beats nothing."""
    methods = ["analytic", "james-stein", "james-stein-positive", "wavelets", "trend-filtering-0"]
    mse = _errors(town(), [0.5], methods).set_index("method")["mse"]
    order = ["trend-filtering-0", "wavelets", "james-stein", "analytic"]
    assert mse[order].is_monotonic_increasing
    assert mse["james-stein-positive"] <= mse["james-stein"] * (1 + 1e-12)


def test_savings_are_paired_shares_of_the_raw_error(made):
    errors = made[0].set_index("method")
    share = 1 - errors["rmse"] / errors.loc["analytic", "rmse"]
    assert np.allclose(errors["saving"], share, atol=1e-12)
    assert errors.loc["analytic", ["saving", "saving_se"]].tolist() == [0, 0]
    # The classical release has the same draws: its loss is a constant, with no error at all.
    assert errors.loc["classical", "saving_se"] < 1e-12
    assert errors.loc["wavelets", "saving_se"] > 0
    alone, _, _ = heat_maps(CITY, _map(["flat"]), town())
    assert alone[["saving", "saving_se"]].isna().to_numpy().all()


def test_benefits_are_paired_ratios_to_the_raw_error():
    table = _errors(town(), [0.5], ["classical", "analytic", "flat"]).set_index("method")
    assert np.allclose(table["benefit"], table.loc["analytic", "mse"] / table["mse"])
    sigma = table["sigma"]
    assert table.loc["classical", "benefit"] == pytest.approx(
        (sigma["analytic"] / sigma["classical"]) ** 2
    )
    assert table["benefit_se"].tolist()[:2] == pytest.approx([0, 0], abs=1e-12)
    assert _errors(town(), [0.5], ["flat"])["benefit"].isna().all()


def test_roles_and_notes_say_what_is_of_the_paper(made):
    errors = made[0].set_index("method")
    raw, denoised = (set(errors.index[errors["role"] == role]) for role in ("raw", "denoised"))
    assert raw == {"classical", "analytic"}
    assert denoised == {"james-stein", "soft-threshold", "wavelets", "trend-filtering-0"}
    smooth = denoised & set(errors.index[errors["smooths"] == "graph"])
    assert smooth == {"wavelets", "trend-filtering-0"}
    assert set(errors["data_note"]) == {"substitute trips, since the paper's counts are not public"}


def test_the_noise_of_the_maps_needs_no_data():
    settings = HeatMapErrors(seed=3, hours=(8,), epsilons=(0.1, 10.0), delta=1e-6, repetitions=2,
                             methods=("flat",))  # fmt: skip
    table = map_noise(CITY, _map(["flat"]), _map(["flat"]), settings)
    assert table["epsilon"].tolist() == [0.1, 0.5, 10.0]
    assert round(table["analytic"].iloc[1], 2) == 40.29
    # The classical formula gives less noise than privacy needs at epsilon = 10.
    assert (table["gain"] > 1).tolist() == [True, True, False]
    assert np.allclose(table["gain"], (table["classical"] / table["analytic"]) ** 2)


def test_maps_are_the_first_repetition_and_settings_do_not_matter(made):
    errors, _, _ = made
    fewer, _, _ = heat_maps(CITY, _map(["wavelets"]), town())
    assert fewer["rmse"].iloc[0] == errors.set_index("method").loc["wavelets", "rmse"]
    both = _errors(town(), [0.5, 5.0], ["james-stein"])
    alone = _errors(town(), [5.0], ["james-stein"])
    assert both["mse"].iloc[1] == alone["mse"].iloc[0]


def test_hours_are_joined_in_their_order():
    one = _errors(town(), [0.5], ["flat"])
    both = all_hours({"8": one, "12": one.assign(hour=12)})
    assert both["hour"].tolist() == [8, 12]
    assert both.index.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("counts", "sections", "complaint"),
    [
        ([1.0, -2.0] * 6, None, r"counts: expected non-negative numbers, got \[-2"),
        ([np.nan] * 12, None, "counts: expected non-negative"),
        ([1.0] * 11, None, "one for each junction"),
        ([1.0] * 12, [(0, 1)], "connected"),
        ([1.0] * 12, [], "at least one"),
    ],
)
def test_bad_cities_are_refused(counts, sections, complaint):
    x, y, edges = grid(4, 3)
    hour = Hour("scaled", "", 1.0, Tally(0, 0, 0, 0, 0))
    city = City("bad", x, y, edges if sections is None else sections, {8: np.array(counts)},
                {8: hour})  # fmt: skip
    with pytest.raises(ValueError, match=complaint):
        heat_maps(CITY, _map(["flat"]), city)


def test_every_hour_that_a_figure_names_has_a_row():
    table = heat_map_data(CITY, town(hours=(0, 8, 20)))
    assert table["hour"].tolist() == [0, 8, 20]
    total = table[["malformed", "outside", "beyond_limit", "kept"]].sum(axis=1)
    assert total.tolist() == table["events"].tolist()
    assert np.allclose(table["sensitivity"], 5)
    assert np.allclose(table["sensitivity_replace"], 5 * np.sqrt(2))
    # Five trips are ten events, at one junction or apart.
    assert set(table["trips_sensitivity"]) == set(table["trips_sensitivity_greatest"]) == {10.0}
    assert set(table["trips_sensitivity_least"]) == {5.0}
    assert table["deviation"].iloc[1] == 17.5  # half the junctions at 5, half at 40
    assert (table["edges"] + table["loops"] + table["parallels"] == table["sections"]).all()


def test_two_of_the_four_printed_labels_are_no_times_of_day():
    table = panel_labels().set_index("reading")
    assert table.loc["printed", "is_time"].tolist() == [1, 1, 0, 0]
    assert table.loc["corrected", "is_time"].tolist() == [1] * 4
    for label, hour in zip(table.loc["corrected", "label"], (8, 12, 16, 20), strict=True):
        assert datetime.strptime(label.upper(), "%I:%M %p").hour == hour  # noqa: DTZ007
