"""The page of verdicts."""

import re

from claim_toys import CAUSE, NUMBER, ORDERING, replace, two
from dpnoise_papers.claims.judge import LEGEND, judge
from dpnoise_papers.claims.model import Condition, Printed
from dpnoise_papers.claims.published import Published
from dpnoise_papers.claims.report import markdown

CHANGED = [
    {"setting": f"paper.item.a{i}", "paper": None if i else 60, "run": [1, i]} for i in range(4)
]


def test_other_settings_than_the_papers_are_said_first_and_all_named():
    table = two(0.5, 0.6).assign(y=0.5)
    published = Published([NUMBER], [CAUSE])
    verdicts = judge([NUMBER], {NUMBER.result: table})
    text = markdown(published, verdicts, {NUMBER.result: table}, (), CHANGED)
    warning, _, rest = text.partition("What the papers print")
    assert "**The settings of this run are not the papers'.** 4 differ: `paper.item.a0`" in warning
    assert "and 1 more;" in warning
    rows = [re.split(r"\s*\|\s*", line)[1:-1] for line in rest.splitlines() if "|" in line]
    assert ["paper.item.a0", "60", "[1, 0]"] in rows
    assert ["paper.item.a3", "-", "[1, 3]"] in rows
    assert "not the papers'" not in markdown(published, verdicts, {NUMBER.result: table})


def test_markdown_shows_what_is_printed_then_the_causes_and_apart_our_own_questions():
    claims = [
        replace(NUMBER, ordering="ordering"),
        ORDERING,
        replace(NUMBER, id="other", item="table-2", statement="a | b", printed="0.5"),
        replace(NUMBER, id="again", item="table-2", select=(Condition("mechanism", "=", "z"),)),
        replace(NUMBER, id="typo", printed="7", corrected=Printed.parse("0.5")),
        replace(NUMBER, id="wrong", item="table-2"),
        replace(ORDERING, id="tie", relation="<", against_column="y"),
        replace(NUMBER, id="ours", kind="variant", cause=()),
    ]
    table = two(0.5, 0.6).assign(y=0.5)
    verdicts = judge(claims, {NUMBER.result: table})
    assert list(verdicts["id"]) == [claim.id for claim in claims]
    assert set(verdicts["verdict"]) <= set(LEGEND)
    text = markdown(Published(claims, [CAUSE]), verdicts, {NUMBER.result: table})
    rows = [re.split(r"\s*(?<!\\)\|\s*", line)[1:-1] for line in text.splitlines() if "|" in line]
    assert ["all", "2", "1", "1", "1", "1", "1", "7", "1"] in rows  # one cause: one finding
    assert ["number", "1", "1", "1", "-", "1", "1", "5", "1"] in rows
    assert ["ordering", "1", "-", "-", "1", "-", "-", "2", "0"] in rows
    assert ["variant", "paper", "-", "-", "-", "-", "1", "-", "1"] in rows
    assert "a \\| b" in text
    printed, causes, apart = (
        text.index(words)
        for words in ("### paper, table-1", "**A reason.** (because) It is 0.60.", "## Not printed")
    )
    assert printed < causes < apart
    assert text.index(" | ours |") > apart
    assert (
        "  - number differs, ordering holds: number.\n  - misprint: typo.\n  - differs: wrong.\n"
        in text
    )
    assert "Without a cause: ours." in text
    for name in ("number", "again", "typo", "wrong"):
        assert re.search(rf"^- {name}: ", text, flags=re.MULTILINE)
    assert not re.search(r"^- (ordering|other): ", text, flags=re.MULTILINE)
