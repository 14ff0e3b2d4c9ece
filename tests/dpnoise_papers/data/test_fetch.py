"""Tables from every place, and from official addresses that are made up."""

import io
import lzma
import sys
import threading
import time
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import data_copies as copies
from dpnoise_papers.data import fetch
from dpnoise_papers.data.copies import places_of
from dpnoise_papers.data.fetch import obtain


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
    monkeypatch.setattr(fetch, "_unreachable", set())
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

    monkeypatch.setattr(fetch, "read_verified", interrupt)
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

    monkeypatch.setattr(fetch, "copies_in", closed)
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
