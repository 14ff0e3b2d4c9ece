"""What cannot be answered is one message on standard error with value and expectation."""

import json

import pytest
from click.testing import CliRunner

from dpnoise.calibration.calibrate import calibrate
from dpnoise.cli import names
from dpnoise.cli.program import program
from dpnoise.mechanisms.compare import METHOD_FAMILIES
from dpnoise.mechanisms.request import ERRORS
from dpnoise.noise import FAMILIES, INTEGER_FAMILIES
from dpnoise.sensitivity.relation import RELATIONS

ONE = "best --sensitivity 1"
MISTAKES = [
    (f"{ONE} --epsilon -1", ["epsilon: expected a finite number in [0, 10000], got -1.0"]),
    (f"{ONE} --epsilon x --delta y", ["epsilon", "'x'", "delta", "'y'"]),
    (f"{ONE} --epsilon nan --delta inf", ["epsilon", "nan", "delta", "inf"]),
    (f"{ONE} --epsilon 1e5", ["10000", "100000.0"]),
    (ONE, ["--epsilon: expected", "got nothing"]),
    (f"{ONE} --epsilon 1 --delta 1", ["delta: expected a finite number in [0, 1), got 1.0"]),
    (f"{ONE} --epsilon 0", ["epsilon, delta: expected one above 0"]),
    (f"{ONE} --epsilon 1e-6 --delta 1", ["did you mean --epsilon 1 --delta 1e-06?"]),
    (f"{ONE} --epsilon 1e-6 --delta 0.5", ["look swapped", "--epsilon 0.5 --delta 1e-06"]),
    (f"{ONE} --epsilon 1 --error varianc", ["'varianc'; did you mean 'variance'?"]),
    (
        f"{ONE} --epsilon -1 --error x --family KNorm",
        ["epsilon: expected", "error: expected", "'KNorm'; did you mean 'k-norm'?"],
    ),
    ("compare --l2 1 --of 3 --epsilon 1 --family flipped_huber", ["did you mean 'flipped-huber'?"]),
    (f"{ONE} --epsilon 1 --family gaussian", ["gaussian does not apply to this set and budget"]),
    (f"{ONE} --epsilon 1 --relation add_remove", ["did you mean 'add-remove'?"]),
    ("best --epsilon 1", ["expected one of --sensitivity S", "got none"]),
    ("best --sensitivity 1 --l2 1 --epsilon 1", ["got --sensitivity and --l2"]),
    ("best --sensitivity 1,,2 --epsilon 1", ["'1,,2'"]),
    ("best --sensitivity 0 --epsilon 1", ["sensitivity: expected", "got 0.0"]),
    ("best --sensitivity -1,2 --epsilon 1", ["lambdas", "-1.0"]),
    ("best --sensitivity 1 --of 3 --epsilon 1", ["--linf 1 --of 3"]),
    ("best --l1 1 --epsilon 1", ["--of: expected the number of coordinates beside --l1"]),
    ("best --l1 1 --of 2 --each 3 --epsilon 1", ["--each: expected no --each", "3.0"]),
    ("best --at-most 5 --of 3 --epsilon 1", ["m: expected an integer from 1 to 3, got 5"]),
    (
        "best --counts 5 --of 3 --each 0 --epsilon 1 --relation both",
        ["m: expected an integer from 1 to 3", "got 5", "each", "'both'"],
    ),
    ("best --counts 1 --of 3 --exactly --epsilon 1 --relation add-remove", ["'replace-one'"]),
    ("best --at-most 1 --of 3 --exactly --epsilon 1", ["--exactly: expected no --exactly"]),
    ("best --counts 1 --at-most 1 --of 3 --epsilon 1", ["got --counts and --at-most"]),
    ("best --at-most 1.5 --of 3 --each x --epsilon 1", ["'1.5'", "'x'"]),
    ("calibrate Gaussian --epsilon 1 --sensitivity 1", ["did you mean 'gaussian'?"]),
    ("calibrate flipped_huber --epsilon 1 --sensitivity 1", ["did you mean 'flipped-huber'?"]),
    ("calibrate fliped-huber --epsilon 1 --sensitivity 1", ["did you mean 'flipped-huber'?"]),
    ("calibrate FlippedHuber --epsilon 1 --sensitivity 1", ["did you mean 'flipped-huber'?"]),
    ("calibrate gaussian --epsilon 1 --sensitivity 1", ["delta: expected more than 0"]),
    ("calibrate gaussian --epsilon 1", ["--sensitivity: expected a positive number"]),
    ("calibrate laplace --epsilon 1 --sensitivity 1,2", ["one number", "'1,2'"]),
    ("calibrate laplace --epsilon 1 --sensitivity 1 --dimension 0", ["--dimension", "got 0"]),
    ("calibrate laplace --epsilon 1 --sensitivity 1 --method grid", ["'exact' for laplace"]),
    ("calibrate discrete-laplace --epsilon 1 --sensitivity 1.5", ["integer", "1.5"]),
    ("profile gaussian sgima=3 --sensitivity 1", ["'sgima=3'; did you mean 'sigma'?"]),
    ("profile gaussian --sensitivity 1", ["expected sigma=NUMBER, got nothing"]),
    ("profile gaussian sigma=-3 --sensitivity 1", ["sigma", "-3"]),
    ("profile gaussian sigma=3 sigma=4 --sensitivity 1", ["'sigma=4'"]),
    ("profile gaussian sigma=3", ["--sensitivity: expected"]),
    ("profile gaussian sigma=3 --sensitivity 1 --copies 0", ["--copies", "got 0"]),
    ("profile gaussian sigma=3 --sensitivity 1 --epsilon 1,-2", ["[-2.0]"]),
    ("profile gaussian sigma=3 --sensitivity 1 --delta 1", ["--delta", "got 1.0"]),
    ("profile gaussian sigma=3 --sensitivity 1 --delta 0", ["profile: delta", "got 0.0"]),
    ("profile gaussian sigma=3 --sensitivity 1 --delta .1 --epsilon 1", ["got both"]),
]


