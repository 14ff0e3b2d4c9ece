"""Words of a caption on colour, dash and marker, compared with what its figure draws.

`wrong_words` looks for a drawn artist of each kind that a caption speaks of: 'open circles', 'grey
bars', 'dashed curves'. Where such words stand in brackets behind what they describe, as in 'the
affine bound (dashed)', the entry of the legend that shares most words with it must look so.
"""

import re
from colorsys import rgb_to_hsv
from typing import NamedTuple

import numpy as np
from matplotlib.collections import (
    LineCollection,
    PathCollection,
    PolyCollection,
    QuadMesh,
)
from matplotlib.colors import to_rgba
from matplotlib.lines import Line2D
from matplotlib.markers import MarkerStyle
from matplotlib.patches import Patch


class Look(NamedTuple):
    """What is seen of an artist; `kinds` are 'line', 'marker', 'area' and 'bar'."""

    label: str
    colours: frozenset
    kinds: frozenset
    dash: str = ""
    marker: str = ""
    hollow: bool = False


_BRIGHT = {"orange": (10, 48), "green": (80, 175), "blue": (190, 255), "pink": (300, 345)}
_MARKERS = "oXx+D*^v<>s."
# Word of a caption, and what an artist must be.
_COLOURS = ("green", "blue", "orange", "grey", "black", "brown", "pink")
_DASHES = ("dashed", "dotted", "solid")
_SHAPES = {
    "circle": "o", "dot": "o.", "cross": "xX+", "star": "*", "triangle": "^v<>", "square": "s",
    "diamond": "Dd",
}  # fmt: skip
_KINDS = {
    "area": "area", "band": "area", "shaded": "area", "region": "area", "bar": "bar",
    "curve": "line", "line": "line",
}  # fmt: skip
_FACES = ("open", "hollow", "filled", "ringed")
_NOUNS = ("mark", "marker", "guide", "small", "ones")  # that require nothing by themselves
_PLURAL = {"crosses": "cross", "hollows": "hollow"}
_WORDS = (*_COLOURS, *_DASHES, *_SHAPES, *_KINDS, *_FACES, *_NOUNS)
_PLAIN = {*_NOUNS, *_KINDS} - {"area", "band", "shaded", "bar"}  # nothing to look for if alone
_STOP = {"the", "and", "for", "with", "which", "that", "not", "all", "one", "its", "are", "has"}


def wrong_words(caption, figure):
    """Return phrases of the caption for which nothing in the figure looks as they say."""
    drawn, named = _drawn(figure), _named(figure)
    found = []
    for phrase, wanted, clause in _phrases(caption):
        kinds = {_KINDS[word] for word in wanted if word in _KINDS}
        alike = [one for one in _alike(clause, named) if kinds <= one.kinds] if clause else []
        if not any(_fits(one, wanted) for one in (alike or drawn)):
            found.append(phrase)
    return found


def spoken_of(caption):
    """Return the phrases on looks of a caption."""
    return [phrase for phrase, _, _ in _phrases(caption)]


def _phrases(caption):
    """Phrases on looks with their words, and what stands before one in brackets of its own."""
    places = list(re.finditer(r"[A-Za-z]+", caption))
    runs, run = [], []  # a run is a phrase of words on looks
    for before, place in zip([None, *places], places, strict=False):
        word = _singular(place.group())
        gap = caption[before.end() : place.start()] if before else ""
        joined = gap == " " or (gap == ", " and _bracketed(caption, place.start()))
        if run and not (word and joined):
            runs.append(run)
            run = []
        if word:
            run.append((place, word))
    for phrase in [*runs, run] if run else runs:
        wanted = [word for _, word in phrase]
        start, end = phrase[0][0].start(), phrase[-1][0].end()
        if not set(wanted) - _PLAIN or wanted == ["open"]:
            continue  # 'leaves open', 'the same line'
        if caption[end:].startswith(" would") or caption[:start].lower().endswith("mean "):
            continue  # 'a cross would mark', 'the mean square error'
        alone = caption[start - 1 : start] == "(" and caption[end : end + 1] == ")"
        clause = re.split(r"[.;:]\s|\)\s", caption[: start - 1])[-1] if alone else ""
        yield caption[start:end], wanted, clause


def _singular(word):
    """Known word in the singular, lower case; empty for any other."""
    low = word.lower()
    low = _PLURAL.get(low, low)
    if low in _WORDS:
        return low
    return low[:-1] if low.endswith("s") and low[:-1] in _WORDS else ""


def _bracketed(caption, place):
    return caption.rfind("(", 0, place) > caption.rfind(")", 0, place)


def _alike(clause, named):
    """Entries of the legend that share most words with a clause, if any."""
    words = _content(clause)
    shared = [(len(words & _content(one.label)), one) for one in named]
    most = max((count for count, _ in shared), default=0)
    return [one for count, one in shared if most and count == most]


def _content(text):
    return set(re.findall(r"[a-z]{3,}", text.lower())) - _STOP


