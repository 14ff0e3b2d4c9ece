"""Shared types of settings: grids, values that differ, folders."""

import math
from typing import Annotated

import pytest
from pydantic import TypeAdapter, ValidationError

from dpnoise_papers.settings import Grid, Section, within


class Toy(Section):
    numbers: tuple[tuple[int, float], ...] = ()


def grid(**changes):
    return {"low": 0.1, "high": 10.0, "count": 5, "spacing": "log"} | changes


def test_lists_become_tuples_at_any_depth_and_dumps_are_plain_again():
    toy = Toy(numbers=[[1, 2.0], [3, 4.0]])
    assert toy.numbers == ((1, 2.0), (3, 4.0))
    assert toy.model_dump(mode="json") == {"numbers": [[1, 2.0], [3, 4.0]]}
    assert hash(toy) == hash(Toy(numbers=((1, 2.0), (3, 4.0))))


@pytest.mark.parametrize("wrong", [[[1.0, 2.0]], [[True, 2.0]], [["1", 2.0]], [[1, math.inf]], [1]])
def test_types_are_strict(wrong):
    with pytest.raises(ValidationError):
        Toy(numbers=wrong)


def test_settings_are_closed_and_frozen():
    with pytest.raises(ValidationError, match="typo"):
        Toy(typo=1)
    with pytest.raises(ValidationError, match="frozen"):
        Toy().numbers = ()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"high": 0.1}, "low < high"),
        ({"high": 0.01}, "low < high"),
        ({"low": 0.0}, "low > 0 on a logarithmic grid"),
        ({"low": -1.0}, "low > 0 on a logarithmic grid"),
        ({"count": 1}, "greater than or equal to 2"),
        ({"count": 10**12}, "less than or equal to"),
        ({"spacing": "cubic"}, "'linear' or 'log'"),
        ({"high": math.inf}, "finite"),
    ],
)
def test_a_grid_runs_upwards_and_says_how_it_is_spaced(changes, words):
    with pytest.raises(ValidationError, match=words):
        Grid(**grid(**changes))
    assert Grid(**grid(low=-1.0, spacing="linear")).low == -1.0


def test_a_grid_must_say_how_it_is_spaced():
    with pytest.raises(ValidationError, match="spacing"):
        Grid(low=0.1, high=1.0, count=3)


def test_a_grid_can_be_bounded():
    bounded = TypeAdapter(Annotated[Grid, within(0.1, 10.0)])
    assert bounded.validate_python(grid()).high == 10.0
    for changes in ({"low": 0.09}, {"high": 10.1}):
        with pytest.raises(ValidationError, match=r"between 0\.1 and 10"):
            bounded.validate_python(grid(**changes))
