"""A small synthetic data set, its registry, and copies of it in every format."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
import openpyxl
import yaml

from dpnoise_papers.data.registry import TableEntry
from dpnoise_papers.data.tables import DataTable, column_digests, fingerprint

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = ("width", "height", "kind")
LABELS = {"kind": {"Çerçevelik": -1, "Ürgüp Sivrisi": 1}}
ROWS = 40


def cells() -> list[list[str]]:
    """Return the records as text, with the 15 digits that a workbook keeps."""
    rng = np.random.default_rng(7)
    words = list(LABELS["kind"])
    return [
        [f"{rng.normal():.15g}", str(int(rng.integers(1, 99))), words[i % 2]] for i in range(ROWS)
    ]


def text(
    rows: list[list[str]] | None = None,
    *,
    separator: str = ",",
    end: str = "\n",
    header: str = "",
    last: bool = True,
) -> bytes:
    """Return the table as delimited text."""
    lines = [separator.join(row) for row in (cells() if rows is None else rows)]
    return ((header + end if header else "") + end.join(lines) + (end if last else "")).encode()


def arff() -> bytes:
    """Return the table as Weka writes it."""
    head = "% a comment\n@RELATION toy\n\n@ATTRIBUTE width REAL\n@ATTRIBUTE height REAL\n"
    head += "@ATTRIBUTE kind {Çerçevelik,'Ürgüp Sivrisi'}\n\n@DATA\n% another\n"
    rows = [[a, b, f"'{c}'" if " " in c else c] for a, b, c in cells()]
    return head.encode() + text(rows)


def workbook() -> bytes:
    """Return the table as an Excel workbook with a header and a second sheet."""
    book = openpyxl.Workbook()
    book.active.append(COLUMNS)
    for width, height, kind in cells():
        book.active.append([float(width), int(height), kind])
    book.create_sheet("Citation_Request").append(["cite us"])
    stream = BytesIO()
    book.save(stream)
    return stream.getvalue()


def table() -> DataTable:
    """Return the table, converted here and not by the reader under test."""
    codes = LABELS["kind"]
    values = [[float(a), float(b), float(codes[c])] for a, b, c in cells()]
    return DataTable(COLUMNS, np.array(values))


def registry_content(sources: list[dict] | None = None) -> dict:
    """Return a registry with the table as the set 'toy'."""
    toy = table()
    entry = {
        "files": ["toy_folder/toy_table.csv", "toy_folder/toy_table.xlsx"],
        "sources": sources or [],
        "rows": ROWS,
        "columns": column_digests(toy),
        "labels": LABELS,
        "fingerprint": fingerprint(toy.columns, toy.values),
    }
    kept = {
        "title": "Toy",
        "citation": "nobody",
        "licence": "none",
        "homepage": "https://example.org/",
        "task": "classification",
        "tables": ["toy-table"],
        "shape": [ROWS, 2],
        "classes": {"-1": ROWS // 2, "+1": ROWS // 2},
        "fingerprint": fingerprint(("width", "height", "target"), toy.values),
    }
    return {"tables": {"toy-table": entry}, "sets": {"toy": kept}}


def write_registry(folder: Path, sources: list[dict] | None = None) -> Path:
    """Write the registry into a folder and return its path."""
    path = folder / "registry.yaml"
    path.write_text(yaml.safe_dump(registry_content(sources), sort_keys=False), encoding="utf-8")
    return path


def entry(**changes: object) -> TableEntry:
    """Return the registry's entry of the table, with changes."""
    return TableEntry.model_validate(registry_content()["tables"]["toy-table"] | changes)


def put(folder: Path, content: bytes, name: str = "toy_folder/toy_table.csv") -> Path:
    """Write a copy into a mirror or cache folder."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path
