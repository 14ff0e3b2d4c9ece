"""Accounts of what came out: words of the template, numbers of the recorded run."""

import pytest

from dpnoise_papers.claims import summary

TEMPLATE = """
It is {paper/t.csv: a=1 -> x, .2f} for {paper/t.csv: -> count x, .0f} rows, and this goes on for
so long, however long its lines are to begin with, that it is wrapped somewhere.

- an item ({paper/t.csv: a=2 -> x, .0%})
- another

| a | b |
|---|---|
| {paper/t.csv: a=1 -> x, .1f} | 2 |
"""
BEGIN, END = "<!-- from published/template.md -->", "<!-- end -->"
NUMBERS = {
    "paper/t.csv: a=1 -> x, .2f": "0.12",
    "paper/t.csv: -> count x, .0f": "2",
    "paper/t.csv: a=2 -> x, .0%": "50%",
    "paper/t.csv: a=1 -> x, .1f": "0.1",
}


@pytest.fixture
def files(tmp_path):
    page, template = tmp_path / "page.md", tmp_path / "published" / "template.md"
    page.write_text(f"# Head\n\n{BEGIN}\n{END}\n\n## Tail\n")
    template.parent.mkdir()
    template.write_text(TEMPLATE)
    return page, tmp_path


def test_an_updated_readme_says_what_the_run_says(files):
    summary.update(*files, NUMBERS)
    text = files[0].read_text()
    assert text.startswith(f"# Head\n\n{BEGIN}\n")
    assert text.endswith(f"{END}\n\n## Tail\n")
    assert "It is 0.12 for 2 rows" in text
    assert "\n\n- an item (50%)\n- another\n\n| a | b |\n|---|---|\n| 0.1 | 2 |\n" in text
    assert max(map(len, text.splitlines())) <= 100
    assert summary.differences(files[0], TEMPLATE, NUMBERS) == []
    summary.update(*files, NUMBERS)
    assert files[0].read_text() == text


def test_each_number_that_differs_is_named(files):
    summary.update(*files, NUMBERS)
    text = files[0].read_text().replace("0.12", "0.13").replace("50%", "51%")
    files[0].write_text(text)
    assert summary.differences(files[0], TEMPLATE, NUMBERS) == [
        f"{files[0]} says 0.13, the recorded run 0.12: paper/t.csv: a=1 -> x, .2f",
        f"{files[0]} says 51%, the recorded run 50%: paper/t.csv: a=2 -> x, .0%",
    ]
    assert summary.differences(files[0], TEMPLATE, {}) == []  # nothing is known of it


def test_other_words_are_refused(files):
    summary.update(*files, NUMBERS)
    text = files[0].read_text()
    files[0].write_text(text.replace("another", "a third"))
    for numbers in ({}, NUMBERS):
        (found,) = summary.differences(files[0], TEMPLATE, numbers)
        assert found.endswith("page.md are not those of published/template.md")


@pytest.mark.parametrize("lacking", [{}, {"paper/t.csv: -> count x, .0f": "[not run]"}])
def test_a_readme_is_not_written_without_all_its_numbers(files, lacking):
    before = files[0].read_text()
    numbers = NUMBERS | lacking if lacking else dict(list(NUMBERS.items())[1:])
    name = next(iter(lacking), next(iter(NUMBERS)))
    with pytest.raises(ValueError, match=f"the recorded run has no .*{name[-12:]}"):
        summary.update(*files, numbers)
    assert files[0].read_text() == before
