"""Declarations: what is shown has a caption, what is declared exists, nothing is kept twice."""

import inspect
import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from dpnoise_papers.claims.published import read_claims
from dpnoise_papers.config import config_model
from dpnoise_papers.item import PART, Figure, Item, Table, papers, read_paper
from dpnoise_papers.making import resolve
from dpnoise_papers.strict_yaml import YamlError

ROOT = Path(__file__).parents[2]
ITEMS = [(paper, item) for paper in papers() for item in paper.items]
NAMES = [f"{paper.id}/{item.id}" for paper, item in ITEMS]


def test_an_item_without_anything_to_make_is_refused():
    with pytest.raises(ValueError, match="item figure-1: expected a table, a figure or a page"):
        Item(id="figure-1")


def test_whatever_is_shown_needs_a_caption():
    with pytest.raises(ValueError, match="item figure-1: expected a caption"):
        Item(id="figure-1", figure=Figure(function="a.b"))
    assert Item(id="figure-1", table=Table(function="a.b")).tables == ("figure-1",)


def test_an_item_takes_the_section_of_its_id_unless_it_says_otherwise():
    table = Table(function="a.b")
    assert Item(id="figure-1a", table=table).table.settings == ("figure_1a",)
    for named in ((), ("other",), ("figure_1a", "other")):
        own = Table(function="a.b", settings=named)
        assert Item(id="figure-1a", table=own).table.settings == named


def test_an_item_with_an_extra_has_a_target_of_its_own():
    table = Table(function="a.b")
    assert Item(id="table-1", table=table).target == ""
    assert Item(id="table-1", table=table, extra="deep").target == "deep"
    assert Item(id="table-1", table=table, extra="deep", target="large").target == "large"
    with pytest.raises(ValueError, match="item table-1: expected an extra beside its target"):
        Item(id="table-1", table=table, target="large")


def test_a_file_of_items_names_every_mistake_and_the_item(tmp_path):
    path = tmp_path / "items.yaml"
    path.write_text("""
id: inid-2024
items:
  figure-1: {caption: One line., figure: .figures.one, table: {function: .tables.one, memory: 9}}
""")
    (item,) = read_paper(path).items
    table = Table(function="dpnoise_papers.inid_2024.tables.one", settings=("figure_1",), memory=9)
    figure = Figure(function="dpnoise_papers.inid_2024.figures.one")
    assert item == Item(id="figure-1", caption="One line.", table=table, figure=figure)
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("""
id: inid-2024
items:
  figure-1: {figure: .figures.one}
  figure-2: {table: {function: .tables.two, reeds: [figure-1], memory: many}}
shown: [figure-1]
""")
    told = r"figure-1: .*a caption.*figure-2\.table\.memory: .*figure-2\.table\.reeds: .*shown: "
    with pytest.raises(YamlError, match=told):
        read_paper(wrong)


def test_no_item_and_no_table_is_declared_twice():
    tables = [f"{paper.id}/{table}" for paper, item in ITEMS for table in item.tables]
    assert len(set(NAMES)) == len(NAMES)
    assert len(set(tables)) == len(tables)


def functions_of(paper, item):
    """Ask whether the functions of an item exist and take what they are given."""
    models = config_model().model_fields[paper.module].annotation.model_fields
    if item.table:
        given = len(item.table.settings) + len(item.table.data) + len(item.table.reads)
        keywords = {
            "claims": item.table.claims,
            "statuses": item.table.statuses,
            "threads": item.table.threads > 1,
            "part": item.table.for_each and not any(PART in name for name in item.table.data),
        }
        signature = inspect.signature(resolve(item.table.function))
        signature.bind(*range(given), **{name: 1 for name, wanted in keywords.items() if wanted})
        annotations = [parameter.annotation for parameter in signature.parameters.values()]
        settings = import_module(f"dpnoise_papers.{paper.module}.settings")
        for section, annotation in zip(item.table.settings, annotations, strict=False):
            kinds = tuple(getattr(settings, name) for name in annotation.split(" | "))
            assert issubclass(models[section].annotation, kinds)
    for shown in filter(None, (item.figure, item.page)):
        given = len(shown.reads or item.tables) + bool(getattr(shown, "printed", ()))
        keywords = {"claims": 1} if shown.claims else {}
        inspect.signature(resolve(shown.function)).bind(*range(given), **keywords)


