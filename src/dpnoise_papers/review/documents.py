"""What the page embeds: Markdown as HTML, the findings, figures, and bars of claims.

Of Markdown there are paragraphs, lists, tables, code and bold, nothing else. The findings that
users must know come from `published/findings.yaml`.

Figures are small data addresses, recoloured with few colours. Line drawings keep their edges in
lossless WebP with a small palette; where that is large (maps, clouds of points) lossy WebP is
smaller, and the smaller one is taken. The palette is an octree's, so that a thin curve, and one
that shows in the legend alone, keeps its colour.

The bar of a claim, as SVG, shows the printed value, the allowed band and ours on one axis.
"""

from __future__ import annotations

import math
import re
from base64 import b64encode
from io import BytesIO
from typing import TYPE_CHECKING, Annotated, NamedTuple

from markupsafe import Markup, escape
from PIL import Image
from pydantic import BaseModel, ConfigDict, StringConstraints

from dpnoise_papers.strict_yaml import read_typed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from dpnoise_papers.claims.interval import Band

_CODE = re.compile(r"`([^`]+)`")
_BOLD = re.compile(r"\*\*(.+?)\*\*")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")
_RULE = re.compile(r"\|?[\s:|-]+\|[\s:|-]*")
_CELL = re.compile(r"(?<!\\)\|")
_Text = Annotated[str, StringConstraints(min_length=1)]
WIDTHS = (1432, 1200, 1000)  # pixels; the first is twice the widest column of the page
SHOWN = 716
FEW = 96  # colours of a line drawing
BUDGET = 2_500_000  # characters of all addresses of a page, whose text takes as much
_LINE_ART = 60_000  # bytes; up to there the lossless form is taken
WIDTH, HEIGHT, MARGIN = 260.0, 26.0, 10.0
_DECADES = 1.5  # beyond that the axis is logarithmic
_NARROWEST = 3.0  # of the band, in the units of the picture


def inline(text: str) -> Markup:
    """Escaped text with backquoted code and bold; of a link its words."""
    parts = _CODE.split(text)
    for place, part in enumerate(parts):
        safe = str(escape(part.replace("\\|", "|")))
        if place % 2:
            parts[place] = f"<code>{safe}</code>"
        else:
            parts[place] = _BOLD.sub(r"<strong>\1</strong>", _LINK.sub(r"\1", safe))
    return Markup("".join(parts))  # noqa: S704 - escaped above


def cells(line: str) -> list[str]:
    """Cells of one row of a Markdown table."""
    return [cell.strip() for cell in _CELL.split(line.strip().strip("|"))]


def html(text: str) -> Markup:
    """A whole Markdown text as HTML, headings from the fourth rank down."""
    parts = []
    for block in _blocks(text):
        lines = block.splitlines()
        if lines[0].startswith("#"):
            parts.append(f"<h4>{inline(lines[0].lstrip('#').strip())}</h4>")
            lines = lines[1:]
        if not lines:
            continue
        if _is_table(lines):
            parts.append(_table(cells(lines[0]), [cells(line) for line in lines[2:]]))
        elif lines[0].startswith("- "):
            items = " ".join(lines).removeprefix("- ").split(" - ")
            parts.append("".join(["<ul>", *(f"<li>{inline(one)}</li>" for one in items), "</ul>"]))
        else:
            parts.append(f"<p>{inline(' '.join(lines))}</p>")
    return Markup("".join(parts))  # noqa: S704 - every part is escaped


def _blocks(text: str) -> list[str]:
    return [block.strip("\n") for block in re.split(r"\n\s*\n", text) if block.strip()]


def _is_table(lines: list[str]) -> bool:
    return len(lines) > 1 and "|" in lines[0] and _RULE.fullmatch(lines[1].strip()) is not None


