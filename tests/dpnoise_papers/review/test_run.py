"""Provenance of files with digest, item and settings; the outcome of a run; comparisons."""

import hashlib
import json
import os
import subprocess
from importlib.metadata import version
from types import SimpleNamespace

import pandas as pd
import pytest

from dpnoise import __version__
from dpnoise_papers import cli
from dpnoise_papers.review.run import as_json, compare, differing, outcome, revision, stamp


@pytest.fixture
def checkout(tmp_path):
    def git(*arguments):
        identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
        command = ["git", "-C", str(tmp_path), *identity, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("a = 1\n")
    (tmp_path / "README.md").write_text("one\n")
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    revision.cache_clear()
    yield tmp_path, git("rev-parse", "HEAD")
    revision.cache_clear()


@pytest.mark.parametrize(
    ("file", "modified"), [("src/a.py", True), ("src/new.py", True), ("README.md", False)]
)
def test_a_checkout_is_modified_by_its_sources_only(checkout, file, modified):
    folder, commit = checkout
    assert revision(str(folder)) == (commit, False)
    revision.cache_clear()
    (folder / file).write_text("other\n")
    assert revision(str(folder)) == (commit, modified)


def test_a_copy_inside_another_checkout_has_a_version_and_no_commit(checkout):
    folder, _ = checkout
    (folder / "copy").mkdir()
    assert revision(str(folder / "copy")) == (__version__, False)


TOLD = {"a.csv": ["paper/a", "0123456789abcdef"], "b.svg": ["paper/b", "fedcba9876543210"]}


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Two files with the logs of their jobs, and provenance.json."""
    monkeypatch.chdir(tmp_path)
    lines = []
    for path, content in (("a.csv", b"x\n1\n"), ("b.svg", b"<svg/>")):
        (tmp_path / path).write_bytes(content)
        lines.append(f"made {hashlib.sha256(content).hexdigest()} {TOLD[path][1]} {path}\n")
    (tmp_path / "logs/paper").mkdir(parents=True)
    (tmp_path / "logs/paper/all.log").write_text("some words\n" + "".join(lines))
    (tmp_path / "data/prepared").mkdir(parents=True)
    status = {"name": "boston", "status": "ok", "fingerprint": "12", "shape": [1, 2]}
    (tmp_path / "data/prepared/boston.json").write_text(json.dumps(status))

    def write():
        text = as_json(["b.svg", "a.csv"], TOLD, {"seed": 7}, logs="logs")
        (tmp_path / "provenance.json").write_text(text)
        return json.loads(text)

    return write, tmp_path


def test_files_have_the_digest_that_their_jobs_noted(made):
    write, folder = made
    (folder / "a.csv").write_text("x\n9\n")  # edited after its job
    found = write()
    digest = hashlib.sha256(b"x\n1\n").hexdigest()
    assert found["files"]["a.csv"] == {
        "sha256": digest, "item": "paper/a", "settings": "0123456789abcdef",
    }  # fmt: skip
    assert list(found["files"]) == ["a.csv", "b.svg"]
    assert (found["seed"], found["data"]) == (7, {"boston": {"status": "ok", "fingerprint": "12"}})
    assert differing(folder, TOLD) == ["a.csv is not what its job wrote"]


def test_a_file_that_is_gone_or_of_other_settings_is_named(made):
    write, folder = made
    write()
    assert differing(folder, TOLD) == []
    other = TOLD | {"b.svg": ["paper/b", "0" * 16]}
    assert differing(folder, other) == ["b.svg was made with other settings"]
    (folder / "a.csv").unlink()
    assert differing(folder, TOLD) == ["a.csv is missing"]
    (folder / "provenance.json").write_text("{")
    assert differing(folder, TOLD) == [f"{folder / 'provenance.json'} cannot be read"]


def test_a_file_without_a_line_in_the_logs_has_the_digest_that_it_has(made):
    write, folder = made
    (folder / "logs/paper/all.log").unlink()
    found = write()
    assert found["files"]["b.svg"]["sha256"] == hashlib.sha256(b"<svg/>").hexdigest()
    assert differing(folder, TOLD) == []


def test_the_newest_log_of_a_file_counts(made):
    """A job of an older version left its log, which says other bytes of the same file."""
    write, folder = made
    before = write()["files"]
    for name in ("aaa", "zzz"):
        log = folder / f"logs/{name}.log"
        log.write_text(f"made {'0' * 64} {'1' * 16} a.csv\n")
        os.utime(log, (1.0, 1.0))
    assert write()["files"] == before


def test_the_stamp_names_machine_and_packages():
    found = stamp()
    assert found["packages"]["numpy"] == version("numpy")
    assert "pytest" not in found["packages"]
    assert set(found["machine"]) == {"system", "cpu", "cores", "python"}
    assert found["date"].endswith("+00:00")


ROWS = [
    ("a", "printed", "reproduced", "no"),
    ("b", "printed", "differs", "no"),
    ("c", "printed", "not run", "yes"),
    ("d", "variant", "open choices", "no"),
]
WORDS = {
    "differs": "not reproduced",
    "not run": "cannot be judged here",
    "open choices": "depends on what is not printed",
}
RUN = {"machine": {"cpu": "this"}, "packages": {"numpy": "2.0", "scipy": "1.0"}, "files": {}}


class Folders:
    """A run and the recorded one; what is missing, and which settings changed."""

    def __init__(self, folder):
        self.folder = folder
        self.results, self.snapshot = folder / "results", folder / "snapshot"
        self.lacking, self.changed = [], []
        for one in (self.results, self.snapshot):
            one.mkdir()
        self.write(self.results, ROWS)
        self.write(self.snapshot, ROWS)
        self.tell(self.results / "provenance.json", RUN)
        self.tell(self.snapshot / "run.json", RUN)
        self.file = self.results / "a.csv"
        self.file.write_text("x\n")

    def write(self, folder, rows):
        table = pd.DataFrame(rows, columns=["id", "kind", "reason", "optional"])
        failed = table["reason"] == "differs"
        table = table.assign(form="number", finding=table["id"].where(failed, ""))
        table["verdict"] = table["reason"].map(lambda reason: WORDS.get(reason, reason))
        table.to_csv(folder / "verdicts.csv", index=False)

    def tell(self, path, content):
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content), encoding="utf-8")

    def run(self):
        run = SimpleNamespace(results=str(self.results), changed=self.changed,
                              no_data=lambda: self.lacking, told=dict)  # fmt: skip
        return outcome(run, self.snapshot)


@pytest.fixture
def folders(tmp_path):
    return Folders(tmp_path)


COUNTS = (
    "3 assertions printed: 1 reproduced (1 numbers), 1 not reproduced, 1 cannot be judged here; "
    "findings: 1 (1 not matched); "
)
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
    changed, new = ("b", "printed", "open choices", "no"), ("e", "printed", "differs", "no")
    rows = [ROWS[0], changed, *ROWS[2:], new]
    folders.write(folders.results, rows)
    (*lines, last), code = folders.run()
    assert lines == [
        "b: depends on what is not printed (open choices), recorded not reproduced (differs)",
        "e: not reproduced (differs), recorded nothing",
    ]
    assert last == (
        "4 assertions printed: 1 reproduced (1 numbers), 1 not reproduced, 1 depends on what is "
        "not printed, 1 cannot be judged here; findings: 1 (1 not matched); "
        f"2 verdicts differ from the recorded run (b, e), likely reason: {reason}"
    )
    assert code == 0


def test_one_verdict_differs_in_the_singular(folders):
    folders.write(folders.results, [ROWS[0], ("b", "printed", "open choices", "no"), *ROWS[2:]])
    assert "; 1 verdict differs from the recorded run (b), likely" in folders.run()[0][-1]


def test_missing_data_are_a_reason_and_many_verdicts_are_cut_short(folders):
    rows = [(f"r{n}", "printed", "reproduced", "no") for n in range(9)]
    folders.write(folders.snapshot, rows)
    folders.write(folders.results, [(name, kind, "not run", no) for name, kind, _, no in rows])
    folders.lacking = ["no data: boston: no copy of 'boston' in data/raw"]
    (*lines, last), code = folders.run()
    assert lines[0] == f"no value to judge: {', '.join(f'r{n}' for n in range(9))}"
    assert lines[-1] == folders.lacking[0]
    assert len(lines) == 11
    assert "9 verdicts differ from the recorded run (r0, r1, r2, r3, r4, ...)" in last
    assert last.endswith("likely reason: no data (1 set(s))")
    assert code == 1


def test_a_file_that_is_not_what_was_made_is_named_in_the_last_line(folders):
    digest = hashlib.sha256(b"x\n").hexdigest()
    files = {str(folders.file): {"sha256": digest, "item": "p/a", "settings": ""}}
    folders.tell(folders.results / "provenance.json", RUN | {"files": files})
    assert folders.run() == ([COUNTS + SAME], 0)
    files[str(folders.file)]["sha256"] = "0" * 64
    folders.tell(folders.results / "provenance.json", RUN | {"files": files})
    (*_, last), code = folders.run()
    assert (
        f"1 file(s) DIFFER from provenance.json: {folders.file} is not what its job wrote" in last
    )
    assert code == 1


def test_other_settings_are_not_compared(folders):
    folders.changed = [{"a": 1}]
    folders.write(folders.snapshot, ROWS[:1])
    ((line,), code) = folders.run()
    assert line.startswith(COUNTS + "settings are not the papers'")
    assert code == 0


def test_without_a_recorded_run(folders):
    (folders.snapshot / "verdicts.csv").unlink()
    assert folders.run().lines == [COUNTS + "there is no recorded run to compare with"]


def test_without_verdicts(folders):
    (folders.results / "verdicts.csv").unlink()
    with pytest.raises(ValueError, match=r"no verdicts in .*`make reproduce` makes them"):
        folders.run()


TABLE = "name,x,note\na,1.0,one\nb,2e-300,two\nc,,three\n"


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
        (TABLE.replace("2e-300", "1e-300"), ["at most 0.5 of the value (row 2: '2e-300' before"]),
        (TABLE.replace("1.0", "-1.0"), ["at most 2 of the value"]),
        (
            TABLE.replace("c,,", "c,4,"),
            ["3 cells differ, not as numbers (row 3: '' before, '4' now)"],
        ),
        (TABLE.replace("two", "2").replace("1.0", "1"), ["column 'x': 1 of 3", "column 'note'"]),
        (
            TABLE.replace("note", "text"),
            ["note before, 3 rows of name, x, text now"],
        ),
        (TABLE + "d,1,x\n", ["4 rows of name, x, note now"]),
        (TABLE.replace("\n", "\r\n"), ["the same cells, written with other bytes"]),
        ("x,name,note\n1.0,a,one\n2e-300,b,two\n,c,three\n", ["3 rows of x, name, note now"]),
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
