"""Headline claims: what stands follows from the verdicts, and each paper fits on two pages."""

from pathlib import Path

import pytest

from claim_toys import NUMBER, replace, two
from dpnoise_papers.claims.findings import read_snapshot
from dpnoise_papers.claims.headlines import (
    MOST_WORDS,
    SUFFIX,
    page,
    read_headlines,
    standing,
    texts,
)
from dpnoise_papers.claims.judge import judge

ROOT = Path(__file__).parents[3]
SNAPSHOT = read_snapshot(ROOT / "docs" / "snapshot")
PAPERS = read_headlines(ROOT / "published")
TOY = """\
title: Toy
about: A paper of one number.
headlines:
  - claim: The number is small.
    rows: [number, other]
    text: >-
      It is {paper/table-1.csv:
      mechanism=a -> x, .2f} here.
"""


def toy(tmp_path):
    (tmp_path / f"toy{SUFFIX}").write_text(TOY)
    return read_headlines(tmp_path)["toy"]


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["reproduced"], "stands"),
        (["reproduced", "reproduced"], "stands"),
        (["reproduced", "undecided"], "stands as far as it could be judged"),
        (["reproduced", "undecided", "equal by construction"], "open for the most part"),
        (["reproduced", "differs"], "stands in part"),
        (["reproduced", "misprint", "undecided"], "stands in part"),
        (["differs", "undecided"], "does not stand"),
        (["number differs, ordering holds"], "does not stand"),
        (["misprint", "slip in the proof, corrected"], "stands as corrected"),
        (["undecided", "on substitute data", "equal by construction"], "open"),
        (["not run", "not run"], "not judged"),
    ],
)
def test_what_stands_follows_from_the_verdicts(verdicts, expected):
    assert standing(verdicts) == expected


def test_the_page_names_what_stands_with_links_and_numbers(tmp_path):
    claims = [NUMBER, replace(NUMBER, id="other", printed="7")]
    verdicts = judge(claims, {NUMBER.result: two(0.0391, 1)})
    numbers = {"paper/table-1.csv: mechanism=a -> x, .2f": "0.04"}
    text = page("toy", toy(tmp_path), verdicts, numbers)
    assert '1. **The number is small.** <a href="../report.html#number">stands in part</a>' in text
    assert "(1 of 2 rows reproduced). It is 0.04 here." in text
    assert "1 reproduced, 1 differs" in text
    assert texts(tmp_path) == ["It is {paper/table-1.csv: mechanism=a -> x, .2f} here."]


def test_what_the_recorded_run_lacks_is_named(tmp_path):
    verdicts = judge([NUMBER], {NUMBER.result: two(0.0391, 1)})
    with pytest.raises(ValueError, match=r"has no other; paper/table-1\.csv"):
        page("toy", toy(tmp_path), verdicts, {})


@pytest.mark.parametrize("paper", PAPERS)
def test_each_paper_has_two_pages_that_follow_from_the_recorded_run(paper):
    text = (ROOT / "docs" / "summary" / f"{paper}.md").read_text(encoding="utf-8")
    known = page(paper, PAPERS[paper], SNAPSHOT.verdicts, SNAPSHOT.shown)
    assert text == known, "`make readme` writes it"
    assert len(text.split()) <= MOST_WORDS
