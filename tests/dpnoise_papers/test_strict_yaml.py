"""The strict YAML reader: readings of YAML 1.2, and refusals that name file and line."""

import math

import pytest

from dpnoise_papers.strict_yaml import YamlError, read_typed, read_yaml


@pytest.fixture
def read(tmp_path):
    def read(content):
        path = tmp_path / "some.yaml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_yaml(path)

    return read


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10", 10), ("-3", -3), ("0", 0), ("0x1f", 31), ("1.0", 1.0), ("1.0e-6", 1e-6),
        ("1e-6", 1e-6), ("1E3", 1000.0), (".5", 0.5), ("-.inf", -math.inf), ("true", True),
        ("False", False), ("~", None), ("null", None), ("", None), ("word", "word"), ("y", "y"),
        ("'010'", "010"), ('"yes"', "yes"), ("|\n 1:30\n", "1:30\n"), ("a:b", "a:b"),
    ],
)  # fmt: skip
def test_values_are_those_of_yaml_1_2(read, text, value):
    found = read(f"key: {text}")["key"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "text", ["010", "-010", "08", "0o10", "0b11", "1_000", "1:30", "1:30.5", "yes", "No", "on",
             "OFF", "2014-09-24", "2014-09-24 10:00:00", "1_0.5", "=", "+0x1f"],
)  # fmt: skip
def test_a_value_that_versions_of_yaml_read_differently_is_refused(read, text):
    with pytest.raises(YamlError, match=r"some.yaml, line 2: .*got "):
        read(f"first: 1\nkey: {text}")
    with pytest.raises(YamlError, match="line 1"):
        read(f"{text}: key" if ":" not in text else f"? {text}\n: key")


def test_a_repeated_key_is_refused_with_both_lines(read):
    with pytest.raises(YamlError, match="line 4: the key 'b' stands in line 2 already"):
        read("a:\n  b: 1\n  c: 2\n  b: 3\nd: {b: 1}\n")
    with pytest.raises(YamlError, match=r"the key 1.0 stands in line 1"):
        read("{1: a, 1.0: b}")


def test_every_mistake_is_listed(read):
    with pytest.raises(YamlError) as refusal:
        read("a: 1\na: yes\nb: [010, fine, 1:30]\n")
    assert [str(refusal.value).count(f"line {n}: ") for n in (1, 2, 3)] == [0, 2, 2]


def test_anchors_and_merge_keys_work_and_may_be_overridden(read):
    text = "one: &one {a: 1, b: [1]}\ntwo: &two {b: 2, c: 3}\n"
    found = read(text + "x: {<<: *one, a: 9}\ny: {a: 9, <<: [*one, *two]}\nz: *one\n")
    assert found["x"] == {"a": 9, "b": [1]}
    assert found["y"] == {"a": 9, "b": [1], "c": 3}
    assert found["z"] == {"a": 1, "b": [1]}
    with pytest.raises(YamlError, match="line 3: the key '<<' stands in line 3 already"):
        read(text + "x: {<<: *one, <<: *two}\n")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a: 1\nb: \xff\n", "line 2: expected UTF-8, got the byte 0xff"),
        (b"a: 1\nb: \x01\n", "line 2: control characters are not allowed"),
        (b"a: [1\nb: 2\n", "line 2: "),
        (b"a: 1\n\tb: 2\n", "line 2: "),
        (b"a: 1\n---\nb: 2\n", "line 2: "),
        (b"a: *nothing\n", "line 1: found undefined alias"),
        (b"a: &x\n  - *x\n", "line 1: an anchor that contains its own alias"),
        (b"a: !!python/object/apply:os.system [ls]\n", "line 1: could not determine a constructor"),
        (b"? [1, 2]\n: a\n", "line 1: expected a word or a number as a key"),
    ],
)
def test_what_is_not_yaml_is_refused_with_its_line(read, content, message):
    with pytest.raises(YamlError, match=message.replace("(", r"\(")) as refusal:
        read(content)
    assert "some.yaml" in str(refusal.value)


def test_an_empty_file_is_nothing_and_a_missing_one_an_error(read, tmp_path):
    assert read("# nothing\n") is None
    assert read(b"\xef\xbb\xbfa: 1\n") == {"a": 1}
    with pytest.raises(FileNotFoundError, match=r"no.yaml"):
        read_yaml(tmp_path / "no.yaml")


def test_content_of_another_type_is_refused_with_every_place(tmp_path):
    path = tmp_path / "some.yaml"
    path.write_text("a: 1\nb: x\nc: [1]\n")
    with pytest.raises(YamlError, match=r"some.yaml: b: expected .*got 'x'; c: expected .*'\[1\]'"):
        read_typed(path, dict[str, int])
    path.write_text("a: 1\n")
    assert read_typed(path, dict[str, int]) == {"a": 1}


@pytest.mark.parametrize("number", ["9" * 5000, "-" + "9" * 5000, "0x" + "f" * 5000,
                                    "1." + "0" * 5000, "1e" + "9" * 5000])  # fmt: skip
def test_numbers_of_thousands_of_digits_are_refused_with_file_and_line(read, number):
    expected = rf"some\.yaml, line 2: expected a number of at most 100 .*, got {len(number)}$"
    with pytest.raises(YamlError, match=expected):
        read(f"b: 1\na: {number}\n")


@pytest.mark.parametrize(
    "text", ["a: 1\na: 2\n" * 20_000, "0" * 10**6 + ": 1",
             "a: 0" + "1" * 10**6]
)  # fmt: skip
def test_messages_are_cut(read, text):
    with pytest.raises(YamlError) as caught:
        read(text)
    assert len(str(caught.value)) < 3000


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(YamlError, match="expected a file, got a folder"):
        read_yaml(tmp_path)
