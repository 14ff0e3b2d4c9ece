"""Text that quotes tables: what a reference says, and no number that nothing vouches for."""

import pandas as pd
import pytest

from dpnoise_papers.claims.quantity import NotRunError
from dpnoise_papers.claims.references import Reference, loose_numbers, references, render

TABLE = pd.DataFrame(
    {
        "mechanism": ["a / b", "a / b", "c", "c"],
        "epsilon": [0.3, 3.0, 0.3, 3.0],
        "variance": [22.2, 2e-9, 11.1, 1e9],
        "text": ["x", "y", "z", "w"],
    }
)
TABLES = {"paper/table.csv": TABLE}


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("mechanism=a / b;epsilon=0.3 -> variance, .2f", "22.20"),
        ("mechanism=a / b;epsilon=3 -> variance, .1e", "2.0e-9"),
        ("mechanism=c;epsilon=3 -> variance, .1e", "1.0e9"),
        ("mechanism=c;epsilon=0.3 -> variance, .0%", "1110%"),
        ("mechanism=a / b;epsilon=0.3 -> variance / mechanism=c -> variance, .1f", "2.0"),
        ("mechanism=a / b;epsilon=0.3 -> variance - mechanism=c -> variance, .1f", "11.1"),
        ("mechanism=a / b;epsilon=0.3 -> variance / epsilon, .0f", "74"),
        ("mechanism=c -> min variance, .1f", "11.1"),
        ("mechanism=c -> mean epsilon, .2f", "1.65"),
        ("epsilon>0.1 -> max epsilon, g", "3"),
        ("-> count epsilon, .0f", "4"),
        ("mechanism=d -> count text, .0f", "0"),
        ("mechanism=c -> count text / -> count text, .2f", "1.00"),
    ],
)
def test_a_reference_is_a_number_of_the_table(reference, expected):
    assert render(f"it is {{paper/table.csv: {reference}}}.", TABLES) == f"it is {expected}."


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("paper/other.csv: epsilon=3 -> variance, .2f", "does not exist yet"),
        ("paper/table.csv: epsilon=3 -> variance, .2f", "selects 2 rows"),
        ("paper/table.csv: epsilon=5 -> variance, .2f", "no row with epsilon=5"),
        ("paper/table.csv: gamma=5 -> count variance, .0f", "no column 'gamma'"),
        ("paper/table.csv: epsilon=3 -> max error, .2f", "no column 'error'"),
        ("paper/table.csv: epsilon=3 -> max text, .2f", "lacks 'text'"),
        (
            "paper/table.csv: epsilon=3 -> max variance / epsilon=5 -> count text, .2f",
            "divides by 0",
        ),
    ],
)
def test_what_has_no_value_says_why_and_reads_not_run(reference, message):
    with pytest.raises(NotRunError, match=message):
        Reference.parse(reference).value(TABLES)
    assert render(f"{{{reference}}}", TABLES) == "[not run]"


@pytest.mark.parametrize(
    "reference",
    ["", "paper/table.csv", "table: a=1 -> b, .2f", "t.csv: a=1 -> b", "t.csv: a=1 -> b c, .2f",
     "t.csv: a=1 -> b, 2x", "t.csv: a -> b, .2f"],
)  # fmt: skip
def test_a_malformed_reference_is_refused(reference):
    with pytest.raises(ValueError, match="expected a"):
        references(f"text {{{reference}}}")


@pytest.mark.parametrize(
    ("text", "loose"),
    [
        ("It needs 28.02 here.", ["28.02"]),
        ("Off by 5 % of 1,970.7, at 1e-6.", ["5 %", "1,970.7", "1e-6"]),
        ("{paper/table.csv: epsilon=0.3 -> variance, .2f} is ours.", []),
        ("At K = 5, epsilon = 0.3, delta = 1e-8 and d >= 16.", []),
        ("At delta = 1e-8 it needs 5.", ["5"]),
        ("By Theorem 8, Lemmas 2, 5 and 6, Figure 3a, (12), [53], Section 5.2, line 4.", []),
        ("Printed are 502 and 40.29.", ["40.29"]),
        ("Norms l2 of w^2 and `2 K^2 / 0.3`.", []),
        ("A factor of -2 and +1.", ["-2", "+1"]),
    ],
)
def test_numbers_that_nothing_vouches_for_are_found(text, loose):
    assert loose_numbers(text, known=["502"]) == loose
