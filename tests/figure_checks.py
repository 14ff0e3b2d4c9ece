"""What must hold for every figure: nothing clipped, no label struck through, looks by mechanism."""

import numpy as np
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from dpnoise_papers import style

SLACK = 1.5  # pixels that a glyph may reach beyond its box


def drawn(figure):
    """Return the figure once its layout has been made."""
    figure.draw_without_rendering()
    return figure


def clipped_texts(figure):
    """Return texts that are not wholly on the figure."""
    hidden = _hidden_ticks(figure)
    found = []
    for text in figure.findobj(Text):
        if not (text.get_visible() and text.get_text().strip()) or id(text) in hidden:
            continue
        box = text.get_window_extent()
        low, high = min(box.x0, box.y0), max(box.x1 - figure.bbox.x1, box.y1 - figure.bbox.y1)
        if low < -SLACK or high > SLACK:
            found.append(text.get_text())
    return found


def _hidden_ticks(figure):
    """Return the identities of labels of ticks outside the view, which are never drawn."""
    known, seen = set(), set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            for ticks, ids in ((axis.majorTicks + axis.minorTicks, known), (_ticks(axis), seen)):
                ids |= {id(label) for tick in ticks for label in (tick.label1, tick.label2)}
    return known - seen


def _ticks(axis):
    return axis._update_ticks() if axis.axes.axison else []


def overlapping_tick_labels(figure):
    """Return pairs of tick labels of one axis that lie on one another."""
    found = []
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            labels = [tick.label1 for tick in _ticks(axis)]
            texts = [label for label in labels if label.get_visible() and label.get_text()]
            boxes = sorted(
                ((label.get_window_extent(), label.get_text()) for label in texts),
                key=lambda one: (one[0].x0, one[0].y0),
            )
            found += [
                (one, other)
                for place, (box, one) in enumerate(boxes)
                for beside, other in boxes[place + 1 :]
                if one != other and _overlap(box, beside) > 0.15 and not _rotated(texts)
            ]
    return found


def _rotated(texts):
    return any(text.get_rotation() % 90 for text in texts)


def _overlap(one, other):
    """Return the shared area over the smaller of two boxes."""
    shared = Bbox.intersection(one, other)
    if shared is None:
        return 0.0
    return (
        shared.width
        * shared.height
        / max(min(one.width * one.height, other.width * other.height), 1)
    )


def struck_texts(figure):
    """Return notes inside panels through which a line runs, and no white ground is in between."""
    found = []
    for axes in figure.axes:
        curves = [
            line for line in axes.lines if line.get_visible() and line.get_linestyle() != "None"
        ]
        for text in axes.texts:
            if not text.get_text().strip() or text.get_bbox_patch() is not None:
                continue
            box = text.get_window_extent()
            inner = Bbox.from_extents(box.x0 + 1, box.y0 + 2, box.x1 - 1, box.y1 - 2)
            found += [
                (text.get_text(), line.get_label()) for line in curves if _crosses(line, inner)
            ]
    return found


def _crosses(line, box):
    path = line.get_transform().transform_path(line.get_path())
    view = line.axes.bbox
    seen = Bbox.intersection(view, box)
    return seen is not None and len(path.vertices) > 1 and path.intersects_bbox(seen, filled=False)


def wrong_looks(figure):
    """Return labelled lines of a mechanism that have not its colour or its dash."""
    names = {name: mechanism for mechanism, name in style.NAMES.items()}
    found = []
    for axes in figure.axes:
        for line in axes.lines:
            words = str(line.get_label()).removesuffix("*").split(",")[0].split(":")[0]
            mechanism = names.get(words)
            if mechanism is None or line.get_linestyle() == "None":
                continue
            solid = style.DASHES[mechanism] == "-"
            colour = to_hex(line.get_color()).lower() == style.COLOURS[mechanism].lower()
            if not colour or line.is_dashed() == solid:
                found.append(line.get_label())
    return found


def shown_numbers(figure):
    """Return all positions of points and lines, of every axis, and the numbers of the texts."""
    values = []
    for axes in figure.axes:
        for line in axes.lines:
            values += [np.ravel(line.get_xdata()), np.ravel(line.get_ydata())]
        for points in axes.collections:
            if isinstance(points, PathCollection):
                values += [np.ravel(points.get_offsets())]
    texts = {text.get_text() for text in figure.findobj(Text)}
    numbers = [np.asarray(one, dtype=float) for one in values if len(one)]
    return np.concatenate(numbers) if numbers else np.array([]), texts
