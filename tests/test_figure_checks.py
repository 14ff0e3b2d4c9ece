"""The checks of figures find what they are for: defects are planted, and whole figures pass."""

import pytest

import figure_checks
from dpnoise_papers import style

NAME = "flipped Huber"


def figure(change):
    with style.house_style():
        made, panels = style.page(1, 1, height=3.0)
        axes = panels[0, 0]
        axes.plot([0, 1], [0, 1], **style.look("flipped-huber"), label=NAME)
        change(axes)
        style.legend_below(made)
        return figure_checks.drawn(made)


CHECKS = [
    figure_checks.clipped_texts,
    figure_checks.overlapping_tick_labels,
    figure_checks.struck_texts,
    figure_checks.wrong_looks,
]
DEFECTS = {
    "clipped_texts": lambda axes: axes.figure.text(0.99, 0.5, "beyond the edge"),
    "overlapping_tick_labels": lambda axes: axes.set_xticks([0.5, 0.51], ["five", "more"]),
    "struck_texts": lambda axes: axes.text(0.4, 0.5, "through the middle", va="center"),
    "wrong_looks": lambda axes: axes.plot([0, 1], [1, 0], color="red", label=f"{NAME}, so*"),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_a_planted_defect_is_found_by_its_check_alone(name):
    made = figure(DEFECTS[name])
    assert [check.__name__ for check in CHECKS if check(made)] == [name]


@pytest.mark.parametrize(
    "change",
    [
        lambda axes: axes.grid(),
        lambda axes: axes.text(0.4, 0.5, "on white ground", va="center", bbox=style.GROUND),
        lambda axes: axes.text(0.05, 0.8, "beside the line"),
        lambda axes: axes.set_xlim(0.1, 0.9),  # ticks outside the view are not drawn
    ],
)
def test_a_whole_figure_passes(change):
    assert [check.__name__ for check in CHECKS if check(figure(change))] == []


def test_a_mechanism_with_another_dash_is_found():
    looks = style.look("gaussian") | {"linestyle": "--"}
    made = figure(lambda axes: axes.plot([0, 1], [1, 0], **looks, label="Gaussian"))
    assert figure_checks.wrong_looks(made) == ["Gaussian"]


def test_points_lines_and_texts_are_shown_numbers():
    made = figure(lambda axes: axes.scatter([0.25], [0.75]))
    values, texts = figure_checks.shown_numbers(made)
    assert {0.25, 0.75, 0.0, 1.0} <= set(values)
    assert NAME in texts


def looks(axes):
    """Draw one of each kind beside the green dashes: a guide, open circles, squares and a band."""
    axes.axhline(0.2, color=style.GREY, label="affine bound")
    axes.plot([0.3], [0.9], "o", color="black", markerfacecolor="none", label="printed")
    axes.plot([0.5], [0.9], "s", color=style.COLOURS["gaussian"], label="ours")
    axes.fill_between([0, 1], 0.3, 0.4, color=style.COLOURS["laplace"], alpha=0.3)
