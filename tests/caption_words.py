"""Words of a caption on colour, dash and marker, compared with what its figure draws.

`wrong_words` looks for a drawn artist of which all words of a phrase are true: 'open circles',
'grey bars', 'dashed curves'. Where they stand in brackets behind what they describe, as in 'the
affine bound (dashed)', the entry of the legend that shares most words with it must look so.
"""

import re
from colorsys import rgb_to_hsv
from typing import NamedTuple

import numpy as np
from matplotlib.collections import LineCollection, PathCollection, PolyCollection, QuadMesh
from matplotlib.colors import to_rgba
from matplotlib.lines import Line2D
from matplotlib.markers import MarkerStyle
from matplotlib.patches import Patch


class Look(NamedTuple):
    """What a legend calls an artist, and every word that is true of it."""

    label: str
    words: frozenset


_BRIGHT = {"orange": (10, 48), "green": (80, 175), "blue": (190, 255), "pink": (300, 345)}
_DASHES = {"dashed", "dotted", "solid"}
_SHAPES = {
    "o": {"circle", "dot"}, ".": {"dot"}, "*": {"star"}, "s": {"square"}, "D": {"diamond"},
    **{key: {"cross"} for key in "xX+"}, **{key: {"triangle"} for key in "^v<>"},
}  # fmt: skip
_AREA, _LINE, _BAR = {"area", "band", "shaded", "region"}, {"curve", "line"}, {"bar"}
_HOLLOW, _FILLED = {"open", "hollow", "ringed"}, {"filled"}
_NOUNS = {"mark", "marker", "guide", "small", "ones"}  # that require nothing
_KINDS = _AREA | _LINE | _BAR
_COLOURS = {*_BRIGHT, "grey", "black", "brown"}
_WORDS = set().union(_COLOURS, _DASHES, *_SHAPES.values(), _KINDS, _HOLLOW, _FILLED, _NOUNS)
_PLAIN = _NOUNS | _LINE | {"region"}  # nothing to look for if alone
_STOP = {"the", "and", "for", "with", "which", "that", "not", "all", "one", "its", "are", "has"}


def wrong_words(caption, figure):
    """Return phrases of the caption for which nothing in the figure looks as they say."""
    drawn, named = _drawn(figure), _named(figure)
    found = []
    for phrase, wanted, clause in _phrases(caption):
        alike = [one for one in _alike(clause, named) if wanted & _KINDS <= one.words]
        if not any(wanted - _NOUNS <= one.words for one in (alike or drawn)):
            found.append(phrase)
    return found


def spoken_of(caption):
    """Return the phrases on looks of a caption."""
    return [phrase for phrase, _, _ in _phrases(caption)]


def _phrases(caption):
    """Phrases on looks with their words, and what stands before one in brackets of its own."""
    runs, run, end = [], [], 0  # a run is a phrase of words on looks
    for place in re.finditer(r"[A-Za-z]+", caption):
        word, gap = _singular(place.group()), caption[end : place.start()]
        end = place.end()
        bracketed = caption.rfind("(", 0, end) > caption.rfind(")", 0, end)
        if run and not (word and (gap == " " or (gap == ", " and bracketed))):
            runs.append(run)
            run = []
        if word:
            run.append((place, word))
    for phrase in [*runs, run] if run else runs:
        wanted, start, end = {w for _, w in phrase}, phrase[0][0].start(), phrase[-1][0].end()
        if wanted <= _PLAIN or wanted == {"open"}:
            continue  # 'leaves open', 'the same line'
        if caption[end:].startswith(" would") or caption[:start].lower().endswith("mean "):
            continue  # 'a cross would mark', 'the mean square error'
        if wanted & _HOLLOW and "dot" in wanted:
            wanted = wanted - {"dot"} | {"circle"}
        alone = caption[start - 1 : start] == "(" and caption[end : end + 1] == ")"
        clause = re.split(r"[.;:]\s|\)\s", caption[: start - 1])[-1] if alone else ""
        yield caption[start:end], wanted, clause


def _singular(word):
    """Known word in the singular, lower case; empty for any other."""
    low = word.lower()
    return next((one for one in (low, low[:-1], low[:-2]) if one in _WORDS), "")


