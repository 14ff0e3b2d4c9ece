"""Error curves: every mechanism is drawn where it was run, with its band."""

import numpy as np
import pandas as pd
import pytest

from dpnoise_papers.balle_wang_2018.figures.denoising_curves import (
    denoised_histograms,
    denoised_means,
    histogram_curves,
    mean_curves,
)
from dpnoise_papers.claims.interval import ends
from dpnoise_papers.style import OURS

SCALES = {"cgm": 2.0, "agm": 1.0, "laplace": 3.0, "agm-js": 0.5, "agm-js-plus": 0.4,
          "agm-th": 0.7, "flipped-huber": 0.9, "zero": 0.6}  # fmt: skip
DIMENSIONS = [4, 64, 1024]


@pytest.fixture
def table():
    rows = [
        (e, d, m, s * d / e, 0.1 * s)
        for e in (0.1, 1.0) for d in DIMENSIONS for m, s in SCALES.items()
        if m != "flipped-huber" or d < 100
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["epsilon", "dimension", "method", "error", "error_se"])


def test_errors_and_ratios_of_every_mechanism(table):
    figure = histogram_curves(table)
    assert len(figure.axes) == 4
    for epsilon, (left, right) in zip((0.1, 1.0), (figure.axes[:2], figure.axes[2:]), strict=True):
        rows = table[table["epsilon"] == epsilon]
        expected = {tuple(own["error"]) for _, own in rows.groupby("method")}
        assert {tuple(line.get_ydata()) for line in left.get_lines() if len(line.get_ydata())} == (
            expected
        )
        ratios = {line.get_ydata()[0] for line in right.get_lines()}
        assert np.allclose(sorted(ratios), sorted(SCALES.values()))
        assert len(left.collections) == len(SCALES)
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "flipped Huber, to $d = 64$*" in words
    assert words[-1] == OURS
    assert len(words) == len(SCALES) + 1


def test_bands_are_the_intervals_of_the_verdict(table):
    axes = mean_curves(table).axes[0]
    band = axes.collections[0].get_paths()[0].vertices
    low, high = ends(table[(table["epsilon"] == 0.1) & (table["method"] == "cgm")], "error")
    assert band[:, 1].max() == pytest.approx(high.max())
    assert band[:, 1].min() == pytest.approx(low.min())


def test_denoised_alone_with_one_panel_per_epsilon(table):
    figure = denoised_means(table)
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        r"$\epsilon = 0.1$", r"$\epsilon = 1$"
    ]  # fmt: skip
    for axes, epsilon in zip(figure.axes, (0.1, 1.0), strict=True):
        first = {line.get_ydata()[0] for line in axes.get_lines() if len(line.get_ydata())}
        denoised = [SCALES[m] * 4 / epsilon for m in ("agm-js", "agm-js-plus", "agm-th", "zero")]
        assert np.allclose(sorted(first), sorted(denoised))


def test_the_axis_names_the_norm_of_the_error(table):
    for draw, norm in (
        (mean_curves, "ell_2"), (denoised_means, "ell_2"),
        (histogram_curves, "ell_1"), (denoised_histograms, "ell_1"),
    ):  # fmt: skip
        assert norm in draw(table).axes[0].get_ylabel()


@pytest.mark.parametrize(
    ("method", "of", "note"),
    [("agm-js-plus", "agm-js", "aGM-JS"), ("flipped-huber", "agm", "aGM"),
     ("truncated-laplace", "laplace", "Laplace, pure")],
)  # fmt: skip
@pytest.mark.parametrize("apart", [0.0, 0.005, 0.02])
def test_the_legend_says_what_lies_on_what(table, method, of, note, apart):
    like = table[table["method"] == of].assign(method=method)
    like["error"] *= 1.0 + apart
    figure = mean_curves(pd.concat([table[table["method"] != method], like], ignore_index=True))
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert any(word.endswith(f", on {note}*") for word in words) == (apart < 0.01)
