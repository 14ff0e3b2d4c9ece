"""The tables of docs/best.md: their letters name what `best` finds."""

import re
from pathlib import Path

import pytest

from dpnoise import AtMost, LInf, best

PAGE = Path(__file__).parents[1] / "docs" / "best.md"
NAMES = {
    "S": "staircase in the norm",
    "C": "staircase per coordinate",
    "K": "K-norm",
    "D": "staircase per coordinate, delta used",
    "T": "truncated K-norm",
    "E": "K-norm of an ellipsoid",
    "O": "offset symmetric Gaussian",
    "F": "flipped Huber",
}


def tables(text):
    """Letter of each cell by (epsilon, delta) and K, for each table that starts with K."""
    found = []
    for block in re.findall(r"^\| K \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, flags=re.MULTILINE):
        head = text[: text.index(block)].splitlines()[-2]
        budgets = [tuple(map(float, cell.split(","))) for cell in head.split("|")[2:-1]]
        rows = [line.split("|")[1:-1] for line in block.splitlines()]
        found.append({
            (int(K), *budget): letter.strip()
            for K, *letters in rows
            for budget, letter in zip(budgets, letters, strict=True)
        })  # fmt: skip
    return found


ALL, THREE = tables(PAGE.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("cells", "places"),
    [
        (ALL, [(1, 1.0, 0.0), (1, 1.0, 1e-4), (3, 10.0, 0.0), (8, 0.1, 1e-6), (12, 1.0, 1e-6)]),
        (THREE, [(12, 1.0, 0.0), (20, 1.0, 1e-4), (1000, 1.0, 0.0)]),
        pytest.param(THREE, [(8, 0.1, 1e-4), (50, 0.1, 1e-4)], marks=pytest.mark.slow),
    ],
)
def test_some_cells_are_what_best_finds(cells, places):
    assert set(cells.values()) <= set(NAMES)
    found = {
        (K, epsilon, delta): best(
            LInf(1.0, of=K) if cells is ALL else AtMost(3, of=K), epsilon=epsilon, delta=delta
        ).name
        for K, epsilon, delta in places
    }
    assert [place for place in places if found[place] != NAMES[cells[place]]] == []
