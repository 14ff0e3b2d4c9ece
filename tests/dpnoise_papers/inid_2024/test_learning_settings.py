"""Settings of private training: cells, and what is refused."""

import pytest
import yaml
from pydantic import ValidationError

from dpnoise_papers.inid_2024.learning_settings import PrivateTraining


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
        ({"groups": "channel"}, "'tensor', 'module' or 'layer'"),
        ({"network": NETWORK | {"normalisation": 3}}, "expected widths that normalisation divides"),
        ({"network": NETWORK | {"widths": [16, 8]}}, "expected widths that do not fall"),
        ({"momentum": 0.9}, "Extra inputs are not permitted"),
        ({"checkpoints": "../elsewhere"}, "expected a relative folder"),
    ],
)
def test_what_cannot_be_trained_is_refused(changes, message):
    with pytest.raises(ValidationError, match=message):
        PrivateTraining.model_validate(told(**changes))