@pytest.mark.parametrize(("words", "parts"), MISTAKES)
def test_a_mistake_is_one_message_and_no_answer(words, parts):
    if not words.startswith("profile") and "--relation" not in words:
        words += " --relation add-remove"
    done = CliRunner().invoke(program, words.split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("dpnoise: ")
    assert done.stderr.count("\n") == 1
    assert all(part in done.stderr for part in parts), done.stderr


@pytest.mark.parametrize(
    "words",
    [
        "best --at-most 3 --of 12 --epsilon 1",
        "compare --l2 1 --of 2 --epsilon 1 --quick",
        "calibrate laplace --epsilon 1 --sensitivity 1",
        "allocate sensitivities.csv --noise laplace --epsilon 1",
        "release counts.csv --l1 1 --epsilon 1 --output noisy.csv --force",
    ],
)
def test_a_relation_has_no_default(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("sensitivities.csv", "counts.csv"):
        (tmp_path / name).write_text("1\n2\n")
    done = CliRunner().invoke(program, words.split())
    assert (done.exit_code, done.stdout) == (2, "")
    said = "--relation: expected add-remove (one person more or less) or replace-one (one person"
    assert said in done.stderr
    for relation, sentence in RELATIONS.items():
        stated = CliRunner().invoke(program, [*words.split(), "--relation", relation])
        assert stated.exit_code == 0, stated.output
        assert sentence in stated.stdout


@pytest.mark.parametrize("words", ["best --epsilon -1 --json", "best --json --nothing"])
def test_with_json_the_message_is_an_object(words):
    done = CliRunner().invoke(program, words.split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert list(json.loads(done.stderr)) == ["error"]


def test_epsilon_zero_beside_a_large_delta_is_no_mistake():
    words = "calibrate gaussian --sensitivity 1 --epsilon 0 --delta 0.5 --json"
    words += " --relation replace-one"
    done = CliRunner().invoke(program, words.split())
    assert json.loads(done.stdout)["delta"] <= 0.5


def test_the_names_are_those_of_the_library():
    assert (*FAMILIES, *INTEGER_FAMILIES) == names.FAMILIES
    assert names.ERRORS == ERRORS
    assert names.METHOD_FAMILIES == METHOD_FAMILIES
    assert tuple(RELATIONS) == names.RELATIONS
    for family in names.FAMILIES:
        found = names.suggestion(family.replace("-", "_").upper(), names.FAMILIES)
        assert found == f"; did you mean {family!r}?"
        kind = {**FAMILIES, **INTEGER_FAMILIES}[family]
        assert names.suggestion(kind.__name__, names.FAMILIES) == found
    with pytest.raises(ValueError, match="'exact' or 'grid' or 'sufficient'"):
        calibrate("flipped-huber", epsilon=1.0, delta=0.1, method="none")
