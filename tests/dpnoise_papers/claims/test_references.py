import pandas as pd
import pytest

from dpnoise_papers.claims.quantity import NotRunError
from dpnoise_papers.claims.references import (
    DOCUMENTS,
    Reference,
    account,
    references,
    render,
    templates,
)
from printed_words import loose_numbers

TABLE = pd.DataFrame(
    {
        "mechanism": ["a / b", "a / b", "c", "c"],
        "epsilon": [0.3, 3.0, 0.3, 3.0],
        "variance": [22.2, 2e-9, 11.1, 1e9],
        "text": ["x", "y", "z", "w"],
    }
)
TABLES = {"paper/table.csv": TABLE}
BEGIN, END = "<!-- from published/some.md -->", "<!-- end -->"


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


def test_an_account_is_what_stands_between_the_marks(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"# Head\n{BEGIN}\nIt is so.\n{END}\ntail\n")
    found = account(page)
    assert found[:2] == ("published/some.md", "It is so.\n")
    assert page.read_text()[found.start :].startswith("It is so.")


@pytest.mark.parametrize(
    ("text", "pairs"), [("# Head\n", 0), (f"{BEGIN}\n", 0), (END, 0), (f"{BEGIN}\n{END}\n" * 2, 2)]
)
def test_both_marks_must_be_there_once(tmp_path, text, pairs):
    (tmp_path / "page.md").write_text(text)
    with pytest.raises(ValueError, match=f"page.md: expected .* found {pairs} pairs"):
        account(tmp_path / "page.md")


def test_documents_are_taken_with_their_templates_or_not_at_all(tmp_path):
    assert templates(tmp_path) == {}
    name = DOCUMENTS[0]
    (tmp_path / name).write_text(f"{BEGIN}\n{END}\n")
    assert templates(tmp_path) == {}
    (tmp_path / "published").mkdir()
    (tmp_path / "published/some.md").write_text("words")
    assert templates(tmp_path) == {name: "published/some.md"}


def test_this_repository_has_every_document():
    assert list(templates()) == list(DOCUMENTS)
