"""The Markdown of this repository as HTML: paragraphs, lists, tables, code, bold; nothing else."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

_CODE = re.compile(r"`([^`]+)`")
_BOLD = re.compile(r"\*\*(.+?)\*\*")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")
_RULE = re.compile(r"\|?[\s:|-]+\|[\s:|-]*")
_CELL = re.compile(r"(?<!\\)\|")


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


def tables_in(text: str) -> list[tuple[list[str], list[list[str]]]]:
    """Tables of a Markdown text: the header and the rows of each."""
    found = []
    for block in _blocks(text):
        lines = block.splitlines()
        if _is_table(lines):
            found.append((cells(lines[0]), [cells(line) for line in lines[2:]]))
    return found


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
