"""Order of printed accuracies: how far it is broken, and what it leaves to one more."""

import math

import pytest

from dpnoise_papers.inid_2024.tables.printed_order import (
    excluded,
    largest_inversion,
    multiplier_range,
)

PRINTED = {1.1: 68.0, 1.4: 60.0, 1.5: 63.0, 2.0: 59.0}
NONE = {1.1: math.nan, 2.0: math.nan}


def test_the_largest_inversion_is_that_of_any_two_rows_of_a_column():
    assert largest_inversion({"iid": PRINTED}) == 3.0
    assert largest_inversion({"iid": PRINTED, "spr": {1.0: 40.0, 2.0: 44.0}}) == 4.0
    assert largest_inversion({"a": {2.0: 44.0}, "b": {1.0: 40.0}}) == 0.0  # not one column
    assert largest_inversion({"iid": {1.0: 9.0, 2.0: 9.0}}) == 0.0
    assert largest_inversion({"iid": NONE}) == 0.0
    assert largest_inversion({"iid": {1.0: 1.0, 2.0: math.nan, 3.0: 2.0}}) == 1.0


def test_only_differences_above_the_slack_bound_the_noise():
    assert multiplier_range(67.0, PRINTED, 3.0) == (0.0, 1.4)
    assert multiplier_range(64.0, PRINTED, 3.0) == (1.1, 1.4)
    assert multiplier_range(63.0, PRINTED, 3.0) == (1.1, 2.0)  # 60 and 63 say nothing
    assert multiplier_range(30.0, PRINTED, 3.0) == (2.0, math.inf)
    assert multiplier_range(67.0, PRINTED, 90.0) == (0.0, math.inf)
    assert all(map(math.isnan, multiplier_range(70.0, NONE, 0.0)))
    assert all(map(math.isnan, multiplier_range(math.nan, PRINTED, 0.0)))


@pytest.mark.parametrize("accuracy", [58.0, 60.0, 61.5, 63.0, 64.0, 67.0, 69.0])
def test_a_slack_of_the_largest_inversion_leaves_a_range(accuracy):
    low, high = multiplier_range(accuracy, PRINTED, largest_inversion({"iid": PRINTED}))
    assert low < high


def test_ranges_that_meet_in_a_point_do_not_exclude():
    assert excluded((1.0, 2.0), (2.0, 3.0)) == 0.0
    assert excluded((3.0, 4.0), (2.0, 3.0)) == 0.0
    assert excluded((1.0, 9.0), (2.0, 3.0)) == 0.0
    assert excluded((1.0, 1.9), (2.0, 3.0)) == 1.0
    assert excluded((3.1, 4.0), (2.0, 3.0)) == 1.0
    assert excluded((3.1, 4.0), (0.0, math.inf)) == 0.0
    assert math.isnan(excluded((1.0, 2.0), (math.nan, math.nan)))
