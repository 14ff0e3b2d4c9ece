"""Places of functions."""

import inspect
from pathlib import Path

import pytest

from dpnoise_papers.call import resolve
from dpnoise_papers.papers import papers
from dpnoise_papers.review.sources import place

NAMES = sorted(
    getattr(item, kind).function
    for paper in papers()
    for item in paper.items[:4]
    for kind in ("table", "figure", "page")
    if getattr(item, kind)
)


@pytest.mark.parametrize("name", NAMES)
def test_the_line_is_where_the_function_is_defined(name):
    found = place(name)
    function = inspect.unwrap(resolve(name))
    line = Path(found.path).read_text(encoding="utf-8").splitlines()[found.line - 1]
    assert line.startswith(f"def {function.__name__}(")


def test_an_unknown_function_is_named():
    with pytest.raises(ValueError, match="expected a function 'nothing'"):
        place("dpnoise_papers.call.nothing")
