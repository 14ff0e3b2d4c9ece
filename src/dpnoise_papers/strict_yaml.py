"""YAML read without surprises: what one reader takes for another value than the next is refused.

PyYAML follows YAML 1.1, where `010` is 8, `1:30` is 90 and `yes` is true, and lets the last of two
equal keys win in silence. Values are read here as YAML 1.2 reads them (`1e-6` is a number), a value
on which the two versions disagree must be quoted or written otherwise, and a key may stand only
once. Anchors, aliases and merge keys work; a merged key may be overridden.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import yaml
from pydantic import TypeAdapter, ValidationError

if TYPE_CHECKING:
    import os
    from collections.abc import Hashable, Iterator

Kind = TypeVar("Kind")
_TAG = "tag:yaml.org,2002:"
_CORE = (  # the core schema of YAML 1.2; what matches none is text
    ("null", re.compile(r"~|null|Null|NULL|")),
    ("bool", re.compile(r"true|True|TRUE|false|False|FALSE")),
    ("int", re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")),
    ("float", re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")),
    ("float", re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")),
)
_MOST_DIGITS = 100  # of a number
_SHOWN = 80  # characters of a value in a message
_PATH = 1000  # of the name of a file, which has to be found
_LISTED = 20  # mistakes in a message
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+")


class YamlError(ValueError):
    """A YAML file that is refused: the message names the file, and the line of every mistake."""


def read_yaml(path: str | os.PathLike[str]) -> object:
    """Content of a YAML file: one document in UTF-8, None for an empty one.

    YamlError if the file is not YAML or not UTF-8, repeats a key, contains itself, or has a value
    that YAML 1.1 and 1.2 read differently.
    """
    if Path(path).is_dir():
        raise YamlError(f"{cut(path, _PATH)}: expected a file, got a folder")
    content = Path(path).read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = f"expected UTF-8, got the byte 0x{content[error.start]:02x}"
        raise YamlError(f"{path}, line {line}: {problem}") from None
    return read_yaml_text(text, path)


def read_yaml_text(text: str, source: str | os.PathLike[str]) -> object:
    """Content of YAML text, such as a setting on the command line; errors as in `read_yaml`."""
    mistakes: list[tuple[int, str]] = []
    try:
        loader, root = _parsed(text)
        if root is not None:
            mistakes = list(_mistakes(loader, root, (), set()))
        if not mistakes:
            found: object = None if root is None else loader.construct_document(root)
            return found
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        mistakes = [(0 if mark is None else mark.line, str(error.problem or error.context))]
    except yaml.reader.ReaderError as error:
        mistakes = [(text.count("\n", 0, error.position), str(error.reason))]
    more = f"; and {len(mistakes) - _LISTED} more" if len(mistakes) > _LISTED else ""
    listed = "; ".join(f"line {line + 1}: {what}" for line, what in sorted(mistakes)[:_LISTED])
    raise YamlError(f"{cut(source, _PATH)}, {listed}{more}")


def lines_of(path: str | os.PathLike[str]) -> dict[tuple[Hashable, ...], int]:
    """Line of each value of a YAML file that `read_yaml` accepts, by all keys and places to it."""
    found: dict[tuple[Hashable, ...], int] = {}
    _, root = _parsed(Path(path).read_text(encoding="utf-8-sig"))
    _note_lines(root, (), found)
    return found


def _note_lines(
    node: yaml.Node | None, above: tuple[Hashable, ...], found: dict[tuple[Hashable, ...], int]
) -> None:
    """Note the lines of the values below a node."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            found[*above, key.value] = key.start_mark.line + 1
            _note_lines(value, (*above, key.value), found)
    elif isinstance(node, yaml.SequenceNode):
        for place, value in enumerate(node.value):
            found[*above, place] = value.start_mark.line + 1
            _note_lines(value, (*above, place), found)


