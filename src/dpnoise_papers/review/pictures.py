"""Pictures of the page: figures as small data addresses, and the small bar of a claim as SVG.

Figures are recoloured with few colours.
Line drawings keep their edges in lossless WebP with a small palette; where that is large (maps,
clouds of points) lossy WebP is smaller, and the smaller one is taken. The palette is chosen as if
each colour covered the square root of its area; then the colours that it misses most are added, so
that a thin curve, and one that shows in the legend alone, keeps its own.

A bar shows the printed value, the allowed band and ours on one axis.
"""

from __future__ import annotations

import math
from base64 import b64encode
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from markupsafe import Markup, escape
from PIL import Image

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from dpnoise_papers.claims.interval import Band

WIDTHS = (1432, 1200, 1000)  # pixels; the first is twice the widest column of the page
SHOWN = 716
COMMON, RARE = 32, 16  # colours: of large areas, and those that would be missed most
BUDGET = 2_700_000  # characters of all addresses of a page; its text takes 2.5 MB or so
_LINE_ART = 60_000  # bytes; up to there the lossless form is taken
WIDTH, HEIGHT, MARGIN = 260.0, 26.0, 10.0
_DECADES = 1.5  # beyond that the axis is logarithmic
_NARROWEST = 3.0  # of the band, in the units of the picture


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
    few = small.quantize(palette=_palette(small), dither=Image.Dither.NONE).convert("RGB")
    content = _webp(few, lossless=True, quality=60, method=2)
    if len(content) > _LINE_ART:
        content = min(content, _webp(small, lossless=False, quality=72, method=4), key=len)
    address = f"data:image/webp;base64,{b64encode(content).decode()}"
    return Picture(address, SHOWN, round(full.height * SHOWN / full.width))


def _palette(image: Image.Image) -> Image.Image:
    """Palette of common and rare colours, each counted by the square root of its area."""
    pixels = np.asarray(image).reshape(-1, 3)
    coarse = (pixels >> 3).astype(np.int64) @ np.array([1 << 10, 1 << 5, 1])
    _, place, area = np.unique(coarse, return_inverse=True, return_counts=True)
    mean = np.stack([np.bincount(place, weights=pixels[:, c]) / area for c in range(3)], axis=1)
    weight = np.sqrt(area)
    copies = np.repeat(np.round(mean).astype(np.uint8), weight.astype(int), axis=0)
    common = Image.fromarray(copies[np.newaxis]).quantize(COMMON, dither=Image.Dither.NONE)
    chosen = np.reshape(common.getpalette() or [], (-1, 3))[:COMMON].astype(float)
    missed = ((mean[:, np.newaxis] - chosen) ** 2).sum(axis=2).min(axis=1)
    # ends: as many colours as a palette gets
    for _ in range(RARE):
        rare = mean[np.argmax(missed * weight)]
        chosen = np.vstack([chosen, rare])
        missed = np.minimum(missed, ((mean - rare) ** 2).sum(axis=1))
    palette = Image.new("P", (1, 1))
    palette.putpalette(np.round(chosen).astype(np.uint8).tobytes())
    return palette


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
