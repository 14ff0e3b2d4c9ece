"""Generated pages of the site: every public name, every picture that is there."""

import dataclasses
import inspect
import re
import runpy

import pytest
from numpydoc.docscrape import FunctionDoc

import dpnoise
import dpnoise.denoise as dpnoise_denoise
import dpnoise.learn as dpnoise_learn
from document_pages import ROOT
from dpnoise.noise import FAMILIES, INTEGER_FAMILIES
from dpnoise.releases.release import Release

MADE = runpy.run_path(str(ROOT / "docs" / "generated.py"))


PAGES = MADE["reference"]()
# Of proofs, of an account, a protocol of two.
INSIDE = {
    "ErrorCertificate",
    "FloorCertificate",
    "Histogram",
    "Ledger",
    "RealVectorNoise",
    "Target",
}


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
    assert {"dpnoise.noise.KNorm", "dpnoise.noise.Staircase2D"} <= set(names)
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


def test_what_results_consist_of_has_a_page():
    """Types of the fields of public classes that are the package's own."""
    names = MADE["public_names"]()
    pages = {name.rpartition(".")[2] for name in names}
    assert {"Floor", "Entry", "Request", "VectorNoise", "BlockNoise", "IntegerVector"} <= pages
    seen = set()
    for one in names.values():
        if dataclasses.is_dataclass(one):
            types = " ".join(str(field.type) for field in dataclasses.fields(one))
            seen |= set(re.findall(r"\b[A-Z][a-z]\w+", types))
    assert {"Request", "Judged", "JointNoise", "FloorCertificate"} <= seen
    outside = {"Any", "None", "Array", "ArrayLike", "Fraction", "Generator", "InitVar", "IntArray"}
    assert seen - outside <= pages | INSIDE


METHODS = {
    "pdf", "logpdf", "pmf", "logpmf", "cdf", "sf", "logsf", "ppf", "isf", "var", "std", "mean_abs",
    "fisher_information", "rvs", "scaled", "coupled",
}  # fmt: skip
OWN = {"FlippedHuber": {"centre_mass"}}


@pytest.mark.parametrize("family", [*FAMILIES.values(), *INTEGER_FAMILIES.values()])
def test_pages_of_noise_show_the_methods_of_scipy_and_nothing_internal(family):
    left_out = runpy.run_path(str(ROOT / "docs" / "conf.py"))["_not_ours"]
    fields = {field.name for field in dataclasses.fields(family)} | {"bound", "log_concave"}
    members = {name: getattr(family, name) for name in dir(family) if name[0] != "_"}
    shown = {
        name
        for name, one in members.items()
        if name not in fields and not left_out(None, "class", name, one, False, None)
    }
    assert {"cdf", "var", "rvs"} <= shown
    assert shown <= METHODS | OWN.get(family.__name__, set())


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
