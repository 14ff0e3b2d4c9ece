import re
from pathlib import Path

import pandas as pd
import pytest

from claim_toys import CAUSE, NUMBER, ORDERING, replace, two
from dpnoise_papers.claims.findings import read_snapshot
from dpnoise_papers.claims.judge import LEGEND, judge
from dpnoise_papers.claims.model import Condition, Printed
from dpnoise_papers.claims.published import Published
from dpnoise_papers.claims.report import (
    SUFFIX,
    markdown,
    page,
    read_headlines,
    standing,
    texts,
)

CHANGED = [
    {"setting": f"paper.item.a{i}", "paper": None if i else 60, "run": [1, i]} for i in range(4)
]
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


KINDS = (("a", "printed"), ("b", "printed"), ("c", "variant"))


def test_what_a_paragraph_assumes_stands_once_above_the_table_of_its_item():
    shared = replace(NUMBER, assumptions=("N counts records.",), details=("K = 3", "all"))
    claims = [replace(shared, id=name, kind=kind) for name, kind in KINDS]
    text = markdown(Published(claims, []), judge(claims, {}), {})
    before, _, after = text.partition("- N counts records.\n\n|")
    assert before.endswith(f"### {NUMBER.paper}, {NUMBER.item}\n\n")
    assert "N counts records." not in after
    assert after.count("a number (K = 3; all)") == len(claims)


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
    assert ["all", "2", "3", "1", "1", "7", "1"] in rows  # one cause: one finding
    assert ["number", "1", "3", "-", "1", "5", "1"] in rows
    assert ["ordering", "1", "-", "1", "-", "2", "0"] in rows
    assert ["variant", "paper", "-", "1", "-", "-", "1"] in rows
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


def toy(tmp_path):
    (tmp_path / f"toy{SUFFIX}").write_text(TOY)
    return read_headlines(tmp_path)["toy"]


OPEN = "depends on what is not printed"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["reproduced"], "stands"),
        (["reproduced", "reproduced"], "stands"),
        (["reproduced", OPEN], "stands in part"),
        (["reproduced", OPEN, "compatible"], "open"),
        (["reproduced", "not reproduced"], "stands in part"),
        (["reproduced", "not reproduced", OPEN, OPEN, OPEN], "stands in part"),
        (["not reproduced", OPEN], "open"),
        (["not reproduced", *[OPEN] * 5], "open"),
        (["not reproduced", "not reproduced", OPEN], "does not stand"),
        (["not reproduced:misprint", "not reproduced:slip in the proof, corrected"],
         "stands as corrected"),
        (["reproduced", "not reproduced:misprint"], "stands as corrected"),
        (["reproduced", "not reproduced:misprint", "not reproduced"], "stands in part"),
        (["reproduced::ordering", "not reproduced"],
         "numbers do not stand but the ordering does"),
        (["reproduced::ordering", "not reproduced::ordering", "not reproduced"], "stands in part"),
        ([OPEN, "cannot be judged here", "compatible"], "open"),
        (["cannot be judged here", "cannot be judged here"], "not judged"),
    ],
)  # fmt: skip
def test_what_stands_follows_from_all_rows(rows, expected):
    cells = [[*row.split(":"), "", ""][:3] for row in rows]
    table = pd.DataFrame(cells, columns=["verdict", "reason", "form"])
    table["form"] = table["form"].replace("", "number")
    assert standing(table) == expected


def test_no_label_of_the_summaries_contradicts_its_rows():
    """Each label of the recorded run against a rule of its own, stated from the rows alone."""
    known = read_snapshot(ROOT / "docs" / "snapshot").verdicts.set_index("id")
    seen = set()
    for told in read_headlines(ROOT / "published").values():
        for one in told.headlines:
            rows = known.loc[one.rows]
            label, counts = standing(rows), rows["verdict"].value_counts()
            good, bad = (int(counts.get(word, 0)) for word in ("reproduced", "not reproduced"))
            numbers = set(rows["form"][rows["verdict"] == "not reproduced"]) == {"number"}
            assert {
                "stands": good == len(rows),
                "stands as corrected": bad > 0 and not (rows["reason"] == "differs").any(),
                "numbers do not stand but the ordering does": numbers and good > 0,
                "stands in part": 0 < good < len(rows),
                "does not stand": good == 0 and 2 * bad > len(rows),
                "open": bad == 0 or 2 * bad <= len(rows),
                "not judged": counts.get("cannot be judged here", 0) == len(rows),
            }[label], (one.claim, label)
            seen.add(label)
    assert len(seen) > 3


def test_the_page_names_what_stands_with_links_and_numbers(tmp_path):
    claims = [NUMBER, replace(NUMBER, id="other", printed="7")]
    verdicts = judge(claims, {NUMBER.result: two(0.0391, 1)})
    numbers = {"paper/table-1.csv: mechanism=a -> x, .2f": "0.04"}
    text = page("toy", toy(tmp_path), verdicts, numbers)
    assert "1. **The number is small.** *stands in part*" in text
    assert "(1 of 2 rows reproduced). It is 0.04 here." in text
    assert "1 reproduced, 1 not reproduced" in text
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
    assert len(text.split()) <= 950  # two printed pages


@pytest.mark.parametrize("paper", PAPERS)
def test_no_sentence_of_a_summary_has_more_than_thirty_words(paper):
    text = (ROOT / "docs" / "summary" / f"{paper}.md").read_text(encoding="utf-8")
    parts = [re.sub(r"^\d+\. |\s+", " ", part) for part in text.split("\n\n")]
    sentences = [one for part in parts for one in re.split(r"(?<=[.!?]) (?=[A-Z(*])", part)]
    assert len(sentences) > 20
    assert [one for one in sentences if len(one.split()) > 30] == []
