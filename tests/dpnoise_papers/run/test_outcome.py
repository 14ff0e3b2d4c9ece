import json

import pandas as pd
import pytest

from dpnoise_papers import cli
from dpnoise_papers.cli import main
from dpnoise_papers.run.outcome import compare, outcome

ROWS = [
    ("a", "printed", "reproduced", "no"),
    ("b", "printed", "differs", "no"),
    ("c", "printed", "not run", "yes"),
    ("d", "variant", "undecided", "no"),
]
RUN = {"machine": {"cpu": "this"}, "packages": {"numpy": "2.0", "scipy": "1.0"}}
TABLE = "name,x,note\na,1.0,one\nb,2e-300,two\nc,,three\n"


class Folders:
    """A run, the recorded one, and what was prepared."""

    def __init__(self, folder):
        self.folder = folder
        self.results, self.snapshot = folder / "results", folder / "snapshot"
        self.prepared = folder / "prepared"
        for one in (self.results, self.snapshot, self.prepared):
            one.mkdir()
        self.write(self.results, ROWS)
        self.write(self.snapshot, ROWS)
        self.tell(self.results / "provenance.json", RUN)
        self.tell(self.snapshot / "run.json", RUN)

    def write(self, folder, rows):
        table = pd.DataFrame(rows, columns=["id", "kind", "verdict", "optional"])
        failed = table["verdict"] == "differs"
        table = table.assign(form="number", finding=table["id"].where(failed, ""))
        table.to_csv(folder / "verdicts.csv", index=False)

    def tell(self, path, content):
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content), encoding="utf-8")

    def run(self):
        return outcome(self.results, self.snapshot, self.prepared)


@pytest.fixture
def folders(tmp_path):
    return Folders(tmp_path)


COUNTS = "3 assertions printed: 1 reproduced (1 numbers), 1 differ, 1 not run; errors found: 1; "
SAME = "0 verdicts differ from the recorded run"


def test_the_last_line_of_the_recorded_run_itself(folders):
    assert folders.run() == ([COUNTS + SAME], 0)


def test_what_an_optional_target_made_is_no_difference(folders):
    folders.write(folders.snapshot, [*ROWS[:2], ("c", "printed", "differs", "yes"), ROWS[3]])
    assert folders.run() == ([COUNTS + SAME], 0)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, "none is known, so that this is worth a report"),
        ({"machine": {"cpu": "that"}}, "other processor (that, recorded this)"),
        (
            {"packages": {"numpy": "2.1", "scipy": "1.0", "numba": "1"}},
            "other versions (numba 1, recorded none; numpy 2.1, recorded 2.0)",
        ),
        ({"modified": True}, "sources that are not those of the commit"),
    ],
)
def test_verdicts_that_differ_are_named_with_the_likely_reason(folders, change, reason):
    folders.tell(folders.results / "provenance.json", RUN | change)
    changed, new = ("b", "printed", "undecided", "no"), ("e", "printed", "differs", "no")
    rows = [ROWS[0], changed, *ROWS[2:], new]
    folders.write(folders.results, rows)
    (*lines, last), code = folders.run()
    assert lines == ["b: undecided, recorded differs", "e: differs, recorded nothing"]
    assert last == (
        "4 assertions printed: 1 reproduced (1 numbers), 1 undecided, 1 differ, 1 not run; "
        "errors found: 1; "
        f"2 verdicts differ from the recorded run (b, e), likely reason: {reason}"
    )
    assert code == 0


def test_one_verdict_differs_in_the_singular(folders):
    folders.write(folders.results, [ROWS[0], ("b", "printed", "undecided", "no"), *ROWS[2:]])
    assert "; 1 verdict differs from the recorded run (b), likely" in folders.run()[0][-1]


def test_missing_data_are_a_reason_and_many_verdicts_are_cut_short(folders):
    rows = [(f"r{n}", "printed", "reproduced", "no") for n in range(9)]
    folders.write(folders.snapshot, rows)
    folders.write(folders.results, [(name, kind, "not run", no) for name, kind, _, no in rows])
    folders.tell(folders.prepared / "boston.json", {"name": "boston", "status": "missing"})
    folders.tell(folders.prepared / "city" / "m.json", {"name": "m", "status": "ok"})
    (*lines, last), code = folders.run()
    assert lines[0] == f"no value to judge: {', '.join(f'r{n}' for n in range(9))}"
    assert len(lines) == 10
    assert "9 verdicts differ from the recorded run (r0, r1, r2, r3, r4, ...)" in last
    assert last.endswith("likely reason: no data (boston)")
    assert code == 0


def test_a_refused_shipped_copy_is_in_the_last_line_and_in_the_exit_code(folders):
    refused = ["shipped, wine.csv.xz: expected 9 rows", "cache, wine.csv: empty"]
    status = {"name": "wine", "status": "ok", "refused": refused}
    folders.tell(folders.prepared / "wine.json", status)
    (first, last), code = folders.run()
    assert first == f"refused: {refused[0]} (`git checkout data/shipped` restores it)"
    assert last == COUNTS + SAME + "; REFUSED in data/shipped: wine.csv.xz"
    assert code == 1


