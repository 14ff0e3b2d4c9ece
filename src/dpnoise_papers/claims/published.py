"""Content of `published/`: the claims of each paper and the causes of what does not hold.

A file with mistakes is refused as a whole, naming every mistake, before anything is judged.

A paper says 'very small epsilon' and prints no number. `published/words.yaml` reads each such word
as one number, the same for all papers; a claim names the word, `{very-small-epsilon}`, where the
number would stand. What a paragraph or an item fixes for all of its claims (search space, delta,
relation, symbols) stands once in `published/<paper>.paragraphs.yaml`.

`published/<paper>.sentences.csv` lists every checkable sentence of a paper in the order of its
text, with its claims or why it has none, so that a reader finds each judged.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from dpnoise._validation import Problems
from dpnoise_papers.claims.model import DOUBLED, Cause, Claim, Condition, Printed, read_rows
from dpnoise_papers.pages import markdown_table
from dpnoise_papers.strict_yaml import read_typed

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence


_SENTENCE = ("place", "quote", "rows", "reason")


class Sentence(NamedTuple):
    """A sentence, caption or theorem: where it stands, its words, and its claims or the reason."""

    paper: str
    place: str
    quote: str
    rows: tuple[str, ...]
    reason: str


def read_sentences(path: str | Path, claims: Sequence[Claim]) -> list[Sentence]:
    """Sentences of a paper, from `<paper>.sentences.csv`; `claims` are those of the paper.

    ValueError names every mistake: a row that is no claim, a printed claim that no sentence names,
    and a sentence with both claims and a reason, or with neither.
    """
    path = Path(path)
    problems = Problems(path.name)
    rows = read_rows(path, _SENTENCE, problems)
    paper, known = path.name.removesuffix(".sentences.csv"), {claim.id for claim in claims}
    found = []
    for name, row in rows:
        ids = tuple(one.strip() for one in row["rows"].split(";") if one.strip())
        problems.require(bool(row["place"]), f"{name}: place", "some text", "")
        expected = "the ids of claims or a reason why there is none, and not both"
        problems.require(bool(ids) != bool(row["reason"]), name, expected, (ids, row["reason"]))
        problems.require(bool(row["quote"] or ids), f"{name}: quote", "the paper's own words", "")
        for one in ids:
            problems.require(one in known, f"{name}: rows", "the id of a claim of the paper", one)
        found.append(Sentence(paper, row["place"], row["quote"], ids, row["reason"]))
    named = {one for sentence in found for one in sentence.rows}
    for claim in claims:
        if claim.kind == "printed" and claim.id not in named:
            problems.add(f"{claim.id} is printed: expected a sentence that names it, got none")
    problems.raise_if_any()
    return found


def sentences_page(
    paper: str, sentences: Sequence[Sentence], claims: Sequence[Claim], verdicts: pd.DataFrame
) -> str:
    """Page of one paper: its sentences in order, with the verdict on each claim or the reason.

    `verdicts` are those of a run, as `judge` returns them.
    """
    quotes = {claim.id: claim.quote for claim in claims}
    words: Mapping[str, str] = dict(zip(verdicts["id"], verdicts["verdict"], strict=True))
    rows = []
    for sentence in (one for one in sentences if one.paper == paper):
        said = sentence.quote or next((quotes[one] for one in sentence.rows if quotes[one]), "")
        found = "; ".join(f"{words.get(one, 'not run')} (`{one}`)" for one in sentence.rows)
        cells = (sentence.place, said, found or f"no claim: {sentence.reason}")
        rows.append([cell.replace("|", "\\|") for cell in cells])
    own = [one for one in sentences if one.paper == paper]
    judged = sum(bool(one.rows) for one in own)
    lines = [
        f"# {paper}, sentence by sentence",
        "",
        f"{len(own)} sentences, captions and theorems in the order of the text: {judged} are",
        f"judged, {len(own) - judged} claim nothing that can be, for the reason given. The",
        "verdicts are those of the recorded run.",
        "",
        markdown_table(pd.DataFrame(rows, columns=["place", "the paper's words", "verdict"])),
    ]
    return "\n".join(lines) + "\n"


COLUMNS = (
    "id", "item", "place", "quote", "kind", "form", "quantity", "statement", "assumptions",
    "printed", "result", "select", "column", "against", "pair", "relation", "reduce", "resolution",
    "ordering", "correction", "corrected", "corrected_select", "cause",
)  # fmt: skip
KINDS = {
    "printed": "a number, ordering or sentence of the paper itself",
    "variant": "our question, or another reading or setting than the paper's",
    "third-paper": "of a third paper that this one compares with",
    "beyond": "beyond what the paper says, or true by definition",
}
FORMS = {
    "number": "a printed number, also as a bound",
    "ordering": "this is less than that",
    "statement": "another sentence in words",
    "theorem": "a theorem, lemma or identity, of which a search for violations finds none if it is "
    "true",
}
CORRECTIONS = ("misprint", "slip", "inference")
QUANTITIES = ("number", "difference", "ratio", "ordering")
RELATIONS = ("<", "<=", ">", ">=")
REDUCTIONS = ("one", "all", "open", "min", "max", "mean")
LONGEST_QUOTE = 15  # words
LONGEST_STATEMENT = 15  # words: pieces with a letter or a digit
DEFAULT_RESOLUTION = 1e-6
LARGEST_RESOLUTION = 0.01

_KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_Text = Annotated[str, StringConstraints(min_length=1)]
_Id = Annotated[str, StringConstraints(pattern=f"^{_KEBAB.pattern}$")]
Parsed = TypeVar("Parsed")

WORDS = "words.yaml"
FACTORS = (0.5, 2.0)  # a verdict that turns between them is undecided
NATURAL = (0.0, 1.0)  # thresholds that need no word: no difference, a factor of one
FILLED = ("printed", "select", "against", "corrected_select")  # columns that may name a word
_WORD = re.compile(r"\{(1\+|1-|1/|-)?([a-z0-9]+(?:-[a-z0-9]+)*)\}")
_NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")


class _Entry(BaseModel):
    """A cause as it stands in its file."""

    model_config = ConfigDict(extra="forbid", strict=True)

    finding: _Text
    evidence: _Text
    given: dict[str, str] = {}


class Published(NamedTuple):
    """All claims, all causes and all listed sentences, in the order of their files."""

    claims: list[Claim]
    causes: list[Cause]
    sentences: Sequence[Sentence] = ()


def read_published(folder: str | Path) -> Published:
    """Content of a folder: `<paper>.csv` and beside it causes and sentences of some papers.

    ValueError names every mistake of the first bad file; else every id that occurs twice, every
    cause that a claim names and no file has, and every cause that no claim names.
    """
    folder = Path(folder)
    claims = [claim for path in _files(folder) for claim in read_claims(path)]
    causes = [cause for path in sorted(folder.glob("*.causes.yaml")) for cause in read_causes(path)]
    problems = Problems(str(folder))
    problems.require(bool(claims), "claims", "a file <paper>.csv", str(folder))
    for path in _files(folder):
        listed = path.with_suffix(".sentences.csv")
        problems.require(listed.is_file(), path.name, f"{listed.name} beside it", "none")
    _check_ids([claim.id for claim in claims], problems)
    _check_ids([cause.id for cause in causes], problems)
    known = {cause.id for cause in causes}
    named = {name for claim in claims for name in claim.cause}
    for claim in claims:
        for name in claim.cause:
            problems.require(name in known, f"{claim.id}: cause", "the id of a cause", name)
    for name in sorted(known - named):
        problems.add(f"cause {name!r} explains no claim: name it in a claim's column 'cause'")
    said = {_words(claim.quote): claim.id for claim in claims if claim.quote}
    for claim in claims:
        quoted = said.get(_words(claim.statement)) if claim.kind != "printed" else None
        problems.require(not quoted, f"{claim.id}: kind", f"'printed', as {quoted}", claim.kind)
    problems.raise_if_any()
    sentences = [
        sentence
        for path in _files(folder)
        for sentence in read_sentences(
            path.with_suffix(".sentences.csv"), [one for one in claims if one.paper == path.stem]
        )
    ]
    findings = {cause.id: cause.finding for cause in causes}
    claims = [
        claim
        if claim.result or not claim.cause
        else replace(claim, reason=findings[claim.cause[0]])
        for claim in claims
    ]
    return Published(claims, causes, sentences)


def _files(folder: Path) -> list[Path]:
    """Files of claims in a folder, without those beside them such as `<paper>.sentences.csv`."""
    return sorted(path for path in folder.glob("*.csv") if "." not in path.stem)


def _words(text: str) -> str:
    """Text in lower case without anything but its words, by which two sentences are one."""
    return " ".join(re.findall(r"\w+", text.lower()))


def about(published: Published, tables: Container[str]) -> Published:
    """Claims that are judged by one of some tables, and their causes."""
    claims = [claim for claim in published.claims if claim.result in tables]
    named = {name for claim in claims for name in claim.cause}
    return Published(claims, [cause for cause in published.causes if cause.id in named])


def read_claims(path: str | Path) -> list[Claim]:
    """Claims of one paper, from `<paper>.csv` with exactly the columns `COLUMNS`, in any order.

    The words for sizes are those of `words.yaml` in the same folder, the paragraphs those of
    `<paper>.paragraphs.yaml`. ValueError names every mistake with its row and value.
    """
    path = Path(path)
    words, paragraphs = read_words(path.parent), read_paragraphs(path)
    problems = Problems(path.name)
    paper = path.stem
    problems.require(_is_kebab(paper), "file name", "lower-case words and hyphens", paper)
    claims = [
        _read(row, paper, name, problems, words=words, paragraphs=paragraphs)
        for name, row in read_rows(path, COLUMNS, problems)
    ]
    met = [paragraph_of(claim.place, paragraphs) for claim in claims if claim.kind == "printed"]
    for name, paragraph in paragraphs.items():
        idle = (paragraph.select or paragraph.ranges) and not any(one is paragraph for one in met)
        problems.require(not idle, f"paragraph {name!r}", "a printed claim with this place", "none")
        for one in _names(name):
            known = any(_belongs(claim.item, claim.place, one) for claim in claims)
            problems.require(known, f"paragraph {one!r}", "a claim with this place or item", "none")
    _check_ids([claim.id for claim in claims], problems)
    orderings = {claim.id for claim in claims if claim.relation}
    for claim in claims:
        if claim.ordering and claim.quantity != "ordering" and claim.ordering not in orderings:
            expected = "the id of an ordering or bound of the same paper"
            problems.add(f"{claim.id}: ordering: expected {expected}, got {claim.ordering!r}")
    problems.raise_if_any()
    return claims


def _read(
    row: dict[str, str],
    paper: str,
    name: str,
    problems: Problems,
    *,
    words: Mapping[str, Word],
    paragraphs: Mapping[str, Paragraph],
) -> Claim:
    """Parse one row with its words and its paragraph, recording what is wrong with it."""
    row["quantity"] = row["quantity"] or "number"
    if row["column"]:  # the item's own table, or another of the paper by its name
        table = row["result"] or row["item"]
        row["result"] = f"{paper}/{table}.csv" if _is_kebab(table) else table
    named = named_words(row)
    for word in named:
        problems.require(word in words, f"{name}: word", f"a word of {WORDS}", word)
    known = {word: words[word].value if word in words else 1.0 for word in named}
    claim = _claim(filled(row, known), paper, name, problems)
    alternatives = [
        (
            f"'{words[word].words[0]}' at {value:g} instead of {known[word]:g}"
            + f" {DOUBLED}" * (value > known[word]),
            _claim(filled(row, known | {word: value}), paper, name, Problems("")),
        )
        for word in named
        if word in words
        for value in words[word].other_values
    ]
    shared: tuple[Condition, ...] = ()
    paragraph = paragraph_of(row["place"], paragraphs) if row["kind"] == "printed" else None
    if row["kind"] == "printed":
        shared = paragraph.select if paragraph else ()
        own = {one.column: one.value for one in claim.select if one.relation == "="}
        for one in shared:
            same = one.relation != "=" or own.get(one.column, one.value) == one.value
            expected = f"what its paragraph fixes, {one}"
            problems.require(same, f"{name}: select", expected, row["select"])
        problems.require(bool(row["quote"]), f"{name}: quote", "the paper's own words", "")
        _check_thresholds(row, paragraph, name, problems)
    return replace(
        claim,
        shared=shared,
        assumptions=assumed(row["item"], row["place"], paragraphs),
        alternatives=tuple((words, replace(other, shared=shared)) for words, other in alternatives),
    )


def _check_thresholds(
    row: Mapping[str, str], paragraph: Paragraph | None, name: str, problems: Problems
) -> None:
    """Record thresholds of a printed row that neither its paper prints nor a word stands for."""
    ranges = paragraph.ranges.values() if paragraph else ()
    known = [*NATURAL, *numbers_in([row["quote"], *ranges])]
    stated = [("printed", row["printed"])] if row["relation"] else []
    for column in ("select", "against"):
        with suppress(ValueError):  # recorded with its column
            ends = (one.value for one in Condition.parse(row[column]) if one.relation != "=")
            stated += [(column, end) for end in ends]
    for column, text in stated:
        value = _value(text)
        found = not text or _WORD.search(text) or any(
            math.isclose(value, one, rel_tol=1e-9) for one in known
        )  # fmt: skip
        expected = f"0, 1, a number of the quote or of the paragraph's ranges, or a word of {WORDS}"
        problems.require(bool(found), f"{name}: threshold in {column}", expected, value)


def _claim(row: dict[str, str], paper: str, name: str, problems: Problems) -> Claim:
    """Parse one row without words, recording what is wrong with it."""

    def require(ok: object, column: str, expected: str) -> None:
        problems.require(bool(ok), f"{name}: {column}", expected, row[column])

    def number_of(column: str, default: float, largest: float) -> float:
        try:
            value = float(row[column] or default)
        except ValueError:
            value = np.nan
        require(0 < value <= largest, column, f"a number in (0, {largest}]")
        return value

    def parsed(column: str, parse: Callable[[str], Parsed]) -> Parsed | None:
        try:
            return parse(row[column]) if row[column] else None
        except ValueError as error:
            problems.add(f"{name}: {column}: {error}")
            return None

    def conditions(column: str) -> tuple[tuple[Condition, ...], str]:
        """Conditions and the column that they choose ('column=NAME')."""
        found = parsed(column, Condition.parse) or ()
        other = [condition.value for condition in found if condition.column == "column"]
        kept = tuple(condition for condition in found if condition.column != "column")
        return kept, other[0] if other else row["column"]

    for column in ("item", "place", "statement"):
        require(row[column], column, "some text")
    own = row["kind"] == "printed"
    count = len(row["quote"].replace(" ... ", " ").split())
    require(count <= LONGEST_QUOTE, "quote", f"at most {LONGEST_QUOTE} words")
    require(own or not count, "quote", "nothing, unless the kind is printed")
    count = sum(bool(re.search(r"\w", part)) for part in row["statement"].split())
    require(count <= LONGEST_STATEMENT, "statement", f"at most {LONGEST_STATEMENT} words")
    require(row["form"] in FORMS, "form", f"one of {', '.join(FORMS)}")
    require(bool(row["column"]) == bool(row["result"]), "column", "some text, if there is a result")
    for column in ("id", "item"):
        require(_is_kebab(row[column]), column, "lower-case words joined by hyphens")
    quantity, relation = row["quantity"], row["relation"]
    require(row["kind"] in KINDS, "kind", f"one of {', '.join(KINDS)}")
    require(quantity in QUANTITIES, "quantity", f"one of {', '.join(QUANTITIES)}")
    require(relation in ("", *RELATIONS), "relation", f"one of {', '.join(RELATIONS)}, or none")
    row["reduce"] = row["reduce"] or "one"
    require(row["reduce"] in REDUCTIONS, "reduce", f"one of {', '.join(REDUCTIONS)}")
    result = PurePosixPath(row["result"])
    inside = not result.is_absolute() and ".." not in result.parts and "\\" not in row["result"]
    inside &= result.suffix == ".csv" or not row["result"]
    require(inside, "result", "a .csv file below results/, or nothing if none is computed")
    _check_quantity(row, require)
    formula = bool(row["corrected_select"])
    against, against_column = conditions("against")
    corrected_select, corrected_column = conditions("corrected_select")
    texts = ("id", "item", "place", "quote", "kind", "form", "quantity", "statement", "result",
             "column", "relation", "reduce", "ordering", "correction")  # fmt: skip
    return Claim(
        **{key: row[key] for key in texts},
        paper=paper,
        printed=parsed("printed", Printed.parse),
        select=conditions("select")[0],
        against=against,
        against_column=against_column,
        pair=_names(row["pair"]),
        resolution=number_of("resolution", DEFAULT_RESOLUTION, LARGEST_RESOLUTION),
        corrected=None if formula else parsed("corrected", Printed.parse),
        corrected_statement=row["corrected"] if formula else "",
        corrected_select=corrected_select,
        corrected_column=corrected_column,
        cause=_names(row["cause"]),
        shared=(),
        alternatives=(),
        assumptions=(),
        details=_names(row["assumptions"]),
    )


def _check_quantity(row: dict[str, str], require: Callable[[object, str, str], None]) -> None:
    """Record what does not fit the quantity of a row."""
    number, ordering = row["quantity"] == "number", row["quantity"] == "ordering"
    formula = bool(row["corrected_select"])
    words = CORRECTIONS if row["corrected"] else ("",)
    expected = f"one of {', '.join(CORRECTIONS)}" if row["corrected"] else "nothing to correct"
    require(row["correction"] in words, "correction", expected)
    if ordering:
        require(row["relation"], "relation", "the order that is claimed")
        for column in ("printed", "ordering"):
            require(not row[column], column, "nothing, for an ordering")
        require(formula or not row["corrected"], "corrected", "nothing without corrected_select")
    else:
        require(row["printed"], "printed", "the number as printed")
    require(row["corrected"] or not formula, "corrected", "what should have been printed, in words")
    require(bool(row["against"]) != number, "against",
            "nothing for a number, else the second selection")  # fmt: skip
    require(not (row["pair"] and number), "pair", "nothing, for a number")


def _is_kebab(text: str) -> bool:
    """Whether a text is lower-case words joined by hyphens."""
    return _KEBAB.fullmatch(text) is not None


def _names(text: str) -> tuple[str, ...]:
    """Names of a list such as 'a; b'."""
    return tuple(part.strip() for part in text.split(";") if part.strip())


def read_causes(path: str | Path) -> list[Cause]:
    """Causes of one paper, from `<paper>.causes.yaml`; ValueError names every mistake."""
    entries = read_typed(path, dict[_Id, _Entry])
    paper = Path(path).name.removesuffix(".causes.yaml")
    return [
        Cause(key, paper, " ".join(one.finding.split()), " ".join(one.evidence.split()), one.given)
        for key, one in entries.items()
    ]


def _check_ids(ids: list[str], problems: Problems) -> None:
    """Record ids that occur twice."""
    for name, count in Counter(ids).items():
        if count > 1:
            problems.add(f"id {name!r} occurs {count} times: expected once")


class Word(BaseModel):
    """A word for a size: how papers say it, what it claims, and the number that it is read as.

    `exact` words are numbers themselves ('a third'); they are read in one way.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    words: list[_Text] = Field(min_length=1)
    meaning: _Text = Field(alias="reading")
    value: Annotated[float, Field(gt=0)]
    exact: bool = False
    factor: bool = False

    @property
    def other_values(self) -> list[float]:
        """Values at which a verdict must be the same: half and double, of a factor less 1."""
        one = 1.0 if self.factor else 0.0
        return [] if self.exact else [one + by * (self.value - one) for by in FACTORS]


