"""`dpnoise release`: what is written, and that nothing is where something is wrong."""

import csv
import json

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
        (GOOD, ("--at-most", "2", "--of", "4", *BUDGET), ["that of the 3 rows"]),
        (GOOD, BUDGET, ["expected one of --sensitivity S"]),
        (GOOD, ("--l2", "1", "--epsilon", "1", "--output", "values.csv", *WHO), ["another file"]),
        (
            GOOD,
            ("--l2", "1", "--epsilon", "1", "--output", "no/such.csv", *WHO),
            ["a folder to write"],
        ),
        (
            GOOD,
            ("--l2", "1", "--epsilon", "1", "--output", "-", *WHO),
            ["a folder to write", "'-'"],
        ),
        ("1\n\nx\nnan\n", ("--l2", "1", *BUDGET), ["line 2", "line 3: 'x'", "line 4: 'nan'"]),
        ("1\ninf\n", ("--l2", "1", *BUDGET), ["finite values", "line 2: 'inf'"]),
        ("1e300\n2\n", ("--l2", "1", *BUDGET), ["2^52 steps of the grid"]),
        ("", ("--l2", "1", *BUDGET), ["one column of values", "no rows"]),
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


def test_a_first_release_replaces_nothing(run):
    done = run(GOOD, "--at-most", "2", *BUDGET, "--json")
    assert json.loads(done.stdout)["replaced"] == []
    assert run(GOOD, "--at-most", "2", *BUDGET).exit_code == 2


@pytest.mark.parametrize("text", ["1\n\nx\n", "", "a;1\nb;2\n"])
@pytest.mark.parametrize("kind", ["--at-most", "--l1", "--l2", "--linf"])
def test_a_mistake_in_the_file_is_no_mistake_of_the_options(run, text, kind):
    done = run(text, kind, "1", *BUDGET)
    assert done.exit_code == 2
    assert "values.csv: expected" in done.stderr
    assert "--of" not in done.stderr
    assert "coordinates" not in done.stderr


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--at-most", "0"), "m: expected an integer"),
        (("--at-most", "1", "--each", "-1"), "each: expected"),
        (("--l2", "-1"), "radius: expected"),
        (("--l2", "1", "--each", "1"), "--each: expected no --each"),
    ],
)
def test_mistakes_of_file_and_options_are_named_together(run, options, problem):
    done = run("1\nx\n", *options, *BUDGET)
    assert done.exit_code == 2
    assert "values.csv: expected" in done.stderr
    assert problem in done.stderr


@pytest.mark.parametrize("kind", ["--at-most", "--linf", "--l1"])
def test_whole_numbers_are_released_as_whole_numbers(run, tmp_path, kind):
    text = GOOD.replace("-1.5", "-1")
    done = run(text, kind, "2", *BUDGET, "--integer", "--json", "--certificate", "noisy.json")
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
