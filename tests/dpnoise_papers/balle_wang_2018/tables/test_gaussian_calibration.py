"""Tables of the Gaussian mechanism: limits, the crossings, and what Algorithm 1 gives."""

import math

import numpy as np
import pytest

from dpnoise.calibration.classical import classical_gaussian_sigma
from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise_papers.balle_wang_2018.tables.gaussian_calibration import (
    classical_against_analytic,
    gain_crossings,
    published_algorithm,
    published_algorithm_sizes,
)


def test_deviations_as_epsilon_vanishes():
    table = classical_against_analytic(
        epsilons={"low": 1e-12, "high": 1.0, "count": 25}, deltas=[1e-3, 1e-6], sensitivity=2.0
    )
    assert len(table) == 50
    for delta, rows in table.groupby("delta"):
        first = rows.iloc[0]
        limit = 2 / (math.sqrt(2 * math.pi) * delta)  # of the analytic one, for small delta
        assert first["analytic"] == pytest.approx(first["at_zero"], rel=1e-4)
        assert first["at_zero"] == pytest.approx(limit, rel=delta)
        assert first["theorem_2"] == pytest.approx(2 / (2 * delta))
        assert (rows["analytic"].diff().dropna() < 0).all()
        assert np.allclose(rows["classical"] * rows["epsilon"], rows["classical"].iloc[-1])
        assert np.allclose(rows["gain"], (rows["classical"] / rows["analytic"]) ** 2)


def test_crossings_are_roots_and_grow_with_the_gain():
    table = gain_crossings(epsilons=[0.5, 1.0], gains=[1.4, 1.5])
    classical = classical_gaussian_sigma(table["epsilon"], table["delta"], allow_large_epsilon=True)
    gain = (classical / gaussian_sigma(table["epsilon"], table["delta"])) ** 2
    assert np.allclose(gain, table["gain"], rtol=1e-10)
    assert table["delta"].to_numpy().reshape(2, 2)[1, 0] < table["delta"].to_numpy()[3]


def test_crossings_beyond_the_range_of_delta():
    table = gain_crossings(epsilons=[1.0], gains=[1.0001, 1e6])
    assert table["delta"].tolist() == [0.0, 1.0]


def test_the_map_of_algorithm_1_names_what_happens():
    table = published_algorithm(epsilons=[1.0, 800.0], deltas=[1e-15, 1e-3], tolerance=1e-12)
    assert set(table["stop"]) == {"argument", "delta"}
    outcomes = table.set_index(["epsilon", "delta"])["outcome"]
    assert outcomes[800.0].tolist() == ["none"] * 4
    usual = table[(table["epsilon"] == 1.0) & (table["stop"] == "delta")].set_index("delta")
    assert abs(usual.loc[1e-3, "relative_error"]) < 1e-8
    assert abs(usual.loc[1e-15, "relative_error"]) > 1e-3
    small = usual.loc[1e-15]
    assert (small["log10_ratio"] > 0) == (small["outcome"] == "unsafe")
    assert (small["relative_error"] < 0) == (small["outcome"] == "unsafe")
    none = table[table["outcome"] == "none"]
    assert none[["published", "relative_error", "log10_ratio"]].isna().to_numpy().all()


def test_sizes_count_the_map():
    grid = {"epsilons": {"low": 0.1, "high": 800.0, "count": 30}, "tolerance": 1e-12}
    grid["deltas"] = {"low": 1e-16, "high": 0.1, "count": 20}
    table = published_algorithm(**grid)
    sizes = published_algorithm_sizes(**grid, excesses=[1.01, 1000.0], least_deltas=[0.0, 1e-10])
    assert len(sizes) == 8
    ran = table[table["outcome"] != "none"]
    ratio = 10 ** ran["log10_ratio"]
    for row in sizes.itertuples():
        part = (ran["stop"] == row.stop) & (ran["delta"] >= row.least_delta)
        assert row.points == part.sum()
        assert row.above == (part & (ratio > row.excess)).sum()
        assert row.share == pytest.approx(row.above / row.points)
        assert (row.above == 0) == np.isnan(row.greatest_delta)
    # The stop of the authors' script is the worse where delta is near the tolerance.
    worst = ran.groupby("stop")["log10_ratio"].max()
    assert worst["delta"] >= worst["argument"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: classical_against_analytic(
                epsilons=[0.5, 1.5], deltas={"low": 0.1, "high": 1.0, "count": 1}, sensitivity=0.0
            ),
            ["epsilons[1]", "1.5", "deltas: count", "sensitivity"],
        ),
        (lambda: gain_crossings(epsilons=[], gains=[1.0]), ["epsilons: ", "gains[0]"]),
        (
            lambda: published_algorithm(epsilons=[math.nan], deltas=[0.0, 1.0], tolerance=-1.0),
            ["epsilons[0]", "deltas[0]", "deltas[1]", "tolerance"],
        ),
        (
            lambda: published_algorithm_sizes(
                epsilons=[1.0], deltas=[0.1], tolerance=1.0, excesses=[1.0], least_deltas=[1.0]
            ),
            ["excesses[0]", "least_deltas[0]"],
        ),
        (
            lambda: classical_against_analytic(
                epsilons={"low": 0.1, "high": 2.0, "count": 3}, deltas=[0.1], sensitivity=1.0
            ),
            ["epsilons: high", "2.0"],
        ),
    ],
)
def test_bad_settings_are_named_together(call, words):
    with pytest.raises(ValueError, match="expected") as error:
        call()
    assert all(word in str(error.value) for word in words)
