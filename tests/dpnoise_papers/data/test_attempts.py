"""What makes the next run try a missing set again, and what does not."""

import json
import socket
from pathlib import Path

import pytest

import data_copies as copies
from dpnoise_papers.data.attempts import request_retry, tried_with
from dpnoise_papers.data.copies import MIRROR_VARIABLE
from dpnoise_papers.data.prepared import dataset_contents, prepare


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
