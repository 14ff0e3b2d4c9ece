import pytest

from dpnoise_papers.config import load
from dpnoise_papers.papers import papers
from dpnoise_papers.review.costs_page import BEGIN, END, costs_table, write_costs


@pytest.fixture
def benchmarks(tmp_path):
    folder = tmp_path / "benchmarks/flipped-huber-2023"
    folder.mkdir(parents=True)
    (folder / "figure-1-table.tsv").write_text("s\tmax_rss\n12.4\t99.5\n")
    return tmp_path / "benchmarks"


def test_one_row_for_each_measured_item(benchmarks):
    lines = costs_table(load("config.yaml"), papers(), benchmarks)
    assert len(lines) == 3
    assert lines[2].startswith("| flipped-huber-2023/figure-1 | 1 | 12 | 100 |")


def test_the_table_replaces_what_stands_between_the_marks(benchmarks, tmp_path):
    document = tmp_path / "page.md"
    document.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    assert write_costs(document, benchmarks, load("config.yaml"), papers()) == 1
    text = document.read_text()
    assert "old" not in text
    assert text.startswith("before\n")
    assert text.endswith("after\n")


def test_no_marks_or_no_run(benchmarks, tmp_path):
    document = tmp_path / "page.md"
    document.write_text("nothing\n")
    with pytest.raises(ValueError, match="expected the marks"):
        write_costs(document, benchmarks, load("config.yaml"), papers())
    document.write_text(f"{BEGIN}{END}")
    with pytest.raises(ValueError, match="no benchmark files"):
        write_costs(document, tmp_path / "none", load("config.yaml"), papers())
