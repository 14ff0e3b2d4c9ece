"""Settings of balle-wang-2018: what no table function can use is refused where it stands."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from dpnoise_papers.balle_wang_2018.settings import Settings
from dpnoise_papers.config import load
from for_all import for_all

SHIPPED = load(Path(__file__).parents[3] / "config.yaml").balle_wang_2018
GRID = {"low": 0.1, "high": 1.0, "count": 3, "spacing": "log"}


@for_all(
    ("section", "field", "value", "words"),
    [
        ("figure_1a", "epsilons", GRID | {"high": 2.0}, "between 1e-100 and 1"),
        ("figure_1a", "deltas", [0.1, 0.1], "different values"),
        ("figure_1b", "sensitivity", 0.0, "greater than or equal to 0.000001"),
        ("figure_3a", "epsilons", [0.5, 1.5], "less than or equal to 1"),
        ("figure_3a", "deltas", GRID, "between 1e-300 and 1"),
        ("algorithm_1", "tolerance", 1e10, "less than or equal to 0.01"),
        ("algorithm_1", "epsilons", GRID | {"count": 100_000}, "at most 1000000 pairs"),
        ("algorithm_1", "epsilons", GRID | {"low": 1e-20}, "between 1e-12 and 10000"),
        ("algorithm_1_sizes", "excesses", [0.5], "greater than 1"),
        ("algorithm_1_sizes", "minimum_deltas", [1.0], "less than 1"),
        ("figure_1c", "epsilons", [0.0], "greater than or equal to 0.001"),
        ("figure_1c", "delta", 1.0, "less than 1"),
        ("figure_1c", "samples", 0, "greater than or equal to 1"),
        ("figure_1c", "samples", 1_000_000, "at most 50000000 numbers"),
        ("figure_3b", "repetitions", 1, "greater than or equal to 2"),
        ("figure_3c", "draws", -1, "greater than or equal to 0"),
        ("figure_4a", "dimensions", [2], "greater than or equal to 3"),
        ("figure_4b", "dimensions", [4.5], "valid integer"),
        ("figure_4c", "dimensions", [8, 8], "different values"),
        ("city", "events_per_cab", 0, "greater than or equal to 1"),
        ("city", "most", 5, "Extra inputs"),
        ("city", "passengers_per_trip", 0.0, "greater than 0"),
        ("figure_2", "hour", 24, "less than or equal to 23"),
        ("figure_2", "epsilon", 1000.0, "less than or equal to 100"),
        ("figure_5", "methods", ["median"], "trend-filtering-2"),
        ("figure_5", "repetitions", 1, "greater than or equal to 2"),
        ("figure_6", "hours", [8, 8], "different values"),
        ("figure_6", "delta", 0.0, "greater than or equal to 0.0000"),
        ("theory", "trials", 19, "greater than or equal to 20"),
        ("theory", "trials", 10**12, "less than or equal to 20000"),
    ],
)
def test_a_mistake_is_refused_where_it_is(section, field, value, words):
    given = SHIPPED.model_dump()
    given[section][field] = value
    with pytest.raises(ValidationError, match=words) as caught:
        Settings.model_validate(given)
    assert all(error["loc"][0] == section for error in caught.value.errors())


def test_the_city_is_prepared_for_every_hour_that_a_section_names():
    assert SHIPPED.hours == [0, 8, 12, 16, 20]
    given = SHIPPED.model_dump()
    given["figure_5"]["hour"] = 3
    assert Settings.model_validate(given).hours == [0, 3, 8, 12, 16, 20]
