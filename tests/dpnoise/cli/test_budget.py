"""`dpnoise budget` and `dpnoise release --budget`: what is charged, and when nothing is."""

import json

import pytest
from click.testing import CliRunner

from dpnoise import Budget, Counts, best
from dpnoise.cli.program import program

BEGIN = "budget ledger.json --epsilon 1 --delta 1e-6 --relation add-remove"
WEEK = "release values.csv --l1 1 --epsilon 0.6 --budget ledger.json --output"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "values.csv").write_text("visitors\n3\n4\n")

    def call(words, code=0):
        done = CliRunner().invoke(program, words.split())
        assert done.exit_code == code, done.output
        assert not (code and done.stdout)
        return done.output

    return call


def test_a_release_is_charged_with_its_label_and_the_budget_shows_it(run):
    run(BEGIN)
    assert "epsilon = 0.6 of 1.0 spent" in run(f"{WEEK} noisy.csv --label week-7")
    budget = Budget.open("ledger.json")
    assert (budget.epsilon, budget.delta, budget.relation) == (1.0, 1e-6, "add-remove")
    (entry,) = budget.entries
    assert (entry.label, entry.times) == ("week-7", 1)
    found = json.loads(run("budget ledger.json --json"))
    assert found["spent"] == budget.epsilon_of() == pytest.approx(0.6, rel=1e-4)
    assert found["left"] == budget.remaining()
    assert found["entries"][0]["label"] == "week-7"
    assert all(word in run("budget ledger.json") for word in ("week-7", entry.date, "left"))


def test_what_the_budget_does_not_allow_is_neither_drawn_nor_written(run, tmp_path):
    run(BEGIN)
    run(f"{WEEK} noisy.csv")
    before = (tmp_path / "ledger.json").read_bytes()
    assert "nothing was spent" in run(f"{WEEK} second.csv", 2)
    assert (tmp_path / "ledger.json").read_bytes() == before
    assert not (tmp_path / "second.csv").exists()


@pytest.mark.parametrize(
    ("words", "text", "parts"),
    [
        (f"{WEEK} noisy.csv --relation replace-one", "3\n", ["--relation: expected add-remove"]),
        (f"{WEEK} noisy.csv", "1e300\n2\n", ["2^52 steps of the grid"]),
        (f"{WEEK} noisy.csv --at-most 1", "x\n", ["--header", "--at-most and --l1"]),
        (f"{WEEK} values.csv", "3\n", ["another file"]),
        (f"{WEEK} none/noisy.csv", "3\n", ["a folder to write"]),
        (f"{WEEK} ledger.json --force", "3\n", ["--output: expected another file"]),
        (f"{BEGIN} --json", "3\n", ["a file that is not there yet"]),
    ],
)
def test_after_a_mistake_nothing_is_spent(run, tmp_path, words, text, parts):
    run(BEGIN)
    (tmp_path / "values.csv").write_text(text)
    said = run(words, 2)
    assert all(part in said for part in parts), said
    assert Budget.open("ledger.json").entries == []


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("budget none.json", ["has begun, got 'none.json'"]),
        ("budget values.csv", ["budget: "]),
        ("budget none.json --delta 0.1 --relation x", ["--delta: expected none", "--relation"]),
        ("release values.csv --l1 1 --epsilon 1 --label a", ["--label: expected none", "--output"]),
    ],
)
def test_a_mistake_is_one_message(run, tmp_path, words, parts):
    said = run(words, 2)
    assert said.count("\n") == 1
    assert all(part in said for part in parts), said
    assert [path.name for path in tmp_path.iterdir()] == ["values.csv"]


def test_releases_of_a_year_are_charged_as_some_of_many(run):
    run(BEGIN)
    words = "release values.csv --counts 1 --epsilon 1 --delta 1e-6 --times 52 --budget ledger.json"
    for week in range(2):
        assert "released 52 times: epsilon = 1, delta = 1e-06" in run(f"{words} -o {week}.csv")
    found = best(Counts(1, of=2, relation="add-remove"), epsilon=1.0, delta=1e-6, times=52)
    expected = Budget(1.0, 1e-6, relation="add-remove")
    expected.spend(found, times=2)
    assert Budget.open("ledger.json").epsilon_of() == expected.epsilon_of() < 0.2
    assert run("budget ledger.json --statement") == f"{Budget.open('ledger.json').statement()}\n"
    shown = json.loads(run("budget ledger.json --statement --json"))
    assert shown["statement"].startswith("Privacy statement of")


def test_a_file_that_is_no_ledger_is_named_and_asks_for_no_relation(run, tmp_path):
    (tmp_path / "ledger.json").write_text("no ledger")
    found = run(f"{WEEK} noisy.csv", 2)
    assert "ledger.json': text: expected a ledger in JSON" in found
    assert "--relation" not in found


@pytest.mark.parametrize("more", ["--epsilon 0.5", "--epsilon 0.6", "-o other.csv"])
def test_an_option_that_is_given_twice_is_refused(run, tmp_path, more):
    run(BEGIN)
    name = "--output" if more.startswith("-o") else "--epsilon"
    assert f"{name}: expected once" in run(f"{WEEK} noisy.csv {more}", 2)
    assert Budget.open("ledger.json").entries == []
    assert not list(tmp_path.glob("*r.csv"))
