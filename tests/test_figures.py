"""Figures: the same bytes on every run, and what they show is what the tables hold."""

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from PIL import Image

import figure_checks
from dpnoise_papers import style
from dpnoise_papers.claims.judge import SIGNS, judge, printed_numbers
from dpnoise_papers.claims.published import read_claims
from dpnoise_papers.flipped_huber_2023.privacy_figures import figure_1, figure_2
from dpnoise_papers.flipped_huber_2023.table_3.figures import table_3
from dpnoise_papers.flipped_huber_2023.table_3.replicates import JUDGED_BY as RESULT
from dpnoise_papers.style import in_order

CLAIMS = Path(__file__).parents[1] / "published" / "flipped-huber-2023.csv"


def density_table():
    t = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    one = {"t": t, "density": np.exp(-abs(t)), "gamma": 1.0}
    return pd.concat(
        [
            pd.DataFrame(one | {"alpha": 0.0, "transition": 0}),
            pd.DataFrame(one | {"alpha": 1.0, "transition": (abs(t) == 1).astype(int)}),
        ]
    )


def fisher_table():
    return pd.DataFrame(
        {
            "mechanism": ["flipped-huber"] * 4 + ["gaussian", "laplace"],
            "ratio": [0, 0.1, 1, 10, np.nan, np.nan],
            "nfi": [1, 1.0, 1.5, 2.0, 1, 2],
        }
    )


def table_3_inputs(missing="boston"):
    """Return a synthetic result table and the printed numbers: ours are 1.5 times those.

    `missing` is the data set, or several, that could not be had.
    """
    missing = [missing] if isinstance(missing, str) else missing
    claims = [claim for claim in read_claims(CLAIMS) if claim.item == "table-3"]
    printed = printed_numbers(claims, judge(claims, {}))
    wide = printed.pivot_table(index=["dataset", "mechanism"], columns="column", values="printed")
    table = (1.5 * wide).reset_index().assign(reading="chosen")
    table["status"] = np.where(table["dataset"].isin(missing), "missing", "ok")
    for column in ("nmse", "test_error"):
        table.loc[table["dataset"].isin(missing), column] = np.nan
        table[f"{column}_low"], table[f"{column}_high"] = 0.9 * table[column], 1.3 * table[column]
    for end, ratio in (("", 1.1), ("_low", 0.9), ("_high", 1.4)):
        table[f"nmse_ratio{end}"] = ratio
    verdicts = judge(claims, {RESULT: table})
    return table, printed_numbers(claims, verdicts)


@pytest.mark.parametrize("share", [0.4, 1.0])
def test_a_figure_of_missing_rows_is_whole_and_no_text_is_struck_through(share):
    datasets = sorted(set(table_3_inputs()[0]["dataset"]))
    missing = datasets[: round(share * len(datasets))]
    figure = figure_checks.drawn(table_3(*table_3_inputs(missing)))
    said = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert said.count("not run") == 4 * len(missing)  # two mechanisms, two panels
    assert figure_checks.struck_texts(figure) == []
    assert figure_checks.clipped_texts(figure) == []


