"""The small bar of a claim: printed value, allowed band and ours on one axis, as inline SVG."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise_papers.claims.band import Band

WIDTH, HEIGHT, MARGIN = 260.0, 26.0, 10.0
_DECADES = 1.5  # beyond that the axis is logarithmic
_NARROWEST = 3.0  # of the band, in the units of the picture


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
