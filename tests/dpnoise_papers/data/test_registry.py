"""The committed registries, and registries with mistakes."""

import pytest
import yaml

import data_copies as copies
from dpnoise_papers.data.registry import contents_digest, read_cities, read_registry


def written(tmp_path, content):
    path = tmp_path / "registry.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return path


def test_the_committed_registry_is_valid_and_complete():
    registry = read_registry(own=False)
    for name in registry.sets:
        entry, tables = registry.find(name)
        assert (entry.recipe == "bundled-diabetes") == (not tables)
        if entry.recipe is None:
            (table,) = tables.values()
            assert entry.shape == [table.rows, len(table.columns) - 1]
    assert list(read_cities().sets) == ["manhattan"]


def test_what_is_contested_is_said():
    sets = read_registry(own=False).sets
    assert "Black" in sets["boston"].note
    assert "longitude" in sets["houses"].note


def test_all_mistakes_are_listed_at_once(tmp_path):
    content = copies.registry_content([{"url": "ftp://example.org/x"}])
    content["sets"]["toy"]["task"] = "clustering"
    content["sets"]["toy"]["colour"] = "red"
    del content["sets"]["toy"]["licence"]
    content["tables"]["toy-table"]["fingerprint"] = "abc"
    content["tables"]["toy-table"]["files"] = ["../../etc/passwd", "/etc/passwd"]
    content["extra"] = 1
    with pytest.raises(ValueError, match="registry") as caught:
        read_registry(written(tmp_path, content))
    message = str(caught.value)
    parts = ("clustering", "sets.toy.colour: Extra", "sets.toy.licence: Field required", "abc",
             "sources.0.url", "ftp:", "extra: Extra")  # fmt: skip
    for part in parts:
        assert part in message
    assert message.count("/etc/passwd") == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c["sets"]["toy"].update(tables=["gone"]), "known table"),
        (lambda c: c["sets"]["toy"]["classes"].update({"+1": 3}), "add up to 40"),
        (lambda c: c["sets"]["toy"].pop("classes"), "add up to 40"),
        (lambda c: c["sets"]["toy"].update(task="regression"), "classes: expected none"),
        (lambda c: c["tables"].update(idle=c["tables"]["toy-table"]), "idle: expected to be used"),
        (lambda c: c["tables"]["toy-table"].update(labels={"hue": {"a": 1}}), "got 'hue'"),
        (lambda c: c["tables"]["toy-table"].update(gaps=["hue"]), "gaps: .*got 'hue'"),
        (lambda c: c["tables"]["toy-table"].update(day="2014-09-24"), "day: expected none"),
        (lambda c: c["tables"]["toy-table"].update(rows=40.0), "rows: .*valid integer"),
        (lambda c: c["sets"]["toy"].update(target="hue"), "target: expected one of .*got 'hue'"),
        (lambda c: c["sets"]["toy"].update(target="kind", recipe="wine"), "none beside a recipe"),
        (lambda c: c["sets"]["toy"].update(tables=["toy-table"] * 2), "tables: expected one table"),
    ],
)
def test_contradictions_are_refused(tmp_path, change, message):
    content = copies.registry_content()
    change(content)
    with pytest.raises(ValueError, match=message):
        read_registry(written(tmp_path, content))


@pytest.mark.parametrize(
    "text", ["", "- 1\n", "tables: [\n", "just words", "tables: {}\ntables: {}\nsets: {}\n"]
)
def test_what_is_no_registry_is_refused(tmp_path, text):
    path = tmp_path / "registry.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"registry\.yaml"):
        read_registry(path)


def test_missing_registry_and_unknown_set(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"gone\.yaml"):
        read_registry(tmp_path / "gone.yaml")
    with pytest.raises(ValueError, match=r"expected one of california.*got 'iris'"):
        read_registry(own=False).find("iris")
    with pytest.raises(ValueError, match="expected one of manhattan, got 'gotham'"):
        read_cities().find("gotham")


def test_the_digest_of_an_entry_is_that_of_what_is_prepared_of_it():
    entry, tables = read_registry(own=False).find("boston")
    (table,) = tables.values()
    first = contents_digest(entry, table)
    words = entry.model_copy(update={"note": "other", "citation": "other"})
    places = table.model_copy(update={"files": ["elsewhere.csv"], "sources": []})
    assert contents_digest(words, places) == first
    for update in ({"fingerprint": "0" * 64}, {"target": "age"}):
        assert contents_digest(entry.model_copy(update=update), table) != first
    assert contents_digest(entry, table.model_copy(update={"rows": 1})) != first
    assert contents_digest(entry) != first
