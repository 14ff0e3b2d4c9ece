"""Table III over data models: the range holds every model, and nothing else changes."""

import numpy as np
import pandas as pd
import pytest

from dpnoise_papers.inid_2024.learning_settings import Pca
from dpnoise_papers.inid_2024.tables.pca import dp_pca_table
from dpnoise_papers.inid_2024.tables.pca_models import dp_pca_over_models

SETTINGS = Pca(
    seed=1, samples=120, features=8, rank=4, epsilons=[2.0], delta=1e-5, trials=6,
    variants=["stated", "add-remove"],
    others={"counts": [1, 3], "variants": ["stated"], "trials": 4},
)  # fmt: skip


@pytest.fixture(scope="module")
def table():
    return dp_pca_over_models(SETTINGS)


def test_the_range_is_over_the_product_and_every_union(table):
    product = dp_pca_table(SETTINGS)
    pd.testing.assert_frame_equal(table[product.columns], product)
    others = SETTINGS.model_copy(update={"variants": ("stated",), "trials": 4})
    unions = [dp_pca_table(others, "union-of-subspaces", n) for n in SETTINGS.others.counts]
    for row in table[table["reading"] == "stated"].itertuples():
        assert row.models == 3
        one = f"noise == {row.noise!r} and scheme == {row.scheme!r}"
        for name in ("sre", "ev", "sre_gain", "ev_behind"):
            ours = getattr(row, name)
            values = [ours, *(float(union.query(one)[name].iloc[0]) for union in unions)]
            # noise that is private without clipping belongs to what the text leaves open
            values.append(float(product.query(f"reading == 'add-remove' and {one}")[name].iloc[0]))
            assert getattr(row, f"{name}_least") == min(values)
            assert getattr(row, f"{name}_greatest") == max(values)


def test_only_the_gaussian_noise_that_the_text_calls_best_is_no_rival(table):
    best = table[table["rival"] == 0]
    assert set(zip(best["noise"], best["scheme"], strict=True)) == {("gaussian", "inid")}
    assert len(best) == 2
    assert (best["sre_behind"] == 0.0).all()


def test_a_variant_on_one_model_only_has_no_range(table):
    alone = table[table["reading"] == "add-remove"]
    assert len(alone) == 4
    assert (alone["models"] == 1).all()
    for name in ("sre", "ev_gain"):
        assert np.array_equal(alone[f"{name}_least"], alone[name])
        assert np.array_equal(alone[f"{name}_greatest"], alone[name])
