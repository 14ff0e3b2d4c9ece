"""Every problem of an input is named in one message, and numbers mean real numbers."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dpnoise._validation import Problems, has_mask


def accepted(value, **interval):
    return Problems("a test").number("x", value, **interval)


def test_every_problem_is_named_in_one_message():
    problems = Problems("the thing")
    assert not problems.number("epsilon", -1.0, low=0.0)
    assert problems.number("delta", 0.5, low=0.0, high=1.0)
    assert not problems.require(False, "name", "a word", "x y")
    problems.add("loose end")
    with pytest.raises(ValueError, match=r"^the thing: ") as caught:
        problems.raise_if_any()
    assert str(caught.value) == (
        "the thing: epsilon: expected a finite number in [0, inf], got -1.0; "
        "name: expected a word, got 'x y'; loose end"
    )


@pytest.mark.parametrize(
    "value", [1, 0.5, np.float64(0.5), np.float32(0.5), np.int64(1), Fraction(1, 3)]
)
def test_real_numbers_of_every_kind_are_numbers(value):
    assert accepted(value, low=0.0, high=1.0)


@pytest.mark.parametrize(
    "value",
    [
        *(True, False, np.True_, None, "1", "nan", 1j, [1.0], np.array([1.0]), Decimal(1)),
        *(math.nan, np.float64("nan"), np.float32("nan")),
    ],
)
@pytest.mark.parametrize("finite", [True, False])
def test_what_is_not_a_real_number_is_refused(value, finite):
    assert not accepted(value, finite=finite)


def test_infinity_is_accepted_only_on_request():
    assert not accepted(math.inf)
    assert not accepted(-math.inf)
    assert accepted(math.inf, finite=False)
    assert not accepted(math.inf, finite=False, open_high=True)
    assert not accepted(-math.inf, finite=False, low=0.0)


def test_an_integer_beyond_all_floats_is_refused_like_infinity():
    assert not accepted(10**400)
    assert not accepted(-(10**400), high=0.0)


@pytest.mark.parametrize(
    ("open_low", "open_high", "shown"),
    [
        (False, False, "[0, 1]"),
        (True, False, "(0, 1]"),
        (False, True, "[0, 1)"),
        (True, True, "(0, 1)"),
    ],
)
def test_the_ends_belong_to_the_interval_unless_it_is_open_there(open_low, open_high, shown):
    problems = Problems("a test")
    ends = {"low": 0.0, "high": 1.0, "open_low": open_low, "open_high": open_high}
    assert problems.number("x", 0.0, **ends) is not open_low
    assert problems.number("x", 1.0, **ends) is not open_high
    # the neighbours of the ends: inside always accepted, outside never
    assert problems.number("x", math.nextafter(0.0, 1.0), **ends)
    assert problems.number("x", math.nextafter(1.0, 0.0), **ends)
    assert not problems.number("x", math.nextafter(0.0, -1.0), **ends)
    assert not problems.number("x", math.nextafter(1.0, 2.0), **ends)
    assert all(f"a finite number in {shown}" in found for found in problems.found)


MASKED = np.ma.array([1.0, 7.5], mask=[False, True])


@pytest.mark.parametrize(
    "values",
    [MASKED, np.ma.masked, MASKED[1], MASKED.astype(object), np.ma.array([1.0]), [3.0, MASKED[1]],
     [[1.0], (2.0, MASKED)], np.array([MASKED[1], 2.0], dtype=object)],
    ids=repr,
)  # fmt: skip
def test_masks_are_found_wherever_they_are(values):
    assert has_mask(values)


@pytest.mark.parametrize(
    "values",
    [1.0, None, "text", [1.0, [2.0, 3.0]], np.ones(3), np.array([None, "a"]), MASKED.filled(0.0)],
    ids=repr,
)
def test_other_values_have_no_mask(values):
    assert not has_mask(values)


def test_a_list_inside_itself_ends():
    endless = [1.0]
    endless.append(endless)
    assert not has_mask(endless)
