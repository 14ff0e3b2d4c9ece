"""The five findings: their numbers come from tables, what they name exists."""

from pathlib import Path

import pytest

from dpnoise_papers.claims.published import read_published
from dpnoise_papers.claims.references import loose_numbers, references
from dpnoise_papers.papers import papers
from dpnoise_papers.review.findings import read_findings

PATH = Path("published/findings.yaml")


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