def cut(value: object, most: int = _SHOWN) -> str:
    """Text of a value, cut where it is too long for a message.

    Examples
    --------
    >>> cut("a" * 10**7, most=5)
    'aaaaa... (10000000 characters)'
    """
    text = str(value)
    return text if len(text) <= most else f"{text[:most]}... ({len(text)} characters)"


def _parsed(text: str) -> tuple[yaml.SafeLoader, yaml.Node | None]:
    """Loader and root of a text."""
    loader = _LOADER(text)
    return loader, loader.get_single_node()


def read_typed(path: str | os.PathLike[str], kind: type[Kind]) -> Kind:
    """Content of a YAML file as a type that pydantic knows, such as dict[str, Model].

    YamlError if the file is not strict YAML, or with every mistake of its content.
    """
    try:
        return TypeAdapter(kind).validate_python(read_yaml(path))
    except ValidationError as error:
        mistakes = []
        for one in error.errors(include_url=False):
            where = ".".join(map(str, one["loc"])) or "top level"
            expected = one["msg"].replace("Input should be", "expected")
            mistakes.append(f"{cut(where)}: {expected}, got {cut(one['input'])!r}")
        more = [f"and {len(mistakes) - _LISTED} more"] if len(mistakes) > _LISTED else []
        raise YamlError(f"{path}: {'; '.join(mistakes[:_LISTED] + more)}") from None


def _mistakes(
    loader: yaml.SafeLoader, node: yaml.Node, above: tuple[yaml.Node, ...], done: set[int]
) -> Iterator[tuple[int, str]]:
    """Line, from 0, and wording of each mistake below a node; set tags as in YAML 1.2."""
    if node in above:
        yield above[-1].start_mark.line, "an anchor that contains its own alias"
    if id(node) in done:
        return
    done.add(id(node))
    parts: list[yaml.Node] = []
    if isinstance(node, yaml.ScalarNode):
        yield from _ambiguity(node)
    elif isinstance(node, yaml.SequenceNode):
        parts = node.value
    elif isinstance(node, yaml.MappingNode):
        parts = [part for pair in node.value for part in pair if part.tag != f"{_TAG}merge"]
    for part in parts:
        yield from _mistakes(loader, part, (*above, node), done)
    if isinstance(node, yaml.MappingNode):
        lines: dict[Hashable, int] = {}
        for key, _ in node.value:
            name = _key(loader, key)
            line = key.start_mark.line
            if name in lines:
                yield line, f"the key {cut(repr(name))} stands in line {lines[name] + 1} already"
            lines.setdefault(name, line)


def _key(loader: yaml.SafeLoader, node: yaml.Node) -> Hashable:
    """Key of a mapping."""
    if node.tag == f"{_TAG}merge":
        return "<<"
    if not isinstance(node, yaml.ScalarNode):
        problem = "expected a word or a number as a key"
        raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
    key: Hashable = loader.construct_object(node)
    return key


def _ambiguity(node: yaml.ScalarNode) -> Iterator[tuple[int, str]]:
    """Mistake if YAML 1.1 and 1.2 read a plain value differently; else tag it as in 1.2."""
    if node.style:  # in quotes, or a block of text
        return
    old = node.tag.removeprefix(_TAG)
    new = next((tag for tag, pattern in _CORE if pattern.fullmatch(node.value)), "str")
    number_now = (old, new) == ("str", "float")  # 1e-6 is text in YAML 1.1
    if (old != new and not number_now) or _LEADING_ZERO.fullmatch(node.value):
        expected = "a value that all versions of YAML read alike (text in quotes)"
        yield node.start_mark.line, f"expected {expected}, got {cut(node.value)}"
    elif new in ("int", "float") and len(node.value) > _MOST_DIGITS:
        expected = f"a number of at most {_MOST_DIGITS} characters"
        yield node.start_mark.line, f"expected {expected}, got {len(node.value)}"
    else:
        node.tag = _TAG + new
