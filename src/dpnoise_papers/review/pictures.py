"""Figures small enough for one page: recoloured with few colours, as data addresses.

Line drawings keep their edges in lossless WebP with a small palette; where that is large (maps,
clouds of points) lossy WebP is smaller, and the smaller one is taken. The palette is chosen as if
each colour covered the square root of its area; then the colours that it misses most are added, so
that a thin curve, and one that shows in the legend alone, keeps its own.
"""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

WIDTHS = (1432, 1200, 1000)  # pixels; the first is twice the widest column of the page
SHOWN = 716
COMMON, RARE = 32, 16  # colours: of large areas, and those that would be missed most
BUDGET = 2_700_000  # characters of all addresses of a page; its text takes 2 MB more at most
_LINE_ART = 60_000  # bytes; up to there the lossless form is taken


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
