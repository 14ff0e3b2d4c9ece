"""The search against Theorem 8 finds nothing, and finds it when the theorem is made wrong."""

import pandas as pd

from dpnoise_papers.flipped_huber_2023 import as_printed as printed
from dpnoise_papers.flipped_huber_2023.settings import Theorem8Search
from dpnoise_papers.flipped_huber_2023.tables.theorem_8_search import theorem_8_search

SETTINGS = {"seed": 5, "dimensions": (1, 3), "shapes": (0.05,), "trials": 12, "steps": 15}


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
