from pathlib import Path

import pytest

from dpnoise_papers.claims.published import read_published
from dpnoise_papers.claims.references import loose_numbers, references
from dpnoise_papers.item import papers
from dpnoise_papers.review.documents import (
    choices_for,
    html,
    inline,
    named_items,
    read_choices,
    read_findings,
    tables_in,
)

TEXT = """# Choices

## one-noise-2020, Figures 1 and 3 to 5

| item | left open | ours |
|---|---|---|
| Figures 3b, 4a to 4c | range | wide |
| Table II | delta | both |
| slides, huber density | alpha | 1 |

## one-noise-2020, Table III

- A point
  on two lines.

## other-2021

| item | left open |
|---|---|
| Algorithm 1 | tolerance |
"""
PATH = Path("published/findings.yaml")


def test_text_is_escaped_and_code_and_bold_are_marked():
    assert inline("a < b, `x < y`, **c** & [d](e.md)") == (
        "a &lt; b, <code>x &lt; y</code>, <strong>c</strong> &amp; d"
    )


def test_a_page_keeps_its_heading_its_list_and_the_cells_of_its_table():
    text = "# Title\n\nA note\non two lines.\n\n"
    text += "| a | b |\n|---|---|\n| 1 \\| 2 | <3> |\n\n- x\n- y\n  z\n"
    shown = str(html(text))
    assert "<h4>Title</h4>" in shown
    assert "<p>A note on two lines.</p>" in shown
    assert "<td>1 | 2</td><td>&lt;3&gt;</td>" in shown
    assert "<li>x</li>" in shown
    assert tables_in(text) == [(["a", "b"], [["1 \\| 2", "<3>"]])]


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("Figures 3 to 5 and Table II", {"figure-3", "figure-4", "figure-5", "table-2"}),
        ("Figures 1c, 4a to 4c", {"figure-1c", "figure-4a", "figure-4b", "figure-4c"}),
        ("Table III and Algorithm 2", {"table-3", "algorithm-2"}),
        ("privacy statements", set()),
    ],
)
def test_items_are_found_by_their_names(text, items):
    assert named_items(text) == items


@pytest.mark.parametrize(
    ("paper", "item", "count"),
    [
        ("one-noise-2020", "figure-3b", 1),
        ("one-noise-2020", "figure-3", 0),
        ("one-noise-2020", "figure-4c", 1),
        ("one-noise-2020", "table-2", 1),
        ("one-noise-2020", "table-2-curves", 1),
        ("one-noise-2020", "table-3", 1),
        ("two-noise-slides", "huber-density", 0),
        ("one-noise-slides", "huber-density", 1),
        ("other-2021", "algorithm-1", 1),
        ("other-2021", "table-2", 0),
    ],
)
def test_a_choice_belongs_to_what_it_names(paper, item, count):
    assert len(choices_for(read_choices(TEXT), paper, item)) == count


def test_every_row_of_the_document_reaches_an_item():
    known = read_choices(Path("docs/choices.md").read_text(encoding="utf-8"))
    reached = {
        choice for paper in papers() for item in paper.items
        for choice in choices_for(known, paper.id, item.id)
    }  # fmt: skip
    assert len(known) > 30
    assert [choice.cells[0] for choice in known if choice not in reached] == []


def test_there_are_five_that_name_items_and_causes_which_exist():
    findings, causes = (
        read_findings(PATH),
        {cause.id for cause in read_published("published").causes},
    )
    items = {f"{paper.id}/{item.id}" for paper in papers() for item in paper.items}
    assert len(findings) == 5
    for finding in findings:
        assert set(finding.shows) <= items
        assert set(finding.causes) <= causes


def test_every_number_of_a_finding_is_a_reference_or_accounted_for():
    printed = (value for claim in read_published("published").claims
               for value in (claim.printed, claim.corrected) if value)  # fmt: skip
    known = {value.text for value in printed}
    for finding in read_findings(PATH):
        assert loose_numbers(f"{finding.title} {finding.text}", known | set(finding.given)) == []
        references(finding.text)  # raises if one is malformed


def test_mistakes_are_named(tmp_path):
    path = tmp_path / "findings.yaml"
    path.write_text("one: {title: '', text: a, shows: [x], typo: 1}\n")
    with pytest.raises(ValueError, match=r"one\.title.*one\.typo"):
        read_findings(path)
