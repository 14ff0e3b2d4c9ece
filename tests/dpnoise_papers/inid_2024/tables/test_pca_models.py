"""Table III over data models: the range holds every model, and nothing else changes."""

import numpy as np
import pandas as pd
import pytest

from dpnoise_papers.inid_2024.tables.pca import dp_pca_table
from dpnoise_papers.inid_2024.tables.pca_models import dp_pca_over_models

KEYS = ["reading", "noise", "scheme", "epsilon"]
SETTINGS = {
    "seed": 1, "samples": 120, "features": 8, "rank": 4, "epsilons": [2.0], "delta": 1e-5,
}  # fmt: skip
READINGS = ["stated", "add-remove"]
OTHERS = {"counts": [1, 3], "readings": ["stated"], "trials": 4}


@pytest.fixture(scope="module")
def table():
    return dp_pca_over_models(readings=READINGS, trials=6, others=OTHERS, **SETTINGS)


def test_the_range_is_over_the_product_and_every_union(table):
    product = dp_pca_table(model="product", readings=READINGS, trials=6, subspaces=1, **SETTINGS)
    pd.testing.assert_frame_equal(table[product.columns], product)
    unions = [
        dp_pca_table(
            model="union-of-subspaces", readings=["stated"], trials=4, subspaces=n, **SETTINGS
        )
        for n in OTHERS["counts"]
    ]
    for row in table[table["reading"] == "stated"].itertuples():
        assert row.models == 3
        one = f"noise == {row.noise!r} and scheme == {row.scheme!r}"
        for name in ("sre", "ev", "sre_gain", "ev_behind"):
            ours = getattr(row, name)
            values = [ours, *(float(union.query(one)[name].iloc[0]) for union in unions)]
            assert getattr(row, f"{name}_least") == min(values)
            assert getattr(row, f"{name}_greatest") == max(values)


def test_a_reading_on_one_model_only_has_no_range(table):
    alone = table[table["reading"] == "add-remove"]
    assert len(alone) == 4
    assert (alone["models"] == 1).all()
    for name in ("sre", "ev_gain"):
        assert np.array_equal(alone[f"{name}_least"], alone[name])
        assert np.array_equal(alone[f"{name}_greatest"], alone[name])


@pytest.mark.parametrize("counts", [[], [2, 2]])
def test_counts_that_repeat_or_are_absent_are_refused(counts):
    with pytest.raises(ValueError, match="counts: expected one or more numbers, each once"):
        dp_pca_over_models(
            readings=READINGS, trials=6, others=OTHERS | {"counts": counts}, **SETTINGS
        )


def test_more_subspaces_than_the_rank_are_refused():
    with pytest.raises(ValueError, match="subspaces: expected at most the rank"):
        dp_pca_over_models(readings=READINGS, trials=2, others=OTHERS | {"counts": [5]}, **SETTINGS)
