import pytest

from dpnoise_papers.run.targets import nearest, unknown_targets

NAMES = [
    "flipped_huber_2023", "verdicts", "results/verdicts.md", "results/verdicts.csv",
    "figures/a-paper/figure-2.svg", "figures/a-paper/figure-2.pdf", "figures/b/figure-2.svg",
]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("flipped_huber_2032", "flipped_huber_2023"),
        ("Flipped-Huber-2023", "flipped_huber_2023"),
        ("results/verdict.md", "results/verdicts.md"),
        ("results/verdict.csv", "results/verdicts.csv"),
        ("Figure 2", "figures/a-paper/figure-2.svg"),
        ("figures/a-paper/figure2.svg", "figures/a-paper/figure-2.svg"),
    ],
)
def test_nearest_comes_first(given, found):
    assert nearest(given, NAMES)[0] == found


def test_formats_of_one_figure_are_named_once():
    assert nearest("figure-2", NAMES) == ["figures/a-paper/figure-2.svg", "figures/b/figure-2.svg"]


def test_nothing_alike_is_no_suggestion():
    assert nearest("xyz", NAMES) == []
    assert unknown_targets(["xyz"], NAMES.__contains__, NAMES) == "no rule makes 'xyz'"


def test_every_unknown_target_is_told():
    told = unknown_targets(["verdicts", "verdict", "Figure 2"], NAMES.__contains__, NAMES)
    assert [line.split(";")[0] for line in told.splitlines()] == [
        "no rule makes 'verdict'",
        "no rule makes 'Figure 2'",
    ]


def test_known_targets_pass():
    assert unknown_targets(["verdicts"], NAMES.__contains__, NAMES) == ""
