"""Sentences of the papers: each has claims or a reason, and quotes stand in the text."""

import os
from pathlib import Path

import pytest

from claim_toys import NUMBER, replace
from dpnoise_papers.claims.coverage import Sentence, page, read_sentences
from dpnoise_papers.claims.findings import read_snapshot
from dpnoise_papers.claims.judge import judge
from dpnoise_papers.claims.published import read_published
from printed_words import not_in_text

ROOT = Path(__file__).parents[3]
TEXTS = os.environ.get(
    "DPNOISE_PAPER_TEXTS", ""
)  # a folder: one or more <paper>*.txt for each paper
PUBLISHED = read_published(ROOT / "published")
PAPERS = sorted({sentence.paper for sentence in PUBLISHED.sentences})
HEAD = "place,quote,rows,reason\n"


def write(folder, text):
    path = folder / "paper.sentences.csv"
    path.write_text(HEAD + text)
    return path


def test_sentences_are_read_with_their_claims(tmp_path):
    path = write(tmp_path, "Abstract,We add noise,,definition\nTable I,,number; other,\n")
    claims = [NUMBER, replace(NUMBER, id="other", kind="variant")]
    assert read_sentences(path, claims) == [
        Sentence("paper", "Abstract", "We add noise", (), "definition"),
        Sentence("paper", "Table I", "", ("number", "other"), ""),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Table I,,number,definition", "and not both"),
        ("Table I,words,,", "the ids of claims or a reason"),
        (",words,,definition", "place: expected some text"),
        ("Table I,,,definition", "quote: expected the paper's own words"),
        ("Table I,,nowhere,", "rows: expected the id of a claim of the paper, got 'nowhere'"),
        ("Table I,words,,definition", "number is printed: expected a sentence that names it"),
        ("Table I,,number,,spare", "expected 4 cells"),
    ],
)
def test_each_mistake_is_named(tmp_path, line, message):
    with pytest.raises(ValueError, match=message):
        read_sentences(write(tmp_path, line + "\n"), [NUMBER])


def test_other_columns_are_refused(tmp_path):
    path = tmp_path / "paper.sentences.csv"
    path.write_text("place,quote\nTable I,words\n")
    with pytest.raises(ValueError, match="column 'rows' is missing"):
        read_sentences(path, [NUMBER])


TEXT = (
    "The noise is signif-\nicantly  smaller “here” \u2013 "
    "by a factor of ε = 1.4 or more, in each case."
)


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("noise is significantly smaller", True),
        ('The NOISE is significantly smaller "here"', True),
        ("smaller ... 1.4 or more", True),
        ("1.4 or more ... smaller", False),
        ("significantly larger", False),
        ("a factor of 1.5", False),
    ],
)
def test_quotes_are_looked_up_however_the_text_is_set(quote, found):
    assert not_in_text([quote], TEXT) == ([] if found else [quote])


def test_the_page_of_a_paper_shows_words_verdict_and_reason():
    sentences = [
        Sentence("paper", "Abstract", "We add noise", (), "definition"),
        Sentence("paper", "Table I", "", ("number",), ""),
        Sentence("other", "Abstract", "Elsewhere", (), "definition"),
    ]
    text = page("paper", sentences, [NUMBER], judge([NUMBER], {}))
    assert "2 sentences, captions and theorems" in text
    assert "1 are\njudged" in text
    assert "no claim: definition" in text
    assert "cannot be judged here (`number`)" in text
    assert "as it is printed" in text
    assert "Elsewhere" not in text


def test_every_listed_claim_has_a_verdict_in_the_recorded_run():
    known = set(read_snapshot(ROOT / "docs" / "snapshot").verdicts["id"])
    assert {one for sentence in PUBLISHED.sentences for one in sentence.rows} <= known


@pytest.mark.parametrize("paper", PAPERS)
def test_quotes_stand_in_the_text_of_the_paper(paper):
    files = sorted(Path(TEXTS).glob(f"{paper}*.txt")) if TEXTS else []
    if not files:
        pytest.skip("the texts of the papers are not ours to ship: set DPNOISE_PAPER_TEXTS")
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    quotes = [claim.quote for claim in PUBLISHED.claims if claim.paper == paper and claim.quote]
    quotes += [one.quote for one in PUBLISHED.sentences if one.paper == paper and one.quote]
    assert not_in_text(dict.fromkeys(quotes), text) == []
