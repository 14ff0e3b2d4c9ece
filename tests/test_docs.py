"""Documents: every path, module, target, command and link that they name exists."""

import importlib.util
import re
import shlex

import pytest

from document_pages import DOCUMENTS, PAGES, ROOT, commands, name

FILE = re.compile(
    r"(?<![\w/.-])((?:src|tests|workflow|docs|published|profiles|benchmarks)/[\w./-]+\.\w+)\b"
)
NAME = re.compile(r"\b(dpnoise(?:_papers)?(?:\.\w+)+)\b")
MAKE = re.compile(r"(?:`|^ {4}|&& )make ((?:[\w./-]+)(?: [\w./-]+)*)", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
MADE = re.findall(r"^([\w -]+):(?!=)", (ROOT / "Makefile").read_text(), re.MULTILINE)
TARGETS = {".venv/ready", ".venv-deep/ready", *" ".join(MADE).split()}


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_every_file_that_is_named_exists(document):
    named = FILE.findall(document.read_text(encoding="utf-8"))
    missing = [name for name in named if not list(ROOT.glob(name))]
    assert not missing


def is_module(full_name):
    """Whether there is a module of this name."""
    try:
        return importlib.util.find_spec(full_name) is not None
    except ModuleNotFoundError:
        return False


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_every_module_or_function_that_is_named_exists(document):
    for one in set(NAME.findall(document.read_text(encoding="utf-8"))):
        parts = one.split(".")
        for depth in range(len(parts), 0, -1):
            if not is_module(".".join(parts[:depth])):
                continue
            if depth == len(parts):  # not imported: it may need an extra
                break
            found = importlib.import_module(".".join(parts[:depth]))
            for part in parts[depth:]:
                found = getattr(found, part)
            break


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_every_target_of_make_that_is_named_exists(document):
    for words in MAKE.findall(document.read_text(encoding="utf-8")):
        assert words.split()[0] in TARGETS, words


def anchors(path):
    """Anchors of the headings of a page, as a repository's browser makes them."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_leads_somewhere(page):
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if not link.startswith(("http:", "https:")):
            file, _, anchor = link.partition("#")
            target = (page.parent / file).resolve() if file else page
            assert target.exists(), link
            if anchor and target.suffix == ".md":
                assert anchor in anchors(target), link


def test_the_pages_state_the_minutes_that_make_announces():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (announced,) = re.findall(r"^MINUTES = (\d+)$", makefile, re.MULTILINE)
    for page, words in (("README.md", "on two idle cores"), ("docs/reviewing.md", r"\(\d+ core")):
        text = (ROOT / page).read_text(encoding="utf-8")
        assert re.findall(rf"about (\d+) minutes {words}", text) == [announced], page


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_command_is_one_that_a_test_runs_or_a_file_shown(page):
    """tests/dpnoise/cli/test_program.py runs those of dpnoise."""
    for command, _ in commands(page):
        assert shlex.split(command)[0] in {"dpnoise", "cat", "pip", "python"}, command


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_python_is_marked_as_such(page):
    """Only what is marked is run, by tests/dpnoise/test_examples.py."""
    text = re.sub(
        r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    assert not re.findall(r"^(?: {4})?(?:import|from) \w+.*", text, re.MULTILINE)
