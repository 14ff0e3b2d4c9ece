"""The pages of Table III and of its ablation show each number, and what is missing."""

import math
import re

import numpy as np
import pandas as pd
import pytest

from dpnoise_papers.flipped_huber_2023.table_3.figures import ablation_page, pages
from dpnoise_papers.flipped_huber_2023.table_3.protocols import (
    COLUMNS,
    METRICS,
    NOISE_COLUMNS,
    RANKING_COLUMNS,
    ranking,
)
from table_3_toys import printed_claim

MECHANISMS = ("gaussian", "flipped-huber")
CLAIMS = [
    printed_claim("houses", "gaussian", "nmse", 0.6371e-3, "0.6371e-3"),
    printed_claim("houses", "flipped-huber", "nmse", 0.6165e-3, "0.6165e-3"),
    printed_claim("houses", "gaussian", "test_error", 0.0391, "0.0391"),
    printed_claim("wine-quality", "gaussian", "nmse", 0.225, "0.2250"),
]
PRINTED = [
    (dataset, mechanism, metric, value)
    for dataset, value in (("houses", 1e-3), ("boston", 0.35))
    for mechanism in ("gaussian", "flipped-huber")
    for metric in ("nmse", "test_error")
]
ALL_CLAIMS = [printed_claim(*row) for row in PRINTED]


def markdown(printed, held_out):
    return pages(printed, held_out, claims=CLAIMS)[0]


def latex(table):
    return pages(table, table, claims=CLAIMS)[1]


def row(dataset="houses", mechanism="gaussian", **changes):
    numbers = {
        **dict.fromkeys(NOISE_COLUMNS, 1.0),
        "nmse": 0.000712345,
        "nmse_se": 0.0000234,
        "nmse_pick": 0.0005698760,
        "nmse_gain": 0.00012349,
        "nmse_gain_se": 0.0000567,
        "test_error": 0.04567,
        "test_error_se": 0.00123,
        "test_error_pick": 0.04,
        "test_error_gain": -0.00312,
        "test_error_gain_se": 0.00051,
        "shape": "Gaussian",
    }
    head = {"dataset": dataset, "mechanism": mechanism, "status": "ok", "reason": ""}
    return {**head, **numbers, **changes}


def table(*rows):
    return pd.DataFrame(rows)


def missing(dataset, reason, mechanism="gaussian"):
    head = {"dataset": dataset, "mechanism": mechanism, "status": "missing", "reason": reason}
    return row(**{**dict.fromkeys(row(), np.nan), **head})


def cells(page):
    """Return the tables of a page: lists of rows of cells, header and rule left out."""
    blocks = re.findall(r"(?:^\|.*\|\n?)+", page, flags=re.MULTILINE)
    split = re.compile(r"(?<!\\)\|")
    return [
        [[cell.strip() for cell in split.split(line)[1:-1]] for line in block.splitlines()[2:]]
        for block in blocks
    ]


GOOD = table(row(), row(mechanism="flipped-huber"))


def test_the_page_shows_each_number_beside_the_printed_one():
    ours, held_out, noise = cells(markdown(GOOD, GOOD))
    gain = ["0.000123 ± 0.000057", "-0.00312 ± 0.00051"]
    nmse, error = "0.000712 ± 0.000023", "0.0457 ± 0.0012"
    assert ours == [
        ["Houses", "Gaussian", f"{nmse} [0.6371e-3]", "", f"{error} [0.0391]", ""],
        ["Houses", "flipped Huber", f"{nmse} [0.6165e-3]", gain[0], error, gain[1]],
    ]
    # 1 - 0.000569876 / 0.000712345 = 0.2
    assert held_out == [
        ["Houses", "Gaussian", nmse, "+20%", "", error, ""],
        ["Houses", "flipped Huber", nmse, "+20%", gain[0], error, gain[1]],
    ]
    assert noise[0] == ["Houses", "Gaussian", *["1"] * 7, "Gaussian"]


def test_the_noise_is_shown_to_three_digits():
    values = {"passes": 20, "step": 0.123456, "clip": 1e6, "xi": 0.0, "eta": 1.23456e-5,
              "alpha": 0.0, "gamma": 98765.0, "shape": "Laplace limit"}  # fmt: skip
    *_, noise = cells(markdown(table(row(**values)), GOOD))
    shown = ["20", "0.123", "1e+06", "0", "1.23e-05", "0", "9.88e+04", "Laplace limit"]
    assert noise == [["Houses", "Gaussian", *shown]]


