"""Generated pages of the site: every public name, once, and what public functions return."""

import inspect
import re
import runpy

from numpydoc.docscrape import FunctionDoc

import dpnoise
import dpnoise.denoise as dpnoise_denoise
import dpnoise.learn as dpnoise_learn
from document_pages import ROOT
from dpnoise.releases.release import Release

MADE = runpy.run_path(str(ROOT / "docs" / "generated.py"))


PAGES = MADE["reference"]()


def listed(pages=PAGES):
    found = "\n".join(pages.values())
    return re.findall(r"^   (dpnoise[\w.]+)$", found, re.MULTILINE)


def test_the_reference_lists_every_public_name_once():
    names = listed()
    files = [MADE["FILES"].get(name, name) for name in names]
    assert len(names) == len({name.lower() for name in files})  # a file each, on any system
    for package in (dpnoise_denoise, dpnoise_learn):
        assert {f"{package.__name__}.{name}" for name in package.__all__} <= set(names)
    assert {f"dpnoise.{name}" for name in dpnoise._PUBLIC} <= set(names)
    assert "dpnoise.noise.KNorm" in names
    assert "dpnoise.noise.Gaussian" not in names  # has a page as dpnoise.Gaussian
    assert not [name for name in names if re.search(r"\._|__", name)]


def test_the_front_page_has_at_most_twenty_names_below_five_nouns():
    front, *further = PAGES["index"].split("\n## Further names\n")
    assert listed({"index": front}) != []
    assert set(listed({"index": front})) == {f"dpnoise.{name}" for name in dpnoise.__all__}
    assert len(listed({"index": front})) <= 20
    assert len(re.findall(r"^## ", front, re.MULTILINE)) == 5
    assert not listed({"further": further[0]})
    assert re.findall(r"^(\w+)$", further[0], re.MULTILINE) == [*PAGES][1:]
    stated = (ROOT / "docs" / "library.md").read_text(encoding="utf-8").partition("\n## ")[0]
    table = "".join(line for line in stated.splitlines() if line.startswith("|"))
    assert set(re.findall(r"`(\w+)`", table)) == set(dpnoise.__all__)


def test_the_helpers_of_release_have_pages():
    helpers = {name for name in vars(Release) if not name.startswith("_")}
    assert helpers >= {"count", "histogram", "mean", "quantile", "sum"}
    pages = {name for name in listed() if name.startswith("dpnoise.release.")}
    assert pages == {f"dpnoise.release.{name}" for name in helpers}


def returned(function):
    """Names of classes in the section of what a function returns."""
    types = [one.type for one in FunctionDoc(function)["Returns"]]
    return {word for text in types for word in re.findall(r"\b[A-Z]\w+(?![\w.])", text)}


def test_what_public_functions_return_has_a_page():
    pages = {name.rpartition(".")[2] for name in listed()}
    found = {name: one for name, one in MADE["public_names"]().items() if inspect.isroutine(one)}
    assert len(found) > 40
    assert {"Mechanism", "Comparison", "Released"} <= set().union(*map(returned, found.values()))
    others = {"K", "Measurement", "PrivacyLossDistribution"}  # of shapes, of other packages
    for name, function in found.items():
        assert returned(function) <= pages | others, name
