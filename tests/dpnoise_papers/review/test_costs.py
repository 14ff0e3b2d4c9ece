"""Costs from benchmark files."""

from dpnoise_papers.review.costs import cost

HEAD = "s\th:m:s\tmax_rss\tmax_vms\n"


def test_seconds_add_up_and_the_largest_memory_counts(tmp_path):
    (tmp_path / "a.tsv").write_text(HEAD + "1.5\t0:00:01\t100.0\t1\n")
    (tmp_path / "b.tsv").write_text(HEAD + "2.5\t0:00:02\tNA\t-\n")
    names = [tmp_path / f"{name}.tsv" for name in "abc"]
    assert cost(names) == (4.0, 100.0, 2)


def test_what_left_no_file_has_no_cost(tmp_path):
    assert cost([tmp_path / "a.tsv"]) is None