def test_a_missing_data_set_is_a_row_that_says_why():
    reason = "mirror: none given; a|b\nsecond line"
    some = table(row(), missing("wine-quality", reason))
    for block, width in zip(cells(markdown(some, some)), (6, 7, 10), strict=True):
        assert len(block) == 2
        shown = r"mirror: none given; a\|b second line"
        assert block[1] == ["Wine quality", "Gaussian", *[""] * (width - 2), shown]


def test_nothing_available_is_a_page_of_reasons():
    nothing = table(*(missing("houses", "offline", m) for m in MECHANISMS))
    page = markdown(nothing, nothing)
    assert page.count("offline") == 6
    assert "nan" not in page.lower()
    assert latex(nothing).count("not run") == 4


def test_a_diverged_number_is_a_dash():
    wild = row(**dict.fromkeys(("nmse", "nmse_pick", "nmse_se"), math.inf), nmse_gain=math.nan)
    page = markdown(table(wild), table(wild))
    ours, held_out, _ = cells(page)
    assert ours[0][2] == "- [0.6371e-3]"
    assert held_out[0][2:4] == ["-", "-"]
    assert "inf" not in page
    assert "nan" not in page


@pytest.mark.parametrize("rows", [GOOD, table(row(), missing("houses", "x", "flipped-huber"))])
def test_every_row_of_a_table_has_as_many_cells_as_its_header(rows):
    page = markdown(rows, rows)
    for block in re.findall(r"(?:^\|.*\|\n?)+", page, flags=re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1


def test_latex_prints_ours_above_theirs():
    both = table(*(row(d, m) for d in ("houses", "wine-quality") for m in MECHANISMS))
    text = latex(both)
    lines = [line.removesuffix(r" \\") for line in text.splitlines()]
    ours = [r"0.000712 $\pm$ 0.000023", r"0.0457 $\pm$ 0.0012"] * 2
    assert lines[0] == r"\begin{tabular}{lrrrr}"
    assert lines[2] == r" & \multicolumn{2}{c}{Gaussian} & \multicolumn{2}{c}{flipped Huber}"
    assert lines[5].split(" & ") == ["Houses", *ours]
    assert lines[6].split(" & ") == [r"\quad printed", "0.6371e-3", "0.0391", "0.6165e-3", ""]
    assert lines[7].split(" & ") == ["Wine quality", *ours]
    assert lines[8].split(" & ") == [r"\quad printed", "0.2250", "", "", ""]
    assert lines[9:] == [r"\bottomrule", r"\end{tabular}"]
    assert text.isascii()


def test_the_pages_know_every_metric_of_the_summary():
    for metric in METRICS:
        worse = table(row(**{metric: 77.0, f"{metric}_se": 1.0}))
        assert "77.0 ± 1.0" in markdown(worse, GOOD)
        assert "77.0 ± 1.0" in markdown(GOOD, worse)
        assert r"77.0 $\pm$ 1.0" in latex(worse)


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


def cells_of(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_page_shows_the_ranking_and_the_ratios():
    runs = runs_of({"chosen": 1.0, "raw": 2.5})
    text = ablation_page(ranking(runs, claims=ALL_CLAIMS), runs, claims=ALL_CLAIMS)
    rows = [cells_of(line) for line in text.splitlines() if line.startswith("|")]
    assert ["chosen", "0.000", "0.000", "0.000", "0.00", "0 of 8"] in rows
    assert ["raw", "0.916", "0.916", "0.916", "0.92", "0 of 8"] in rows
    for title in ("NMSE", "test error"):
        _, part = text.split(f"## Ours / printed: {title}, Gaussian noise")
        lines = [cells_of(line) for line in part.strip().splitlines()[:4]]
        assert lines[0] == ["variant", "houses", "boston"]
        assert lines[2:] == [["chosen", "1", "1"], ["raw", "2.5", "2.5"]]


def test_where_no_data_set_was_to_be_had_the_page_is_empty_and_not_an_error():
    runs = {"all": pd.DataFrame(columns=COLUMNS)}
    ranked = pd.DataFrame(columns=RANKING_COLUMNS)
    assert ablation_page(ranked, runs, claims=ALL_CLAIMS).startswith("# Ablation")
