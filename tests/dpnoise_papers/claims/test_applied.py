"""Claims that do not fit their tables are named by row, and never left 'not run' in silence."""

import pytest

from claim_toys import NUMBER, ORDERING, replace, two
from dpnoise_papers.claims.applied import misfits, places
from dpnoise_papers.claims.model import Condition

OTHER = replace(NUMBER, id="other", result="paper/other.csv")
TABLE = two(1.0, 2.0)


def found(claim, table=TABLE, *, whole=True):
    return misfits([OTHER, claim], {claim.result: table}, whole=whole)


@pytest.mark.parametrize("claim", [NUMBER, ORDERING])
def test_a_claim_that_fits_is_not_named(claim):
    assert found(claim) == []


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    ("claim", "column"),
    [
        (replace(NUMBER, column="xx"), "xx"),
        (replace(NUMBER, select=(Condition("mechanismus", "=", "a"),)), "mechanismus"),
        (replace(ORDERING, against=(Condition("mech", "=", "a"),)), "mech"),
        (replace(ORDERING, against_column="y"), "y"),
        (replace(ORDERING, pair=("epsilon",)), "epsilon"),
        (
            replace(
                NUMBER, corrected_statement="s", corrected_select=(Condition("sigma", "=", "2"),)
            ),
            "sigma",
        ),
    ],
)
def test_a_misspelt_column_is_named_in_every_run(claim, column, whole):
    (line,) = found(claim, whole=whole)
    assert line.startswith(f"paper.csv, row 3 ({claim.id}): results/paper/table-1.csv")
    assert f"has no column {column!r}" in line


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        (replace(NUMBER, select=(Condition("mechanism", "=", "A"),)), "mechanism=A"),
        (replace(NUMBER, select=(Condition("x", ">", "2"),)), "x>2"),
        (replace(NUMBER, shared=(Condition("x", ">", "2"),)), "x>2"),
        (replace(ORDERING, against=(Condition("mechanism", "=", "bb"),)), "mechanism=bb"),
        (
            replace(NUMBER, select=(Condition("mechanism", "=", "a"), Condition("x", "=", "2"))),
            "mechanism=a, x=2",
        ),
    ],
)
def test_a_selection_without_a_row_is_a_mistake_where_settings_and_data_are_the_papers(
    claim, words
):
    (line,) = found(claim)
    assert f"has no row with {words}" in line
    assert found(claim, whole=False) == []


def test_the_nearest_names_are_told():
    assert found(replace(NUMBER, select=(Condition("mechanisn", "=", "a"),)))[0].endswith(
        "has no column 'mechanisn'; the nearest: mechanism"
    )
    table = TABLE.replace("a", "laplace")
    line = found(replace(NUMBER, select=(Condition("mechanism", "=", "laplase"),)), table)[0]
    assert line.endswith("; the nearest: laplace")


def test_tables_without_rows_and_absent_ones_say_nothing():
    bad = replace(NUMBER, column="xx")
    assert misfits([bad], {}, whole=True) == []
    assert misfits([bad], {bad.result: TABLE[:0]}, whole=True) == []


def test_rows_are_counted_in_each_file():
    claims = [NUMBER, replace(NUMBER, id="b", paper="q"), replace(NUMBER, id="c")]
    assert places(claims) == [
        "paper.csv, row 2 (number)", "q.csv, row 2 (b)", "paper.csv, row 3 (c)",
    ]  # fmt: skip
