"""`dpnoise release`: what is written, and that nothing is where something is wrong."""

import csv
import json
import re

import pytest
from click.testing import CliRunner

from dpnoise import Certificate
from dpnoise.cli.program import program

WHO = ("--relation", "add-remove")
BUDGET = ("--epsilon", "1", "--output", "noisy.csv", *WHO)
GOOD = "clinic,visitors\na,3\nb,-1.5\nc,40\n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(text, *options):
        (tmp_path / "values.csv").write_text(text, encoding="utf-8")
        return CliRunner().invoke(program, ["release", "values.csv", *options])

    return call


def test_values_with_noise_are_written(run, tmp_path):
    done = run(GOOD, "--at-most", "2", *BUDGET, "--json", "--certificate", "noisy.json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    with (tmp_path / "noisy.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["clinic", "visitors"] == found["columns"]
    assert [name for name, _ in rows[1:]] == ["a", "b", "c"]
    assert [float(value) for _, value in rows[1:]] == found["values"]
    ball = {"kind": "AtMost", "relation": "add-remove", "m": 2, "of": 3, "each": 1.0}
    assert found["request"]["sensitivity"] == ball
    assert found["promise"] == Certificate.read(tmp_path / "noisy.json").promise
    assert found["promise"].startswith("one person more or less, in at most 2 of 3 counts")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "noisy.csv",
        "noisy.json",
        "values.csv",
    ]
    assert CliRunner().invoke(program, ["verify", "noisy.json"]).exit_code == 0


@pytest.mark.parametrize(
    ("text", "options", "messages"),
    [
        (GOOD, ("--at-most", "2", "--epsilon", "1", *WHO), ["--output: expected a file"]),
        (GOOD, ("--sensitivity", "1", *BUDGET), ["that of the 3 rows", "got that of 1"]),
        (GOOD, BUDGET, ["expected one of --sensitivity S"]),
        (GOOD, ("--l2", "1", "--epsilon", "1", "--output", "values.csv", *WHO), ["another file"]),
        (
            GOOD,
            ("--l2", "1", "--epsilon", "1", "--output", "no/such.csv", *WHO),
            ["a folder to write"],
        ),
        ("1\n\nx\nnan\n", ("--l2", "1", *BUDGET), ["got line 2, line 4", "got line 3"]),
        ("1e300\n2\n", ("--l2", "1", *BUDGET), ["2^52 steps of the grid"]),
        (GOOD, ("--l2", "1", *BUDGET, "--certificate", "noisy.csv"), ["--certificate: expected"]),
    ],
)
def test_after_a_mistake_nothing_is_written(run, tmp_path, text, options, messages):
    done = run(text, *options)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert all(message in done.stderr for message in messages), done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["values.csv"]
    assert (tmp_path / "values.csv").read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("visitors\n3\n4\n", ["name", "visitors"]),
        ("3\n4\n", ["name", "value"]),
        (",visitors\na,3\nb,4\n", ["name", "visitors"]),
        ("a,3\nb,4\n", ["name", "value"]),
        ('"clinic, town",visitors\na,3\nb,4\n', ["clinic, town", "visitors"]),
    ],
)
def test_columns_keep_their_names(run, tmp_path, text, columns):
    assert run(text, "--l2", "1", *BUDGET).exit_code == 0
    with (tmp_path / "noisy.csv").open(encoding="utf-8") as file:
        assert next(csv.reader(file)) == columns


def test_values_come_from_standard_input(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = ["release", "-", "--at-most", "2", *BUDGET]
    done = CliRunner().invoke(program, options, input=GOOD)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "noisy.csv").read_text(encoding="utf-8").startswith("clinic,visitors\na,")
    assert [path.name for path in tmp_path.iterdir()] == ["noisy.csv"]
    bad = CliRunner().invoke(program, [*options, "--force"], input="")
    assert bad.exit_code == 2
    assert "standard input: expected one column of values" in bad.stderr


@pytest.mark.parametrize("target", ["noisy.csv", "noisy.json"])
def test_a_release_is_replaced_by_force_only_and_that_spends_again(run, tmp_path, target):
    (tmp_path / target).write_text("before", encoding="utf-8")
    options = ("--at-most", "2", *BUDGET, "--certificate", "noisy.json")
    done = run(GOOD, *options)
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"a file that is not there yet, got '{target}'" in done.stderr
    assert "spends epsilon and delta once more (--force replaces the file)" in done.stderr
    assert (tmp_path / target).read_text(encoding="utf-8") == "before"
    assert len(list(tmp_path.iterdir())) == 2  # with the values
    done = run(GOOD, *options, "--force")
    assert done.exit_code == 0
    assert f"replaced     {target}: another release of the same values spends" in done.stdout
    assert (tmp_path / target).read_text(encoding="utf-8") != "before"
    assert "replaced" in run(GOOD, *options, "--force").stdout