def _table(header: list[str], rows: list[list[str]]) -> str:
    head = "".join(f'<th scope="col">{inline(cell)}</th>' for cell in header)
    body = "".join(
        f"<tr>{''.join(f'<td>{inline(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="wide" tabindex="0" role="region" aria-label="table">{table}</div>'


class Finding(BaseModel):
    """One finding: a sentence, what shows it with references to tables, items and causes.

    `shows` are items as 'paper/item', the one whose figure shows it first; `given` tells where each
    number of the text comes from that stands in no table of ours.
    """

    model_config = ConfigDict(extra="forbid")

    title: _Text
    text: _Text
    shows: list[_Text]
    causes: list[_Text] = []
    given: dict[str, str] = {}


def read_findings(path: Path) -> list[Finding]:
    """Findings in the order of the file; ValueError names every mistake."""
    return list(read_typed(path, dict[str, Finding]).values())


class Picture(NamedTuple):
    """A figure as a data address, with its size on the page in pixels."""

    address: str
    width: int
    height: int


def pictures(paths: Mapping[str, Path], budget: int = BUDGET) -> dict[str, Picture]:
    """Figures in PNG files, at the greatest of `WIDTHS` at which all of them keep to a budget.

    If none keeps to it, those of the smallest width.
    """
    made: dict[str, Picture] = {}
    for width in WIDTHS:
        made = {name: picture(path, width) for name, path in paths.items()}
        if sum(len(one.address) for one in made.values()) <= budget:
            break
    return made


def picture(path: Path, width: int = WIDTHS[0]) -> Picture:
    """Figure in a PNG file, `width` pixels wide."""
    with Image.open(path) as opened:
        full = opened.convert("RGB")
    height = round(full.height * width / full.width)
    small = full.resize((width, height), Image.Resampling.LANCZOS)
    tree = Image.Quantize.FASTOCTREE  # colours by their place, whatever their area
    few = small.quantize(FEW, method=tree, dither=Image.Dither.NONE).convert("RGB")
    content = _webp(few, lossless=True, quality=60, method=2)
    if len(content) > _LINE_ART:
        content = min(content, _webp(small, lossless=False, quality=72, method=4), key=len)
    address = f"data:image/webp;base64,{b64encode(content).decode()}"
    return Picture(address, SHOWN, round(full.height * SHOWN / full.width))


def _webp(image: Image.Image, *, lossless: bool, quality: int, method: int) -> bytes:
    buffer = BytesIO()
    image.save(buffer, format="WEBP", lossless=lossless, quality=quality, method=method)
    return buffer.getvalue()


def bar(band: Band, words: str) -> Markup:
    """Picture of a band, with `words` for those who do not see it."""
    along = _axis(band)
    shapes = [f'<line class="axis" x1="0" x2="{WIDTH:g}" y1="13" y2="13"/>']
    shapes += [
        f'<rect class="{name}" x="{left:.1f}" y="{y}" width="{right - left:.1f}" height="{height}"'
        ' rx="1.5"/>'
        for name, ends, y, height in (
            ("clear", band.clear, 9, 8),
            ("allowed", band.allowed, 6, 14),
        )
        for left, right in [_span(ends, along)]
    ]
    printed, ours = along(band.printed), along(band.value)
    shapes.append(
        f'<line class="printed" x1="{printed:.1f}" x2="{printed:.1f}" y1="2" y2="24"/>'
        f'<circle class="ours" cx="{ours:.1f}" cy="13" r="4.5"/>'
    )
    text = escape(words)
    opened = (
        f'<svg class="bar" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" aria-label="{text}">'
        f"<title>{text}</title>"
    )
    return Markup(f"{opened}{''.join(shapes)}</svg>")  # noqa: S704 - numbers and escaped words


def _axis(band: Band) -> Callable[[float], float]:
    """Place of a value on the axis, linear or logarithmic; an infinite one at its edge."""
    points = [band.value, band.printed, *band.allowed, *band.clear]
    finite = [point for point in points if math.isfinite(point)]
    low, high = min(finite), max(finite)
    logarithmic = low > 0 and high / low > 10**_DECADES
    if low == high:
        spread = abs(low) or 1.0
        low, high = low - spread, high + spread
    start, end = (math.log(low), math.log(high)) if logarithmic else (low, high)

    def along(value: float) -> float:
        if not math.isfinite(value):
            return WIDTH if value > 0 else 0.0
        place = math.log(value) if logarithmic else value
        return MARGIN + (WIDTH - 2 * MARGIN) * (place - start) / (end - start)

    return along


def _span(ends: tuple[float, float], along: Callable[[float], float]) -> tuple[float, float]:
    """Both ends of an interval on the axis, far enough apart to be seen."""
    left, right = (along(end) for end in ends)
    missing = max(0.0, _NARROWEST - (right - left)) / 2
    return left - missing, right + missing