class Paragraph(BaseModel):
    """What claims of some places or items share: assumptions, and the printed ones the rest."""

    model_config = ConfigDict(extra="forbid", strict=True)

    meaning: str = Field(default="", alias="reading")
    select: Annotated[
        tuple[Condition, ...], BeforeValidator(lambda given: Condition.parse(str(given)))
    ] = ()
    ranges: dict[str, str] = {}
    assumptions: tuple[_Text, ...] = Field(default=(), strict=False)


def read_words(folder: Path) -> dict[str, Word]:
    """Words of `words.yaml` in a folder, none without the file; ValueError names every mistake."""
    path = folder / WORDS
    return read_typed(path, dict[str, Word]) if path.is_file() else {}


def read_paragraphs(claims: Path) -> dict[str, Paragraph]:
    """Paragraphs beside a paper's claims, by place; ValueError names every mistake."""
    path = claims.with_suffix(".paragraphs.yaml")
    return read_typed(path, dict[str, Paragraph]) if path.is_file() else {}


def paragraph_of(place: str, paragraphs: Mapping[str, Paragraph]) -> Paragraph | None:
    """Paragraph that fixes what is printed at a place: that of the longest name that fits it."""
    names = [
        (len(one), name)
        for name, paragraph in paragraphs.items()
        if paragraph.meaning or paragraph.select or paragraph.ranges
        for one in _names(name)
        if _belongs("", place, one)
    ]
    return paragraphs[max(names)[1]] if names else None


