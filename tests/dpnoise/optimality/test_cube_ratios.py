"""The table of docs/floor.md: best noise for a cube over its floor."""

import re
from pathlib import Path

import pytest

from dpnoise import LInf, best
from dpnoise.optimality.floor import floor

PAGE = (Path(__file__).parents[3] / "docs" / "floor.md").read_text(encoding="utf-8")
EPSILONS = [float(x) for x in re.findall(r"\| epsilon = ([\d.]+) ", PAGE)]
ROWS = re.findall(r"^\| (1e-\d) \| (\d+) \| ((?:[\d.]+ \| )+[\d.]+) \|$", PAGE, re.MULTILINE)


def test_the_table_is_whole():
    assert len(EPSILONS) == 7
    assert len(ROWS) == 18


@pytest.mark.parametrize(("delta", "K", "cells"), ROWS)
def test_the_ratio_is_as_printed(delta, K, cells):
    cube = LInf(1.0, of=int(K))
    printed = [float(cell) for cell in cells.split(" | ")]
    for epsilon, ratio in list(zip(EPSILONS, printed, strict=True))[:: 3 if int(K) < 20 else 6]:
        found = best(cube, epsilon=epsilon, delta=float(delta)).variance
        found /= floor(cube, epsilon=epsilon, delta=float(delta)).value
        assert 1.0 <= found < 1.01 * ratio + 0.005  # the floor may have risen since


@pytest.mark.parametrize(("K", "goal"), [(5, 1.5), (10, 2.5)])
def test_the_goal_without_delta_is_met_for_all_epsilon(K, goal):
    for epsilon in (1e-3, 0.1, 1.0, 3.0, 10.0, 40.0):
        cube = LInf(1.0, of=K)
        noise = best(cube, epsilon=epsilon).variance
        assert noise < goal * floor(cube, epsilon=epsilon).value