@pytest.mark.parametrize("text", ["1\n\nx\n", "", "a;1\nb;2\n"])
@pytest.mark.parametrize("kind", ["--at-most", "--l1", "--l2", "--linf"])
def test_a_mistake_in_the_file_is_no_mistake_of_the_options(run, text, kind):
    done = run(text, kind, "1", *BUDGET)
    assert done.exit_code == 2
    assert "values.csv: expected" in done.stderr
    assert "--of" not in done.stderr
    assert "coordinates" not in done.stderr


WORDS = ("--l2", "1", *BUDGET)


@pytest.mark.parametrize("word", ["many", "unknown", "twelve", "O", "a lot", "positive"])
def test_a_value_that_is_a_word_is_not_dropped_as_a_header(run, tmp_path, word):
    for text in (f"{word}\n3\n4\n", f"a,{word}\nb,3\nc,4\n"):
        done = run(text, *WORDS)
        assert (done.exit_code, done.stdout) == (2, "")
        assert "--header" in done.stderr
        assert "--no-header" in done.stderr
        assert word not in done.stderr.replace("--no-header says that", "")
        done = run(text, *WORDS, "--no-header")
        assert done.exit_code == 2
        assert "expected numbers with a decimal point, got line 1" in done.stderr
        assert not (tmp_path / "noisy.csv").exists()


def test_the_first_row_is_what_the_caller_says_where_it_is_not_clear(run, tmp_path):
    for text, columns in (
        ("place,people counted\na,3\nb,4\n", "place,people counted"),
        ("who came\n3\n4\n", "name,who came"),
    ):
        done = run(text, *WORDS, "--header", "--force")
        assert done.exit_code == 0, done.output
        lines = (tmp_path / "noisy.csv").read_text().splitlines()
        assert (lines[0], len(lines)) == (columns, 3)
    for text, number in (("value\n3\n4\n", 2), ("3\n4\n", 2), ("clinic,count\na,3\n", 1)):
        done = run(text, *WORDS, "--force")
        assert done.exit_code == 0, done.output
        assert len((tmp_path / "noisy.csv").read_text().splitlines()) == 1 + number


def test_a_value_is_no_name_of_a_column(run):
    """It would be copied to the release."""
    done = run("31\n3\n4\n", *WORDS, "--header")
    assert done.exit_code == 2
    assert "expected names of one or two columns in line 1" in done.stderr
    assert "31" not in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "1\n\nsecret77\n",
        "a,1\nb,secret77\n",
        "a,1\nsecret77,1\nsecret77,2\n",
        "77,1\n77,5\n",
        "1\n1e777\n",
        '1\n"secret77\n',
    ],
)
def test_no_message_shows_a_value_or_a_row(run, text):
    done = run(text, *WORDS)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "line" in done.stderr or "UTF-8" in done.stderr
    assert "77" not in done.stderr, done.stderr


def test_no_message_shows_a_byte(run, tmp_path):
    run(GOOD, *WORDS)
    (tmp_path / "values.csv").write_bytes(b"1\n\xe9\n")
    done = CliRunner().invoke(program, ["release", "values.csv", *WORDS])
    assert "expected a CSV file in UTF-8, got other bytes at 2" in done.stderr
    assert "e9" not in done.stderr


def test_whole_numbers_are_released_as_whole_numbers(run, tmp_path):
    text = GOOD.replace("-1.5", "-1")
    done = run(
        text, "--at-most", "2", *BUDGET, "--integer", "--json", "--certificate", "noisy.json"
    )
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert all(type(value) is int for value in found["values"])
    with (tmp_path / "noisy.csv").open(encoding="utf-8") as file:
        assert [int(value) for _, value in list(csv.reader(file))[1:]] == found["values"]
    certificate = Certificate.read(tmp_path / "noisy.json")
    assert certificate.upper == 0
    assert found["promise"] == certificate.promise
    assert CliRunner().invoke(program, ["verify", "noisy.json"]).exit_code == 0


