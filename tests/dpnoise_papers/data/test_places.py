import socket
import threading
import time
from contextlib import contextmanager

import pytest

from dpnoise_papers.data import places


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    monkeypatch.setattr(places, "_verdicts", {})
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@contextmanager
def listening():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server, server.getsockname()[1]


def closed_port():
    with listening() as (_, port):
        return port


def test_hosts_are_asked_and_remembered():
    with listening() as (_, port):
        urls = [f"http://127.0.0.1:{port}/a", f"http://127.0.0.1:{closed_port()}/b"]
        assert places.answering(urls, timeout=2) == {("127.0.0.1", port)}
    # Now nobody listens, but the answer is a few milliseconds old.
    assert places.answering(urls, timeout=2) == {("127.0.0.1", port)}


def test_a_verdict_expires(monkeypatch):
    with listening() as (_, port):
        url = f"http://127.0.0.1:{port}/"
        assert places.answering([url], timeout=2)
    monkeypatch.setattr(places, "_VERDICT_LIFE", -1.0)
    assert not places.answering([url], timeout=2)


def test_silent_hosts_cost_one_wait_together(monkeypatch):
    release = threading.Event()

    def hang(*_args):
        release.wait(20)
        raise TimeoutError

    monkeypatch.setattr(socket, "create_connection", hang)
    start = time.monotonic()
    urls = [f"https://host-{i}.invalid/file" for i in range(30)]
    assert not places.answering(urls, timeout=0.2)
    assert not places.answering(urls, timeout=0.2)  # remembered, no second wait
    elapsed = time.monotonic() - start
    release.set()
    assert elapsed < 2.0


@pytest.mark.parametrize(("reply", "reached"), [(b"200 OK", True), (b"503 Down", False)])
def test_a_proxy_is_asked_to_reach_the_host(monkeypatch, reply, reached):
    requests = []

    def serve(server):
        connection, _ = server.accept()
        with connection:
            requests.append(connection.recv(200))
            connection.sendall(b"HTTP/1.1 " + reply + b"\r\n\r\n")

    with listening() as (server, port):
        thread = threading.Thread(target=serve, args=(server,))
        thread.start()
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
        hosts = places.answering(["https://data.invalid/x"], timeout=5)
        thread.join()
    assert hosts == ({("data.invalid", 443)} if reached else set())
    assert requests[0].startswith(b"CONNECT data.invalid:443 ")


def test_files_are_found_by_path_base_name_and_table_name(tmp_path):
    wanted = ["deep/a.csv", "deep/a.xlsx"]
    for name in ("toy.arff", "a.xlsx", "deep/a.csv", "deep/a.xlsx", "toys.csv", "b.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "a.csv").mkdir()
    found = places.in_folder("toy", wanted, tmp_path)
    assert [str(path.relative_to(tmp_path)) for path in found] == [
        "deep/a.csv",
        "deep/a.xlsx",
        "a.xlsx",
        "toy.arff",
    ]
    assert places.in_folder("toy", wanted, tmp_path / "gone") == []


def test_mirror_folder(monkeypatch):
    monkeypatch.setenv(places.MIRROR_VARIABLE, "from-environment")
    assert str(places.mirror_folder(None)) == "from-environment"
    assert str(places.mirror_folder("given")) == "given"
    assert places.mirror_folder("") is None
    monkeypatch.delenv(places.MIRROR_VARIABLE)
    assert places.mirror_folder(None) is None


def test_registry_is_found_in_the_working_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(places, "__file__", str(tmp_path / "a" / "b" / "c" / "d.py"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"data/registry\.yaml"):
        places.find_registry()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "registry.yaml").write_text("{}")
    assert places.find_registry().read_text() == "{}"
