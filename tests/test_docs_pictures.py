"""The pictures of the noise families in docs/images/noise are those that docs/pictures.py draws."""

import runpy
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from document_pages import ROOT, coordinates

FOLDER = ROOT / "docs" / "images" / "noise"
MADE = runpy.run_path(str(ROOT / "docs" / "pictures.py"))


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """The pictures as they are drawn now, by name."""
    folder = tmp_path_factory.mktemp("drawn")
    for name, figure in MADE["pictures"]().items():
        (folder / f"{name}.svg").write_bytes(MADE["svg"](figure))
    return {path.stem: path for path in folder.iterdir()}


def test_there_is_a_picture_of_every_page_and_no_other(drawn):
    kept = {path.stem for path in FOLDER.glob("*.svg")}
    assert kept == set(drawn) == {path.stem for path in (ROOT / "docs" / "noise").glob("*.md")}


def test_pictures_are_not_stale(drawn):
    for name, svg in drawn.items():
        kept, made = coordinates(FOLDER / f"{name}.svg"), coordinates(svg)
        assert kept.shape == made.shape, name
        assert np.allclose(kept, made, atol=0.01), name


def test_pictures_are_small():
    for path in FOLDER.glob("*.svg"):
        assert path.stat().st_size <= 60_000
        ET.parse(path)  # noqa: S314 - our own


def test_all_noise_of_a_picture_has_one_variance():
    for name, noise in MADE["continuous"]().items():
        assert noise.std() == pytest.approx(MADE["STD"], rel=1e-8), name


def test_the_picture_of_workloads_is_not_stale(tmp_path):
    made = runpy.run_path(str(ROOT / "docs" / "picture_of_workloads.py"))
    (tmp_path / "drawn.svg").write_bytes(made["svg"]())
    drawn = coordinates(tmp_path / "drawn.svg")
    kept = coordinates(ROOT / "docs" / "images" / "workloads.svg")
    assert kept.shape == drawn.shape
    assert np.allclose(kept, drawn, atol=0.05)
