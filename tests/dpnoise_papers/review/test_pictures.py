"""Figures as data addresses."""

from base64 import b64decode
from io import BytesIO

import numpy as np
import pytest
from PIL import Image, ImageDraw

from dpnoise_papers.review.pictures import WIDTHS, picture, pictures

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]


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


def test_figures_shrink_until_they_keep_to_the_budget(tmp_path):
    drawing = tmp_path / "cloud.png"
    places = np.random.default_rng(1).integers((2100, 900), size=(500, 2))
    image = Image.new("RGB", (2148, 960), "white")
    for x, y in places.tolist():
        ImageDraw.Draw(image).ellipse([x, y, x + 30, y + 30], COLOURS[x % 6])
    image.save(drawing)
    sizes = [2 * len(picture(drawing, width).address) for width in WIDTHS]
    for budget in (*sizes, min(sizes) - 1):
        fitting = [width for width, size in zip(WIDTHS, sizes, strict=True) if size <= budget]
        found = pictures({"a": drawing, "b": drawing}, budget)
        assert decoded(found["b"]).width == (fitting or WIDTHS[-1:])[0]
