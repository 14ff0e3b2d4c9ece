"""Choices for each item, from the document."""

from pathlib import Path

import pytest

from dpnoise_papers.papers import papers
from dpnoise_papers.review.choices import choices_for, named_items, read_choices

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
