"""Style of the page: text that everyone can read."""

import re
from pathlib import Path

import pytest

CSS = Path("src/dpnoise_papers/review/templates/page.css").read_text(encoding="utf-8")
TEXTS = (
    "ink",
    "quiet",
    "link",
    "reproduced",
    "ordering",
    "misprint",
    "undecided",
    "differs",
    "notrun",
)
SCHEMES = re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)


def luminance(colour):
    """Relative luminance of WCAG 2."""
    digits = colour if len(colour) == 6 else "".join(2 * one for one in colour)
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_there_is_a_light_a_dark_and_a_printed_scheme():
    assert len(SCHEMES) == 3


@pytest.mark.parametrize("scheme", SCHEMES, ids=["light", "dark", "print"])
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("ground", ["paper", "card", "soft", "here"])
def test_text_has_the_contrast_of_wcag_aa(scheme, text, ground):
    colours = dict(re.findall(r"--(\w+): #([0-9a-f]+)", scheme))
    light, dark = sorted((luminance(colours[name]) for name in (text, ground)), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_the_script_is_a_page_or_three():
    script = Path("src/dpnoise_papers/review/templates/page.js").read_text(encoding="utf-8")
    assert len(script.splitlines()) <= 150