def _fits(look, wanted):
    """Whether an artist is all that the words say."""
    hollow = "open" in wanted or "hollow" in wanted
    return all(_is(look, word, hollow) for word in wanted)


def _is(look, word, hollow):
    """Whether an artist is what one word says; `hollow` if another one says so too."""
    fits = True
    if word in _COLOURS:
        fits = word in look.colours
    elif word in _DASHES:
        fits = word == look.dash
    elif word in _SHAPES:
        filled = word != "dot" or hollow or look.marker == "." or not look.hollow
        fits = bool(look.marker) and look.marker in _SHAPES[word] and filled
    elif word in _KINDS:
        fits = _KINDS[word] in look.kinds
    elif word in _FACES:
        fits = bool(look.marker) and look.hollow == (word != "filled")
    return fits


def _drawn(figure):
    """Looks of everything that is drawn in a panel."""
    looks = []
    for axes in figure.axes:
        for artist in (*axes.lines, *axes.collections, *axes.patches, axes.patch):
            if artist.get_visible() and (axes.axison or artist is not axes.patch):
                looks += _look(artist, str(artist.get_label()))
    return looks


def _named(figure):
    """Looks of the entries of all legends, and of what is labelled in a panel."""
    looks = [one for one in _drawn(figure) if one.label and not one.label.startswith("_")]
    for legend in (*figure.legends, *(a.get_legend() for a in figure.axes if a.get_legend())):
        for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
            looks += _look(handle, text.get_text())
    return looks


def _look(artist, label):
    """Looks of one artist, none if it shows nothing."""
    for kind, seen in _SEEN.items():
        if isinstance(artist, kind):
            return seen(artist, label)
    return []


def _strokes(lines, label):
    """Look of many lines, such as the bars of an interval."""
    colours = frozenset(map(_colour, lines.get_colors()))
    return [Look(label, colours, frozenset({"line", "bar"}))] if lines.get_paths() else []


def _area(area, label):
    """Look of an area, none on white ground."""
    colours = frozenset(_colour(face) for face in np.atleast_2d(area.get_facecolor()))
    return [Look(label, colours, frozenset({"area", "bar"}))] if colours - {"white"} else []


def _map(_, label):
    """Look of a map of many colours."""
    return [Look(label, frozenset(), frozenset({"area"}))]


def _points(points, label):
    """Looks of points: of the hollow and of the filled ones."""
    if not len(points.get_offsets()):
        return []
    faces = [_colour(face) for face in points.get_facecolors()]
    edges = [_colour(edge) for edge in points.get_edgecolors()]
    marker, hollow = _marker(points.get_paths()[0]), {"", "white"}
    kinds = {
        True: edges if not faces or hollow & set(faces) else [],
        False: [face for face in faces if face not in hollow],
    }
    return [
        Look(label, frozenset(colours), frozenset({"marker"}), marker=marker, hollow=face)
        for face, colours in kinds.items()
        if colours
    ]


def _line(line, label):
    """Look of a line, with its markers."""
    x, y = (np.asarray(values, dtype=float) for values in line.get_data())
    if not (np.isfinite(x) & np.isfinite(y)).any():
        return []
    marker = line.get_marker()
    marker = marker if isinstance(marker, str) and marker not in ("None", "none", " ") else ""
    kinds, dash = {"marker"} if marker else set(), ""
    if line.get_linestyle() != "None" and len(x) > 1:
        kinds |= {"line", "bar"} if line.get_linewidth() >= 3 else {"line"}
        on = (line._unscaled_dash_pattern[1] or [])[::2]
        dash = ("dotted" if max(on) <= 1 else "dashed") if on else "solid"
    hollow = _colour(line.get_markerfacecolor()) in ("", "white")
    edge = line.get_markeredgecolor() if hollow and not dash else line.get_color()
    return [Look(label, frozenset({_colour(edge)}), frozenset(kinds), dash, marker, hollow)]


def _marker(path):
    """Marker whose path this is, or nothing."""
    for marker in _MARKERS:
        style = MarkerStyle(marker)
        known = style.get_path().transformed(style.get_transform())
        if known.vertices.shape == path.vertices.shape and np.allclose(
            known.vertices, path.vertices
        ):
            return marker
    return ""


def _colour(value):
    """Name of a colour in words, empty where it is transparent."""
    if isinstance(value, str) and value == "none":
        return ""
    red, green, blue, alpha = to_rgba(value)
    hue, saturation, brightness = rgb_to_hsv(red, green, blue)
    if alpha == 0:
        return ""
    if brightness < 0.2:
        return "black"
    if saturation < 0.12:
        return "white" if brightness > 0.97 else "grey"
    names = [name for name, (low, high) in _BRIGHT.items() if low <= 360 * hue < high]
    if names == ["orange"] and (saturation < 0.6 or brightness < 0.7):
        return "brown"
    return names[0] if names else "other"


_SEEN = {
    Line2D: _line,
    QuadMesh: _map,
    LineCollection: _strokes,
    PathCollection: _points,
    PolyCollection: _area,
    Patch: _area,
}
