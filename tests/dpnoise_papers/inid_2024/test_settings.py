"""Settings of inid-2024: what would fail or mean nothing is refused where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from dpnoise_papers.config import load
from dpnoise_papers.inid_2024.settings import PrivateTraining, Settings
from for_all import for_all

SHIPPED = load(Path(__file__).parents[3] / "config.yaml").inid_2024
GRID = {"low": 0.1, "high": 1.0, "count": 3, "spacing": "log"}


def budget(noise, delta, epsilon):
    return [{"noise": noise, "delta": delta, "epsilon": epsilon}]


@for_all(
    ("section", "field", "value", "words"),
    [
        ("figure_1a", "mechanisms", [["gaussian", "grid"]], "'iid', 'spr' or 'optimal'"),
        ("figure_1a", "mechanisms", [["gauss", "iid"]], "'gaussian' or 'laplace'"),
        ("figure_1a", "mechanisms", [["gaussian", "iid"]] * 2, "different values"),
        ("figure_1a", "mechanisms", [["laplace", "iid"]], "delta if and only if"),
        ("figure_1a", "epsilons", [1.0, -1.0], "greater than or equal to 0.0000"),
        ("figure_1a", "epsilons", GRID | {"spacing": "cubic"}, "'linear' or 'log'"),
        ("figure_1a", "epsilons", GRID | {"high": 1e5}, "between 1e-100 and 10000"),
        ("figure_1b", "delta", None, "delta if and only if"),
        ("figure_1b", "norm", 3, "less than or equal to 2"),
        ("figure_1b", "dimensions", [231], "at most 230 dimensions of the exponential"),
        ("figure_2", "profiles", ["cubic"], "'uniform', 'linear'"),
        ("figure_2", "profiles", [], "at least 1 item"),
        ("figure_2", "dimensions", [0], "greater than or equal to 1"),
        ("figure_3a", "delta", 1e-6, "delta if and only if"),
        ("figure_4", "dimensions", [10**12], "less than or equal to 100000"),
        ("laplace_or_gaussian", "most", 5, "Extra inputs"),
        ("laplace_or_gaussian", "largest_dimension", 10**12, "less than or equal to 1000000"),
        ("laplace_or_gaussian", "deltas", [1.0], "less than 1"),
        ("table_1", "dimension", 231, "at most 230 dimensions of the exponential"),
        ("table_1", "epsilon", 0.0, "greater than or equal to 0.0000"),
        ("table_2", "sensitivities", [0.5], "Field required"),
        ("table_2", "sensitivities", [0.5, 0.0], "greater than or equal to 0.000001"),
        ("table_2", "epsilons", [101.0], "less than or equal to 100"),
        ("table_2_curves", "epsilons", GRID | {"high": 101.0}, "between 1e-06 and 100"),
        ("algorithm_1", "tolerance", 1e10, "less than or equal to 1"),
        ("algorithm_1", "tolerance", 0.0, "greater than or equal to 0.000000000001"),
        ("algorithm_1", "odds", GRID | {"high": 1e16}, "between 1e-299 and"),
        ("algorithm_1", "odds", GRID | {"count": 100_000}, "at most 1000000 pairs"),
        ("corollary_6", "dimensions", {"cubic": [2]}, "'uniform', 'linear'"),
        ("corollary_6", "dimensions", {"exponential": [231]}, "at most 230 dimensions"),
        ("corollary_6", "dimensions", {}, "at least 1 item"),
        ("corollary_6", "epsilons", [51.0], "less than or equal to 50"),
        ("theorem_7", "largest", 1, "greater than or equal to 2"),
        ("theorem_7", "shares", [0.5, 0.0], "greater than 0"),
        ("theory", "trials", 19, "greater than or equal to 20"),
        ("table_3", "rank", 100, "rank below the numbers"),
        ("table_3", "variants", ["rows"], "'stated', 'stated-largest'"),
        ("table_3", "variants", [], "at least 1 item"),
        ("table_3", "trials", 1, "greater than or equal to 2"),
        ("table_3", "coarse_trials", 1, "greater than or equal to 2"),
        ("table_3", "others", {"counts": [11], "variants": ["stated"], "trials": 2}, "subspaces"),
        ("table_3", "others", {"counts": [2, 2], "variants": ["stated"], "trials": 2}, "twice"),
        ("dp_pca_sensitivities", "features", 1, "greater than or equal to 2"),
        ("table_4", "rate", 1.0, "less than 1"),
        ("table_4", "layers", [[1, 0]], "greater than or equal to 1"),
        ("table_4", "layers", [[1, 10**12]], "less than or equal to 100000000"),
        ("table_4", "budgets", budget("laplace", 1e-5, 1.0), "delta = 0 for Laplace"),
        ("table_4", "budgets", budget("gaussian", 0.0, 1.0), "delta of at least 1e-100"),
        ("table_4", "budgets", budget("gaussian", 1e-100, 0.1), "epsilon above 0.217"),
    ],
)
def test_a_mistake_is_refused_where_it_is(section, field, value, words):
    given = SHIPPED.model_dump()
    given[section][field] = value
    with pytest.raises(ValidationError, match=words) as caught:
        Settings.model_validate(given)
    assert all(error["loc"][0] == section for error in caught.value.errors())


def test_epsilons_are_listed_or_a_grid():
    given = SHIPPED.model_dump()
    for epsilons in ([0.5, 1.0], GRID):
        given["figure_1a"]["epsilons"] = epsilons
        kept = Settings.model_validate(given).figure_1a.model_dump(mode="json")
        assert kept["epsilons"] == epsilons


def told(**changes):
    with open("config.yaml", encoding="utf-8") as file:  # noqa: PTH123
        section = yaml.safe_load(file)["inid_2024"]["table_4_digits"]
    return section | {"seed": 1} | changes


def test_cells_are_a_budget_and_a_scheme_each():
    settings = PrivateTraining.model_validate(told())
    assert len(settings.cells) == 1 + 6 * 4
    cell = settings.cells["gaussian-4e-10-8-spr-group"]
    assert (cell.budget.delta, cell.budget.epsilon, cell.scheme) == (4e-10, 8.0, "spr-group")
    assert settings.cells["none"].budget is None


NETWORK = {"widths": [8, 16], "blocks": 1, "stride": 1, "normalisation": 4}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rate": 0.0}, "greater than or equal to 0.000001"),
        ({"rate": 1.5}, "less than or equal to 1"),
        ({"clip": 0.0}, "greater than or equal to 0.001"),
        ({"epochs": 0, "search_epochs": 0}, "greater than or equal to 1"),
        ({"search_epochs": 99}, "expected at most `epochs` search_epochs"),
        ({"device": "tpu"}, "'cpu' or 'cuda'"),
        ({"schemes": ["weighted"]}, "'iid', 'spr', 'optimal' or 'spr-group'"),
        ({"learning_rates": [0.0]}, "greater than or equal to 0.000001"),
        ({"network": NETWORK | {"normalisation": 3}}, "expected widths that normalisation divides"),
        ({"network": NETWORK | {"widths": [16, 8]}}, "expected widths that do not fall"),
        ({"momentum": 0.9}, "Extra inputs are not permitted"),
        ({"checkpoints": "../elsewhere"}, "expected a relative folder"),
    ],
)
def test_what_cannot_be_trained_is_refused(changes, message):
    with pytest.raises(ValidationError, match=message):
        PrivateTraining.model_validate(told(**changes))
