"""Where local copies of a table are looked for."""

import pytest

from dpnoise_papers.data.copies import (
    MIRROR_VARIABLE,
    check_mirror,
    copies_in,
    mirror_folder,
    places_of,
)


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


def test_places_in_their_order(tmp_path, monkeypatch):
    monkeypatch.setenv(MIRROR_VARIABLE, "theirs")
    places = places_of(tmp_path / "registry.yaml", cache="raw", offline=True)
    folders = [(one.label, str(one.folder)) for one in places.folders]
    assert folders == [
        ("cache", "raw"), ("mirror", "theirs"), ("shipped", str(tmp_path / "shipped")),
    ]  # fmt: skip
    assert (str(places.cache), places.offline) == ("raw", True)
    monkeypatch.delenv(MIRROR_VARIABLE)
    labels = [one.label for one in places_of().folders if one.folder]
    assert labels == ["cache", "shipped"]
    labels = [one.label for one in places_of(mirror="m", source="official").folders if one.folder]
    assert labels == ["cache"]


def test_an_unknown_source_is_refused():
    with pytest.raises(ValueError, match="'nearest' or 'official', got 'far'"):
        places_of(source="far")
