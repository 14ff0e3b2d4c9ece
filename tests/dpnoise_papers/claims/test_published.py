"""Claims and causes as data: what is read, and every mistake named at once."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pandas as pd
import pytest

from claim_toys import NUMBER, replace
from dpnoise_papers.claims.findings import read_snapshot
from dpnoise_papers.claims.judge import judge
from dpnoise_papers.claims.model import Condition, Printed
from dpnoise_papers.claims.published import (
    COLUMNS,
    Sentence,
    about,
    read_causes,
    read_claims,
    read_published,
    read_sentences,
    sentences_page,
)
from dpnoise_papers.claims.quantity import NotRunError, quantity
from dpnoise_papers.item import papers
from printed_words import not_in_text

PUBLISHED = Path(__file__).parents[3] / "published"
GOOD = {
    "id": "a-number",
    "item": "table-1",
    "place": "Table I",
    "quote": "as it is printed",
    "kind": "printed",
    "form": "number",
    "quantity": "number",
    "statement": "a number",
    "printed": "0.5",
    "result": "some-paper/table-1.csv",
    "select": "mechanism=gaussian",
    "column": "x",
}


def write(folder, *rows, columns=COLUMNS, name="some-paper"):
    path = folder / f"{name}.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerows(rows)
    lines = "".join(f"Table I,words,{row.get('id', '')},\n" for row in rows)
    path.with_suffix(".sentences.csv").write_text(f"place,quote,rows,reason\n{lines}")
    return path


def table_3_claims():
    claims = read_claims(PUBLISHED / "flipped-huber-2023.csv")
    claims = [claim for claim in claims if claim.item == "table-3" and claim.kind == "printed"]
    gains = [claim for claim in claims if claim.column.endswith(("_gain", "_apart"))]
    numbers = [claim for claim in claims if claim not in gains]
    return (
        numbers,
        [claim for claim in gains if claim.relation],
        [claim for claim in gains if not claim.relation],
    )


def test_the_published_claims_are_valid_and_complete():
    numbers, orderings, gains = table_3_claims()
    assert (len(numbers), len(orderings), len(gains)) == (32, 16, 4)
    assert {claim.ordering for claim in numbers} == {claim.id for claim in orderings}


def test_the_published_gains_are_differences_of_the_printed_numbers():
    numbers, orderings, gains = table_3_claims()

    def key(claim, mechanism=None):
        where = {condition.column: condition.value for condition in claim.select}
        metric = claim.column.removesuffix("_gain").removesuffix("_apart")
        return where["dataset"], mechanism or where["mechanism"], metric

    printed = {key(claim): claim.printed.value for claim in numbers}
    for claim in gains:
        difference = printed[key(claim, "gaussian")] - printed[key(claim, "flipped-huber")]
        assert difference == pytest.approx(claim.printed.value, abs=1e-12)
    for claim in orderings:  # the printed numbers do what the orderings say
        assert printed[key(claim, "gaussian")] > printed[key(claim, "flipped-huber")]


def test_defaults_and_parsed_fields(tmp_path):
    row = GOOD | {"quantity": "ratio", "id": "a-ratio", "against": "column=y;mechanism=laplace"}
    (claim,) = read_claims(write(tmp_path, row | {"pair": "epsilon; delta"}))
    assert (claim.reduce, claim.resolution, claim.relation) == ("one", 1e-6, "")
    assert claim.against == (Condition("mechanism", "=", "laplace"),)
    assert claim.against_column == "y"
    assert claim.pair == ("epsilon", "delta")
    assert claim.printed == Printed("0.5", 0.5, 0.05)
    assert (claim.paper, claim.resolution, claim.cause) == ("some-paper", 1e-6, ())


def test_the_table_of_the_item_and_a_number_need_not_be_named(tmp_path):
    rows = [
        GOOD | {"result": "", "quantity": ""},
        GOOD | {"id": "other", "result": "table-2"},
        GOOD | {"id": "none", "result": "", "column": ""},
    ]
    found = read_claims(write(tmp_path, *rows))
    assert [claim.result for claim in found] == [GOOD["result"], "some-paper/table-2.csv", ""]
    assert {claim.quantity for claim in found} == {"number"}


def test_a_statement_has_words_and_signs_and_its_own_assumptions_stand_apart(tmp_path):
    row = {"statement": "x " * 15 + "<= - + =", "assumptions": "K = 3; all (or most) "}
    (claim,) = read_claims(write(tmp_path, GOOD | row))
    assert claim.details == ("K = 3", "all (or most)")
    (claim,) = read_claims(write(tmp_path, GOOD))
    assert claim.details == ()


def test_a_corrected_statement_has_rows_of_its_own(tmp_path):
    row = GOOD | {
        "correction": "slip",
        "corrected": "the factor is (d - 2)/d",
        "corrected_select": "id=b;column=z",
    }
    (claim,) = read_claims(write(tmp_path, row | {"cause": "one; two"}))
    assert claim.corrected is None
    assert claim.corrected_statement == "the factor is (d - 2)/d"
    assert claim.corrected_select == (Condition("id", "=", "b"),)
    assert (claim.corrected_column, claim.cause) == ("z", ("one", "two"))


ORDERING = {"quantity": "ordering", "printed": "", "against": "mechanism=laplace", "relation": "<"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": "Not Kebab"}, "id: expected lower-case words"),
        ({"id": ""}, "id: expected lower-case words"),
        ({"item": ""}, "item: expected some text"),
        ({"statement": ""}, "statement: expected some text"),
        ({"statement": "word " * 16}, "statement: expected at most 15 words"),
        ({"column": ""}, "column: expected some text"),
        ({"kind": "number"}, "kind: expected one of printed, variant, third-paper, beyond"),
        ({"quantity": "bound"}, "quantity: expected one of number"),
        ({"resolution": "0.1"}, r"resolution: expected a number in \(0, 0.01\], got '0.1'"),
        ({"corrected_select": "id=b"}, "corrected: expected what should have been printed"),
        ({"corrected_select": "b", "corrected": "x"}, "corrected_select: expected a list"),
        ({"relation": "=="}, "relation: expected one of"),
        ({"reduce": "median"}, "reduce: expected one of"),
        ({"resolution": "0"}, "resolution: expected"),
        ({"resolution": "nan"}, "resolution: expected"),
        ({"resolution": "wide"}, "resolution: expected"),
        ({"place": ""}, "place: expected some text"),
        ({"quote": "word " * 16}, "quote: expected at most 15 words"),
        ({"kind": "variant"}, "quote: expected nothing, unless the kind is printed"),
        ({"form": "proof"}, "form: expected one of number, ordering, statement, theorem"),
        ({"corrected": "0.6"}, "correction: expected one of misprint, slip, inference, got ''"),
        ({"correction": "slip"}, "correction: expected nothing to correct, got 'slip'"),
        (
            {"printed": "{vast}", "relation": ">="},
            "word: expected a word of words.yaml, got 'vast'",
        ),
        ({"printed": "half"}, "printed: expected a number"),
        ({"printed": ""}, "printed: expected the number as printed"),
        ({"corrected": "half"}, "corrected: expected a number"),
        (
            {"ordering": "nowhere"},
            "expected the id of an ordering or bound of the same paper, got 'nowhere'",
        ),
        ({"result": "/results/x.csv"}, "result: expected a .csv file below results/"),
        ({"result": "../x.csv"}, "result: expected a .csv file below results/"),
        ({"result": "x.json"}, "result: expected a .csv file below results/"),
        ({"select": "mechanism"}, "select: expected a list such as"),
        ({"select": "a=1;=2"}, "select: expected a list such as"),
        ({"against": "mechanism=laplace"}, "against: expected nothing for a number"),
        ({"pair": "epsilon"}, "pair: expected nothing"),
        ({"quantity": "difference"}, "against: expected nothing for a number, else"),
        (ORDERING | {"against": ""}, "against: expected nothing for a number, else"),
        (ORDERING | {"relation": ""}, "relation: expected the order that is claimed"),
        (ORDERING | {"printed": "1"}, "printed: expected nothing, for an ordering"),
        (ORDERING | {"corrected": "x"}, "corrected: expected nothing without corrected_select"),
    ],
)
def test_each_mistake_is_named(tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        read_claims(write(tmp_path, GOOD | change))


def test_all_mistakes_are_named_at_once(tmp_path):
    path = write(tmp_path, GOOD | {"quantity": "bound"}, GOOD | {"resolution": "1"})
    with pytest.raises(ValueError, match="occurs 2 times") as error:
        read_claims(path)
    assert "row 2 (a-number): quantity" in str(error.value)
    assert "row 3 (a-number): resolution" in str(error.value)


def test_unknown_and_missing_columns_are_named(tmp_path):
    columns = [name for name in COLUMNS if name != "pair"] + ["color"]
    path = write(tmp_path, GOOD, columns=columns)
    with pytest.raises(ValueError, match=r"unknown column 'color'.*column 'pair' is missing"):
        read_claims(path)


def test_too_many_cells_are_refused(tmp_path):
    path = write(tmp_path, GOOD)
    path.write_text(path.read_text().rstrip() + ",spare\n")
    with pytest.raises(ValueError, match="expected 23 cells"):
        read_claims(path)


def test_against_keeps_the_conditions_that_it_does_not_replace(tmp_path):
    row = GOOD | ORDERING | {"select": "mechanism=gaussian;epsilon=1"}
    (claim,) = read_claims(write(tmp_path, row))
    table = pd.DataFrame(
        {"mechanism": ["gaussian", "laplace"] * 2, "epsilon": [1, 1, 2, 2], "x": [1.0, 2.0, 3, 4]}
    )
    found = quantity(claim, {claim.result: table})
    assert (found.first, found.second) == ([1.0], [2.0])
    with pytest.raises(NotRunError, match="no row with epsilon=1, mechanism=laplace"):
        quantity(claim, {claim.result: table.drop(1)})


CAUSE = "a-cause:\n  finding: It was so.\n  evidence: >-\n    Seen\n    twice.\n"


def test_causes_are_read_with_their_paper(tmp_path):
    path = tmp_path / "some-paper.causes.yaml"
    path.write_text(CAUSE + "  given: {'2.5': 'by hand'}\n")
    (cause,) = read_causes(path)
    assert (cause.id, cause.paper, cause.evidence) == ("a-cause", "some-paper", "Seen twice.")
    assert cause.given == {"2.5": "by hand"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a\n", "top level: expected a valid dictionary"),
        ("Not Kebab: {finding: x, evidence: y}\n", "Not Kebab.*: String should match"),
        ("a: text\n", "a: expected a valid dict"),
        ("a: {finding: x}\n", "a.evidence: Field required"),
        ("a: {finding: x, evidence: y, why: z}\n", "a.why: Extra inputs"),
        (
            "a: {finding: x, evidence: y, given: {2.5: z}}\n",
            "a.given.2.5.*: expected a valid string",
        ),
    ],
)
def test_each_mistake_of_a_cause_is_named(tmp_path, text, message):
    path = tmp_path / "some-paper.causes.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_causes(path)


def test_claims_and_causes_belong_together(tmp_path):
    write(tmp_path, GOOD | {"cause": "a-cause"})
    (tmp_path / "some-paper.causes.yaml").write_text(CAUSE)
    write(tmp_path, GOOD | {"id": "other", "cause": "a-cause"}, name="second-paper")
    published = read_published(tmp_path)
    assert [claim.paper for claim in published.claims] == ["second-paper", "some-paper"]
    assert [cause.id for cause in published.causes] == ["a-cause"]


def test_what_nothing_computes_says_why(tmp_path):
    write(tmp_path, GOOD | {"result": "", "column": "", "cause": "a-cause"})
    (tmp_path / "some-paper.causes.yaml").write_text(CAUSE)
    published = read_published(tmp_path)
    (found,) = judge(published.claims, {}).to_dict("records")
    finding = published.causes[0].finding.removesuffix(".")
    assert found["reason"] == "not run"
    assert found["why"] == f"Not run: nothing that we compute can judge it. {finding}."


def test_all_that_does_not_fit_between_files_is_named_at_once(tmp_path):
    write(tmp_path, GOOD | {"cause": "nowhere"})
    write(tmp_path, GOOD, name="second-paper")
    (tmp_path / "some-paper.causes.yaml").write_text(CAUSE)
    with pytest.raises(ValueError, match="id 'a-number' occurs 2 times") as error:
        read_published(tmp_path)
    assert "cause: expected the id of a cause, got 'nowhere'" in str(error.value)
    assert "cause 'a-cause' explains no claim" in str(error.value)


def test_claims_without_the_list_of_sentences_are_refused(tmp_path):
    write(tmp_path, GOOD).with_suffix(".sentences.csv").unlink()
    with pytest.raises(ValueError, match=r"some-paper.csv: expected some-paper.sentences.csv"):
        read_published(tmp_path)


def test_an_empty_folder_is_no_published_folder(tmp_path):
    with pytest.raises(ValueError, match=r"expected a file <paper>\.csv"):
        read_published(tmp_path)


def test_the_published_folder_is_valid_as_a_whole():
    published = read_published(PUBLISHED)
    assert {claim.paper for claim in published.claims} == {paper.id for paper in papers()}


def test_claims_about_some_tables_come_with_their_causes():
    published = read_published(PUBLISHED)
    tables = {"flipped-huber-2023/table-2.csv", "inid-2024/table-4.csv"}
    chosen = about(published, tables)
    assert {claim.result for claim in chosen.claims} == tables
    assert {cause.id for cause in chosen.causes} == {
        name for claim in chosen.claims for name in claim.cause
    }
    assert about(published, ()) == ([], [], ())


WORDS = """\
large: {words: [large, much], reading: one value is at least this many times the other, value: 2}
small-epsilon: {words: [small epsilon], reading: epsilon is at most this, value: 0.5}
times: {words: [times], reading: this many times, value: 3, factor: true}
a-third: {words: [a third], reading: this share, value: 0.25, exact: true}
"""


def test_words_stand_for_numbers_and_are_read_at_half_and_at_double(tmp_path):
    (tmp_path / "words.yaml").write_text(WORDS)
    row = GOOD | {"relation": ">=", "printed": "{1-a-third}", "select": "epsilon<={small-epsilon}"}
    (claim,) = read_claims(write(tmp_path, row | {"reduce": "all"}))
    assert claim.printed == Printed.parse("0.75")
    assert claim.select == (Condition("epsilon", "<=", "0.5"),)
    assert [(words, other.select[0].value) for words, other in claim.alternatives] == [
        ("'small epsilon' at 0.25 instead of 0.5", "0.25"),
        ("'small epsilon' at 1 instead of 0.5 (double)", "1"),
    ]
    (claim,) = read_claims(write(tmp_path, GOOD | {"relation": ">=", "printed": "{times}"}))
    assert [(words, other.printed.text) for words, other in claim.alternatives] == [
        ("'times' at 2 instead of 3", "2"),
        ("'times' at 5 instead of 3 (double)", "5"),
    ]
    for text, value in [
        ("{large}", "2"),
        ("{1+large}", "3"),
        ("{-large}", "-2"),
        ("{1/large}", "0.5"),
    ]:
        (claim,) = read_claims(write(tmp_path, GOOD | {"relation": ">=", "printed": text}))
        assert claim.printed.text == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("big: {words: [], reading: x, value: 2}\n", "big.words"),
        ("big: {words: [big], reading: x, value: 0}\n", "big.value"),
        ("big: {words: [big], reading: x}\n", "big.value"),
        ("big: {words: [big], reading: x, value: 2, why: y}\n", "big.why"),
    ],
)
def test_each_mistake_of_a_word_is_named(tmp_path, text, message):
    (tmp_path / "words.yaml").write_text(text)
    with pytest.raises(ValueError, match=message):
        read_claims(write(tmp_path, GOOD))


SENTENCES = "place,quote,rows,reason\nTable I,,a-number,\n"


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        ({"relation": ">=", "printed": "0"}, False),
        ({"relation": ">=", "printed": "1.00"}, False),
        ({"relation": ">=", "printed": "1.4", "quote": "a factor of 1.4 or more"}, False),
        ({"relation": ">=", "printed": "0.1", "quote": "10% or more"}, False),
        ({"relation": ">=", "printed": "1.4"}, True),
        ({"select": "epsilon<=0.35", "reduce": "all"}, True),
        ({"select": "epsilon<=3", "reduce": "all", "place": "Section V, first"}, False),
        ({"select": "epsilon<=4", "reduce": "all", "place": "Section V, first"}, True),
        ({"quote": ""}, True),
        ({"kind": "variant", "quote": "", "relation": ">=", "printed": "1.4"}, False),
    ],
)
def test_thresholds_are_those_of_the_quote_the_paragraph_or_a_word(tmp_path, change, refused):
    (tmp_path / "some-paper.paragraphs.yaml").write_text(
        "Section V: {reading: over the panel, select: search=box, ranges: {epsilon: 0.3 to 3}}\n"
    )
    (tmp_path / "some-paper.sentences.csv").write_text(SENTENCES)
    rows = [GOOD | change, GOOD | {"id": "other", "place": "Section V"}]
    path = write(tmp_path, *rows)
    if refused:
        with pytest.raises(ValueError, match=r"a-number\): (threshold|quote)"):
            read_claims(path)
    else:
        read_claims(path)


def test_a_paragraph_states_its_conditions_once_for_its_printed_rows(tmp_path):
    (tmp_path / "some-paper.paragraphs.yaml").write_text(
        "Section V: {reading: in the box of the paper, select: search=box;delta=1e-8}\n"
    )
    place = {"place": "Section V, second paragraph"}
    rows = [
        GOOD | place,
        GOOD | place | {"id": "other", "kind": "variant", "quote": "", "select": "search=all"},
        GOOD | {"id": "elsewhere", "place": "Section VI"},
    ]
    claim, variant, elsewhere = read_claims(write(tmp_path, *rows))
    assert claim.shared == Condition.parse("search=box;delta=1e-8")
    assert (variant.shared, elsewhere.shared) == ((), ())
    assert claim.within(["search", "x"]).select == Condition.parse("mechanism=gaussian;search=box")
    rows[0]["select"] = "search=all"
    with pytest.raises(ValueError, match="expected what its paragraph fixes, search=box"):
        read_claims(write(tmp_path, *rows))
    with pytest.raises(ValueError, match=r"'Section V'.*a printed claim with this place"):
        read_claims(write(tmp_path, rows[2]))


def test_the_assumptions_of_places_and_items_are_those_of_all_their_rows(tmp_path):
    paragraphs = tmp_path / "some-paper.paragraphs.yaml"
    paragraphs.write_text(
        "Section V: {select: a=1, assumptions: [N counts records., Seeds are ours.]}\n"
        "item table-2; Section V, last paragraph: {assumptions: [Seeds are ours., K is 3.]}\n"
    )
    rows = [
        GOOD | {"place": "Section V, last paragraph"},
        GOOD | {"id": "other", "place": "Section V", "kind": "variant", "quote": ""},
        GOOD | {"id": "elsewhere", "place": "Section VI"},
        GOOD | {"id": "item", "item": "table-2", "place": "Section VI"},
    ]
    found = read_claims(write(tmp_path, *rows))
    section, both = ("N counts records.", "Seeds are ours."), ("Seeds are ours.", "K is 3.")
    assert [claim.assumptions for claim in found] == [(*section, "K is 3."), section, (), both]
    assert [bool(claim.shared) for claim in found] == [True, False, False, False]
    with pytest.raises(ValueError, match="'item table-2': expected a claim with this place"):
        read_claims(write(tmp_path, *rows[:3]))
    paragraphs.write_text('Section V: {reading: one, assumptions: [3, ""]}\n')
    with pytest.raises(ValueError, match=r"assumptions(?s:.*)assumptions"):
        read_claims(write(tmp_path, *rows))
    paragraphs.write_text("Section V: {reading: one, select: search}\n")
    with pytest.raises(ValueError, match=r"Section V.select: .*expected a list such as"):
        read_claims(write(tmp_path, *rows))


def test_a_variant_may_not_say_what_the_paper_says(tmp_path):
    same = {"id": "other", "kind": "variant", "quote": "", "statement": "As it is printed."}
    write(tmp_path, GOOD, GOOD | same)
    with pytest.raises(
        ValueError, match="other: kind: expected 'printed', as a-number, got 'variant'"
    ):
        read_published(tmp_path)


ROOT = Path(__file__).parents[3]
TEXTS = os.environ.get(
    "DPNOISE_PAPER_TEXTS", ""
)  # a folder: one or more <paper>*.txt for each paper
WHOLE = read_published(ROOT / "published")
PAPERS = sorted({sentence.paper for sentence in WHOLE.sentences})
HEAD = "place,quote,rows,reason\n"


def write_sentences(folder, text):
    path = folder / "paper.sentences.csv"
    path.write_text(HEAD + text)
    return path


def test_sentences_are_read_with_their_claims(tmp_path):
    path = write_sentences(tmp_path, "Abstract,We add noise,,definition\nTable I,,number; other,\n")
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
def test_each_mistake_of_a_sentence_is_named(tmp_path, line, message):
    with pytest.raises(ValueError, match=message):
        read_sentences(write_sentences(tmp_path, line + "\n"), [NUMBER])


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
    text = sentences_page("paper", sentences, [NUMBER], judge([NUMBER], {}))
    assert "2 sentences, captions and theorems" in text
    assert "1 are\njudged" in text
    assert "no claim: definition" in text
    assert "cannot be judged here (`number`)" in text
    assert "as it is printed" in text
    assert "Elsewhere" not in text


def test_every_listed_claim_has_a_verdict_in_the_recorded_run():
    known = set(read_snapshot(ROOT / "docs" / "snapshot").verdicts["id"])
    assert {one for sentence in WHOLE.sentences for one in sentence.rows} <= known


@pytest.mark.parametrize("paper", PAPERS)
def test_quotes_stand_in_the_text_of_the_paper(paper):
    files = sorted(Path(TEXTS).glob(f"{paper}*.txt")) if TEXTS else []
    if not files:
        pytest.skip("the texts of the papers are not ours to ship: set DPNOISE_PAPER_TEXTS")
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    quotes = [claim.quote for claim in WHOLE.claims if claim.paper == paper and claim.quote]
    quotes += [one.quote for one in WHOLE.sentences if one.paper == paper and one.quote]
    assert not_in_text(dict.fromkeys(quotes), text) == []
