"""Documents: every path, module, target, command and link that they name exists."""

import importlib.util
import re
import shlex

from document_pages import DOCUMENTS, PAGES, ROOT, commands, name

FILE = re.compile(
    r"(?<![\w/.-])((?:src|tests|workflow|docs|published|profiles|benchmarks)/[\w./-]+\.\w+)\b"
)
NAME = re.compile(r"\b(dpnoise(?:_papers)?(?:\.\w+)+)\b")
MAKE = re.compile(r"(?:`|^ {4}|&& )make ((?:[\w./-]+)(?: [\w./-]+)*)", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
MADE = re.findall(r"^([\w -]+):(?!=)", (ROOT / "Makefile").read_text(), re.MULTILINE)
TARGETS = {".venv/runs", ".venv/ready", ".venv-deep/ready", *" ".join(MADE).split()}


def told(documents, pattern):
    """Yield every match of a pattern, with the name of its document."""
    for document in documents:
        for found in pattern.findall(document.read_text(encoding="utf-8")):
            yield name(document), found


def test_every_file_that_is_named_exists():
    named = list(told(DOCUMENTS, FILE))
    assert len(named) > 50
    assert [(page, file) for page, file in named if not list(ROOT.glob(file))] == []


def is_module(full_name):
    """Whether there is a module of this name."""
    try:
        return importlib.util.find_spec(full_name) is not None
    except ModuleNotFoundError:
        return False


def exists(full_name):
    """Whether there is a module, or something in one, of this name."""
    parts = full_name.split(".")
    depth = next(n for n in range(len(parts), -1, -1) if not n or is_module(".".join(parts[:n])))
    if depth == len(parts):  # not imported: it may need an extra
        return True
    found = importlib.import_module(".".join(parts[:depth])) if depth else None
    for part in parts[depth:]:
        found = getattr(found, part, None)
    return found is not None


def test_every_module_or_function_that_is_named_exists():
    named = set(told(DOCUMENTS, NAME))
    known = {one: exists(one) for _, one in named}
    assert len(known) > 20
    assert sorted((page, one) for page, one in named if not known[one]) == []
    assert not exists("dpnoise.no_such_module")
    assert not exists("dpnoise.noise.NoSuchNoise")


def test_every_target_of_make_that_is_named_exists():
    named = list(told(DOCUMENTS, MAKE))
    assert len(named) > 20
    assert [(page, words) for page, words in named if words.split()[0] not in TARGETS] == []


def anchors(path):
    """Anchors of the headings of a page, as a repository's browser makes them."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


def broken(page, link):
    """Whether a link of a page leads to no file or to no heading."""
    file, _, anchor = link.partition("#")
    target = (page.parent / file).resolve() if file else page
    if not target.exists():
        return True
    return bool(anchor) and target.suffix == ".md" and anchor not in anchors(target)


def test_every_link_leads_somewhere():
    links = [(ROOT / page, link) for page, link in told(PAGES, LINK)]
    inner = [pair for pair in links if not pair[1].startswith(("http:", "https:"))]
    assert len(inner) > 50
    assert [pair for pair in inner if broken(*pair)] == []
    assert broken(ROOT / "README.md", "docs/no-such-page.md")
    assert broken(ROOT / "README.md", "#no-such-heading")


def test_the_pages_state_the_minutes_that_make_announces():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (announced,) = re.findall(r"^MINUTES = (\d+)$", makefile, re.MULTILINE)
    for page, words in (("README.md", "on two idle cores"), ("docs/reviewing.md", r"\(\d+ core")):
        text = (ROOT / page).read_text(encoding="utf-8")
        assert re.findall(rf"about (\d+) minutes {words}", text) == [announced], page


def test_every_command_is_one_that_a_test_runs_or_a_file_shown():
    """tests/dpnoise/cli/test_program.py runs those of dpnoise."""
    shown = [(name(page), shlex.split(command)) for page in PAGES for command, _ in commands(page)]
    assert len(shown) > 10
    known = {"dpnoise", "cat", "pip", "python"}
    assert [pair for pair in shown if pair[1][0] not in known] == []


def test_python_is_marked_as_such():
    """Only what is marked is run, by tests/dpnoise/test_examples.py."""
    unmarked = []
    for page in PAGES:
        text = re.sub(
            r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
        )
        found = re.findall(r"^(?: {4})?(?:import|from) \w+.*", text, re.MULTILINE)
        unmarked += [(name(page), line) for line in found]
    assert unmarked == []


def sentences(page):
    """Sentences of a page, without headings, tables, code, pictures and what a run fills in."""
    text = re.sub(r"^```.*?^```$|<!--.*?<!-- end -->", "", page, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^ {4}.*$|!\[.*?\]\(.*?\)|(?<=\])\(.*?\)", "", text, flags=re.MULTILINE)
    parts = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text)]
    parts = [part for part in parts if part and part[0] not in "#|"]
    return [one for part in parts for one in re.split(r"(?<=[.!?:]) (?=[A-Z\[(*`])", part)]


def test_the_first_pages_are_short_and_plain():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(re.sub(r"(?ms)^```.*?^```$", "", readme).split()) <= 400
    assert len(re.findall(r"(?<!!)\[[^\]]*\]\(", readme)) <= 15
    for page in (ROOT / "README.md", ROOT / "docs" / "tutorial.md"):
        found = sentences(page.read_text(encoding="utf-8"))
        assert len(found) > 10
        assert [one for one in found if len(one.split()) > 25] == []
