"""Figure of the noise of Table IV: every cell and every variant is on it."""

from pathlib import Path

import pytest

from dpnoise_papers.claims.published import read_claims
from dpnoise_papers.inid_2024.figures.deep_noise import _VARIANTS, signal_and_noise
from dpnoise_papers.inid_2024.learning_settings import DeepLearning
from dpnoise_papers.inid_2024.table_4.laplace import VARIANTS, table_4_laplace
from dpnoise_papers.inid_2024.table_4.noise import table_4

CLAIMS = Path(__file__).parents[4] / "published" / "inid-2024.csv"


@pytest.fixture(scope="module")
def tables():
    settings = DeepLearning(
        samples=1000,
        rate=0.1,
        epochs=2,
        layers=[[2, 3], [1, 10]],
        budgets=[
            {"noise": "gaussian", "delta": 1e-5, "epsilon": 8.0},
            {"noise": "laplace", "delta": 0.0, "epsilon": 8.0},
        ],
    )
    claims = read_claims(CLAIMS)
    return table_4(settings, claims=claims), table_4_laplace(settings, claims=claims)


def heights(axes):
    return sorted(float(y) for line in axes.lines if line.get_marker() != "None"
                  for y in line.get_ydata())  # fmt: skip


def test_every_noise_of_the_tables_is_drawn(tables):
    cells, variants = tables
    figure = signal_and_noise(cells, variants)
    figure.draw_without_rendering()
    left, right = figure.axes
    assert heights(left) == pytest.approx(sorted(cells["noise_l2"]))
    shown = variants[variants["variant"].isin(list(_VARIANTS))]
    drawn = sorted(float(x) for line in right.lines if line.get_marker() != "None"
                   for x in line.get_xdata())  # fmt: skip
    assert drawn == pytest.approx(sorted(shown["noise_over_gaussian"]))
    assert len(right.get_yticklabels()) == len(_VARIANTS)
    assert set(_VARIANTS) < set(VARIANTS)


def test_hollow_markers_are_what_the_printed_accuracies_exclude(tables):
    right = signal_and_noise(*tables).axes[1]
    lines = [line for line in right.lines if line.get_marker() != "None" and len(line.get_xdata())]
    hollow = sum(line.get_markerfacecolor() == "white" for line in lines)
    shown = tables[1][tables[1]["variant"].isin(list(_VARIANTS))]
    assert hollow == int((shown["excluded"] == 1).sum())
    assert 0 < hollow < len(lines)
