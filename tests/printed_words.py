"""Checks of the repository's own texts: numbers that nothing vouches for, quotes of no paper."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from dpnoise_papers.claims.references import REFERENCE

if TYPE_CHECKING:
    from collections.abc import Iterable

_DIGITS = r"[+-]?\d(?:[\d,]*\d)?(?:\.\d+)?(?:e[+-]?\d+)?(?: ?%)?"
_NUMBER = re.compile(rf"(?<![\w.^-]){_DIGITS}")
_NAMES = "Theorem|Lemma|Corollary|Proposition|Remark|Algorithm|Figure|Fig|Table|Section|Appendix"
# What a number may be without standing in a table: a setting, a place in a paper, an index.
_SETTING = r"(?:K|d|n|p|q|r|L|M|N|epsilon|delta|Delta|theta|lambda|nu|q|line|footnote|bins|passes)"
_ALLOWED = (
    re.compile(rf"\b(?:{_NAMES})s?\.? \d+(?:[a-d]\b|\.\d+)*(?:(?:,| and| to| or) \d+[a-d]?\b)*"),
    re.compile(rf"\b{_SETTING} (?:=|<|<=|>|>=|of|up to|from|below|above) {_DIGITS}"
               rf"(?:(?:,| and| to| or|, and) {_DIGITS})*"),
    re.compile(r"\(\d+\)|\[\d+\]|\b(?:[Ll]ine|[Ff]ootnote|[Ss]tep)s? \d+"),
)  # fmt: skip
LEFT_OUT = " ... "
_APART = 600  # characters that may be left out between two parts of a quote
_SAME = str.maketrans("\u2018\u2019\u201c\u201d\u2013\u2014\u2212", "''\"\"---")


def loose_numbers(text: str, known: Iterable[str] = ()) -> list[str]:
    """Numbers of a text that nothing vouches for.

    References are left out, as are settings ('epsilon = 0.3'), places ('Theorem 8', '(12)'), what
    stands in backquotes, and `known` numbers: those that a paper prints or whose origin is given.
    """
    rest = re.sub(r"`[^`]*`", " ", REFERENCE.sub(" ", text))
    for pattern in _ALLOWED:
        rest = pattern.sub(" ", rest)
    known = {number.replace(",", "").replace(" ", "") for number in known}
    found = [match[0] for match in _NUMBER.finditer(rest)]
    return [number for number in found if number.replace(",", "").replace(" ", "") not in known]


def not_in_text(quotes: Iterable[str], text: str) -> list[str]:
    """Those of some quotes whose words do not stand in a text, parts left out apart.

    Case, spaces, hyphens at the end of lines and the kind of a dash or quotation mark are ignored.
    """
    plain = _letters(text)
    missing = []
    for quote in quotes:
        parts = [_letters(part) for part in quote.split(LEFT_OUT)]
        between = f".{{0,{_APART}}}?"
        if not re.search(between.join(re.escape(part) for part in parts), plain):
            missing.append(quote)
    return missing


def _letters(text: str) -> str:
    """Text in lower case without spaces or hyphens, as far as its letters and signs go."""
    text = unicodedata.normalize("NFKC", text).translate(_SAME).lower()
    return re.sub(r"[\s\u00ad\u200b\u2061\u2062-]+", "", text)
