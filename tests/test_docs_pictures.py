"""The pictures of the noise families in docs/images/noise are those that docs/pictures.py draws."""

import runpy

import numpy as np
import pytest

from document_pages import ROOT, coordinates

FOLDER = ROOT / "docs" / "images" / "noise"
MADE = runpy.run_path(str(ROOT / "docs" / "pictures.py"))


def test_there_is_a_picture_of_every_page_and_no_other_and_all_are_small():
    pages = {path.stem for path in (ROOT / "docs" / "noise").glob("*.md")}
    assert {path.stem for path in FOLDER.glob("*.svg")} == pages
    assert max(path.stat().st_size for path in FOLDER.glob("*.svg")) <= 60_000


@pytest.mark.slow
def test_pictures_are_not_stale(tmp_path):
    drawn = MADE["pictures"]()
    assert set(drawn) == {path.stem for path in FOLDER.glob("*.svg")}
    for name, figure in drawn.items():
        svg = tmp_path / f"{name}.svg"
        svg.write_bytes(MADE["svg"](figure))
        kept, made = coordinates(FOLDER / f"{name}.svg"), coordinates(svg)
        assert kept.shape == made.shape, name
        assert np.allclose(kept, made, atol=0.01), name


def test_all_noise_of_a_picture_has_one_variance():
    for name, noise in MADE["continuous"]().items():
        assert noise.std() == pytest.approx(MADE["STD"], rel=1e-8), name


@pytest.mark.slow
def test_the_picture_of_workloads_is_not_stale(tmp_path):
    made = runpy.run_path(str(ROOT / "docs" / "picture_of_workloads.py"))
    (tmp_path / "drawn.svg").write_bytes(made["svg"]())
    drawn = coordinates(tmp_path / "drawn.svg")
    kept = coordinates(ROOT / "docs" / "images" / "workloads.svg")
    assert kept.shape == drawn.shape
    assert np.allclose(kept, drawn, atol=0.05)
