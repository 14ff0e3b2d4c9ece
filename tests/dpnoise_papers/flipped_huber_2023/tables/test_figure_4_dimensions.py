"""The step from one dimension to another: gains in decibels and gaps, row by row."""

import numpy as np
import pandas as pd
import pytest

from dpnoise_papers.flipped_huber_2023.tables.figure_4_dimensions import compare_dimensions


def panel(dimension, gaussian, least, sufficient):
    parts = [
        pd.DataFrame(
            {"mechanism": mechanism, "method": method, "epsilon": [1.0, 0.3], "variance": v}
        )
        for mechanism, method, v in (
            ("gaussian", "exact", gaussian),
            ("flipped-huber", "exact", least),
            ("flipped-huber", "sufficient", sufficient),
            ("laplace", "pure", [1.0, 2.0]),
            ("offset-symmetric-gaussian", "exact", [2 * v for v in least]),
            ("offset-symmetric-gaussian", "box", [4 * v for v in least]),
        )
    ]
    return pd.concat(parts).assign(dimension=dimension, delta=1e-8)


LOWER = panel(3, [100.0, 1000.0], [10.0, 10.0], [11.0, 15.0])
HIGHER = panel(5, [100.0, 1000.0], [20.0, 50.0], [24.0, 60.0])


def test_gains_and_gaps_by_epsilon():
    table = compare_dimensions(LOWER, HIGHER)
    assert table["epsilon"].tolist() == [0.3, 1.0]
    assert table["gain_from_db"].to_numpy() == pytest.approx([20, 10])
    assert table["gain_to_db"].to_numpy() == pytest.approx(10 * np.log10([20, 5]))
    assert table["gain_lost_db"].to_numpy() == pytest.approx(10 * np.log10([5, 2]))
    assert table["gap_from"].tolist() == [5, 1]
    assert table["gap_to"].tolist() == [10, 4]
    assert table["gap_grown"].tolist() == [5, 3]
    assert table["excess_to"].to_numpy() == pytest.approx([0.2, 0.2])
    assert table["excess_from"].to_numpy() == pytest.approx([0.5, 0.1])
    assert table["excess"].to_numpy() == pytest.approx([0.5, 0.2])
    assert table["over_gaussian"].to_numpy() == pytest.approx([0.05, 0.2])
    assert table["over_osgt"].to_numpy() == pytest.approx([0.5, 0.5])
    assert set(table["search"]) == {"unrestricted"}
    assert set(table["dimension_from"]) == {3}
    assert set(table["dimension_to"]) == {5}


def test_a_box_without_private_noise_is_left_out():
    def boxed(table, least):
        names = {"exact": "box", "sufficient": "sufficient-box"}
        part = table[table["mechanism"] == "flipped-huber"].replace({"method": names})
        small = part["epsilon"] == 0.3
        return pd.concat([table, part.assign(variance=part["variance"].mask(small, least) * 2)])

    table = compare_dimensions(boxed(LOWER, 7.0), boxed(HIGHER, np.nan))
    assert table["search"].tolist() == ["unrestricted", "unrestricted", "box"]
    assert table["epsilon"].tolist() == [0.3, 1.0, 1.0]
    assert table["gap_to"].tolist() == [10, 4, 8]
    assert table["over_osgt"].tolist() == [0.5, 0.5, 0.5]


def test_tables_that_do_not_belong_together_are_refused():
    with pytest.raises(ValueError, match="the same delta and epsilon"):
        compare_dimensions(LOWER, HIGHER[HIGHER["epsilon"] == 1])
    with pytest.raises(ValueError, match=r"lower: expected one dimension, got \[3, 5\]"):
        compare_dimensions(pd.concat([LOWER, HIGHER]), HIGHER)
