"""`from_frame`: neighbours differ by an element of the set, and messages show no row."""

import numpy as np
import pandas as pd
import pytest

from dpnoise import Counts, best, from_frame, release
from for_all import for_all

LABELS = ["a", "b", "c", "d"]
ROWS = pd.DataFrame({"who": [1, 2, 1, 1, 1, 3], "what": ["c", "c", "c", "z", "a", "b"]})


def counted(rows, at_most=2, **more):
    return from_frame(
        rows, person="who", by="what", at_most=at_most, **{"categories": LABELS} | more
    )


def by_definition(rows, m):
    """Return the counts from each person's own list of different known labels, cut at m."""
    total = dict.fromkeys(LABELS, 0)
    for who in rows["who"].dropna().unique():
        own = [x for x in rows.loc[rows["who"] == who, "what"] if x in LABELS]
        for label in list(dict.fromkeys(own))[:m]:
            total[label] += 1
    return total


@for_all("m", [1, 2, 4])
@for_all("seed", range(15))
def test_neighbours_differ_by_an_element_of_the_set(seed, m):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    who = rng.choice([1.0, 2.0, 3.0, 4.0, 5.0, np.nan], n)
    rows = pd.DataFrame({"who": who, "what": rng.choice([*LABELS, "z", None], n)})
    found = counted(rows, m)
    assert found.counts.to_dict() == by_definition(rows, m)
    assert found.sensitivity == Counts(m, of=4, relation="add-remove")
    for left in (1.0, 2.0, 3.0, 4.0, 5.0):
        other = counted(rows[rows["who"] != left], m)
        change = (found.counts - other.counts).to_numpy()
        assert found.sensitivity.norm(change.astype(float)) <= 1.0
        assert change.min() >= 0


def test_a_person_counts_in_the_first_m_categories_once_each():
    assert counted(ROWS, 1).counts.to_dict() == {"a": 0, "b": 1, "c": 2, "d": 0}
    assert counted(ROWS, 2).counts.to_dict() == {"a": 1, "b": 1, "c": 2, "d": 0}
    assert counted(ROWS[::-1], 1).counts["a"] == 1  # another order, another first
    assert counted(ROWS.iloc[:0]).counts.tolist() == [0, 0, 0, 0]


def test_categories_of_the_type_of_the_column():
    known = ROWS["what"].where(ROWS["what"] != "z")
    typed = ROWS.assign(what=known.astype(pd.CategoricalDtype(LABELS)))
    found = counted(typed, categories=None)
    assert found.counts.equals(counted(ROWS).counts)
    assert (found.counts.name, found.counts.index.name) == ("count", "what")
    assert release(found.counts, best(found.sensitivity, epsilon=1.0).noise).index.equals(
        found.counts.index
    )


@for_all("odd", [["a"], {}, 1j, pd.NA, None, float("nan"), 10**400, "1"])
def test_one_row_does_not_change_how_others_are_read(odd):
    rows = pd.DataFrame({"who": [1, 2], "what": [1, 2]}, dtype=object)
    more = pd.concat([rows, pd.DataFrame({"who": [odd, 4], "what": [2, odd]}, dtype=object)])
    counts = from_frame(more, person="who", by="what", at_most=1, categories=[1, 2]).counts
    assert counts[1] == 1
    assert counts[2] in {1, 2}


def test_every_mistake_is_named():
    with pytest.raises(ValueError, match="from_frame: ") as refused:
        from_frame(ROWS, person="whom", by=["what"], at_most=0)
    text = str(refused.value)
    assert "person: expected the name of one column, got 'whom'" in text
    assert "by: expected the name of one column, got ['what']" in text
    assert "at_most: expected a whole number from 1" in text
    with pytest.raises(ValueError, match=r"person: expected .*categories: expected .*at_most: "):
        from_frame(ROWS, person="whom", by="what", at_most=0)
    with pytest.raises(ValueError, match="df: expected a DataFrame of pandas or polars, got"):
        from_frame({}, person="who", by="what", at_most=1)
    with pytest.raises(ValueError, match="at_most: expected a whole number from 1 to K = 4"):
        counted(ROWS, 5)
    twice = pd.concat([ROWS, ROWS], axis=1)
    with pytest.raises(ValueError, match="person: expected the name of one column"):
        counted(twice)


@for_all(
    "categories", [None, [], ["a", "a"], [["a"]], 3, ["a", float("nan")], ["a", None], ["a", pd.NA]]
)
def test_categories_are_public_and_complete(categories):
    with pytest.raises(ValueError, match="categories: expected the public categories") as refused:
        counted(ROWS, 1, categories=categories)
    assert "'z'" not in str(refused.value)
