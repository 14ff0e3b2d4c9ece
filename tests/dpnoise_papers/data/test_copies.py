"""Copies of tables: where they are found, in archives, downloaded, refused and passed over."""

from __future__ import annotations

import io
import lzma
import socket
import sys
import tarfile
import threading
import time
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import pytest

import data_copies as copies
from dpnoise_papers.data import copies as module
from dpnoise_papers.data.copies import (
    MIRROR_VARIABLE,
    Sources,
    check_mirror,
    copies_in,
    member_of,
    mirror_folder,
    obtain,
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


class Server:
    """Serve what `files` holds: content, or (content, length announced), or a status."""

    def __init__(self):
        self.files, self.asked = {}, []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.asked.append(self.path)
                answer = outer.files.get(self.path, 404)
                if isinstance(answer, int):
                    self.send_error(answer)
                    return
                if callable(answer):
                    answer(self.wfile)
                    return
                content, length = answer if isinstance(answer, tuple) else (answer, len(answer))
                self.send_response(200)
                self.send_header("Content-Length", str(length))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,))
        self.thread.start()

    def source(self, path, **more):
        return {"url": f"http://127.0.0.1:{self.port}{path}", **more}

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(module, "_unreachable", set())
    monkeypatch.setattr("pooch.core.time.sleep", lambda _: None)  # between the two tries
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def get(folder, sources, *, mirror=None, offline=False, source="nearest"):
    entry = copies.entry(sources=sources)
    folders = {"cache": folder / "raw", "mirror": "" if mirror is None else mirror}
    places = places_of(folder / "registry.yaml", **folders, offline=offline, source=source)
    return found_in(obtain({"toy-table": entry}, places))


class NotFoundError(Exception):
    """No place has a good copy, for the reasons given."""


def found_in(found):
    if not found.tables:
        raise NotFoundError(found.reason)
    assert found.tables["toy-table"].values.tobytes() == copies.table().values.tobytes()
    return found.sources[0]


def test_cache_then_mirror_then_shipped_copy_then_source(tmp_path, server):
    server.files["/toy.csv"] = copies.text()
    source = server.source("/toy.csv")
    mirror = tmp_path / "mirror"
    inside = copies.put(mirror, copies.workbook(), "toy_folder/toy_table.xlsx")
    shipped = copies.put(tmp_path / "shipped", lzma.compress(copies.text()), "toy-table.csv.xz")

    assert get(tmp_path, [source], mirror=mirror) == "mirror"
    inside.unlink()
    assert get(tmp_path, [source], mirror=mirror) == "shipped"
    assert not (tmp_path / "raw").exists()  # both are only read
    assert server.asked == []

    # those who want the official source do not get what lies nearer, but for the cache
    assert get(tmp_path / "other", [source], mirror=mirror, source="official") == source["url"]
    assert server.asked.pop() == "/toy.csv"
    assert get(tmp_path / "other", [], mirror=mirror, source="official") == "cache"

    shipped.unlink()
    assert get(tmp_path, [source], mirror=mirror) == source["url"]
    assert server.asked == ["/toy.csv"]
    assert [path.name for path in (tmp_path / "raw").iterdir()] == ["toy-table.csv"]

    copies.put(mirror, copies.workbook(), "toy_folder/toy_table.xlsx")
    assert get(tmp_path, [source], mirror=mirror) == "cache"
    assert server.asked == ["/toy.csv"]


def test_bad_copies_are_passed_over(tmp_path, server):
    mirror = tmp_path / "mirror"
    copies.put(tmp_path / "raw", copies.text()[:100], "toy_table.csv")
    copies.put(mirror, b"<html></html>")
    server.files |= {"/good.csv": copies.text(), "/swapped.csv": b"1,2,3\n", "/503": 503}
    sources = [server.source(path) for path in ("/404", "/503", "/swapped.csv", "/good.csv")]
    assert get(tmp_path, sources, mirror=mirror) == sources[-1]["url"]
    assert get(tmp_path, [], mirror=mirror) == "cache"  # found beside the bad file