def test_another_process_writes_the_same_bytes_without_a_date_or_version(tmp_path):
    """With another hash seed, time zone, backend and other settings of the user."""
    here = style.save(figure_2(fisher_table()), tmp_path / "here")
    assert [path.suffix for path in here] == [".svg", ".pdf", ".png"]
    fisher_table().to_csv(tmp_path / "table.csv", index=False)
    code = (
        "import matplotlib as mpl, pandas as pd; from dpnoise_papers import style;"
        "from dpnoise_papers.flipped_huber_2023.privacy_figures import figure_2;"
        "mpl.rcParams.update({'font.size': 20, 'svg.hashsalt': None, 'axes.facecolor': 'red'});"
        f"table = pd.read_csv({str(tmp_path / 'table.csv')!r});"
        f"style.save(figure_2(table), {str(tmp_path / 'there')!r})"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7", "MPLBACKEND": "svg", "TZ": "Asia/Tokyo"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    for path in here:
        content = path.read_bytes()
        assert content == path.with_name(f"there{path.suffix}").read_bytes()
        assert not re.search(rb"CreationDate|dc:date|\b20[0-9]{2}-[01][0-9]-", content)
        assert b"atplotlib v" not in content
        assert mpl.__version__.encode() not in content


def test_a_failed_drawing_leaves_nothing_behind(tmp_path):
    figure = figure_2(fisher_table())
    figure.axes[0].set_title("$\\unknown{$")
    with pytest.raises(ValueError, match="unknown"):
        style.save(figure, tmp_path / "broken")
    assert list(tmp_path.iterdir()) == []


def test_files_say_what_they_show_and_the_settings_of_the_user_stay(tmp_path):
    told = {"title": "paper, figure-2", "description": "From 1 < x & 2 'on'."}
    with mpl.rc_context({"font.size": 20, "svg.hashsalt": "own"}):
        before = {key: value for key, value in mpl.rcParams.items() if key != "backend"}
        svg, pdf, png = style.save(figure_2(fisher_table()), tmp_path / "x", **told)
        assert {key: mpl.rcParams[key] for key in before} == before
    root = ET.parse(svg).getroot()  # noqa: S314 - our own file
    space = "{http://www.w3.org/2000/svg}"
    assert root.get("role") == "img"
    assert root[0].tag == f"{space}title"
    assert [root[0].text, root[1].text] == list(told.values())
    assert root[1].tag == f"{space}desc"
    assert b"/Title (paper, figure-2)" in pdf.read_bytes()
    assert b"/Subject" in pdf.read_bytes()
    with Image.open(png) as image:
        assert image.text == {"Title": told["title"], "Description": told["description"]}


def test_figure_1_draws_every_density_with_its_transitions():
    figure = figure_1(density_table())
    plain, logarithmic = figure.axes
    for axes in (plain, logarithmic):
        dots = [line for line in axes.lines if line.get_marker() == "o" and len(line.get_xdata())]
        assert [list(line.get_xdata()) for line in dots] == [[-1, 1]]
        curves = [line for line in axes.lines if len(line.get_xdata()) == 5]
        assert len(curves) == 2
    assert logarithmic.get_yscale() == "log"
    assert plain.get_ylim()[0] == 0
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "Gaussian" in labels[0]
    assert "alpha=1" in labels[1]


def test_table_3_shows_printed_and_ours_in_units_of_the_printed_gaussian():
    table, printed = table_3_inputs()
    figure = table_3(table, printed)
    *panels, right = figure.axes
    diamonds = {line.get_ydata()[0]: line.get_xdata()[0] for line in right.lines
                if line.get_marker() == "D"}  # fmt: skip
    known = printed.set_index(["column", "dataset", "mechanism"])["printed"]["nmse"]
    assert diamonds == pytest.approx({
        height: known[dataset, "gaussian"] / known[dataset, "flipped-huber"]
        for height, dataset in enumerate(in_order(printed["dataset"]))
    })  # fmt: skip
    for axes, column in zip(panels, ("nmse", "test_error"), strict=True):
        paper = printed[printed["column"] == column].set_index(["dataset", "mechanism"])["printed"]
        open_circles = [
            (line.get_ydata()[0], line.get_xdata()[0])
            for line in axes.lines
            if line.get_markerfacecolor() == "none" and len(line.get_xdata()) == 1
        ]
        assert len(open_circles) == 16
        expected = {
            height + shift: paper[dataset, mechanism] / paper[dataset, "gaussian"]
            for height, dataset in enumerate(in_order(printed["dataset"]))
            for mechanism, shift in (("gaussian", -0.2), ("flipped-huber", 0.2))
        }
        assert dict(open_circles) == pytest.approx(expected)
        ours = [container.lines[0] for container in axes.containers]
        assert len(ours) == 14
        for line in ours:
            assert line.get_xdata()[0] == pytest.approx(1.5 * expected[line.get_ydata()[0]])
        texts = [text.get_text() for text in axes.texts]
        assert texts.count("not run") == 2
        # a sign marks what is not the most frequent verdict, which is named below
        verdicts = printed.set_index(["column", "dataset", "mechanism"])["verdict"]
        common = verdicts.mode().iloc[0]
        assert f"all other numbers: {common}" in figure.get_supxlabel()
        for word, mark in SIGNS.items():
            expected_signs = 0 if word == common else (verdicts[column] == word).sum()
            assert texts.count(mark) == expected_signs
        left, right = axes.get_xlim()
        assert left < min(expected.values())
        assert right > 1.5


def test_table_3_is_drawn_when_nothing_has_run():
    table, printed = table_3_inputs()
    table["status"] = "missing"
    printed["verdict"] = "not run"
    figure = table_3(table, printed)
    assert all(not axes.containers for axes in figure.axes)
