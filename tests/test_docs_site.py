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
        assert (ROOT / "docs" / "api" / link).resolve().is_file()
        assert caption
