"""Where local copies are looked for; what makes the next run try a missing set again, and not."""

import json
import socket
import stat
import tarfile
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

import data_copies as copies
from dpnoise_papers.data.copies import (
    MIRROR_VARIABLE,
    check_mirror,
    copies_in,
    member_of,
    mirror_folder,
    places_of,
    request_retry,
    tried_with,
)
from dpnoise_papers.data.sets import dataset_contents, prepare

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


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError("planning asked a host")

    tried_with.cache_clear()
    monkeypatch.delenv(MIRROR_VARIABLE, raising=False)
    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


class World:
    """A registry, a cache, a mirror and a status in one folder."""

    def __init__(self, folder):
        self.cache, self.mirror = folder / "raw", folder / "mirror"
        self.npz, self.status = folder / "toy.npz", folder / "toy.json"
        self.registry = copies.write_registry(folder, [{"url": "https://example.org/toy.csv"}])

    def plan(self, mirror=None, **more):
        """Ask as a new process would."""
        tried_with.cache_clear()
        where = {"cache": self.cache, "registry": self.registry, "mirror": mirror}
        return tried_with("toy", self.status, **(where | more))

    def run(self, mirror="", **more):
        """Plan and prepare, as Snakemake does."""
        tried = self.plan(mirror, **more)
        places = {"cache": self.cache, "mirror": mirror, "registry": self.registry}
        return prepare(
            "toy",
            self.npz,
            lambda: dataset_contents("toy", offline=True, **places),
            tried_with=tried,
        )


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def test_without_status_the_first_attempt(world):
    assert world.plan() == ["request 0"]
    for text in ("not json", "[]", '{"status": "missing", "tried_with": []}'):
        world.status.write_text(text)
        assert world.plan() == ["request 0"]


def test_a_set_that_is_there_is_left_alone(world):
    copies.put(world.mirror, copies.text())
    status = world.run(world.mirror)
    assert status["status"] == "ok"
    for change in ({"mirror": None}, {"offline": True}, {"strict": True}, {"cache": "elsewhere"}):
        assert world.plan(**change) == status["tried_with"]
    assert not request_retry(world.status)
    assert world.plan() == status["tried_with"]


def test_a_missing_set_waits_until_something_changes(world):
    status = world.run()
    assert status["status"] == "missing"
    assert "`dpnoise-papers data retry toy`" in status["reason"]
    for mirror in (None, "", world.mirror):
        assert world.plan(mirror) == status["tried_with"] == ["request 0"]
    assert world.plan(offline=True) == ["request 0", "offline"]
    assert world.plan(strict=True) == ["request 0", "strict"]


@pytest.mark.parametrize("name", ["toy_folder/toy_table.csv", "toy_table.xlsx", "toy-table.txt"])
@pytest.mark.parametrize("place", ["cache", "mirror", "environment"])
def test_a_new_file_is_a_reason_to_try_again(world, monkeypatch, name, place):
    before = world.run()["tried_with"]
    copies.put(world.cache if place == "cache" else world.mirror, copies.text(), name)
    if place == "environment":
        monkeypatch.setenv(MIRROR_VARIABLE, str(world.mirror))
    assert world.plan(world.mirror if place == "mirror" else None) != before


def test_a_refused_file_is_not_tried_for_ever(world):
    bad = copies.put(world.mirror, b"nonsense")
    status = world.run(world.mirror)
    assert status["status"] == "missing"
    assert world.plan(world.mirror) == status["tried_with"]
    bad.write_bytes(copies.text())
    assert world.plan(world.mirror) != status["tried_with"]
    assert world.run(world.mirror)["status"] == "ok"


def test_a_retry_is_made_on_request_and_once(world):
    world.run()
    assert request_retry(world.status)
    assert world.plan() == ["request 1"]
    assert json.loads(world.status.read_text())["status"] == "missing"
    assert world.run()["tried_with"] == ["request 1"]
    assert world.plan() == ["request 1"]
    assert request_retry(world.status)
    assert world.plan() == ["request 2"]


def test_without_status_there_is_nothing_to_request(world):
    assert not request_retry(world.status)
    assert not world.status.exists()


def test_one_process_hears_one_answer(world):
    world.run()
    request_retry(world.status)
    where = {"cache": world.cache, "registry": world.registry, "mirror": ""}
    tried_with.cache_clear()
    first = tried_with("toy", world.status, **where)
    world.status.unlink()  # as Snakemake does before it runs the job
    assert tried_with("toy", world.status, **where) == first == ["request 1"]


def test_an_unreadable_file_stops_nothing(world, monkeypatch):
    copies.put(world.mirror, copies.text())

    read = Path.read_bytes

    def refuse(path):
        if path.is_relative_to(world.mirror):
            raise PermissionError("no")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert "no" in world.run(world.mirror)["reason"]
    assert world.plan(world.mirror) == ["request 0", "toy-table unreadable"]


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


def link(kind):
    info = tarfile.TarInfo("folder/table.csv")
    info.type, info.linkname = kind, "elsewhere"
    return info


def zip_link():
    info = zipfile.ZipInfo("table.csv")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return zipped([(info, b"elsewhere")])


@pytest.mark.parametrize("pack", [zipped, tarred])
@pytest.mark.parametrize("member", ["table.csv", "folder/table.csv"])
def test_member_is_found_by_the_end_of_its_path(pack, member):
    archive = pack([("folder/other.csv", b"x"), ("folder/table.csv", WANTED), ("mytable.csv", b"")])
    assert member_of(archive, member) == WANTED


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_every_tar_compression(mode):
    assert member_of(tarred([("table.csv", WANTED)], mode), "table.csv") == WANTED


UNSAFE = ["../table.csv", "/table.csv", "a/../../table.csv", "C:/table.csv", "..\\table.csv"]


@pytest.mark.parametrize("pack", [zipped, tarred])
@pytest.mark.parametrize("name", UNSAFE)
def test_unsafe_names_are_refused_even_beside_the_wanted_member(pack, name):
    with pytest.raises(ValueError, match="unsafe archive: it holds a member named"):
        member_of(pack([(name, b""), ("folder/table.csv", WANTED)]), "folder/table.csv")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_links_are_refused_in_tar(kind):
    with pytest.raises(ValueError, match="not a regular file"):
        member_of(tarred([(link(kind), b"")]), "table.csv")


def test_links_are_refused_in_zip():
    with pytest.raises(ValueError, match="is a link"):
        member_of(zip_link(), "table.csv")


@pytest.mark.parametrize("pack", [zipped, tarred])
@pytest.mark.parametrize("bomb", ["table.csv", "beside.csv"])
def test_bombs_are_refused(pack, bomb):
    archive = pack([(bomb, b"\0" * 2_000_000), ("x/table.csv", WANTED)])
    assert len(archive) < 20_000
    with pytest.raises(ValueError, match="expected at most 1000000 bytes unpacked, got 2000"):
        member_of(archive, "x/table.csv", limit=1_000_000)


def test_a_zip_that_lies_about_its_size_is_refused():
    archive = bytearray(zipped([("table.csv", b"\0" * 2_000_000)]))
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        start = archive.index(signature) + offset
        archive[start : start + 4] = (1000).to_bytes(4, "little")
    with pytest.raises(ValueError, match="archive"):
        member_of(bytes(archive), "table.csv", limit=1_000_000)


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
