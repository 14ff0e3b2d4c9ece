import json
import socket

import pytest

import data_copies as copies
from dpnoise_papers.data import places, retry
from dpnoise_papers.data.prepared import prepare
from dpnoise_papers.data.retry import attempt, twin


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    monkeypatch.setattr(places, "_verdicts", {})
    monkeypatch.setattr(retry, "_decided", {})
    monkeypatch.delenv(places.MIRROR_VARIABLE, raising=False)


@pytest.fixture
def closed():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    return [{"url": f"http://127.0.0.1:{port}/toy.csv"}]


class World:
    """A registry, a cache, a mirror and a status in one folder."""

    def __init__(self, folder, sources):
        self.cache, self.mirror = folder / "raw", folder / "mirror"
        self.status = folder / "toy.json"
        self.npz = folder / "toy.npz"
        self.registry = copies.write_registry(folder, sources)

    def next(self, mirror=None, **more):
        """Ask as a new process would."""
        places._verdicts.clear()
        retry._decided.clear()
        where = {"cache": self.cache, "registry": self.registry}
        return attempt("toy", self.status, mirror, **where, **more)

    def prepare(self, number=0, **more):
        where = {"cache": self.cache, "mirror": "", "registry": self.registry, "attempt": number}
        return prepare("toy", self.npz, self.status, **(where | more))


@pytest.fixture
def world(tmp_path, closed):
    return World(tmp_path, closed)


def test_without_status_the_first_attempt(world):
    assert world.next() == 0
    twin(world.status).write_text("not json")
    assert world.next() == 0
    twin(world.status).write_text("[]")
    assert world.next() == 0


def test_a_set_that_is_there_is_left_alone(world):
    copies.put(world.mirror, copies.text())
    assert world.prepare(3, mirror=world.mirror)["status"] == "ok"
    assert world.next(world.mirror) == 3
    assert world.next() == 3


def test_a_missing_set_waits_until_something_changes(world):
    assert world.prepare(2)["status"] == "missing"
    assert world.next() == 2
    assert world.next("") == 2
    assert world.next(world.mirror) == 2
    assert world.next(offline=True) == 2


@pytest.mark.parametrize("name", ["toy_folder/toy_table.csv", "toy_table.xlsx", "toy-table.txt"])
@pytest.mark.parametrize("place", ["cache", "mirror", "environment"])
def test_a_new_file_is_a_reason_to_try_again(world, monkeypatch, name, place):
    world.prepare(5)
    copies.put(world.cache if place == "cache" else world.mirror, copies.text(), name)
    if place == "environment":
        monkeypatch.setenv(places.MIRROR_VARIABLE, str(world.mirror))
    assert world.next(world.mirror if place == "mirror" else None) == 6


def test_a_refused_file_is_not_tried_for_ever(world):
    bad = copies.put(world.mirror, b"nonsense")
    status = world.prepare(1, mirror=world.mirror)
    assert status["status"] == "missing"
    assert world.next(world.mirror) == 1
    bad.write_bytes(copies.text())
    assert world.next(world.mirror) == 2


def test_a_host_that_answers_is_a_reason_to_try_again(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        world = World(tmp_path, [{"url": f"http://127.0.0.1:{server.getsockname()[1]}/x.csv"}])
        world.prepare(4, offline=True)
        assert world.next() == 5
        assert world.next(offline=True) == 4
    assert world.next() == 4


def test_a_set_that_left_the_registry_is_left_alone(world):
    old = {"name": "old", "status": "missing", "attempt": 7, "seen": []}
    twin(world.status).write_text(json.dumps(old))
    assert attempt("old", world.status, "", cache=world.cache, registry=world.registry) == 7


def test_the_answer_survives_the_deletion_of_the_outputs(world):
    world.prepare(1)
    copies.put(world.mirror, copies.text())
    assert world.next(world.mirror) == 2
    world.status.unlink()
    world.npz.unlink()
    assert world.next(world.mirror) == 2  # as a cluster job asks
    assert world.prepare(2, mirror=world.mirror)["status"] == "ok"
    assert world.next(world.mirror) == 2


def test_one_process_hears_one_answer(world):
    where = {"cache": world.cache, "registry": world.registry}
    world.prepare(1)
    copies.put(world.mirror, copies.text())
    answers = [attempt("toy", world.status, world.mirror, **where)]
    world.prepare(1)
    twin(world.status).unlink()
    answers.append(attempt("toy", world.status, world.mirror, **where))
    assert answers == [2, 2]


def test_a_good_part_of_a_set_is_not_tried_for_ever(tmp_path, monkeypatch):
    content = copies.registry_content()
    content["tables"]["other-table"] = copies.entry() | {"files": ["other.csv"]}
    content["sets"]["toy"]["tables"].append("other-table")
    monkeypatch.setattr(copies, "registry_content", lambda _sources: content)
    world = World(tmp_path, [])
    copies.put(world.mirror, copies.text())
    assert world.prepare(1, mirror=world.mirror)["status"] == "missing"
    assert world.next(world.mirror) == 1
    copies.put(world.mirror, copies.text(), "other.csv")
    assert world.next(world.mirror) == 2


def test_an_unreadable_file_stops_nothing(world, monkeypatch):
    copies.put(world.mirror, copies.text())

    def refuse(_path):
        raise PermissionError("no")

    monkeypatch.setattr(retry.Path, "read_bytes", refuse)
    assert "no" in world.prepare(mirror=world.mirror)["reason"]
    assert world.next(world.mirror) == 0
