"""Theorem 7 of inid-2024: the ratio is between nu and 1, and both ends are reached."""

import numpy as np
import pytest

from dpnoise_papers.inid_2024.settings import Theorem7
from dpnoise_papers.inid_2024.tables.theorem_7 import theorem_7


@pytest.fixture(scope="module")
def table():
    return theorem_7(Theorem7(dimensions=[1, 2, 30], largest=10**5, shares=[1e-5, 1e-2, 0.5, 1.0]))


def test_every_ratio_is_between_nu_and_one(table):
    for noise in ("gaussian", "laplace"):
        assert (table[noise] >= table["nu"] * (1 - 1e-12)).all()
        assert (table[noise] <= 1 + 1e-12).all()
        assert np.allclose(table[f"{noise}_over_claim"] * table["nu"] ** 2, table[noise])


def test_the_mean_absolute_errors_lie_between_nu_and_one_as_well(table):
    assert (table["absolute"] >= table["nu"] * (1 - 1e-12)).all()
    assert (table["absolute"] <= 1 + 1e-12).all()
    assert np.allclose(table["absolute_over_claim"] * table["nu"], table["absolute"])
    two = table[(table["profile"] == "linear") & (table["dimension"] == 2)].iloc[0]
    assert two["absolute"] == pytest.approx((0.5**0.5 + 1) ** 2 / 3.0)  # sensitivities 1/2 and 1


def test_equal_or_absent_sensitivities_reach_the_lower_end(table):
    rows = table[table["profile"] == "block"]
    assert np.allclose(rows["nu"], rows["share"])
    assert np.allclose(rows["gaussian"], rows["nu"])
    assert np.allclose(rows["laplace"], rows["nu"])


def test_one_large_and_many_small_ones_come_near_the_upper_end(table):
    row = table[(table["profile"] == "outlier") & (table["share"] == 1e-2)].iloc[0]
    assert row["nu"] < 0.0101
    assert row["gaussian"] > 0.9
    assert row["laplace"] > 0.99


def test_gaussian_noise_always_gains_more(table):
    assert (table["gaussian"] <= table["laplace"] * (1 + 1e-12)).all()
