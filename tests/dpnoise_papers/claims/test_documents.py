"""Accounts between two marks of a document, and where their templates are."""

import pytest

from dpnoise_papers.claims.documents import DOCUMENTS, account, templates

BEGIN, END = "<!-- from published/some.md -->", "<!-- end -->"


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