def wrong(check, deep):
    """Items that fail a check, each with what it says; those for PyTorch alone, or the others."""
    found = {}
    for name, (paper, item) in zip(NAMES, ITEMS, strict=True):
        if (item.extra == "deep") == deep:
            try:
                check(paper, item)
            except Exception as error:  # noqa: BLE001 - all of them are told at once
                found[name] = repr(error)
    return found


def test_every_function_exists_and_takes_what_it_is_given():
    assert wrong(functions_of, deep=False) == {}


def test_every_function_for_deep_learning_exists_and_takes_what_it_is_given():
    pytest.importorskip("torch")
    assert wrong(functions_of, deep=True) == {}


def test_a_function_that_does_not_exist_or_takes_less_is_found():
    paper, item = next(pair for pair in ITEMS if pair[1].table and not pair[1].extra)
    for function in ("json.nothing", "dpnoise_papers.item.papers"):
        with pytest.raises((ValueError, TypeError, ImportError, AttributeError)):
            functions_of(paper, replace(item, table=replace(item.table, function=function)))


def test_every_table_that_is_read_is_made_by_an_item():
    tables = {f"{paper.id}/{table}" for paper, item in ITEMS for table in item.tables}
    named = [re.escape(table).replace(re.escape(PART), "([a-z0-9-]+|{part})") for table in tables]
    made = re.compile("|".join(named))
    read = [
        (f"{paper.id}/{item.id}", {name, f"{paper.id}/{name}"})
        for paper, item in ITEMS
        for declared in filter(None, (item.table, item.figure, item.page))
        for name in declared.reads
    ]
    assert len(read) > 20
    assert [pair for pair in read if not any(map(made.fullmatch, pair[1]))] == []


def test_parts_are_named_where_there_are_some():
    unnamed = []
    for name, (_, item) in zip(NAMES, ITEMS, strict=True):
        for declared in filter(None, (item.table, item.figure, item.page)):
            names = (*declared.reads, *getattr(declared, "data", ()))
            swept = getattr(declared, "for_each", False)
            needed = swept or any(PART in n for n in names) or getattr(declared, "statuses", False)
            good = bool(declared.parts) == bool(needed)
            if declared is item.table:
                good &= all((PART in table) == swept for table in item.tables)
            unnamed += [] if good else [name]
    assert unnamed == []


def test_every_section_of_the_settings_belongs_to_an_item():
    for paper in papers():
        models = config_model().model_fields[paper.module].annotation.model_fields
        used = {name for item in paper.items if item.table for name in item.table.settings}
        lists = {
            declared.parts.split(".")[-2]
            for _, item in ITEMS
            for declared in (item.table, item.figure, item.page)
            if declared and declared.parts
        }
        assert set(models) <= used | lists


# Their printed numbers count trials: 'exactly one range', which no axis shows.
TRIVIAL = {"flipped-huber-2023": ("table-1",)}


@pytest.mark.parametrize("paper", papers(), ids=lambda paper: paper.id)
def test_printed_numbers_are_handed_to_the_figures_that_have_them(paper):
    path = ROOT / "published" / f"{paper.id}.csv"
    claims = read_claims(path) if path.is_file() else []
    drawn = {item.id for item in paper.items if item.figure and not item.figure.printed}
    assert [
        claim.id
        for claim in claims
        if claim.item in drawn and claim.kind == "printed" and claim.quantity == "number"
        if claim.printed and not claim.relation and claim.result
        if claim.item not in TRIVIAL.get(paper.id, ())
    ] == []
