"""Algorithm 2 against the exact profile, and the search against Theorem 8."""

import math

import numpy as np
import pandas as pd
import pytest

from dpnoise.noise import FlippedHuber
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise.privacy.profile import privacy_profile
from dpnoise_papers.flipped_huber_2023 import as_printed as printed
from dpnoise_papers.flipped_huber_2023.settings import Algorithm2, Theorem8Search
from dpnoise_papers.flipped_huber_2023.tables.privacy import (
    VARIANTS,
    algorithm_2,
    iterate,
    theorem_8_search,
)

NOISE = FlippedHuber(0.7, 1.3)
GRID = np.linspace(0.0, 30.0, 1501)
SETTINGS = {"seed": 5, "dimensions": (1, 3), "shapes": (0.05,), "trials": 12, "steps": 15}


@pytest.mark.parametrize("variant", VARIANTS)
def test_one_coordinate_is_the_scalar_profile(variant):
    delta = iterate(NOISE, 1, 1.5, nu=GRID, nodes=101, variant=variant)
    assert math.isclose(delta, privacy_profile(NOISE, 1.0, 1.5), rel_tol=1e-12)


@pytest.mark.parametrize("dimension", [2, 4])
def test_the_corrected_recursion_composes_gaussian_noise(dimension):
    noise, epsilon = FlippedHuber(0.0, 2.0), 1.0
    delta = iterate(noise, dimension, epsilon, nu=GRID, nodes=1501, variant="corrected")
    exact = math.exp(gaussian_log_delta(math.sqrt(dimension) / 2.0, epsilon))
    assert math.isclose(delta, exact, rel_tol=2e-3)
    assert delta > exact  # chords lie above a convex profile


def test_line_4_as_printed_stays_at_two_coordinates():
    setting = {"nu": GRID, "nodes": 1501}
    two = iterate(NOISE, 2, 1.5, variant="corrected", **setting)
    for dimension in (2, 5, 9):
        printed = iterate(NOISE, dimension, 1.5, variant="printed", **setting)
        assert math.isclose(printed, two, rel_tol=1e-6)
    assert iterate(NOISE, 5, 1.5, variant="corrected", **setting) > 1.5 * two


def test_the_table_sets_the_variants_against_the_exact_profile():
    settings = Algorithm2(
        cases=((0.7, 1.3, 3, 2.0), (0.0, 2.0, 2, 1.0)),
        grid_points=2001,
        grid_factor=8.0,
        nodes=3001,
    )
    table = algorithm_2(settings)
    assert np.all(table["lower"] <= table["upper"])
    assert np.all(table["corrected_off"] < 5e-3)
    assert np.array_equal(table["zero_off"], table["zero_error"].abs())
    assert table.loc[0, "printed_error"] < -0.1  # the privacy of two coordinates, not of three
    assert np.allclose(table["clamped"] / table["lower"] - 1, table["clamped_error"], atol=1e-5)


def test_no_parameters_break_the_theorem():
    table = theorem_8_search(Theorem8Search(**SETTINGS))
    assert list(table["neighbour"]) == ["corner", "corner", "other"]
    assert (table["violations"] == 0).all()
    assert ((table["multiple"] > 0.01) & (table["multiple"] <= 1 + 1e-6)).all()
    assert (table["multiple"] >= table["random"]).all()
    pd.testing.assert_frame_equal(table, theorem_8_search(Theorem8Search(**SETTINGS)))


def test_a_theorem_that_vouches_for_too_little_is_refuted(monkeypatch):
    true = printed.theorem_8

    def wrong(*arguments):
        upper, lower, holds = true(*arguments)
        return 0.3 * upper, 0.3 * lower, holds

    monkeypatch.setattr(printed, "theorem_8", wrong)
    table = theorem_8_search(Theorem8Search(**SETTINGS | {"dimensions": (3,)}))
    table = table.set_index("neighbour")
    assert table.loc["corner", "violations"] > 0
    assert table.loc["corner", "multiple"] > 1
