"""Names of items as the papers write them: 'Table II' for table-2."""

from __future__ import annotations

import re

_NUMBERED = re.compile(
    r"(table|figure|equation|theorem|lemma|remark|corollary|proposition|algorithm|section|appendix)"
    r"-((?:\d+[a-d]?|[ivx]+|[a-f])(?![a-z])(?:-(?:\d+|[a-f])(?![a-z]))*)(?:-(.+))?"
)
_KINDS = ("table", "figure", "algorithm", "section", "equation", "lemma", "theorem", "corollary",
          "proposition", "remark", "appendix")  # fmt: skip
_ROMAN = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")
_WRITTEN = {name: name.upper() for name in ("dp", "pca", "cd", "spr", "1d", "20d", "kd")}
_WRITTEN |= {
    name: name.capitalize() for name in ("fisher", "laplace", "gaussian", "huber", "bayes")
}
_WRITTEN |= {"inid": "i.n.i.d."}


def item_label(item: str) -> str:
    """Name of an item for people, from its id: 'figure-3a' is 'Figure 3a', 'table-2' 'Table II'."""
    match = _NUMBERED.fullmatch(item)
    if not match:
        return _words(item)
    kind, number, rest = match.groups(default="")
    if kind == "table":
        number = _ROMAN[int(number)] if number.isdigit() and int(number) < len(_ROMAN) else number
    elif kind == "equation":
        number = f"({number})"
    elif kind in ("section", "appendix"):
        joint = "." if any(part.isdigit() for part in number.split("-")) else "-"
        number = number.upper().replace("-", joint)
    name = f"{kind.capitalize()} {number}"
    return f"{name}, {_words(rest, sentence=False)}" if rest else name


def order_of(item: str) -> tuple[int, int, str]:
    """Key that sorts items as a paper prints them, by kind, then number; others stay last."""
    match = _NUMBERED.fullmatch(item)
    if not match:
        return len(_KINDS), 0, ""
    number = match[2].partition("-")[0]
    digits = re.match(r"\d+", number)
    roman = number.upper()
    value = int(digits[0]) if digits else _ROMAN.index(roman) if roman in _ROMAN else 0
    return _KINDS.index(match[1]), value, item


def group_of(item: str, *, judged: bool) -> str:
    """Under which heading an item is listed; `judged` says whether it has claims."""
    match = _NUMBERED.fullmatch(item)
    if match and match[1] in ("table", "figure") and not match[3]:
        return "Figures and tables"
    return "Theory and text" if judged else "Beside the paper"


def _words(item: str, *, sentence: bool = True) -> str:
    """Words of an id, with names and abbreviations as they are written."""
    text = " ".join(_WRITTEN.get(part, part) for part in item.split("-"))
    return text[:1].upper() + text[1:] if sentence else text
