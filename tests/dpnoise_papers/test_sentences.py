"""No sentence of the page for reviewers has more than thirty words: the texts that make it."""

import re
from pathlib import Path

import pytest

from claim_toys import NUMBER, replace, two, verdict
from dpnoise_papers.claims.findings import read_snapshot
from dpnoise_papers.claims.published import read_published
from dpnoise_papers.claims.references import REFERENCE
from dpnoise_papers.item import papers
from dpnoise_papers.review.documents import read_findings

ROOT = Path(__file__).parents[2]
MOST = 30
PUBLISHED = read_published(ROOT / "published")
SHOWN = read_snapshot(ROOT / "docs" / "snapshot").shown
# A word is one of letters or a plain number: pieces of formulas are none.
_WORD = re.compile(r"[(\[\"']*([A-Za-z][A-Za-z'./-]*|\d[\d.,]*%?)[)\]\"'.,;:?!%]*")
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z(*'`\d])")


def long_sentences(text):
    """Sentences of a text with more than thirty words; each reference is its number."""
    plain = REFERENCE.sub(lambda match: SHOWN.get(match[1], "0"), " ".join(text.split()))
    plain = re.sub(r"`[^`]*`", "x", plain)
    return [one for one in _END.split(plain) if sum(map(_is_word, one.split())) > MOST]


def _is_word(piece):
    return _WORD.fullmatch(piece) is not None


def _all_texts():
    """Names and texts that the page shows as they are written."""
    for cause in PUBLISHED.causes:
        yield f"finding of {cause.id}", f"Cause: {cause.finding}"
        yield f"evidence of {cause.id}", cause.evidence
    for claim in PUBLISHED.claims:
        yield f"statement of {claim.id}", claim.statement
        for line in (*claim.assumptions, *claim.details):
            yield f"assumption of {claim.id}", line
    for finding in read_findings(ROOT / "published" / "findings.yaml"):
        yield finding.title, finding.text
    for paper in papers():
        for item in paper.items:
            yield f"caption of {paper.id} {item.id}", item.caption


def test_why_a_number_holds_or_not_is_told_in_short_sentences():
    plain = two(0.04, 1)
    interval = plain.assign(x_low=[0.035, 1], x_high=[0.05, 1])
    ranged = interval.assign(x_least=[0.03, 1], x_greatest=[0.06, 1])
    for table in (plain, two(0.04, 1, 1e-3, 1e-3), interval, ranged):
        for printed in ("0.0391", "0.0499", "0.9", "3.91%"):
            why = verdict(replace(NUMBER, printed=printed), table).why
            assert long_sentences(why) == []
            assert why.startswith("Ours, ")
            assert ". That is half a unit of its last digit" in why


def test_no_sentence_that_the_page_shows_has_more_than_thirty_words():
    found = {f"{name}: {one}" for name, text in _all_texts() for one in long_sentences(text)}
    assert sorted(found) == []


@pytest.mark.parametrize(
    ("text", "long"),
    [
        ("word " * 30 + "end.", True),
        ("word " * 29 + "end. " + "Word " * 30 + ".", False),
        ("word " * 29 + "end; word.", True),
        ("word " * 30 + "x^2 + sqrt(a/b) <= Phi(t)", False),
        ("word " * 30 + "{toy/theory.csv: id=a -> trials, .0f}", True),
    ],
)
def test_words_of_a_sentence_are_counted_without_formulas(text, long):
    assert bool(long_sentences(text)) is long
