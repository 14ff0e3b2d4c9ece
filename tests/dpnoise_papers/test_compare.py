import pytest

from dpnoise_papers import cli
from dpnoise_papers.compare import compare

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
