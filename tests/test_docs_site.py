"""Generated pages of the site: every public name, every picture that is there."""

import re
import runpy

import dpnoise
from document_pages import ROOT

MADE = runpy.run_path(str(ROOT / "docs" / "generated.py"))


def test_the_reference_lists_every_public_name_once():
    listed = re.findall(r"^   (dpnoise\.\w+)$", MADE["reference"](), re.MULTILINE)
    assert sorted(listed) == sorted(f"dpnoise.{name}" for name in dpnoise.__all__)


def test_pictures_of_the_gallery_exist_and_have_captions():
    shown = re.findall(r"!\[.*?\]\((.*?)\)\n\n(.*)\n", MADE["gallery"]())
    assert len(shown) > 10
    for link, caption in shown:
        found = (ROOT / "docs" / "api" / link).resolve()
        assert found.is_file()
        assert (ROOT / "docs") in found.parents
        assert caption


def test_pictures_of_a_run_are_copied_below_docs(tmp_path, monkeypatch):
    picture = tmp_path / "figures" / "some-paper" / "figure-1.png"
    picture.parent.mkdir(parents=True)
    picture.write_bytes(b"picture")
    picture_of = MADE["_picture"]
    monkeypatch.setitem(picture_of.__globals__, "FIGURES", tmp_path / "figures")
    monkeypatch.setitem(picture_of.__globals__, "DOCS", tmp_path / "docs")
    link = picture_of("some-paper/figure-1")
    assert ".." not in link
    assert (tmp_path / "docs" / "api" / link).read_bytes() == b"picture"
    assert picture_of("some-paper/figure-2") == ""
