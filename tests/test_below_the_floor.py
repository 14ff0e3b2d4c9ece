"""The files and the checker of docs/literature.md (its snippets run in test_examples.py)."""

import copy
import decimal
import json
import math
import runpy
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from document_pages import ROOT, blocks, coordinates, loaded
from dpnoise import TruncatedLaplace, privacy_profile
from dpnoise.noise import Staircase, staircase_gamma
from dpnoise.optimality.floor import floor

FOLDER = ROOT / "docs" / "below"
FILES = ("mind-the-gap.json", "r1smg.json")
checker = loaded(FOLDER / "check.py")
RECORDS = [row for file in FILES for row in json.loads((FOLDER / file).read_text())["bounds"]]
TESTED = pytest.mark.parametrize("row", RECORDS, ids=lambda row: f"{row['cost']} {row['epsilon']}")


def test_the_checker_prints_what_the_page_shows(capsys):
    assert checker.main([str(FOLDER / file) for file in FILES]) == 0
    assert capsys.readouterr().out in blocks(ROOT / "docs" / "literature.md", "text")


@TESTED
def test_bounds_are_below_those_of_the_package_and_below_noise_that_exists(row):
    epsilon, delta = float(row["epsilon"]), float(Fraction(row["delta"]))
    power = checker.POWERS[row["cost"]]
    found = float(checker.proved(row))
    error = "mean-abs" if power == 1 else "variance"
    bound = floor(1.0, epsilon=epsilon, delta=delta, error=error)
    assert 0.9 * bound.value < found < bound.value * (1 + 1e-9)
    stairs = Staircase(epsilon, 1.0, float(staircase_gamma(epsilon, power)))
    assert found < (stairs.mean_abs() if power == 1 else stairs.var())


@TESTED
def test_the_inequality_of_the_checker_holds_for_private_noise(row):
    """E |T|^p + sum_k E psi_k <= E |T|^p + 2 delta sum_k W_k, on the lattice of the record."""
    epsilon, delta, n = float(row["epsilon"]), float(Fraction(row["delta"])), row["cells"]
    noise = TruncatedLaplace(1 / epsilon, 1 + math.log1p(math.expm1(epsilon) / delta) / epsilon)
    assert privacy_profile(noise, 1.0, epsilon) <= delta
    ends = [(j - 0.5) / n for j in range(-40 * n, 40 * n + 2)]
    masses = {
        j: float(noise.cdf(ends[i + 1]) - noise.cdf(ends[i]))
        for i, j in enumerate(range(-40 * n, 40 * n + 1))
    }
    for k, points in row["tests"].items():
        values = {int(j): value / row["unit"] for j, value in points.items()}
        here = sum(value * masses[j] for j, value in values.items())
        moved = sum(value * masses[j - int(k)] for j, value in values.items())
        assert here <= math.exp(epsilon) * moved + delta * max(values.values()) + 1e-12


@TESTED
def test_the_minimum_is_over_all_points_of_both_signs(row):
    n, epsilon, power = row["cells"], float(row["epsilon"]), checker.POWERS[row["cost"]]
    tests = {
        int(k): {int(j): value / row["unit"] for j, value in points.items()}
        for k, points in row["tests"].items()
    }

    def left(j):
        value = abs(j / n) ** power
        for k, phi in tests.items():
            value += phi.get(j, 0) + phi.get(-j, 0)
            value -= math.exp(epsilon) * (phi.get(j + k, 0) + phi.get(k - j, 0))
        return value

    paid = 2 * float(Fraction(row["delta"])) * sum(max(phi.values()) for phi in tests.values())
    brute = min(map(left, range(-200, 201))) - paid - (0.25 / n**2 if power == 2 else 0.0)
    assert float(checker.proved(row)) == pytest.approx(brute, rel=1e-9)


@pytest.mark.parametrize("x", ["0", "0.1", "1", "5", "20"])
def test_the_exponential_is_rounded_up_and_close(x):
    with decimal.localcontext(decimal.Context(prec=60)):
        exact = Fraction(decimal.Decimal(x).exp())
    found = checker.exp_above(Fraction(x))
    assert 0 <= found - exact * (1 - Fraction(1, 10**58)) < exact / 10**12


def changed(tmp_path, change):
    """Return the exit code for the first file with its first record changed."""
    content = copy.deepcopy(json.loads((FOLDER / FILES[0]).read_text()))
    change(content, content["bounds"][0])
    file = tmp_path / "changed.json"
    file.write_text(json.dumps(content))
    return checker.main([str(file)])


def tighter(_, row):
    row["bound"] = "0.424"


def other_budget(_, row):
    row["epsilon"] = "3"


def no_tests(_, row):
    row["tests"] = {}


def negative(_, row):
    next(iter(row["tests"].values()))["0"] = -1


def longer_shift(_, row):
    row["tests"][str(row["cells"] + 1)] = {"0": 1}


def other_format(content, _):
    content["format"] = "dpnoise certificate"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (tighter, 1),
        (other_budget, 1),
        (no_tests, 1),
        (negative, 2),
        (longer_shift, 2),
        (other_format, 2),
    ],
)
def test_changed_files_are_refused(tmp_path, capsys, change, code):
    assert changed(tmp_path, change) == code
    assert ("not checked" if code == 2 else "REFUSED") in capsys.readouterr().out


def test_a_file_that_is_not_there_is_not_checked(capsys):
    assert checker.main([str(Path("no.json"))]) == 2
    assert "no.json: not checked" in capsys.readouterr().out


@pytest.mark.slow
def test_the_picture_shows_the_numbers_of_the_page_and_is_not_stale(tmp_path):
    made = runpy.run_path(str(FOLDER / "picture.py"))
    text = (ROOT / "docs" / "literature.md").read_text(encoding="utf-8")
    curves = made["mixtures"]()
    for row in zip(made["SAVED"], *curves.values(), strict=True):
        assert "{}  {:.4f}  {:.4f}  {:.4f}".format(*row) in text
    for m, claimed in zip(made["DIMENSIONS"], made["one_direction"]()["reported"], strict=True):
        assert m in (50, 200, 500) or f"\n{m} {claimed:.2f} " in text

    made["write"](tmp_path / "made.svg")
    kept = coordinates(ROOT / "docs" / "images" / "below-the-floor.svg")
    assert np.allclose(kept, coordinates(tmp_path / "made.svg"), atol=0.01)
