"""The page of a small run: complete, closed in itself, and the same each time."""

import re
from html.parser import HTMLParser

import pytest

from dpnoise_papers.claims.published import read_published
from dpnoise_papers.papers import papers
from dpnoise_papers.result_files import read_table, write_table
from dpnoise_papers.review import write
from dpnoise_papers.review.write import report
from review_run import run

VOID = {"meta", "link", "input", "img", "br", "line", "circle", "rect"}
MADE = "inid-figure-1a-linear-db"


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
    config, folders = made
    return report(config, papers(), folders, published="published", choices="docs/choices.md")


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
    folder = made[1].page.parent
    assert len(files) >= 12
    assert all((folder / link).is_file() for link in files)
    assert all(source.startswith("data:image/webp") for source in read.sources)
    assert not re.search(r"(?:https?:)?//[a-z]", re.sub(r"data:[^\"]*", "", text))


def test_a_claim_shows_all_that_a_reader_needs(text):
    claim = section(text, f'article class="claim[^>]* id="{MADE}"', "article")
    for word in (
        "Section V-1", "1.145", "reproduced", "allowed 1.1445 to 1.1455", 'class="bar"',
        "Reduction of the mean squared error", "inid-2024/figure-1a.csv", "gain_db", "deciding",
    ):  # fmt: skip
        assert word in claim, word


def test_an_item_shows_its_figure_and_how_it_is_made(text):
    item = section(text, 'section class="view item" id="inid-2024/figure-1a"', "section")
    for word in (
        "data:image/webp", "linear", "0.1 to 10", "snakemake", "--configfile config.quick.yaml",
        "--forcerun inid_2024_figure_1a_table", "1 s, 150 MB", "src/dpnoise_papers/inid_2024/",
        "figure-1a.svg", "figure-1a.csv", "inid_2024:", "figure_1a:",
    ):  # fmt: skip
        assert word in item, word
    table = section(text, 'section class="view item[^"]*" id="inid-2024/table-1"', "section")
    assert "<table>" in table


def test_the_totals_are_those_of_the_verdicts(made, text):
    verdicts = read_table(made[1].results / "verdicts.csv")
    own = verdicts[verdicts["kind"] == "printed"]
    assert f"Of {len(own)} numbers" in text
    for paper, group in own.groupby("paper"):
        count = int((group["verdict"] == "reproduced").sum())
        link = f"paper={paper}&amp;kind=printed&amp;verdict=reproduced"
        assert (f'{link}" aria-label="{count} ' in text) == (count > 0)


def test_the_stamp_names_the_run_and_warns_of_other_settings(text):
    assert "0123456789ab" in text
    assert "some &lt;CPU&gt;, 2 cores, Linux" in text
    assert "The settings of this run are not the papers'" in text


def test_the_same_run_gives_the_same_bytes(made, text):
    config, folders = made
    again = report(config, papers(), folders, published="published", choices="no-such-file.md")
    assert "Choices where the paper is silent" not in again
    assert section(again, 'section class="view on"', "section") == section(
        text, 'section class="view on"', "section"
    )


def test_verdicts_of_other_claims_and_a_page_too_large_are_refused(made, monkeypatch):
    config, folders = made

    def again():
        return report(config, papers(), folders, published="published", choices="docs/choices.md")

    path = folders.results / "verdicts.csv"
    verdicts = read_table(path)
    with monkeypatch.context() as patch:
        patch.setattr(write, "LARGEST", 1000)
        with pytest.raises(ValueError, match=r"at most 1000 bytes, got .* largest figures"):
            again()
    write_table(verdicts[1:], path)
    try:
        with pytest.raises(ValueError, match=r"verdicts.csv: expected .*run the pipeline"):
            again()
    finally:
        write_table(verdicts, path)
