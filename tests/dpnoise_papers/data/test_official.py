"""Shipped copies against official addresses that are made up."""

import lzma

import pytest

import data_copies as copies
from dpnoise_papers.cli import main
from dpnoise_papers.data import fetch, official
from dpnoise_papers.data.registry import read_registry

SOURCE = "https://example.org/toy.csv"


@pytest.fixture
def compare(tmp_path, monkeypatch):
    """Return what is found when the official address serves some bytes, or fails."""
    copies.put(tmp_path / "shipped", lzma.compress(copies.text()), "toy-table.csv.xz")

    def compare(served, *, sources=True, shipped=True):
        registry = copies.write_registry(tmp_path, [{"url": SOURCE}] if sources else [])
        if not shipped:
            (tmp_path / "shipped" / "toy-table.csv.xz").unlink()

        def retrieve(url, folder, label):
            assert (url, label) == (SOURCE, "toy-table")
            if isinstance(served, Exception):
                raise served
            (folder / "raw").write_bytes(served)
            return folder / "raw"

        monkeypatch.setattr(fetch, "retrieve", retrieve)
        known = read_registry(registry)
        sets = {name: known.find(name)[1] for name in known.sets}
        (found,) = official.compare_official(sets, registry)
        return registry, found

    return compare


def test_the_same_content_in_another_form(compare):
    _, found = compare(copies.arff())
    assert (found.name, found.words, found.same) == ("toy", "same", True)


def test_a_column_that_differs_is_named(compare):
    rows = copies.cells()
    rows[5][1] = "1000"
    _, found = compare(copies.text(rows))
    assert found.words.startswith("toy-table: differs (https://example.org/toy.csv: expected")
    assert "first 'height'" in found.words
    assert not found.same


def test_a_download_that_is_another_content_differs_whatever_its_reason_says(compare):
    """Neither reason has the word 'expected', by which the two were told apart before."""
    _, found = compare(b"")
    assert found.words == f"toy-table: differs ({SOURCE}: the file is empty)"
    _, found = compare(OSError("expected a download of at most 10 bytes, got more"))
    assert found.words.startswith("toy-table: unreachable (")
    assert not found.same


def test_an_address_that_does_not_serve(compare):
    _, found = compare(OSError("no route"))
    assert found.words == f"toy-table: unreachable ({SOURCE}: no route)"
    assert not found.same


def test_what_cannot_be_compared_is_not_the_same(compare):
    _, found = compare(b"", sources=False)
    assert found.words == "toy-table: no official address is known"
    assert not found.same
    _, found = compare(copies.text(), shipped=False)
    assert found.words == "toy-table: as registered at its official address, no copy is shipped"
    assert not found.same


def test_a_damaged_shipped_copy(compare, tmp_path):
    copies.put(tmp_path / "shipped", copies.text()[:50], "toy-table.csv.xz")
    _, found = compare(copies.text())
    assert found.words.startswith("toy-table: the shipped copy is not what it should be (shipped, ")
    assert not found.same


def test_the_command(compare, capsys):
    registry, _ = compare(copies.text())
    options = ["--registry", str(registry)]
    assert main(["data", "compare-official", *options]) == 0
    assert capsys.readouterr().out.split() == ["toy", "same"]
    assert main(["data", "compare-official", "iris", *options]) == 2
    assert "expected some of toy, got iris" in capsys.readouterr().err
    compare(OSError("gone"))
    assert main(["data", "compare-official", "toy", *options]) == 1
    assert "unreachable" in capsys.readouterr().out
