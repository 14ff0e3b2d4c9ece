"""The table over (K, epsilon, delta) against `best`, its bounds on the safe side.

Rounding to the safe side, exact decimals unchanged.
"""

from fractions import Fraction
from pathlib import Path

import pytest

from dpnoise.mechanisms.compare import best
from dpnoise_papers.beyond.which_noise import lower, sensitivity_of, upper, which_noise
from dpnoise_papers.config import load
from dpnoise_papers.flipped_huber_2023.settings import WhichNoise
from dpnoise_papers.result_files import read_table

GRID = {"dimensions": (12, 1, 5), "epsilons": (1.0,), "deltas": (1e-6, 0.0)}
PLAIN = {0.0: {"Laplace"}, 1e-6: {"Laplace", "Gaussian"}}


@pytest.fixture(scope="module")
def table():
    return which_noise(WhichNoise(**GRID))


def test_each_point_has_its_mechanisms_best_first(table):
    points = table.groupby(["set", "dimension", "epsilon", "delta"], sort=False)
    assert len(points) == 2 * 3 + 2 * 2  # up to K = 3 the sets are the same
    for (name, K, epsilon, delta), rows in points:
        found = best(sensitivity_of(name, K), epsilon=epsilon, delta=delta)
        assert rows["mechanism"].iloc[0] == found.name
        assert rows["variance"].iloc[0] == found.variance
        assert {"Laplace", "Gaussian"} - set(rows["mechanism"]) <= (
            {"Gaussian"} if not delta else set()
        )
        assert (rows["variance"] >= (1 - 1e-4) * rows["variance"].iloc[0]).all()


def test_bounds_are_on_the_safe_side(table):
    assert (table["certified"] <= table["delta"]).all()
    for (name, K, epsilon, delta), rows in table.groupby(["set", "dimension", "epsilon", "delta"]):
        found = best(sensitivity_of(name, K), epsilon=epsilon, delta=delta)
        first = rows.sort_index().iloc[0]
        assert found.delta <= first["certified"]
        assert (1 - 1e-7) * found.floor <= first["floor"] <= found.floor
        assert (rows["floor"] <= rows["variance"]).all()


RECORDED = Path(__file__).parents[3] / "docs/snapshot/flipped-huber-2023/which-noise.csv.xz"


def test_the_recorded_table_is_on_the_grid_of_the_settings_and_agrees_where_it_is_recomputed(table):
    recorded = read_table(RECORDED)
    grid = load(Path(__file__).parents[3] / "config.yaml").flipped_huber_2023.which_noise
    for column, values in zip(("dimension", "epsilon", "delta"), grid, strict=True):
        assert set(recorded[column]) == set(values[1])
    keys = ["set", "dimension", "epsilon", "delta", "mechanism"]
    both = table.merge(recorded, on=keys, suffixes=("", "_recorded"), how="left")
    assert both["variance"].to_numpy() == pytest.approx(both["variance_recorded"], rel=1e-6)
    assert both["floor"].to_numpy() == pytest.approx(both["floor_recorded"], rel=1e-6)


@pytest.mark.parametrize("x", [0.0, 1.0, 17.0, 1e-6, 199.9166806, 2 / 3, 1e-300, 3.0000000001])
def test_the_number_lies_between(x):
    for digits in (1, 4, 8):
        low, high = lower(x, digits), upper(x, digits)
        assert low <= x <= high
        assert high - low <= 10.0 ** (1 - digits) * x


@pytest.mark.parametrize("x", [1e-12, 1e-9, 1e-6, 1e-4, 0.1, 17.0])
def test_decimals_of_few_digits_stay(x):
    assert upper(x, 4) == lower(x, 4) == x


def test_others_move_to_their_side():
    assert upper(17.0, 1) == 20.0
    assert Fraction(lower(2 / 3, 4)) < Fraction(2, 3) < Fraction(upper(2 / 3, 4))