def test_other_settings_are_not_compared(folders):
    folders.tell(folders.results / "provenance.json", RUN | {"settings_changed": [{"a": 1}]})
    folders.write(folders.snapshot, ROWS[:1])
    ((line,), code) = folders.run()
    assert line.startswith(COUNTS + "settings are not the papers'")
    assert code == 0


def test_without_a_recorded_run(folders):
    (folders.snapshot / "verdicts.csv").unlink()
    assert folders.run().lines == [COUNTS + "there is no recorded run to compare with"]


def test_without_verdicts(folders, monkeypatch, capsys):
    monkeypatch.chdir(folders.folder)
    assert main(["outcome"]) == 0
    assert capsys.readouterr().out.startswith("3 assertions printed: ")
    (folders.results / "verdicts.csv").unlink()
    assert main(["outcome"]) == 2
    assert "no verdicts in results: `make reproduce` makes them" in capsys.readouterr().err


@pytest.fixture
def folders_compare(tmp_path):
    for side in ("old", "new"):
        for name, text in (("paper/table.csv", TABLE), ("page.md", "# page\n")):
            path = tmp_path / side / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    (tmp_path / "old" / ".hidden").write_text("not a result")
    return tmp_path / "old", tmp_path / "new"


def test_equal_folders(folders_compare):
    found = compare(*folders_compare)
    assert found.same == ["page.md", "paper/table.csv"]
    assert (found.differing, found.ignored) == ({}, [])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (TABLE.replace("1.0", "1.001"), ["column 'x': 1 of 3 cells differ, by at most 0.001 of"]),
        (TABLE.replace("2e-300", "1e-300"), ["at most 0.5 of the value (row 2: 2e-300 before"]),
        (TABLE.replace("1.0", "-1.0"), ["at most 2 of the value"]),
        (TABLE.replace("c,,", "c,4,"), ["1 of them not as numbers (row 3: '' before, '4' now)"]),
        (TABLE.replace("two", "2").replace("1.0", "1"), ["column 'x': 1 of 3", "column 'note'"]),
        (TABLE.replace("note", "text"), ["'note' is missing", "'text' is new"]),
        (TABLE + "d,1,x\n", ["3 rows before, 4 now"]),
        (TABLE.replace("\n", "\r\n"), ["the same cells, written with other bytes"]),
        ("x,name,note\n1.0,a,one\n2e-300,b,two\n,c,three\n", ["columns in another order"]),
        (TABLE + "d,1,x,y,z\n", ["not readable as a table"]),
    ],
)
def test_tables_differ_by_column(folders_compare, text, words):
    (folders_compare[1] / "paper" / "table.csv").write_bytes(text.encode())
    found = compare(*folders_compare)
    assert found.same == ["page.md"]
    told = found.differing["paper/table.csv"]
    assert len(told) == len(words)
    for line, part in zip(told, words, strict=True):
        assert part in line


def test_provenance_with_its_date_is_not_compared(folders_compare):
    for day, folder in enumerate(folders_compare):
        (folder / "provenance.json").write_text(f"{day}\n")
    found = compare(*folders_compare)
    assert (found.differing, found.ignored) == ({}, ["provenance.json"])


def test_missing_new_and_ignored_files(folders_compare):
    old, new = folders_compare
    (new / "paper" / "table.csv").rename(new / "paper" / "other.csv")
    (new / "page.md").write_text("# other\n")
    found = compare(old, new)
    assert found.differing == {
        "page.md": ["other bytes"], "paper/other.csv": ["new"], "paper/table.csv": ["missing"],
    }  # fmt: skip
    found = compare(old, new, ["paper/*", "*.md"])
    assert found.differing == {}
    assert found.ignored == ["page.md", "paper/other.csv", "paper/table.csv"]


def test_no_folder_and_no_files(tmp_path):
    with pytest.raises(ValueError, match="no folder"):
        compare(tmp_path, tmp_path / "gone")
    with pytest.raises(ValueError, match="no files"):
        compare(tmp_path, tmp_path)


def test_the_command(folders_compare, capsys):
    old, new = map(str, folders_compare)
    assert cli.main(["compare", old, new]) == 0
    assert capsys.readouterr().out == "2 files: 2 with the same bytes, 0 not, 0 ignored\n"
    (folders_compare[1] / "page.md").unlink()
    assert cli.main(["compare", old, new]) == 1
    assert capsys.readouterr().out == (
        "page.md: missing\n2 files: 1 with the same bytes, 1 not, 0 ignored\n"
    )
    assert cli.main(["compare", old, new, "--ignore", "*.md"]) == 0
    assert cli.main(["compare", old, "gone"]) == 2
