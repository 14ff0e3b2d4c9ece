"""`dpnoise calibrate` beside the function: its numbers, and the global certificate on request."""

import json

import pytest
from click.testing import CliRunner

from dpnoise import calibrate
from dpnoise.cli.program import program

WHO = "--relation replace-one"
WORDS = f"calibrate huber --epsilon 1 --delta 1e-6 --sensitivity 2 --dimension 3 {WHO}"
BUDGET = {"epsilon": 1.0, "delta": 1e-6, "sensitivity": 2.0, "dimension": 3}


def answer(words):
    done = CliRunner().invoke(program, words.split())
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_global_certificate_is_that_of_the_function():
    found = calibrate("huber", **BUDGET, certificate="global")
    data = json.loads(answer(f"{WORDS} --global-certificate --json"))
    assert data["optimal_within"] == found.optimal_within <= 1.1e-3
    assert data["variance"] == found.variance
    text = answer(f"{WORDS} --global-certificate")
    (stated,) = (line for line in text.splitlines() if line.startswith("least of the family"))
    bound = float(stated.split(" less than ")[1].split(",")[0])
    proved = found.variance * (1 - found.optimal_within)
    assert proved * (1 - 1e-5) <= bound <= proved
    assert "certificate='global'" in text


def test_without_the_option_nothing_is_proved_or_said():
    assert "least of the family" not in answer(WORDS)
    data = json.loads(answer(f"{WORDS} --json"))
    assert "optimal_within" not in data
    assert data["variance"] == calibrate("huber", **BUDGET).variance


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("huber --epsilon 1 --sensitivity 1", ["delta: expected more than 0 for a global"]),
        (
            "discrete-laplace --epsilon 1 --method grid",
            ["--sensitivity", "method: expected 'exact'", "got DiscreteLaplace", "got 0"],
        ),
        ("hubr --epsilon 1 --delta 2", ["did you mean 'huber'?", "--sensitivity", "got 2.0"]),
    ],
)
def test_what_has_no_global_certificate_is_one_message(words, parts):
    done = CliRunner().invoke(
        program, ["calibrate", *words.split(), *WHO.split(), "--global-certificate"]
    )
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert all(part in done.stderr for part in parts), done.stderr
