"""Variants of Laplace noise over measured gradients: between the ends over all shapes."""

import pandas as pd
import pytest

from dpnoise_papers.inid_2024.table_4.laplace_measured import (
    COLUMNS,
    table_4_laplace_measured,
)
from table_4_toys import SIZES, variants


@pytest.fixture
def laplace():
    return variants().copy()


def shapes(**ratios):
    """One state for each ratio of the norms that clipping in l2 and in l1 leaves."""
    rows = [
        {"clipping": clipping, "signal_l1": 0.1, "signal_l2": 0.1 * ratio, "data_note": "toy"}
        for clipping, values in ratios.items()
        for ratio in values
    ]
    return pd.DataFrame(rows)


def test_flat_gradients_give_the_column_for_flat_gradients(laplace):
    whole = table_4_laplace_measured(laplace, shapes(whole=[SIZES.sum() ** 0.5], group=[1.0]))
    assert list(whole.columns) == COLUMNS
    iid = laplace["scheme"] == "iid"
    expected = laplace[iid]["noise_over_gaussian"].to_numpy()
    assert whole[iid]["noise_over_gaussian_minimum"].to_numpy() == pytest.approx(expected, rel=1e-9)
    assert whole[iid]["noise_over_gaussian_maximum"].to_numpy() == pytest.approx(expected, rel=1e-9)
    least = laplace[~iid]["noise_over_gaussian_minimum"].to_numpy()
    assert whole[~iid]["noise_over_gaussian_maximum"].to_numpy() == pytest.approx(least, rel=1e-12)


def test_the_ends_are_those_over_the_states(laplace):
    found = table_4_laplace_measured(laplace, shapes(whole=[3.0, 7.0, 5.0], group=[2.0] * 3))
    assert set(found["gradients"]) == {3}
    assert set(found["data_note"]) == {"toy"}
    ratio = found["noise_over_gaussian_maximum"] / found["noise_over_gaussian_minimum"]
    l1 = (laplace["clipping"] == "l1") & (laplace["scheme"] == "iid")
    assert ratio[l1].to_numpy() == pytest.approx(7.0 / 3.0, rel=1e-12)
    assert ratio[~l1].to_numpy() == pytest.approx(1.0, rel=1e-12)


def test_without_gradients_there_are_no_rows(laplace):
    found = table_4_laplace_measured(laplace, shapes(whole=[1.0]).iloc[:0])
    assert found.empty
    assert list(found.columns) == COLUMNS
