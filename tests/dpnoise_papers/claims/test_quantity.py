import math

import pandas as pd
import pytest

from claim_toys import NUMBER, ORDERING, replace, two, verdict
from dpnoise_papers.claims.judge import judge
from dpnoise_papers.claims.model import Condition
from dpnoise_papers.claims.quantity import misfits, places, read_tables

OTHER = replace(NUMBER, id="other", result="paper/other.csv")
TABLE = two(1.0, 2.0)


def test_differences_and_ratios_and_their_standard_errors():
    against = {"against": ORDERING.against}
    difference = replace(NUMBER, quantity="difference", printed="10.26%", **against)
    found = verdict(difference, two(0.2515, 0.1489, 3e-4, 4e-4))
    assert found.reason == "reproduced"
    assert found.ours == "10.26%"
    assert found.uncertainty == pytest.approx(5e-4)
    ratio = replace(NUMBER, quantity="ratio", printed="2.00", **against)
    found = verdict(ratio, two(4.0, 2.0, 0.01, 0.01))
    assert found.reason == "reproduced"
    assert found.uncertainty == pytest.approx(2 * math.hypot(0.0025, 0.005))
    assert verdict(ratio, two(4.0, 0.0)).reason == "not run"


SERIES = pd.DataFrame(
    {
        "mechanism": ["a", "a", "a", "b", "b", "b"],
        "epsilon": [1, 2, 3, 3, 2, 1],
        "x": [3.0, 2.0, 1.0, 1.5, 2.5, 3.5],
        "y": [4.0, 1.0, 3.0, 9.0, 9.0, 9.0],
    }
)


@pytest.mark.parametrize(
    ("reduce", "printed"), [("min", "1"), ("max", "3"), ("mean", "2"), ("one", None)]
)
def test_rows_are_reduced(reduce, printed):
    claim = replace(NUMBER, reduce=reduce, printed=f"{printed or 2}.000")
    found = verdict(claim, SERIES)
    assert found.reason == ("reproduced" if printed else "not run")
    assert printed or "3 rows are selected where one is expected" in found.why


def test_the_standard_error_of_a_mean_is_that_of_independent_rows():
    found = verdict(replace(NUMBER, reduce="mean", printed="2.0"), SERIES.assign(x_se=0.3))
    assert found.uncertainty == pytest.approx(0.3 / math.sqrt(3))


def test_all_rows_must_satisfy_the_claim():
    claim = replace(NUMBER, reduce="all", relation="<=", printed="3")
    assert verdict(claim, SERIES).reason == "reproduced"
    found = verdict(replace(claim, printed="2"), SERIES)
    assert found.reason == "differs"
    assert "Fails in 1 of 3 rows" in found.why
    assert found.ours == "3"


def test_sides_of_several_rows_are_paired_by_name_not_by_place():
    claim = replace(ORDERING, reduce="all", pair=("epsilon",))
    assert verdict(claim, SERIES).reason == "reproduced"
    unpaired = verdict(replace(claim, pair=()), SERIES)
    assert unpaired.reason == "not run"
    assert "'pair' does not say how" in unpaired.why
    assert "do not pair off by epsilon" in verdict(claim, SERIES.drop(5)).why
    assert "no column 'delta'" in verdict(replace(claim, pair=("delta",)), SERIES).why


def test_two_columns_of_the_same_rows_need_no_pairing():
    claim = replace(ORDERING, reduce="all", against=(), against_column="y")
    found = verdict(claim, SERIES)
    assert found.reason == "differs"
    assert found.ours == "2 and 1"


def test_one_row_stands_against_many():
    table = SERIES[(SERIES["mechanism"] == "a") | (SERIES["epsilon"] == 1)]
    assert verdict(replace(ORDERING, reduce="all"), table).reason == "reproduced"


def test_a_missing_table_row_column_or_value_is_not_run(tmp_path):
    assert judge([NUMBER], {}).reason[0] == "not run"
    absent = replace(NUMBER, select=(Condition("mechanism", "=", "c"),))
    for claim, table, words in [
        (absent, two(1, 2), "no row with mechanism=c"),
        (NUMBER, two(1, 2).rename(columns={"x": "z"}), "no column 'x'"),
        (NUMBER, two(1, 2).drop(columns="mechanism"), "no column 'mechanism'"),
        (NUMBER, two(math.nan, 2), "lacks 'x'"),
        (NUMBER, two(math.inf, 2), "lacks 'x'"),
        (NUMBER, two("x", 2), "lacks 'x'"),
        (NUMBER, two(0.0391, 2, math.nan, 0), "lacks 'x_se'"),
        (NUMBER, two(0.0391, 2, -1, 0), "negative standard error"),
        (
            NUMBER,
            two(0.0391, 2).assign(status=["missing", "ok"], reason=["no network.", ""]),
            "missing: no network.",
        ),
        (NUMBER, two(0.0391, 2).assign(status=["failed", "ok"]), "no reason is recorded"),
    ]:
        found = verdict(claim, table)
        assert found.reason == "not run"
        assert words in found.why
        assert found.cause == ""
    (tmp_path / "paper").mkdir()
    assert read_tables([NUMBER.result], tmp_path) == {}
    (tmp_path / NUMBER.result).touch()
    with pytest.raises(ValueError, match=r"table-1\.csv: expected a table"):
        read_tables([NUMBER.result], tmp_path)
    two(1 / 3, 2).to_csv(tmp_path / NUMBER.result)
    tables = read_tables([NUMBER.result, ORDERING.result, "absent.csv"], tmp_path)
    assert tables[NUMBER.result]["x"][0] == pytest.approx(1 / 3, rel=1e-15)


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
