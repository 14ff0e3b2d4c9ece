"""What stands in `published/`: prose that quotes the tables and contradicts none."""

from collections import defaultdict
from pathlib import Path

import pytest

from dpnoise_papers.claims import report
from dpnoise_papers.claims.findings import outdated, read_snapshot
from dpnoise_papers.claims.published import read_published
from dpnoise_papers.claims.references import NOT_RUN, references, templates
from printed_words import loose_numbers

ROOT = Path(__file__).parents[2]
SNAPSHOT = ROOT / "docs" / "snapshot"
NUMBERS = read_snapshot(SNAPSHOT).shown
TEMPLATES = {
    name: (ROOT / path).read_text(encoding="utf-8") for name, path in templates(ROOT).items()
}
PUBLISHED = read_published(ROOT / "published")
CLAIMS = {claim.id: claim for claim in PUBLISHED.claims}


@pytest.mark.parametrize("cause", PUBLISHED.causes, ids=lambda cause: cause.id)
def test_every_number_of_a_cause_is_a_reference_or_accounted_for(cause):
    printed = (value for claim in CLAIMS.values() for value in (claim.printed, claim.corrected))
    known = {value.text for value in printed if value} | set(cause.given)
    text = f"{cause.finding} {cause.evidence}"
    assert loose_numbers(text, known) == []
    references(text)  # raises if one is malformed


@pytest.mark.parametrize("document", TEMPLATES)
def test_every_number_of_an_account_is_a_reference_or_accounted_for(document):
    printed = (value for claim in CLAIMS.values() for value in (claim.printed, claim.corrected))
    known = {value.text for value in printed if value}
    assert loose_numbers(TEMPLATES[document], known) == []


def test_no_two_rows_of_what_is_printed_judge_the_same_thing():
    same = defaultdict(list)
    for claim in CLAIMS.values():
        if claim.kind == "printed" and claim.result:
            sides = (claim.select, claim.column, claim.against, claim.against_column)
            judged = (claim.result, *sides, claim.relation, claim.printed, claim.reduce)
            same[judged].append(claim.id)
    assert [ids for ids in same.values() if len(ids) > 1] == []


def test_no_printed_row_is_judged_by_what_we_corrected():
    corrected = [
        claim.id
        for claim in CLAIMS.values()
        if claim.kind == "printed"
        and any(condition.value.endswith("-corrected") for condition in claim.select)
    ]
    assert corrected == []


def test_causes_are_about_a_dozen_per_paper_and_each_explains_a_claim():
    counts = defaultdict(int)
    for cause in PUBLISHED.causes:
        counts[cause.paper] += 1
        assert any(cause.id in claim.cause for claim in CLAIMS.values())
    assert max(counts.values()) <= 30


def test_every_reference_of_a_cause_and_of_an_account_has_a_value_in_the_recorded_run():
    texts = [f"{cause.finding} {cause.evidence}" for cause in PUBLISHED.causes]
    texts += report.texts(ROOT / "published")
    wanted = [part.text for text in (*texts, *TEMPLATES.values()) for part in references(text)]
    assert [one for one in wanted if NUMBERS.get(one, NOT_RUN) == NOT_RUN] == []


def test_what_does_not_hold_in_the_recorded_run_has_a_cause():
    verdicts = read_snapshot(SNAPSHOT).verdicts
    open_ = ~verdicts["verdict"].isin(("reproduced", "not run")) & (verdicts["cause"] == "")
    assert list(verdicts["id"][open_]) == []


def test_the_recorded_run_judges_every_claim_and_no_other():
    verdicts = read_snapshot(SNAPSHOT).verdicts
    assert list(verdicts["id"]) == list(CLAIMS), "`make readme` records a run"


@pytest.mark.parametrize("document", TEMPLATES)
def test_the_numbers_of_an_account_are_those_of_the_recorded_run(document):
    assert outdated(ROOT / document, TEMPLATES[document], NUMBERS) == []
