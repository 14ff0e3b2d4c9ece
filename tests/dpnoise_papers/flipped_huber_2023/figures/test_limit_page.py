"""The sentences about the limit say what the table says."""

import pandas as pd

from dpnoise_papers.flipped_huber_2023.figures.limit_page import limit_page
from dpnoise_papers.flipped_huber_2023.tables.limit import within


def test_each_delta_has_its_sentence():
    rows = [
        (cost, delta, epsilon, 1.0, 1.004, mechanism, 1 if good else 0)
        for cost in ("variance", "mean-abs")
        for delta in (0.0, 1e-6)
        for epsilon in (0.1, 0.5, 1.0)
        for mechanism, good in (
            ("flipped-huber", delta > 0 and epsilon < 1),
            ("laplace", delta > 0 and epsilon == 1),
        )
    ]  # fmt: skip
    columns = ["cost", "delta", "epsilon", "lower", "upper", "mechanism", "within"]
    table = pd.DataFrame(rows, columns=columns)
    page = limit_page(table, within(table)).splitlines()
    assert "## Variance (the limit is known to 0.4%)" in page
    assert "## Mean absolute error (the limit is known to 0.4%)" in page
    assert page.count("- delta = 0: none of them.") == 2
    sentence = (
        "- delta = 1e-06: flipped huber for epsilon from 0.1 to 0.5; laplace for epsilon at 1."
    )
    assert page.count(sentence) == 2
