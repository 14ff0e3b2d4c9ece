"""Settings of coordinate descent: what would fail or mean nothing is refused where it stands."""

import copy
from pathlib import Path

import pytest
import yaml

from dpnoise_papers.config import ConfigError, validate
from dpnoise_papers.data.registry import read_registry
from for_all import for_all

SHIPPED = yaml.safe_load((Path(__file__).parents[3] / "config.yaml").read_text(encoding="utf-8"))
TABLE = "flipped_huber_2023.table_3"
DESCENT = "inid_2024.descent_orders"
LASSO = {"loss": "squared", "penalty": "l1", "strength": 0.1}
FINE = {"low": 0.1, "high": 1.0, "count": 999, "spacing": "log"}
MISTAKES = [
    (TABLE, "delta", 5.0, "1/N^2"),
    (TABLE, "delta", "1/N", "1/N^2"),
    (TABLE, "tasks.houses.loss", "squared", "houses: expected the logistic loss"),
    (TABLE, "tasks.diabetes.loss", "logistic", "diabetes: expected the squared loss"),
    (TABLE, "tasks.iris", LASSO, "got 'iris'"),
    (TABLE, "tasks.houses.strength", "1/N", "valid number"),
    (TABLE, "tasks.houses.penalty", "none", "expected strength 0"),
    (TABLE, "tasks.houses.penalty", "l1", "houses: expected the penalty none or l2"),
    (TABLE, "tasks", {}, "at least one"),
    (TABLE, "passes", [2, 2], "different"),
    (TABLE, "passes", [2.5], "integer"),
    (TABLE, "trials", 1, "at least 2, got 1"),
    (TABLE, "clips.count", 100_000, "at most 1000 points"),
    (TABLE, "clips.spacing", "linear", "spacing: log"),
    (TABLE, "clips.low", 0.0, "low > 0"),
    (TABLE, "trials", 1000, "at most 5,000,000 runs"),
    (TABLE, "curves", ["laplace"], "'gaussian-tight'"),
    (TABLE, "setting.order", "random", "order: unknown setting"),
    (TABLE, "epsilon", 2.0, "gaussian-dp-cd needs epsilon <= 1"),
    (TABLE, "delta", 0.4, "gaussian-dp-cd needs epsilon <= 1 and delta < 1/3"),
    (TABLE, "audit", 60, "audit < replications, got 60"),
    (TABLE, "variant_replications", 1, "at least 2, got 1"),
    (TABLE, "variant_replications", 61, "variant_replications <= replications, got 61 > 60"),
    (TABLE, "replications", 10_000, "at most 5,000,000 runs"),
    (TABLE, "combinations", [{"split": ["none"]}], "'per-trial'"),
    (TABLE, "combinations", [{"split": []}], "at least one"),
    (TABLE, "combinations", [{"clips": [FINE]}], "at most 5,000,000 runs"),
    (TABLE, "variants.penalty-scale-2", {"optimum": 50}, "other names than combinations"),
    (TABLE, "keep", 0.5, "at least 1, got 0.5"),
    (TABLE, "variants.chosen", {"optimum": 50}, "'chosen' without changes"),
    (TABLE, "variants.one-pass", {"gaussian": "flipped-huber"}, "'gaussian-dp-cd'"),
    (TABLE, "variants.Not a name", {}, "match pattern"),
    (TABLE, "variants", {}, "'chosen' without changes"),
    (DESCENT, "delta", 5.0, "1/N^2"),
    (DESCENT, "refine", 4, "odd"),
    (DESCENT, "trials", 1000, "at most 2000"),
    (DESCENT, "tasks.california.loss", "logistic", "california: expected the squared loss"),
    (DESCENT, "tasks.california.strength", "1/N^2", "the text 1/N"),
    (DESCENT, "tasks.diabetes", LASSO,
     "descent_orders.tasks: expected california, electricity, got california, diabetes, elec"),
    (DESCENT, "documented.california.cal-housing", ["median_income"], "the same columns"),
    (DESCENT, "documented.airfoil", {}, "documented: expected california, electricity"),
]  # fmt: skip


def changed(*changes):
    config = copy.deepcopy(SHIPPED)
    for section, where, value in changes:
        node = config
        *parents, last = f"{section}.{where}".split(".")
        for name in parents:
            node = node[name]
        node[last] = value
    return config


@for_all(("section", "where", "value", "words"), MISTAKES)
def test_a_mistake_is_refused_with_what_was_expected(section, where, value, words):
    with pytest.raises(ConfigError) as caught:
        validate(changed((section, where, value)))
    assert words.lower() in str(caught.value).lower()
    assert section.split(".", maxsplit=1)[0] in str(caught.value)


def test_a_registered_data_set_needs_one_line_of_settings():
    new = next(name for name in read_registry().sets if name not in SHIPPED_TASKS)
    task = {"loss": "logistic", "penalty": "l2", "strength": 0.1}
    config = validate(changed((TABLE, f"tasks.{new}", task)))
    assert new in config.flipped_huber_2023.table_3.tasks


SHIPPED_TASKS = SHIPPED["flipped_huber_2023"]["table_3"]["tasks"]


def test_numbers_at_the_edge_of_what_is_allowed_are_accepted():
    validate(changed((TABLE, "delta", 1e-300), (TABLE, "tasks.houses.strength", 0)))
