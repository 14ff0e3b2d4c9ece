"""Tables of the Gaussian mechanism: limits, the crossings, and what Algorithm 1 gives."""

import math

import numpy as np
import pytest

from dpnoise.calibration.gaussian import classical_gaussian_sigma, gaussian_sigma
from dpnoise_papers.balle_wang_2018.settings import (
    Algorithm1,
    Algorithm1Sizes,
    GainByDelta,
    GainByEpsilon,
    GainCrossings,
)
from dpnoise_papers.balle_wang_2018.tables.gaussian_calibration import (
    classical_against_analytic,
    gain_crossings,
    published_algorithm,
    published_algorithm_sizes,
)
from dpnoise_papers.settings import Grid


def _pairs(*ends):
    """Settings of Algorithm 1 over two logarithmic grids (low, high, count)."""
    epsilons, deltas = (
        Grid(low=low, high=high, count=count, spacing="log") for low, high, count in ends
    )
    return Algorithm1(epsilons=epsilons, deltas=deltas, tolerance=1e-12)


def test_deviations_as_epsilon_vanishes():
    epsilons = Grid(low=1e-12, high=1.0, count=25, spacing="log")
    settings = GainByEpsilon(epsilons=epsilons, deltas=[1e-3, 1e-6], sensitivity=2.0)
    table = classical_against_analytic(settings)
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
    table = gain_crossings(GainCrossings(epsilons=[0.5, 1.0], gains=[1.4, 1.5]))
    classical = classical_gaussian_sigma(table["epsilon"], table["delta"], allow_large_epsilon=True)
    gain = (classical / gaussian_sigma(table["epsilon"], table["delta"])) ** 2
    assert np.allclose(gain, table["gain"], rtol=1e-10)
    assert table["delta"].to_numpy().reshape(2, 2)[1, 0] < table["delta"].to_numpy()[3]


def test_crossings_beyond_the_range_of_delta():
    table = gain_crossings(GainCrossings(epsilons=[1.0], gains=[1.0001, 1e6]))
    assert table["delta"].tolist() == [0.0, 1.0]


def test_the_map_of_algorithm_1_names_what_happens():
    table = published_algorithm(_pairs((1.0, 800.0, 2), (1e-15, 1e-3, 2)))
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
    grid = _pairs((0.1, 800.0, 30), (1e-16, 0.1, 20))
    counted = Algorithm1Sizes(excesses=[1.01, 1000.0], minimum_deltas=[0.0, 1e-10])
    table = published_algorithm(grid)
    sizes = published_algorithm_sizes(grid, counted)
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


def test_the_ends_of_the_settings_have_finite_numbers():
    """The extremes that the settings allow, where products overflow first."""
    for low, size in ((1e-100, 1e6), (1e-300, 1e-6)):
        deltas = Grid(low=low, high=0.5, count=2, spacing="log")
        settings = GainByDelta(epsilons=[1e-100, 1.0], deltas=deltas, sensitivity=size)
        table = classical_against_analytic(settings)
        assert np.isfinite(table.drop(columns="gain")).to_numpy().all()
    assert math.isfinite(gain_crossings(GainCrossings(epsilons=[1e-100], gains=[1e300])).delta[0])
