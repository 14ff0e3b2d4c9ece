"""Tables of docs/best.md against what the functions return."""

import re
from pathlib import Path

import numpy as np
import pytest

from dpnoise import L1, AtMost, Box, LInf, gaussian_sigma
from dpnoise.mechanisms.compare import best, compare
from dpnoise.privacy.integer_sets import MOST_POINTS, maximal_points, parts_of_set

PAGE = (Path(__file__).parents[3] / "docs" / "best.md").read_text(encoding="utf-8")


def test_the_table_of_ten_numbers_is_what_compare_prints():
    table = compare(np.ones(10), epsilon=1.0, delta=1e-6, relation="replace-one")
    assert not table.left_out
    *lines, _, promise = str(table).splitlines()
    assert f"    {promise}\n" in PAGE
    for line in lines[2:]:
        name, *numbers = re.split(r"  +", line)
        row = next(text for text in PAGE.splitlines() if text.startswith(f"    {name}  "))
        printed = re.split(r"  +", row.strip())
        assert printed[0] == name
        assert printed[-1] == numbers[-1]
        there, here = ([float(x) for x in cells] for cells in (printed[1:-2], numbers[:-2]))
        assert there[:-1] == pytest.approx(here[:-1], rel=2e-3)
        assert here[-1] <= there[-1] * 1.002  # the floor may have risen since
    printed = float(re.search(r"no noise for this set has a mean variance below ([\d.]+)", PAGE)[1])
    assert table.floor >= 0.999 * printed


def test_the_crossings_of_k_norm_and_gaussian_noise():
    rows = re.findall(r"^\| ([\d.]+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 5
    K = np.arange(1, 400)
    for epsilon, *printed in rows:
        for delta, crossing in zip((1e-4, 1e-6, 1e-8, 1e-10), printed, strict=True):
            normal = float(gaussian_sigma(float(epsilon), delta)) ** 2 * K
            k_norm = (K + 1) * (K + 2) / (3.0 * float(epsilon) ** 2)
            assert K[normal < k_norm][0] == int(crossing)


def test_the_example_of_blocks():
    ball = Box((1.0,) * 5 + (0.01,) * 500)
    table = compare(ball, epsilon=1.0, delta=1e-6, exhaustive=False)
    for name, printed in (("blocks", "2.99"), ("Gaussian", "3.53"), ("K-norm", "855")):
        assert f"{table[name].variance:.3g}" == printed
        assert f"{printed} with" in PAGE


@pytest.mark.parametrize(("K", "gain"), [(50, 14), (1000, 0.7)])
def test_the_gain_of_the_l2_ball_around_the_box(K, gain):
    found = best(LInf(1.0, of=K), epsilon=1.0, delta=1e-6)
    normal = float(gaussian_sigma(1.0, 1e-6)) ** 2 * K
    assert found.name == "K-norm of an ellipsoid"
    assert 100.0 * (1.0 - found.variance / normal) == pytest.approx(gain, abs=0.5)
    assert f"{gain} % less" in PAGE


@pytest.mark.parametrize(
    ("words", "ball", "epsilon"),
    [
        ("one count", LInf(1.0), 1.0),
        ("one number, changes by up to 5", LInf(5.0), 1.0),
        ("at most 3 of 12 counts", AtMost(3, of=12), 1.0),
        ("at most 3 of 12 counts", AtMost(3, of=12), 3.0),
        ("twelve counts at once", LInf(1.0, of=12), 1.0),
    ],
)
def test_the_table_of_noise_on_the_integers(words, ball, epsilon):
    page = (Path(__file__).parents[3] / "docs" / "integers.md").read_text(encoding="utf-8")
    line = next(x for x in page.splitlines() if x.startswith(f"| {words} | {epsilon:g} |"))
    laplace, staircase, rounded, name = [cell.strip() for cell in line.split("|")[3:7]]
    table = compare(ball, epsilon=epsilon, integer=True)
    assert float(laplace) == pytest.approx(table["discrete Laplace"].variance, abs=0.0051)
    names = {row.name for row in table}
    if staircase == "the same":
        assert "discrete staircase" not in names
    else:
        found = table["discrete staircase"].variance
        assert float(staircase) == pytest.approx(found, abs=0.0051)
    least = min((row for row in table if "rounded" in row.name), key=lambda row: row.variance)
    assert float(rounded) == pytest.approx(least.variance, abs=0.0051)
    assert least.name.lower().startswith(name.lower())


def test_other_numbers_on_the_page_of_integers():
    assert round(best(1.0, epsilon=1.0, integer=True).variance, 3) == 1.841
    assert 1.918 < best(1.0, epsilon=1.0).floor < 1.9182
    real = 100.0 * float(gaussian_sigma(1.0, 1e-6))  # discrete noise as wide hardly differs
    ball = L1(100.0, of=100, relation="add-remove")
    table = compare(ball, epsilon=1.0, delta=1e-6, family="gaussian", integer=True)
    wide = table["discrete Gaussian"].noise.noises[0]
    assert wide.sigma == pytest.approx(1.07 * real, rel=0.01)
    points = [len(maximal_points(parts_of_set(L1(r, of=20)), 10**4)) for r in (13.0, 14.0)]
    assert points[0] <= MOST_POINTS < points[1]