def assumed(item: str, place: str, paragraphs: Mapping[str, Paragraph]) -> tuple[str, ...]:
    """What all paragraphs that an item or a place belongs to assume, each once."""
    lines = [
        line
        for name, paragraph in paragraphs.items()
        if any(_belongs(item, place, one) for one in _names(name))
        for line in paragraph.assumptions
    ]
    return tuple(dict.fromkeys(lines))


def _belongs(item: str, place: str, name: str) -> bool:
    """Whether a name is 'item ITEM', or the place itself or what stands there before a comma."""
    return name in (f"item {item}", place) or place.startswith(f"{name},")


def named_words(row: Mapping[str, str]) -> list[str]:
    """Words that a row of claims names, each once."""
    return list(dict.fromkeys(m[2] for column in FILLED for m in _WORD.finditer(row[column])))


def filled(row: Mapping[str, str], values: Mapping[str, float]) -> dict[str, str]:
    """Row with the number of each word in its place; KeyError if a word has none."""

    def number(match: re.Match[str]) -> str:
        sign, value = match[1] or "", values[match[2]]
        found = {"": value, "-": -value, "1+": 1 + value, "1-": 1 - value, "1/": 1 / value}[sign]
        return f"{found:.10g}"

    return {**row, **{column: _WORD.sub(number, row[column]) for column in FILLED}}


def numbers_in(texts: Iterable[str]) -> list[float]:
    """Numbers that stand in some texts, percentages also as shares."""
    found = []
    for text in texts:
        for match in _NUMBER.finditer(text):
            value = _value(match[0].replace(",", ""))
            found += [value, value / 100] if text[match.end() :].lstrip()[:1] == "%" else [value]
    return found


def _value(text: str) -> float:
    """Number that a text stands for, a percentage as a share; NaN if it is none."""
    try:
        return float(text.removesuffix("%")) * (0.01 if text.endswith("%") else 1.0)
    except ValueError:
        return float("nan")
