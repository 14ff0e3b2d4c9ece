import json
import subprocess
import sys

import pytest
import yaml
from jsonschema import Draft202012Validator

import data_copies as copies
import dpnoise_papers.data
from dpnoise_papers.data.places import find_registry
from dpnoise_papers.data.registry import SCHEMA, known_set, names, read_registry

NAMES = (
    "california",
    "houses",
    "electricity",
    "wine-quality",
    "pumpkin-seeds",
    "heart-statlog",
    "boston",
    "airfoil",
    "diabetes",
)


def written(tmp_path, content):
    path = tmp_path / "registry.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return path


def test_the_committed_registry_is_valid_and_complete():
    assert names() == NAMES
    for name in NAMES:
        entry, tables = known_set(name)
        assert all(table["sources"] for table in tables.values())
        assert (entry["recipe"] == "bundled-diabetes") == (not tables)
        if entry["recipe"] == "last-column":
            (table,) = tables.values()
            assert entry["shape"] == [table["rows"], len(table["columns"]) - 1]


def test_what_is_contested_is_said():
    sets = read_registry()["sets"]
    assert "Black" in sets["boston"]["note"]
    assert "longitude" in sets["houses"]["note"]


def test_no_key_is_given_twice():
    # YAML would silently keep the last one.
    waiting = [yaml.compose(find_registry().read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, yaml.MappingNode):
            keys = [key.value for key, _ in node.value]
            assert len(keys) == len(set(keys)), keys
            waiting += [value for _, value in node.value]


def test_the_schema_is_a_schema():
    Draft202012Validator.check_schema(SCHEMA)


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
    for part in ("clustering", "colour", "licence", "abc", "ftp:", "'extra'"):
        assert part in message
    assert message.count("/etc/passwd") == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c["sets"]["toy"].update(tables=["gone"]), "known table"),
        (lambda c: c["sets"]["toy"]["classes"].update({"+1": 3}), "add up to 40"),
        (lambda c: c["sets"]["toy"].pop("classes"), "add up to 40"),
        (lambda c: c["sets"]["toy"].update(task="regression"), "classes: expected none"),
        (lambda c: c["tables"].update(idle=copies.entry()), "idle: expected to be used"),
        (lambda c: c["tables"]["toy-table"].update(labels={"hue": {"a": 1}}), "got 'hue'"),
    ],
)
def test_contradictions_are_refused(tmp_path, change, message):
    content = copies.registry_content()
    change(content)
    with pytest.raises(ValueError, match=message):
        read_registry(written(tmp_path, content))


@pytest.mark.parametrize("text", ["", "- 1\n", "tables: [\n", "just words"])
def test_what_is_no_registry_is_refused(tmp_path, text):
    path = tmp_path / "registry.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match="registry"):
        read_registry(path)


def test_missing_registry_and_unknown_set(tmp_path):
    with pytest.raises(FileNotFoundError, match="no registry"):
        read_registry(tmp_path / "gone.yaml")
    with pytest.raises(ValueError, match=r"expected one of california.*got 'iris'"):
        known_set("iris")


def test_public_names_and_nothing_else():
    for name in dpnoise_papers.data.__all__:
        assert getattr(dpnoise_papers.data, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'iris'"):
        _ = dpnoise_papers.data.iris


def test_the_retry_rule_loads_nothing_heavy():
    code = "import sys, json, dpnoise_papers.data.retry; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    heavy = {"numpy", "pandas", "scipy", "sklearn", "pooch", "jsonschema", "openpyxl"}
    assert not heavy & set(json.loads(done.stdout))
