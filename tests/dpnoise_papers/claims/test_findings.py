"""Findings kept in the repository: a snapshot of a run, and a page that follows from it."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

from dpnoise_papers.claims import findings
from dpnoise_papers.claims.judge import judge
from dpnoise_papers.claims.published import read_published
from dpnoise_papers.claims.quantity import read_tables
from dpnoise_papers.claims.references import NOT_RUN, named_tables
from dpnoise_papers.item import papers
from dpnoise_papers.result_files import read_texts

ROOT = Path(__file__).parents[3]
CLAIMS = """\
id,item,place,quote,kind,form,quantity,statement,assumptions,printed,result,select,column,against,\
pair,relation,reduce,resolution,ordering,correction,corrected,corrected_select,cause
x-one,figure-1,Section 1,one,printed,number,number,One of x | y * z,,2.0,toy/figure-1.csv,a=1,x\
,,,,,,,,,,x-why
x-two,figure-1,Section 1,two,printed,number,number,Two,,5.0,toy/figure-1.csv,a=2,x,,,,,,,,,,x-other
"""
CAUSES = """\
x-why:
  finding: >-
    It is {toy/figure-1.csv: a=1 -> x, .1f} and not `2 * 1`.
  evidence: >-
    See {toy/figure-1.csv: a=2 -> x, .0f} < 9.
  given: {"9": by hand, "2": by hand, "1": by hand}
x-other:
  finding: Never needed.
  evidence: It holds.