@pytest.mark.parametrize("damage", ["cut", "changed", "other"])
def test_a_damaged_shipped_copy_is_named_and_the_next_place_is_tried(tmp_path, server, damage):
    server.files["/toy.csv"] = copies.text()
    packed = lzma.compress(copies.text())
    rows = copies.cells()
    rows[3][0] = "0.25"
    content = {"cut": packed[:-40], "changed": lzma.compress(copies.text(rows)), "other": b"\0"}
    copies.put(tmp_path / "shipped", content[damage], "toy-table.csv.xz")
    entry = copies.entry(sources=[server.source("/toy.csv")])
    places = places_of(tmp_path / "registry.yaml", cache=tmp_path / "raw", mirror="")
    found = obtain({"toy-table": entry}, places)
    assert found.sources[0].endswith("/toy.csv")
    (reason,) = found.refused
    words = {"cut": "not a readable compressed file", "changed": "first 'width'", "other": "binary"}
    assert reason.startswith("shipped, toy-table.csv.xz: ")
    assert words[damage] in reason
    server.files.clear()
    (tmp_path / "raw" / "toy-table.csv").unlink()
    found = obtain({"toy-table": entry}, places)
    assert (found.tables, found.refused) == ({}, [reason])


def test_every_failure_is_named_and_nothing_is_left_behind(tmp_path, server):
    mirror = tmp_path / "mirror"
    copies.put(mirror, copies.text()[:100])
    server.files |= {
        "/page": b"<html>error</html>",
        "/cut": (copies.text()[:200], len(copies.text())),
        "/a.zip": b"PK not a zip",
        "/empty": b"",
    }
    sources = [server.source(path) for path in ("/page", "/gone", "/cut", "/empty")]
    sources.append(server.source("/a.zip", member="toy.csv"))
    with pytest.raises(NotFoundError) as caught:
        get(tmp_path, sources, mirror=mirror)
    reasons = str(caught.value).split("; ")
    expected = [
        "cache: no file",
        "mirror, toy_folder/toy_table.csv: ",
        "shipped: no file",
        "/page: expected a table, got an HTML",
        "/gone: 404",
        "/cut: ",
        "/empty: the file is empty",
        "/a.zip: not a readable archive",
    ]
    assert len(reasons) == len(expected)
    for reason, part in zip(reasons, expected, strict=True):
        assert part in reason
    assert list((tmp_path / "raw").iterdir()) == []


def test_an_interrupted_download_is_tried_once_more(tmp_path, server):
    whole = copies.text()
    server.files["/toy.csv"] = (whole[: len(whole) // 2], len(whole))
    with pytest.raises(NotFoundError):
        get(tmp_path, [server.source("/toy.csv")])
    assert server.asked == ["/toy.csv"] * 2
    server.files["/toy.csv"] = whole
    assert get(tmp_path, [server.source("/toy.csv")]).endswith("/toy.csv")


def test_a_killed_download_leaves_nothing(tmp_path, server, monkeypatch):
    server.files["/toy.csv"] = copies.text()

    def interrupt(*_args):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "read_verified", interrupt)
    with pytest.raises(KeyboardInterrupt):
        get(tmp_path, [server.source("/toy.csv")])
    assert list((tmp_path / "raw").iterdir()) == []


def test_one_member_of_an_archive(tmp_path, server):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("folder/readme.txt", "hello")
        archive.writestr("folder/toy.arff", copies.arff())
    server.files["/toy.zip"] = stream.getvalue()
    source = server.source("/toy.zip", member="toy.arff")
    assert get(tmp_path, [source]) == source["url"]
    assert [path.name for path in (tmp_path / "raw").iterdir()] == ["toy-table.arff"]
    assert get(tmp_path, [], offline=True) == "cache"


def test_a_folder_that_may_not_be_read_is_a_reason(tmp_path, monkeypatch):
    def closed(*_):
        raise PermissionError("Permission denied: 'mirror'")

    monkeypatch.setattr(module, "copies_in", closed)
    with pytest.raises(NotFoundError, match="cache: Permission denied"):
        get(tmp_path, [])


def test_offline_asks_nobody(tmp_path, server):
    server.files["/toy.csv"] = copies.text()
    with pytest.raises(NotFoundError, match="not asked"):
        get(tmp_path, [server.source("/toy.csv")], offline=True)
    assert server.asked == []
    assert not (tmp_path / "raw").exists()


def test_without_network_the_answer_comes_fast(tmp_path, server):
    dead = server.source("/x.csv")
    server.close()
    server.close = lambda: None  # the fixture need not close it again
    start = time.monotonic()
    for _ in range(20):
        with pytest.raises(NotFoundError, match="the host does not answer"):
            get(tmp_path, [dead, dead])
    assert time.monotonic() - start < 2
    assert list((tmp_path / "raw").iterdir()) == []


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_shown_on_a_terminal_only(tmp_path, server, monkeypatch, terminal):
    server.files["/toy.csv"] = copies.text()
    shown = io.StringIO()
    shown.isatty = lambda: terminal
    monkeypatch.setattr(sys, "stderr", shown)
    get(tmp_path, [server.source("/toy.csv")])
    assert bool(shown.getvalue()) == terminal
