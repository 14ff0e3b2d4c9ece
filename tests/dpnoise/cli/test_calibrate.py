"""`dpnoise calibrate`, `allocate` and `profile` give what the functions give."""

import csv
import json
import math

import pytest
from click.testing import CliRunner

import dpnoise
from commands import data
from dpnoise import (
    Box,
    DiscreteStaircase,
    Gaussian,
    allocate,
    privacy_profile,
    vector_profile,
)
from dpnoise.cli.program import program

SIZES = [0.85, 0.1, 0.05]
GOOD = {
    "one column": ("0.85\n0.1\n0.05\n", ["1", "2", "3"]),
    "header": ("sensitivity\n0.85\n0.1\n0.05\n\n", ["1", "2", "3"]),
    "names": ("a,0.85\nb,0.1\nc,0.05", ["a", "b", "c"]),
    "numbers as names": ("person,lambda\n1,0.85\n2,0.1\n3,0.05\n", ["1", "2", "3"]),
    "both": ('\ufeffname,lambda (max)\r\n"a, b",0.85\r\nb,.1\r\nc,5e-2\r\n', ["a, b", "b", "c"]),
}
BAD = {
    "hole": ("1\n\n2\n", ["every row", "line 2: ''"]),
    "text": ("1\nx\n2\n1.o\n", ["line 2: 'x'", "line 4: '1.o'"]),
    "negative": ("1\n-2\ninf\n", ["at least 0", "line 2: '-2'", "line 3: 'inf'"]),
    "comma": ("a;1,5\nb;2,5\n", ["line 1", "line 2"]),
    "decimal comma": ("1,5\n2,5\n", ["decimal points", "'1,5' in line 1"]),
    "columns": ("a,b,1\n", ["one column", "got 3 columns", "--column"]),
    "ragged": ("a,1\n2\n", ["line 2: '2'"]),
    "twice": ("a,1\na,2\n", ["each name once", "line 2: 'a,2' (as in line 1)"]),
    "empty": ("", ["no rows"]),
}


def test_calibrate_in_json_is_exact():
    words = "--epsilon 0.3 --delta 1e-7 --sensitivity 2 --dimension 3 --relation add-remove"
    answer = data(f"calibrate gaussian {words}")
    found = dpnoise.calibrate("gaussian", epsilon=0.3, delta=1e-7, sensitivity=2.0, dimension=3)
    assert answer["noise"] == {"kind": "Gaussian", "sigma": found.noise.sigma}
    assert (answer["delta"], answer["variance"]) == (found.delta, found.variance)


@pytest.mark.parametrize("copies", [1, 4])
def test_profile_holds_the_bounds(copies):
    answer = data(f"profile gaussian sigma=2 --sensitivity 1 --copies {copies} --epsilon 0,0.5,2")
    found = vector_profile(Gaussian(2.0), 1.0, [0.0, 0.5, 2.0], copies=copies)
    assert answer["delta"] == found.upper.tolist()
    exact = privacy_profile(Gaussian(2.0), math.sqrt(copies), answer["epsilon"])
    assert all(answer["delta_at_least"] <= exact)
    assert all(exact <= answer["delta"])


def test_copies_of_gaussian_noise_are_one_of_a_larger_sensitivity():
    several = data("profile gaussian sigma=4 --sensitivity 1 --copies 4 --delta 1e-6")
    one = data("profile gaussian sigma=4 --sensitivity 2 --delta 1e-6")
    assert several["epsilon"] == pytest.approx(one["epsilon"], rel=1e-8)
    for answer in (several, one):
        assert privacy_profile(Gaussian(4.0), 2.0, answer["epsilon"][0]) <= 1e-6 * (1 + 1e-12)


def test_noise_on_the_integers_has_whole_parameters():
    answer = data("profile discrete-staircase epsilon=1 sensitivity=3 r=2 --sensitivity 3")
    assert answer["request"]["noise"]["kind"] == "DiscreteStaircase"
    found = vector_profile(DiscreteStaircase(1.0, 3, 2), 3.0, answer["epsilon"])
    assert answer["delta"] == found.upper.tolist()


def run(tmp_path, text, *options):
    path = tmp_path / "sensitivities.csv"
    path.write_bytes(text.encode())
    words = ["allocate", str(path), "--epsilon", "1", "--relation", "replace-one", *options]
    return CliRunner().invoke(program, words)


@pytest.mark.parametrize("case", GOOD)
def test_scales_are_those_of_the_function_with_their_names(tmp_path, case):
    text, names = GOOD[case]
    done = run(tmp_path, text, "--delta", "1e-6", "--json")
    answer = json.loads(done.stdout)
    assert answer["names"] == names
    assert answer["sensitivities"] == SIZES
    assert answer["scales"] == allocate(SIZES, epsilon=1.0, delta=1e-6).tolist()
    assert answer["promise"] == Box(SIZES, relation="replace-one").promise(1.0, 1e-6)


def test_printed_and_written_scales_have_all_digits(tmp_path):
    path = tmp_path / "scales.csv"
    options = "--noise", "laplace", "--scheme", "iid", "--power", "1", "--output", str(path)
    done = run(tmp_path, GOOD["numbers as names"][0], *options)
    scales = allocate(SIZES, noise="laplace", scheme="iid", epsilon=1.0, p=1.0).tolist()
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["person", "lambda", "scale"]
    assert done.stdout.splitlines()[1].split() == ["person", "lambda", "beta"]
    assert [row["person"] for row in rows] == ["1", "2", "3"]
    assert [float(row["scale"]) for row in rows] == scales
    assert all(repr(scale) in done.stdout for scale in scales)


@pytest.mark.parametrize("case", BAD)
def test_every_bad_row_is_named(tmp_path, case):
    text, parts = BAD[case]
    done = run(tmp_path, text, "--delta", "1e-6", "--output", str(tmp_path / "out.csv"))
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert all(part in done.stderr for part in parts), done.stderr
    assert not (tmp_path / "out.csv").exists()


def test_a_file_that_is_no_text_or_not_there_is_refused(tmp_path):
    (tmp_path / "sensitivities.xlsx").write_bytes(b"PK\x03\x04\xff\xfe")
    for name in ("sensitivities.xlsx", "none.csv"):
        words = ["allocate", str(tmp_path / name), "--epsilon", "x", "--noise", "gausian"]
        done = CliRunner().invoke(program, words)
        assert (done.exit_code, done.stdout) == (2, "")
        assert all(part in done.stderr for part in (name, "'x'", "did you mean 'gaussian'?"))
