import math
import re
from base64 import b64decode
from functools import cache
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from dpnoise_papers.claims.interval import Band
from dpnoise_papers.claims.published import read_published
from dpnoise_papers.claims.references import references
from dpnoise_papers.item import papers
from dpnoise_papers.review import documents as module
from dpnoise_papers.review.documents import (
    WIDTH,
    WIDTHS,
    bar,
    html,
    inline,
    picture,
    pictures,
    read_findings,
)
from printed_words import loose_numbers

PATH = Path("published/findings.yaml")
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
INF = math.inf


def test_text_is_escaped_and_code_and_bold_are_marked():
    assert inline("a < b, `x < y`, **c** & [d](e.md)") == (
        "a &lt; b, <code>x &lt; y</code>, <strong>c</strong> &amp; d"
    )


def test_a_page_keeps_its_heading_its_list_and_the_cells_of_its_table():
    text = "# Title\n\nA note\non two lines.\n\n"
    text += "| a | b |\n|---|---|\n| 1 \\| 2 | <3> |\n\n- x\n- y\n  z\n"
    shown = str(html(text))
    assert "<h4>Title</h4>" in shown
    assert "<p>A note on two lines.</p>" in shown
    assert "<td>1 | 2</td><td>&lt;3&gt;</td>" in shown
    assert "<li>x</li>" in shown


def test_there_are_five_that_name_items_and_causes_which_exist():
    findings, causes = (
        read_findings(PATH),
        {cause.id for cause in read_published("published").causes},
    )
    items = {f"{paper.id}/{item.id}" for paper in papers() for item in paper.items}
    assert len(findings) == 5
    for finding in findings:
        assert set(finding.shows) <= items
        assert set(finding.causes) <= causes


def test_every_number_of_a_finding_is_a_reference_or_accounted_for():
    printed = (value for claim in read_published("published").claims
               for value in (claim.printed, claim.corrected) if value)  # fmt: skip
    known = {value.text for value in printed}
    for finding in read_findings(PATH):
        assert loose_numbers(f"{finding.title} {finding.text}", known | set(finding.given)) == []
        references(finding.text)  # raises if one is malformed


def test_mistakes_are_named(tmp_path):
    path = tmp_path / "findings.yaml"
    path.write_text("one: {title: '', text: a, shows: [x], typo: 1}\n")
    with pytest.raises(ValueError, match=r"one\.title.*one\.typo"):
        read_findings(path)


@pytest.fixture
def drawing(tmp_path):
    """Thin curves of six colours, two of them in the legend alone, among shades of grey."""
    image = Image.new("RGB", (2148, 960), "white")
    draw = ImageDraw.Draw(image)
    for place, colour in enumerate(COLOURS):
        start, end = 100 + 120 * place, (2000, 150 + 120 * place)
        draw.line([(50, start), end if place < 4 else (110, start)], colour, width=5)
        shade = 40 * place
        draw.rectangle([1000 + 100 * place, 500, 1090 + 100 * place, 900], (shade, 120, shade))
    path = tmp_path / "drawing.png"
    image.save(path)
    return path


def decoded(found):
    head, content = found.address.split(",")
    assert head == "data:image/webp;base64"
    return Image.open(BytesIO(b64decode(content))).convert("RGB")


def test_every_thin_curve_keeps_its_colour(drawing):
    found = picture(drawing)
    image = decoded(found)
    assert image.size == (1432, 640)
    assert (found.width, found.height) == (716, 320)
    pixels = np.asarray(image).reshape(-1, 3).astype(int)
    for colour in COLOURS:
        wanted = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
        assert np.abs(pixels - wanted).max(axis=1).min() <= 12


def test_figures_shrink_until_they_keep_to_the_budget(tmp_path, monkeypatch):
    drawing = tmp_path / "cloud.png"
    places = np.random.default_rng(1).integers((2100, 900), size=(500, 2))
    image = Image.new("RGB", (2148, 960), "white")
    for x, y in places.tolist():
        ImageDraw.Draw(image).ellipse([x, y, x + 30, y + 30], COLOURS[x % 6])
    image.save(drawing)
    made = cache(picture)
    monkeypatch.setattr(module, "picture", made)
    sizes = [2 * len(made(drawing, width).address) for width in WIDTHS]
    for budget in (*sizes, min(sizes) - 1):
        fitting = [width for width, size in zip(WIDTHS, sizes, strict=True) if size <= budget]
        found = pictures({"a": drawing, "b": drawing}, budget)
        assert decoded(found["b"]).width == (fitting or WIDTHS[-1:])[0]


def places(band):
    text = str(bar(band, "said < so"))
    spans = {name: (float(x), float(x) + float(w)) for name, x, w in re.findall(
        r'<rect class="(\w+)" x="([-\d.]+)" y="\d+" width="([-\d.]+)"', text)}  # fmt: skip
    printed = float(re.search(r'class="printed" x1="([-\d.]+)"', text)[1])
    ours = float(re.search(r'cx="([-\d.]+)"', text)[1])
    assert 'aria-label="said &lt; so"' in text
    return spans, printed, ours


@pytest.mark.parametrize(
    "band",
    [
        Band(22.21, 22.21, (22.205, 22.215), (22.205, 22.215)),
        Band(555.5, 502.0, (501.5, 502.5), (501.5, 502.5)),
        Band(1e-9, 3.0, (2.9, 3.1), (2.5, 3.5)),
        Band(-2.0, 0.0, (-INF, 0.0), (-INF, 0.5)),
        Band(0.3, 0.0, (0.1, INF), (-0.1, INF)),
        Band(0.0, 0.0, (-INF, 0.0), (-INF, 0.0)),
    ],
)
def test_the_picture_shows_whether_ours_is_inside(band):
    spans, printed, ours = places(band)
    low, high = spans["allowed"]
    assert all(-2 <= place <= WIDTH + 2 for place in (*spans["allowed"], *spans["clear"], ours))
    assert high - low >= 2.9
    if band.allowed[0] <= band.value <= band.allowed[1]:
        assert low - 0.1 <= ours <= high + 0.1
    else:
        assert not low + 1.6 < ours < high - 1.6
    assert (ours < printed) == (band.value < band.printed)
    assert spans["clear"][0] <= low + 0.1
    assert spans["clear"][1] >= high - 0.1


def test_decades_apart_the_axis_is_logarithmic():
    _, printed, ours = places(Band(1e-4, 1.0, (0.5, 1.5), (0.5, 1.5)))
    spans, printed_near, _ = places(Band(1e-2, 1.0, (0.1, 1.5), (0.1, 1.5)))
    assert printed - ours > 0.8 * (WIDTH - 20)
    middle = (
        printed_near - spans["allowed"][0]
    ) / WIDTH  # from 0.1 to 1 is nearly half of the axis
    assert 0.3 < middle < 0.6