def test_values_and_sizes_that_are_no_integers_are_refused_together(run, tmp_path):
    done = run(GOOD, "--linf", "1.5", *BUDGET, "--integer")
    assert done.exit_code == 2
    assert "expected integers with --integer, got 1 that are not" in done.stderr
    assert "got 1.5 in LInf" in done.stderr
    assert "-1.5" not in done.stderr
    assert not (tmp_path / "noisy.csv").exists()
    done = run(GOOD, "--counts", "1", *BUDGET)  # of which --integer is not on the line
    assert "integers with --counts (--no-integer takes others), got 1 that are not" in done.stderr


TABLE = "region,year,visitors\nnorth,2025,3\nsouth,2025,4\n"


@pytest.mark.parametrize(
    ("text", "options", "written"),
    [
        (TABLE, "--column visitors", ["name,visitors", "1,", "2,"]),
        (TABLE, "--column visitors --names region", ["region,visitors", "north,", "south,"]),
        (TABLE, "--column 3 --names 1", ["region,visitors", "north,", "south,"]),
        (TABLE.replace("visitors", "income"), "--column income", ["name,income", "1,", "2,"]),
        ("10115,3\n20095,4\n", "--column 2", ["name,value", "10115,", "20095,"]),
        ("3,10115\n4,20095\n", "--column 1", ["name,value", "10115,", "20095,"]),
        ("a,b,3\nc,d,4\n", "--column 3 --names 2", ["name,value", "b,", "d,"]),
        ("visits,total\n3,17\n4,20\n", "--column 2 --names 1", ["visits,total", "3,", "4,"]),
        ("year,total\n3,17\n4,20\n", "", ["year,total", "3,", "4,"]),
        ("visits,total\na,17\nb,20\n", "", ["visits,total", "a,", "b,"]),
    ],
)
def test_one_of_several_columns_is_released_with_the_labels_of_another(
    run, tmp_path, text, options, written
):
    done = run(text, *WORDS, *options.split())
    assert done.exit_code == 0, done.output
    lines = (tmp_path / "noisy.csv").read_text().splitlines()
    assert len(lines) == len(written)
    assert all(line.startswith(start) for line, start in zip(lines, written, strict=True)), lines


@pytest.mark.parametrize(
    ("text", "options", "parts"),
    [
        (TABLE, "", ["got 3 columns: 'region', 'year', 'visitors'; --column"]),
        (TABLE, "--column x --names 4", ["--column in", "'visitors', or a number", "'x'", "'4'"]),
        (TABLE, "--column 3 --names visitors", ["--names in", "another column than"]),
        (TABLE, "--column visitors --no-header", ["a number from 1 to 3, got 'visitors'"]),
        (TABLE, "--column 3 --no-header", ["numbers with a decimal point", "line 1"]),
        (TABLE + "west,9\n", "--column 3", ["3 columns in every row", "line 4"]),
        (TABLE + "\nwest,2025,9\n", "--column 3", ["number in every row", "line 4"]),
        (TABLE + "south,2025,9\n", "--column 3 --names 1", ["line 4 (as in line 3)"]),
        ("north,visit,ill\nsouth,visit,7\n", "", ["got 3 columns; --column"]),
        ("visits,total\n2025,17\n4,20\n", "", ["numbers under 'visits'", "--names 1"]),
        ("visits,total\n2025,17\n4,20\n", "--column total", ["numbers under 'visits'"]),
        ("value,value\n2025,17\n\n4,20\n", "--header", ["numbers under 'value'", "line 3"]),
    ],
)
def test_what_is_wrong_with_columns_is_said_without_a_value(run, text, options, parts):
    done = run(text, *WORDS, *options.split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert all(part in done.stderr for part in parts), done.stderr
    assert not [word for word in ("north", "ill", "2025", "west") if word in done.stderr]


@pytest.mark.parametrize("rows", ["x\n" * 50, "a,1\n" * 50, "b,x\nb,\n;,1\n" * 50])
def test_a_dozen_bad_rows_are_named_and_the_others_counted(run, rows):
    done = run("first,1\n" * ("," in rows) + rows, *WORDS)
    assert done.exit_code == 2
    named = re.findall(r"(?<!in )line \d+", done.stderr)
    assert 8 <= len(named) <= 12
    assert sum(map(int, re.findall(r"and (\d+) more", done.stderr))) + len(named) >= 49
