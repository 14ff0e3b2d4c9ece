"""The table over (K, epsilon, delta) against `best`, its bounds on the safe side."""

import pytest

from dpnoise.mechanisms.compare import best
from dpnoise_papers.which_noise.settings import WhichNoise
from dpnoise_papers.which_noise.table import sensitivity_of, which_noise

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
