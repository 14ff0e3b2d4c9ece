"""Where local copies of a table are looked for."""

import pytest

from dpnoise_papers.data.copies import MIRROR_VARIABLE, check_mirror, copies_in, mirror_folder


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


def test_a_mirror_that_does_not_exist_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv(MIRROR_VARIABLE, str(tmp_path / "none"))
    with pytest.raises(ValueError, match=rf"{MIRROR_VARIABLE}: no folder '.*none'"):
        check_mirror()
    with pytest.raises(ValueError, match=r"mirror: no folder 'also-none'"):
        check_mirror("also-none")


def test_a_mirror_that_exists_or_is_not_wanted_passes(tmp_path, monkeypatch):
    monkeypatch.setenv(MIRROR_VARIABLE, str(tmp_path))
    check_mirror()
    monkeypatch.setenv(MIRROR_VARIABLE, "")
    check_mirror()
    check_mirror("")
