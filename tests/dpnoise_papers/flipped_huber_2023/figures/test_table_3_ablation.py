"""The page of the ablation: the ranking, and the ratios of the Gaussian rows."""

import pandas as pd

from dpnoise_papers.flipped_huber_2023.figures.table_3_ablation import page
from dpnoise_papers.flipped_huber_2023.tables.table_3_ablation import (
    COLUMNS,
    RANKING_COLUMNS,
    ranking,
)
from table_3_toys import printed_claim

PRINTED = [
    (dataset, mechanism, metric, value)
    for dataset, value in (("houses", 1e-3), ("boston", 0.35))
    for mechanism in ("gaussian", "flipped-huber")
    for metric in ("nmse", "test_error")
]
CLAIMS = [printed_claim(*row) for row in PRINTED]


def runs_of(factors):
    """Return runs whose numbers are the printed ones times a factor for each variant."""
    rows = [
        {"dataset": dataset, "variant": variant, "mechanism": mechanism,
         "nmse": factor * value, "test_error": factor * value}
        for variant, factor in factors.items()
        for dataset, mechanism, metric, value in PRINTED
        if metric == "nmse"
    ]  # fmt: skip
    return {"all": pd.DataFrame(rows).reindex(columns=COLUMNS)}


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_page_shows_the_ranking_and_the_ratios():
    runs = runs_of({"chosen": 1.0, "raw": 2.5})
    text = page(ranking(runs, claims=CLAIMS), runs, claims=CLAIMS)
    rows = [cells(line) for line in text.splitlines() if line.startswith("|")]
    assert ["chosen", "0.000", "0.000", "0.000", "0.00", "0 of 8"] in rows
    assert ["raw", "0.916", "0.916", "0.916", "0.92", "0 of 8"] in rows
    for title in ("NMSE", "test error"):
        _, part = text.split(f"## Ours / printed: {title}, Gaussian noise")
        lines = [cells(line) for line in part.strip().splitlines()[:4]]
        assert lines[0] == ["variant", "houses", "boston"]
        assert lines[2:] == [["chosen", "1", "1"], ["raw", "2.5", "2.5"]]


def test_where_no_data_set_was_to_be_had_the_page_is_empty_and_not_an_error():
    runs = {"all": pd.DataFrame(columns=COLUMNS)}
    ranked = pd.DataFrame(columns=RANKING_COLUMNS)
    assert page(ranked, runs, claims=CLAIMS).startswith("# Ablation")
