"""DP-CD curves: the best configuration at each number of passes."""

import pandas as pd

from dpnoise_papers.flipped_huber_slides.tables.descent_curves import COLUMNS, descent_curves


def sweep(errors):
    rows = [
        {"mechanism": m, "passes": p, "step": s, "clip": 1.0, "nmse": e, "nmse_se": e / 10,
         "test_error": 2 * e, "test_error_se": 0.0}
        for (m, p, s), e in errors.items()
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_the_least_error_at_each_number_of_passes():
    table = descent_curves(
        {
            "b": sweep({("gaussian", 2, 0.1): 0.5, ("gaussian", 2, 1.0): 0.3,
                        ("gaussian", 5, 0.1): 0.4}),
            "a": sweep({("laplace", 2, 0.1): 0.7}),
            "missing": pd.DataFrame(columns=["mechanism", "passes", "nmse"]),
        }
    )  # fmt: skip
    assert list(table.columns) == COLUMNS
    assert table[["dataset", "passes", "nmse"]].to_numpy().tolist() == [
        ["a", 2, 0.7], ["b", 2, 0.3], ["b", 5, 0.4],
    ]  # fmt: skip
    assert table.loc[1, "test_error"] == 0.6


def test_nothing_to_be_had_gives_an_empty_table():
    assert list(descent_curves({}).columns) == COLUMNS
