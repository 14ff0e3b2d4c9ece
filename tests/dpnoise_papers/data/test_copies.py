"""Where local copies are looked for, and which sets have none."""

import socket
import tarfile
import zipfile
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import pytest

import data_copies as copies
from dpnoise_papers.data.copies import (
    MIRROR_VARIABLE,
    Sources,
    check_mirror,
    copies_in,
    member_of,
    mirror_folder,
    places_of,
)
from dpnoise_papers.data.registry import read_images_registry

WANTED = b"1,2,3\n" * 100


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


@pytest.fixture
def planned(tmp_path, monkeypatch):
    """Sources as a run plans them, in a folder without shipped copies and without network."""

    def refuse(*_args, **_kwargs):
        raise AssertionError("planning asked a host")

    monkeypatch.delenv(MIRROR_VARIABLE, raising=False)
    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.chdir(tmp_path)
    told = {"cache": "data/raw", "source": "nearest", "offline": False}
    return lambda **more: Sources(SimpleNamespace(data=SimpleNamespace(**told | more)))


def test_a_set_is_missing_if_a_table_has_no_copy_and_the_reason_says_where_to_put_one(planned):
    copies.put(Path("data/shipped"), b"", "wine-red.csv.xz")
    copies.put(Path("data/raw"), b"", "boston-housing.anything")
    found = planned()
    assert {"houses", "wine-quality", "city/manhattan", "images/cifar10"} <= found.missing().keys()
    assert not {"boston", "diabetes"} & found.missing().keys()
    why = found.missing()["wine-quality"]
    assert why.startswith("no copy of 'wine-white' in data/raw, data/shipped: put ")
    assert why.endswith("into data/raw")
    assert found.copies("wine-quality") == ["data/shipped/wine-red.csv.xz"]
    copies.put(Path("data/shipped"), b"", "wine-white.csv.xz")
    assert "wine-quality" not in planned().missing()


def test_a_mirror_counts_and_official_sources_are_asked_only_where_they_are_wanted(
    planned, monkeypatch
):
    copies.put(Path("elsewhere"), b"", "cal-housing.data")
    assert "houses" in planned().missing()
    monkeypatch.setenv(MIRROR_VARIABLE, "elsewhere")
    assert "houses" not in planned().missing()
    assert planned(source="official").missing() == {}
    assert "houses" in planned(source="official", offline=True).missing()


def test_images_need_one_of_their_archives(planned):
    copies.put(Path("data/raw"), b"", "cifar-10-binary.tar.gz")
    first = next(iter(read_images_registry()["cifar10"].copies))
    copies.put(Path("data/raw"), b"", f"{first}.tar.gz")
    assert "images/cifar10" not in planned().missing()


def test_the_digest_of_a_set_is_that_of_its_content(planned):
    names = [name for name in planned().names if not name.startswith("city/")]
    assert len({planned().fetching(name)["entry"] for name in names}) == len(names) > 5


def zipped(members, compression=zipfile.ZIP_DEFLATED):
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return stream.getvalue()


def tarred(members, mode="w:gz"):
    stream = BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as archive:
        for name, content in members:
            info = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            if info.isfile():
                info.size = len(content)
            archive.addfile(info, BytesIO(content))
    return stream.getvalue()


@pytest.mark.parametrize("pack", [zipped, tarred])
@pytest.mark.parametrize("member", ["table.csv", "folder/table.csv"])
def test_member_is_found_by_the_end_of_its_path(pack, member):
    archive = pack([("folder/other.csv", b"x"), ("folder/table.csv", WANTED), ("mytable.csv", b"")])
    assert member_of(archive, member) == WANTED


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_every_tar_compression(mode):
    assert member_of(tarred([("table.csv", WANTED)], mode), "table.csv") == WANTED


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_bombs_are_refused(pack, monkeypatch):
    monkeypatch.setattr("dpnoise_papers.data.copies.LIMIT", 1_000_000)
    archive = pack([("table.csv", b"\0" * 2_000_000)])
    assert len(archive) < 20_000
    with pytest.raises(ValueError, match="a member of at most 1000000 bytes"):
        member_of(archive, "table.csv")


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_damaged_archives_are_refused(pack):
    archive = pack([("table.csv", bytes(range(256)) * 400)])
    assert len(archive) > 200
    for broken in (b"", b"<html>", archive[:60], archive[: len(archive) // 2]):
        with pytest.raises(ValueError, match="archive"):
            member_of(broken, "table.csv")


@pytest.mark.parametrize("pack", [zipped, tarred])
@pytest.mark.parametrize("members", [["other.csv"], ["a/table.csv", "b/table.csv"]])
def test_member_must_be_there_once(pack, members):
    with pytest.raises(ValueError, match=r"expected one member 'table.csv'"):
        member_of(pack([(name, WANTED) for name in members]), "table.csv")
