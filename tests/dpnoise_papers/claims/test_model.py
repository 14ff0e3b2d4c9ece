"""Printed numbers and conditions."""

import pandas as pd
import pytest

from dpnoise_papers.claims.model import Condition, Printed


@pytest.mark.parametrize(
    ("text", "value", "half_unit"),
    [
        ("0.0391", 0.0391, 5e-5),
        ("0.0190", 0.019, 5e-5),
        ("0.6371e-3", 0.6371e-3, 5e-8),
        ("2e4", 2e4, 5e3),
        ("20000", 2e4, 0.5),
        ("-1.7", -1.7, 0.05),
        ("8.29%", 0.0829, 5e-5),
        ("2 %", 0.02, 5e-3),
    ],
)
def test_the_last_printed_digit_gives_the_rounding(text, value, half_unit):
    printed = Printed.parse(text)
    assert printed.value == pytest.approx(value, rel=1e-15)
    assert printed.half_unit == pytest.approx(half_unit, rel=1e-15)


@pytest.mark.parametrize("text", ["", "about 2", "1,5", "nan", "inf", "0.1 to 0.2"])
def test_text_that_is_no_number_is_refused(text):
    with pytest.raises(ValueError, match="expected a number such as"):
        Printed.parse(text)


@pytest.mark.parametrize(
    ("column", "relation", "value", "expected"),
    [
        ("epsilon", "=", "0.3", [True, False, False]),
        ("epsilon", "<=", "1", [True, True, False]),
        ("epsilon", ">", "1", [False, False, True]),
        ("name", "=", "b", [False, True, False]),
        ("name", "<", "b", [False, False, False]),
        ("epsilon", "=", "gaussian", [False, False, False]),
    ],
)
def test_conditions_select_rows(column, relation, value, expected):
    table = pd.DataFrame({"epsilon": [0.1 + 0.2, 1.0, 5.0], "name": ["a", "b", "c"]})
    assert list(Condition(column, relation, value).holds(table[column])) == expected
