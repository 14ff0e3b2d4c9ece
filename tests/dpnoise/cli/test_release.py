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
    assert rows[0] == ["name", "value"]
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
