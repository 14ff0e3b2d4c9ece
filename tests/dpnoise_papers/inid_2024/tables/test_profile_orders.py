"""Orders of profiles by dispersion and gains by dimension, against closed forms of Table I."""

import numpy as np
import pytest

from dpnoise_papers.inid_2024.settings import Dispersion
from dpnoise_papers.inid_2024.tables.profile_orders import dispersion_orders, profile_steps
from dpnoise_papers.inid_2024.tables.profiles import gini, profile

PROFILES = ["uniform", "linear", "quadratic", "exponential", "one-hot"]


def gain_db(noise, name, dimension):
    x = profile(name, dimension)
    if noise == "gaussian":
        return 10 * np.log10(dimension * np.sum(x**2) / np.sum(x) ** 2)
    return 10 * np.log10(dimension * np.sum(x) ** 2 / np.sum(np.cbrt(x) ** 2) ** 3)


def test_pairs_are_ordered_by_dispersion_and_compare_the_gains():
    table = dispersion_orders(Dispersion(profiles=PROFILES, dimensions=[1, 2, 3]))
    assert set(table["dimension"]) == {2, 3}  # one coordinate has no dispersion
    assert len(table) == 2 * 2 * 10
    for row in table.itertuples():
        more, less = (profile(name, row.dimension) for name in (row.more, row.less))
        assert row.gini_difference == pytest.approx(gini(more) - gini(less))
        assert row.gini_difference > 0.0
        gains = [gain_db(row.noise, name, row.dimension) for name in (row.more, row.less)]
        assert row.gain_difference_db == pytest.approx(gains[0] - gains[1], abs=1e-9)


def test_dispersion_orders_the_laplace_gains_but_at_three_coordinates():
    table = dispersion_orders(Dispersion(profiles=PROFILES, dimensions=[2, 3, 4, 9]))
    wrong = table[table["gain_difference_db"] <= 0.0]
    assert wrong[["noise", "dimension", "more", "less"]].to_numpy().tolist() == [
        ["laplace", 3, "exponential", "quadratic"]
    ]


def test_steps_add_up_to_the_gain_and_iid_noise_grows_with_the_dimension():
    table = profile_steps(Dispersion(profiles=PROFILES, dimensions=[4, 1, 2]))
    assert set(table["dimension"]) == {2, 4}
    assert (table["iid_departure"] < 1e-12).all()
    assert set(table.loc[table["case"] == "edge", "profile"]) == {"uniform", "one-hot"}
    for (noise, name), rows in table.groupby(["noise", "profile"]):
        last = rows.set_index("dimension").loc[4, "gain_db"]
        assert last == pytest.approx(gain_db(noise, name, 4), abs=1e-9)
        assert rows["step_db"].sum() == pytest.approx(last, abs=1e-9)
