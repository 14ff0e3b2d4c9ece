"""Files among the results that no rule makes."""

import re

from dpnoise_papers.run.strays import stray_files, warning


def test_what_no_rule_makes_is_found_at_any_depth_hidden_files_included(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "deep/er/b.csv", "part-1.csv", ".a.csv.x7", "part-1.csv.bak"):
        path = tmp_path / "results" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    patterns = [re.compile(r"results/part-(?P<part>1|2)\.csv")]
    found = stray_files(["results", "figures"], {"results/a.csv"}, patterns)
    assert found == ["results/.a.csv.x7", "results/deep/er/b.csv", "results/part-1.csv.bak"]


def test_the_warning_counts_all_and_names_the_first():
    assert warning([]) == ""
    assert "1 file(s) among the results that no rule makes: a. They" in warning(["a"])
    assert "a, b, c, d, e and 2 more. " in warning(list("abcdefg"))
