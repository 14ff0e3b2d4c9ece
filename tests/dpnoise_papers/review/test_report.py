"""Ids, links and the nesting of tags."""

from __future__ import annotations

import inspect
import re
import shlex
from html.parser import HTMLParser
from pathlib import Path

import pytest

from dpnoise_papers.claims.published import read_published
from dpnoise_papers.config import load
from dpnoise_papers.item import papers
from dpnoise_papers.making import resolve
from dpnoise_papers.result_files import read_table, write_table
from dpnoise_papers.review import report as module
from dpnoise_papers.review.report import (
    command_options,
    cost,
    group_of,
    item_label,
    making,
    place,
    report,
)
from dpnoise_papers.steps import Run, outputs
from for_all import for_all
from review_run import run

VOID = {"meta", "link", "input", "img", "br", "line", "circle", "rect"}
OPTIONS = ("--configfile", "config.quick.yaml")
MADE = "inid-figure-1a-linear-db"
CSS = Path("src/dpnoise_papers/review/templates/page.css").read_text(encoding="utf-8")
TEXTS = (
    "ink",
    "quiet",
    "link",
    "reproduced",
    "ordering",
    "undecided",
    "differs",
    "notrun",
)
SCHEMES = re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)


class Reader(HTMLParser):
    """Ids, links and the nesting of tags."""

    def __init__(self):
        super().__init__()
        self.ids, self.links, self.sources, self.open = [], [], [], []

    def handle_starttag(self, tag, attributes):
        told = dict(attributes)
        self.ids += [told["id"]] if "id" in told else []
        self.links += [told["href"]] if "href" in told else []
        self.sources += [told["src"]] if "src" in told else []
        if tag not in VOID and not self.get_starttag_text().endswith("/>"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag, (tag, self.getpos())


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return run(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def text(made):
    return report(made, OPTIONS)


@pytest.fixture(scope="module")
def read(text):
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    return reader


def section(text, start, end):
    return re.search(rf"<{start}.*?</{end}>", text, re.DOTALL)[0]


def test_every_claim_item_and_cause_has_a_place_of_its_own(read):
    published = read_published("published")
    assert len(set(read.ids)) == len(read.ids)
    places = set(read.ids)
    assert {claim.id for claim in published.claims} <= places
    assert {f"{claim.paper}/{claim.item}" for claim in published.claims} <= places
    assert {f"{paper.id}/{item.id}" for paper in papers() for item in paper.items} <= places
    assert {f"cause/{cause.id}" for cause in published.causes} <= places


def test_every_link_leads_somewhere_and_nothing_comes_from_a_network(made, text, read):
    places = set(read.ids) | {"all"}
    inside = [link[1:] for link in read.links if link.startswith("#") and not link.startswith("#?")]
    assert set(inside) <= places
    files = [link for link in read.links if not link.startswith(("#", "data:"))]
    folder = Path(made.page_for_reviewers).parent
    assert len(files) >= 7
    assert all((folder / link).is_file() for link in files)
    assert all(source.startswith("data:image/webp") for source in read.sources)
    assert not re.search(r"(?:https?:)?//[a-z]", re.sub(r"data:[^\"]*", "", text))


def test_a_claim_shows_all_that_a_reader_needs(text):
    claim = section(text, f'article class="claim[^>]* id="{MADE}"', "article")
    for word in (
        "Section V-1", "1.145", "reproduced", "allowed 1.1445 to 1.1455", 'class="bar"',
        "Optimal noise reduces the error", "inid-2024/figure-1a.csv", "gain_db", "deciding",
    ):  # fmt: skip
        assert word in claim, word


def test_assumptions_of_a_paragraph_stand_once_above_its_claims(text):
    item = section(
        text, 'section class="view item[^"]*" id="flipped-huber-2023/table-3"', "section"
    )
    for line in ("Gaussian noise is by zCDP, as we read it.", "Percentage points are read as"):
        assert item.count(line) == 1
        assert item.index(line) < item.index("<article")


def test_an_item_shows_its_figure_and_how_it_is_made(text):
    item = section(text, 'section class="view item" id="inid-2024/figure-1a"', "section")
    for word in (
        "data:image/webp", "linear", "0.1 to 10", "snakemake", "--configfile config.quick.yaml",
        "--force", "1 s, 150 MB", "src/dpnoise_papers/inid_2024/",
        "figure-1a.svg", "figure-1a.csv", "inid_2024:", "figure_1a:",
    ):  # fmt: skip
        assert word in item, word
    table = section(text, 'section class="view item[^"]*" id="inid-2024/table-1"', "section")
    assert "<table>" in table


def test_the_totals_are_those_of_the_verdicts(made, text):
    verdicts = read_table(Path(made.results, "verdicts.csv"))
    own = verdicts[verdicts["kind"] == "printed"]
    numbers = own[own["form"] == "number"]
    good = int((numbers["verdict"] == "reproduced").sum())
    assert f"Of {len(numbers)} printed numbers {good} are reproduced" in text
    for paper, group in own.groupby("paper"):
        count = int((group["verdict"] == "reproduced").sum())
        link = f"paper={paper}&amp;kind=printed&amp;verdict=reproduced"
        assert (f'{link}" aria-label="{count} ' in text) == (count > 0)


def test_the_stamp_names_the_run_and_warns_of_other_settings(text):
    assert "0123456789ab" in text
    assert "some &lt;CPU&gt;, 2 cores, Linux" in text
    assert "The settings of this run are not the papers'" in text


def test_the_same_run_gives_the_same_bytes(made, text):
    assert report(made, OPTIONS) == text


def test_verdicts_of_other_claims_and_a_page_too_large_are_refused(made, monkeypatch):
    path = Path(made.results, "verdicts.csv")
    verdicts = read_table(path)
    with monkeypatch.context() as patch:
        patch.setattr(module, "LARGEST", 1000)
        with pytest.raises(ValueError, match=r"at most 1000 bytes, got .* largest figures"):
            report(made)
    write_table(verdicts[1:], path)
    try:
        with pytest.raises(ValueError, match=r"verdicts.csv: expected .*run the pipeline"):
            report(made)
    finally:
        write_table(verdicts, path)


def luminance(colour):
    """Relative luminance of WCAG 2."""
    digits = colour if len(colour) == 6 else "".join(2 * one for one in colour)
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_there_is_a_light_a_dark_and_a_printed_scheme():
    assert len(SCHEMES) == 3


@for_all("scheme", SCHEMES)
@for_all("text", TEXTS)
@for_all("ground", ["paper", "card", "soft", "here"])
def test_text_has_the_contrast_of_wcag_aa(scheme, text, ground):
    colours = dict(re.findall(r"--(\w+): #([0-9a-f]+)", scheme))
    light, dark = sorted((luminance(colours[name]) for name in (text, ground)), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_the_script_is_a_page_or_three():
    script = Path("src/dpnoise_papers/review/templates/page.js").read_text(encoding="utf-8")
    assert len(script.splitlines()) <= 150


@pytest.mark.parametrize(
    ("item", "label"),
    [
        ("table-2", "Table II"),
        ("figure-3a", "Figure 3a"),
        ("table-3-curves", "Table III, curves"),
        ("equation-13", "Equation (13)"),
        ("section-vi-b", "Section VI-B"),
        ("section-2-2", "Section 2.2"),
        ("section-b-1-sensitivity", "Section B.1, sensitivity"),
        ("section-4-bayes-risk", "Section 4, Bayes risk"),
        ("theorem-8-search", "Theorem 8, search"),
        ("appendix-e", "Appendix E"),
        ("dp-pca-sensitivities", "DP PCA sensitivities"),
        ("gain", "Gain"),
        ("inid-laplace", "I.n.i.d. Laplace"),
        ("normalised-fisher-information", "Normalised Fisher information"),
    ],
)
def test_an_item_is_named_as_papers_name_it(item, label):
    assert item_label(item) == label


@pytest.mark.parametrize("paper", papers(), ids=lambda paper: paper.id)
def test_no_two_items_of_a_paper_share_a_name(paper):
    names = [item_label(item.id) for item in paper.items]
    assert len(set(names)) == len(names)


def test_numbered_figures_and_tables_come_first():
    assert group_of("figure-3a", judged=True) == "Figures and tables"
    assert group_of("lemma-7", judged=True) == "Theory and text"
    assert group_of("table-3-runs", judged=False) == "Beside the paper"


NAMES = sorted(
    getattr(item, kind).function
    for paper in papers()
    for item in paper.items[:4]
    for kind in ("table", "figure", "page")
    if getattr(item, kind)
)
HEAD = "s\th:m:s\tmax_rss\tmax_vms\n"


@pytest.mark.parametrize("paper", papers(), ids=lambda paper: paper.id)
def test_every_item_can_be_remade_by_the_path_of_a_file_of_its_own(paper, tmp_path):
    run = Run(load("config.yaml"))
    run.results, run.figures, run.logs = (str(tmp_path / name) for name in ("r", "f", "logs"))
    for item in paper.items:
        made = making(run, f"{paper.id}/{item.id}", [])
        words = shlex.split(made.command)
        if item.extra:
            assert words == ["make", item.target]
            continue
        assert words[:-1] == ["snakemake", "--cores", "2", "--force"]
        assert words[-1] in outputs(run.calls(f"{paper.id}/{item.id}"))
        assert made.functions
        assert (made.cost, made.files) == (None, [])
        assert bool(made.settings) == bool(item.table and item.table.settings)


def test_options_are_those_of_the_run():
    assert command_options([], {}) == []
    assert command_options([Path("a.yaml").resolve()], {"seed": 3, "data": {"offline": True}}) == [
        "--configfile", "a.yaml", "--config", 'data={"offline": true}', "seed=3",
    ]  # fmt: skip


@for_all("name", NAMES)
def test_the_line_is_where_the_function_is_defined(name):
    found = place(name)
    function = inspect.unwrap(resolve(name))
    line = Path(found.path).read_text(encoding="utf-8").splitlines()[found.line - 1]
    assert line.startswith(f"def {function.__name__}(")


def test_an_unknown_function_is_named():
    with pytest.raises(ValueError, match="expected a function 'nothing'"):
        place("dpnoise_papers.making.nothing")


def test_the_largest_numbers_of_a_benchmark_count_and_no_number_is_none(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text(HEAD + "1.5\t0:00:01\t100.0\t1\n2.5\t0:00:02\tNA\t-\n")
    assert cost(path) == (2.5, 100.0)


def test_what_left_no_file_has_no_cost(tmp_path):
    assert cost(tmp_path / "a.tsv") is None
