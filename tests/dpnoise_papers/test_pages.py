"""Tables for people: digits that errors support, and cells as they stand."""

import math
from decimal import Decimal

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpnoise_papers.pages import latex, markdown, number

TABLE = pd.DataFrame({"noise": ["Laplace", ""], "epsilon = 1": ["1.50 ± 0.02", "$\\epsilon$"]})


@pytest.mark.parametrize(
    ("value", "se", "text"),
    [
        (0.12345, 0.0123, "0.123 ± 0.012"),
        (0.12345, 0.00999, "0.1235 ± 0.0100"),
        (0.12345, 0.1, "0.12 ± 0.10"),
        (1234.5, 20.0, "1234 ± 20"),
        (1234.5, 2000.0, "1234 ± 2000"),
        (-0.5, 0.25, "-0.50 ± 0.25"),
        (0.0007, 0.0000234, "0.000700 ± 0.000023"),
        (0.123456, 0.0, "0.1235 ± 0"),
        (0.123456, None, "0.1235"),
        (0.123456, math.nan, "0.1235"),
        (0.123456, math.inf, "0.1235"),
        (math.inf, 0.1, "-"),
        (math.nan, math.nan, "-"),
    ],
)
def test_a_number_has_the_digits_that_its_error_supports(value, se, text):
    assert number(value, se) == text


@settings(max_examples=200)
@given(st.floats(-1e6, 1e6), st.floats(1e-9, 1e6))
def test_what_is_shown_is_within_a_twentieth_of_the_error(value, se):
    shown, error = number(value, se).split(" ± ")
    # at least two digits of the error are kept, so that the rounding is below 5 % of it
    assert abs(float(shown) - value) <= 0.0501 * se + 1e-9 * abs(value) * 1e-6
    assert float(error) == pytest.approx(se, rel=0.0501)
    if se < 10:
        assert Decimal(shown).as_tuple().exponent == Decimal(error).as_tuple().exponent


def test_markdown_keeps_texts_that_look_like_numbers():
    page = markdown("Title", "A note.", TABLE)
    assert page.startswith("# Title\n\nA note.\n\n| noise")
    assert [cell.strip() for cell in page.splitlines()[-2].split("|")] == [
        "", "Laplace", "1.50 ± 0.02", "",
    ]  # fmt: skip


def test_latex_typesets_what_is_no_formula():
    lines = latex(TABLE).splitlines()
    assert lines[2] == r"noise & $\epsilon$ = 1 \\"
    assert lines[4] == r"Laplace & 1.50 $\pm$ 0.02 \\"
    assert lines[5] == r" & $\epsilon$ \\"
