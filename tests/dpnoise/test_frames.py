"""Columns by their public type, and labels that do not fit them."""

import datetime as dt
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from dpnoise import Budget, from_frame, release
from dpnoise._frames import kind_of, label_kind, misfits, records_of
from for_all import for_all

DAY, NOON = dt.date(2026, 11, 28), dt.datetime(2026, 11, 28, 12)  # noqa: DTZ001
COLUMNS = {
    "numbers": [np.array([1]), np.array([True]), pd.Series([1.5]), pd.Series([1], dtype="Int64")],
    "text": [np.array(["a"]), pd.Series(["a"]), pd.Series(["a"], dtype="category")],
    "dates": [np.array([DAY], dtype="datetime64[D]")],
    "times": [np.array([NOON], dtype="datetime64[ns]"), pd.Series([NOON])],
    "durations": [pd.Series([pd.Timedelta("1D")]), np.array([1], dtype="timedelta64[s]")],
    "bytes": [np.array([b"a"])],
}
LABELS = {
    "numbers": [1, True, 1.5, np.int8(1), np.bool_(True), Fraction(1, 2), Decimal(1), 1j],
    "text": ["a", np.str_("a")],
    "dates": [DAY, np.datetime64("2026-11-28")],
    "times": [NOON, pd.Timestamp(NOON), np.datetime64("2026-11-28T12")],
    "durations": [dt.timedelta(1), pd.Timedelta("1D"), np.timedelta64(1, "s")],
    "bytes": [b"a"],
}


@for_all("kind", COLUMNS)
def test_labels_of_another_kind_than_the_column_are_refused(kind):
    for column in COLUMNS[kind]:
        assert kind_of(column) == kind
        for other, labels in LABELS.items():
            for label in labels:
                assert label_kind(label) == other
                assert bool(misfits([label], column)) == (other != kind), (label, column)
    assert misfits([None, ("a", 1)], COLUMNS[kind][0]) == ""  # any record may be equal to these


@for_all("values", [[1, "a"], pd.Series([1], dtype=object), pd.Series(["a"], dtype=object)])
def test_records_without_a_public_type_decide_nothing(values):
    """One record more of another type must not make an error."""
    assert kind_of(values) is None
    assert misfits(["a", 1], values) == ""


REGIONS = pd.DataFrame({"who": [1, 2, 2], "code": [10115, 10115, 20095], "name": ["a", "b", "b"]})
ASKED = {"epsilon": 1.0, "relation": "add-remove"}
WRONG = {
    "numbers beside text": (REGIONS["code"], ["10115", "20095"], "numbers.*int64, got text: '101"),
    "counts beside text": (REGIONS["name"].value_counts(), ["a", "b"], "numbers.*int64, got text"),
    "text beside numbers": (REGIONS["name"], range(12), r"text.*str, got numbers: 0, 1, 2, \.\.\."),
    "dates beside text": (
        np.array(["2026-11-28"]),
        [np.datetime64("2026-11-28")],
        "text.*got dates",
    ),
    "dates beside times": (pd.Series([NOON]), [DAY], "times.*got dates"),
    "duplicates": (REGIONS["name"], ["a", "b", "a"], r"each once \('a' more often\)"),
    "one as True": (REGIONS["code"], [1, True], "each once"),
}


@for_all("name", WRONG)
def test_nothing_is_spent_on_labels_that_do_not_match(name):
    values, labels, message = WRONG[name]
    budget = Budget(1.0, relation="add-remove")
    with pytest.raises(ValueError, match=message):
        release.histogram(values, categories=labels, epsilon=1.0, budget=budget)
    assert budget.entries == []


@for_all(
    ("by", "labels", "message"),
    [
        ("name", range(12), "text.*got numbers: 0"),
        ("code", ["10115"], "numbers.*got text"),
        ("name", ["a", "a"], "each once"),
    ],
)
def test_frames_are_counted_by_labels_that_match(by, labels, message):
    with pytest.raises(ValueError, match=f"from_frame: categories: expected.*{message}"):
        from_frame(REGIONS, person="who", by=by, at_most=1, categories=labels)


def test_counts_that_may_all_be_zero_are_marked_by_the_noisy_numbers_alone():
    """Whether a record has a label is private: a refusal would tell."""
    wrong = release.histogram(np.array(["a"] * 9), categories=["A", "B"], epsilon=60.0, **WHO)
    assert "check that the labels are spelled as in the data" in repr(wrong)
    right = release.histogram(np.array(["a"] * 9), categories=["a", "b"], epsilon=60.0, **WHO)
    assert "check" not in repr(right)


WHO = {"relation": "add-remove"}


def test_dates_of_numpy_find_their_records():
    days = np.array(["2026-11-28", "2026-11-29", "2026-11-28"], dtype="datetime64[D]")
    found = release.histogram(days, categories=np.unique(days), epsilon=60.0, **WHO)
    assert found.value.tolist() == [2, 1]
    times = days.astype("datetime64[ns]")
    found = release.histogram(times, categories=np.unique(times), epsilon=60.0, **WHO)
    assert found.value.tolist() == [2, 1]
    assert records_of(times)[0] == dt.datetime(2026, 11, 28)  # noqa: DTZ001


def test_no_library_of_frames_is_imported_before_it_is_given():
    code = (
        "import sys, numpy as np; from dpnoise import release, best;"
        "release.histogram(np.array(['a']), categories=['a'], epsilon=1.0, relation='add-remove');"
        "release.sum([1.0], bounds=(0, 1), epsilon=1.0, relation='add-remove');"
        "release([1], best(1, epsilon=1.0));"
        "print(sorted({'pandas', 'polars', 'narwhals', 'pyarrow'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