def _alike(clause, named):
    """Entries of the legend that share most words with a clause, if any."""
    words = _content(clause)
    shared = [(len(words & _content(one.label)), one) for one in named]
    most = max((count for count, _ in shared), default=0)
    return [one for count, one in shared if most and count == most]


def _content(text):
    return set(re.findall(r"[a-z]{3,}", text.lower())) - _STOP


def _drawn(figure):
    """Looks of everything that is drawn in a panel."""
    return [
        look
        for axes in figure.axes
        for artist in (*axes.lines, *axes.collections, *axes.patches, axes.patch)
        if artist.get_visible() and (axes.axison or artist is not axes.patch)
        for look in _looks(artist, str(artist.get_label()))
    ]


def _named(figure):
    """Looks of the entries of all legends, and of what is labelled in a panel."""
    looks = [one for one in _drawn(figure) if one.label and not one.label.startswith("_")]
    for legend in (*figure.legends, *(a.get_legend() for a in figure.axes if a.get_legend())):
        for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
            looks += _looks(handle, text.get_text())
    return looks


def _looks(artist, label):
    """Looks of one artist, none if it shows nothing."""
    if isinstance(artist, Line2D):
        found = _of_line(artist)
    elif isinstance(artist, QuadMesh):  # of many colours
        found = [_AREA]
    elif isinstance(artist, LineCollection):  # such as the bars of an interval
        found = [_LINE | _BAR | _colours(artist.get_colors())] if artist.get_paths() else []
    elif isinstance(artist, PathCollection):
        found = _of_points(artist)
    elif isinstance(artist, PolyCollection | Patch):
        colours = _colours(np.atleast_2d(artist.get_facecolor())) - {"white"}
        found = [_AREA | _BAR | colours] if colours else []
    else:
        found = []
    return [Look(label, frozenset(words)) for words in found]


def _of_line(line):
    """Words of a line, with its markers."""
    x, y = (np.asarray(values, dtype=float) for values in line.get_data())
    if not (np.isfinite(x) & np.isfinite(y)).any():
        return []
    hollow = not _colours([line.get_markerfacecolor()]) - {"white"}
    words = _marked(line.get_marker(), hollow=hollow)
    edge = line.get_color()
    if line.get_linestyle() != "None" and len(x) > 1:
        on = (line._unscaled_dash_pattern[1] or [])[::2]
        words |= _LINE | ({"dotted" if max(on) <= 1 else "dashed"} if on else {"solid"})
        words |= _BAR if line.get_linewidth() >= 3 else set()
    elif hollow:
        edge = line.get_markeredgecolor()
    return [words | _colours([edge])]


def _of_points(points):
    """Words of points: of the hollow and of the filled ones."""
    if not len(points.get_offsets()):
        return []
    path, faces = points.get_paths()[0], [_colours([face]) for face in points.get_facecolors()]
    marker = next((one for one in _SHAPES if _same(MarkerStyle(one), path)), "")
    filled = set().union(*faces) - {"white"}
    found = [_marked(marker, hollow=False) | filled] if filled else []
    if not faces or not all(face - {"white"} for face in faces):
        found.append(_marked(marker, hollow=True) | _colours(points.get_edgecolors()))
    return found


def _same(style, path):
    """Whether a marker is drawn along a path."""
    known = style.get_path().transformed(style.get_transform()).vertices
    return known.shape == path.vertices.shape and np.allclose(known, path.vertices)


def _marked(marker, *, hollow):
    """Words of a marker, none if there is none."""
    shapes = _SHAPES.get(marker, set())
    if shapes and hollow:
        return (shapes - {"dot"} or shapes) | _HOLLOW
    return shapes | _FILLED if shapes else set()


def _colours(values):
    """Names in words of the colours that are not transparent."""
    return {_name(*rgb_to_hsv(*to_rgba(x)[:3])) for x in values if to_rgba(x)[3]}


def _name(hue, saturation, brightness):
    """Name of a colour."""
    if brightness < 0.2:
        return "black"
    if saturation < 0.12:
        return "white" if brightness > 0.97 else "grey"
    name = next((key for key, (low, high) in _BRIGHT.items() if low <= 360 * hue < high), "other")
    return "brown" if name == "orange" and (saturation < 0.6 or brightness < 0.7) else name
