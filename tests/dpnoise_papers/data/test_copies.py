"""Where local copies of a table are looked for."""

from dpnoise_papers.data.copies import MIRROR_VARIABLE, copies_in, mirror_folder


def test_files_are_found_by_path_base_name_and_table_name(tmp_path):
    wanted = ["deep/a.csv", "deep/a.xlsx"]
    for name in ("toy.arff", "a.xlsx", "deep/a.csv", "deep/a.xlsx", "toys.csv", "b.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "a.csv").mkdir()
    found = copies_in(tmp_path, "toy", wanted)
    assert [str(path.relative_to(tmp_path)) for path in found] == [
        "deep/a.csv",
        "deep/a.xlsx",
        "a.xlsx",
        "toy.arff",
    ]
    assert copies_in(tmp_path / "gone", "toy", wanted) == []


def test_mirror_folder(monkeypatch):
    monkeypatch.setenv(MIRROR_VARIABLE, "from-environment")
    assert str(mirror_folder(None)) == "from-environment"
    assert str(mirror_folder("given")) == "given"
    assert mirror_folder("") is None
    monkeypatch.delenv(MIRROR_VARIABLE)
    assert mirror_folder(None) is None