"""
SENTENCES = """\
place,quote,rows,reason
Section 1,one,x-one,
Section 1,two,x-two,
"""


@pytest.fixture
def places(tmp_path):
    docs, published, results, figures = (
        tmp_path / name for name in ("docs", "published", "results", "figures")
    )
    for folder in (published, results / "toy", figures / "toy"):
        folder.mkdir(parents=True)
    (published / "toy.csv").write_text(CLAIMS)
    (published / "toy.causes.yaml").write_text(CAUSES)
    (published / "toy.sentences.csv").write_text(SENTENCES)
    run(results, 1.0)
    stamp = {"revision": "a", "machine": {"cpu": "toy"}, "packages": {"numpy": "9"}}
    (results / "provenance.json").write_text(json.dumps(stamp))
    Image.new("RGB", (2 * findings.WIDTH, 300), "red").save(figures / "toy" / "figure-1.png")
    return docs, published, results, figures


def run(results, first):
    table = pd.DataFrame({"a": [1, 2], "x": [first, 5.0]})
    table.to_csv(results / "toy" / "figure-1.csv", index=False)
    claims = read_published(results.parent / "published").claims
    judge(claims, {"toy/figure-1.csv": table}).to_csv(results / "verdicts.csv", index=False)


def differences(docs, published, results):
    known = read_published(published)
    tables = read_tables(named_tables(known), results)
    now = findings.snapshot(known, tables, read_texts(results / "verdicts.csv"))
    return findings.differences(findings.read_snapshot(docs / "snapshot"), now)


def test_a_snapshot_is_what_the_run_says_until_another_run_says_otherwise(places):
    findings.write(*places)
    docs, published, results, _ = places
    assert differences(docs, published, results) == []
    run(results, 2.0)
    found = differences(docs, published, results)
    assert len(found) == 2
    assert "says not reproduced (differs), the run reproduced: x-one" in found[0]
    assert "says 1.0, the run 2.0: toy/figure-1.csv: a=1 -> x, .1f" in found[1]


def test_a_snapshot_says_where_it_was_made(places):
    findings.write(*places)
    kept = json.loads((places[0] / "snapshot" / "run.json").read_text())
    assert kept == {"machine": {"cpu": "toy"}, "packages": {"numpy": "9"}}


@pytest.mark.parametrize("run_has", [True, False])
def test_what_only_one_run_has_of_an_optional_target_is_no_difference(run_has):
    with_it = pd.DataFrame({"id": ["a", "b"], "verdict": ["differs", "reproduced"],
                            "optional": ["no", "yes"]})  # fmt: skip
    without = with_it.assign(verdict=["differs", "cannot be judged here"])
    pair = (without, with_it) if run_has else (with_it, without)
    assert findings.different_verdicts(*pair) == {}
    other = with_it.assign(verdict=["not run", "differs"])
    assert findings.different_verdicts(with_it, other) == {
        "a": ("differs", "not run"), "b": ("reproduced", "differs"),
    }  # fmt: skip


def test_what_was_recorded_of_optional_targets_stays_until_they_are_made_anew():
    columns = findings.VERDICTS
    told = [("a", "", "cannot be judged here", "", "yes"), ("b", "2", "differs", "why", "yes"),
            ("c", "", "cannot be judged here", "", "no")]  # fmt: skip
    names = ["id", "ours", "verdict", "cause", "optional"]
    rows = pd.DataFrame(told, columns=names).reindex(columns=columns, fill_value="")
    numbers = pd.DataFrame([["x", NOT_RUN], ["y", "3"]], columns=findings.NUMBERS)
    made = findings.Snapshot(rows, numbers)
    before = rows.assign(ours="1", verdict="reproduced", cause="", optional="yes")
    numbers = pd.DataFrame([["x", "7"], ["y", "8"]], columns=findings.NUMBERS)
    recorded = findings.Snapshot(before, numbers)
    found = findings._with_optional(made, recorded)
    assert found.verdicts["verdict"].tolist() == ["reproduced", "differs", "cannot be judged here"]
    assert found.verdicts["ours"].tolist() == ["1", "2", ""]
    assert found.numbers["value"].tolist() == ["7", "3"]


def test_a_new_claim_is_not_in_an_old_snapshot(places):
    findings.write(*places)
    docs, published, results, _ = places
    with (published / "toy.csv").open("a") as file:
        file.write(CLAIMS.splitlines()[-1].replace("x-two", "x-three") + "\n")
    with (published / "toy.sentences.csv").open("a") as file:
        file.write("Section 1,two,x-three,\n")
    run(results, 1.0)
    (found,) = differences(docs, published, results)
    assert found.endswith("the run reproduced: x-three")


def test_pictures_are_small_the_same_every_time_and_no_more_than_needed(places):
    docs, *_ = places
    stale = docs / "snapshot" / "toy" / "figure-9.png"
    stale.parent.mkdir(parents=True)
    stale.write_bytes(b"")
    findings.write(*places)
    path = docs / "snapshot" / "toy" / "figure-1.png"
    first = path.read_bytes()
    with Image.open(path) as image:
        assert image.size == (findings.WIDTH, 150)
    findings.write(*places)
    assert path.read_bytes() == first
    assert not stale.exists()


def test_every_image_of_the_documents_is_a_figure_of_a_run():
    assert {path.stem for path in (ROOT / "docs" / "images").glob("*.png")} == set(findings.IMAGES)
    drawn = {f"{paper.id}/{item.id}" for paper in papers() for item in paper.items if item.figure}
    assert set(findings.IMAGES.values()) <= drawn


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
    findings.update(*files, NUMBERS)
    text = files[0].read_text()
    assert text.startswith(f"# Head\n\n{BEGIN}\n")
    assert text.endswith(f"{END}\n\n## Tail\n")
    assert "It is 0.12 for 2 rows" in text
    assert "\n\n- an item (50%)\n- another\n\n| a | b |\n|---|---|\n| 0.1 | 2 |\n" in text
    assert max(map(len, text.splitlines())) <= 100
    assert findings.outdated(files[0], TEMPLATE, NUMBERS) == []
    findings.update(*files, NUMBERS)
    assert files[0].read_text() == text


def test_each_number_that_differs_is_named(files):
    findings.update(*files, NUMBERS)
    text = files[0].read_text().replace("0.12", "0.13").replace("50%", "51%")
    files[0].write_text(text)
    assert findings.outdated(files[0], TEMPLATE, NUMBERS) == [
        f"{files[0]} says 0.13, the recorded run 0.12: paper/t.csv: a=1 -> x, .2f",
        f"{files[0]} says 51%, the recorded run 50%: paper/t.csv: a=2 -> x, .0%",
    ]
    assert findings.outdated(files[0], TEMPLATE, {}) == []  # nothing is known of it


def test_other_words_are_refused(files):
    findings.update(*files, NUMBERS)
    text = files[0].read_text()
    files[0].write_text(text.replace("another", "a third"))
    for numbers in ({}, NUMBERS):
        (found,) = findings.outdated(files[0], TEMPLATE, numbers)
        assert found.endswith("page.md are not those of published/template.md")


@pytest.mark.parametrize("lacking", [{}, {"paper/t.csv: -> count x, .0f": "[not run]"}])
def test_a_readme_is_not_written_without_all_its_numbers(files, lacking):
    before = files[0].read_text()
    numbers = NUMBERS | lacking if lacking else dict(list(NUMBERS.items())[1:])
    name = next(iter(lacking), next(iter(NUMBERS)))
    with pytest.raises(ValueError, match=f"the recorded run has no .*{name[-12:]}"):
        findings.update(*files, numbers)
    assert files[0].read_text() == before
