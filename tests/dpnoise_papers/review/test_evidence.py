"""The rows behind a claim."""

import pandas as pd
import pytest

from claim_toys import NUMBER, ORDERING, replace, two
from dpnoise_papers.claims.judge import bands
from dpnoise_papers.claims.model import Condition
from dpnoise_papers.review.model import MOST, evidence


def rows_behind(claim, table, **options):
    tables = {claim.result: table}
    return evidence(claim, tables, bands([claim], tables).get(claim.id), **options)


def test_a_number_shows_its_row_with_its_error_and_line():
    found = rows_behind(NUMBER, two(0.0391, 0.5, 0.01, 0.02))
    assert found.columns == ["mechanism", "x", "x_se"]
    assert found.rows == [["a", "0.0391", "0.01"]]
    assert (found.lines, found.deciding, found.omitted) == ([2], {2}, 0)


def test_an_ordering_shows_both_sides():
    found = rows_behind(ORDERING, two(0.5, 0.6))
    assert found.rows == [["a", "0.5"], ["b", "0.6"]]
    assert found.deciding == {2, 3}


@pytest.mark.parametrize("reduce", ["all", "max"])
def test_of_many_rows_the_one_that_decides_comes_first(reduce):
    table = pd.DataFrame({"mechanism": "a", "x": [0.1 * k for k in range(20)]})
    claim = replace(NUMBER, printed="0.75", relation="<=", reduce=reduce)
    found = rows_behind(claim, table)
    assert found.lines[0] == 21
    assert found.deciding == {21}
    assert len(found.rows) == MOST
    assert found.omitted == 20 - MOST


def test_paired_sides_bring_the_row_that_belongs_to_the_deciding_one():
    table = pd.DataFrame({"mechanism": ["a"] * 9 + ["b"] * 9, "epsilon": [*range(9)] * 2,
                          "x": [1.0] * 18})  # fmt: skip
    table.loc[7, "x"] = 3.0
    claim = replace(ORDERING, pair=("epsilon",), reduce="all")
    found = rows_behind(claim, table)
    assert found.deciding == {7 + 2, 16 + 2}
    assert "epsilon" in found.columns


def test_a_misprint_in_words_shows_the_corrected_rows():
    claim = replace(
        NUMBER, corrected_statement="of b", corrected_select=(Condition("mechanism", "=", "b"),)
    )
    assert rows_behind(claim, two(0.5, 0.0391)).rows[0][0] == "a"
    assert rows_behind(claim, two(0.5, 0.0391), misprint=True).rows[0][0] == "b"


def test_without_a_table_or_a_row_there_is_nothing_to_show():
    assert evidence(NUMBER, {}, None) is None
    none = two(1.0, 2.0).assign(mechanism="c")
    assert evidence(NUMBER, {NUMBER.result: none}, None) is None
