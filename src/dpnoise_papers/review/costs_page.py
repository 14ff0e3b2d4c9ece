"""Time, memory and disk of each item, as a table in a document, from the files of a run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from dpnoise_papers.config import places
from dpnoise_papers.result_files import write_text
from dpnoise_papers.review.making import Folders, making

if TYPE_CHECKING:
    from dpnoise_papers.item import Paper
    from dpnoise_papers.review.costs import Cost
    from dpnoise_papers.settings import Section

BEGIN, END = "<!-- costs -->", "<!-- end of costs -->"
_HEAD = ("item", "jobs", "seconds", "memory (MB)", "disk (kB)")


def costs_table(config: Section, papers: tuple[Paper, ...], benchmarks: str | Path) -> list[str]:
    """Lines of a table with one row for each item whose tables a run has measured.

    Seconds are those of all jobs of its tables one after another, memory that of the largest, disk
    that of all its files.
    """
    where = places(config)
    folders = Folders(
        results=Path(where["results"]),
        figures=Path(where["figures"]),
        benchmarks=Path(benchmarks),
        page=Path("report.html"),
    )
    lines = [_line(*_HEAD), _line("---", "---:", "---:", "---:", "---:")]
    for paper in papers:
        for item in paper.items:
            made = making(config, paper, item, folders)
            if made.cost:
                size = sum(size for _, _, size in made.files)
                lines.append(_row(f"{paper.id}/{item.id}", made.cost, size))
    return lines


def write_costs(
    document: str | Path, benchmarks: str | Path, config: Section, papers: tuple[Paper, ...]
) -> int:
    """Write the table between the marks of a document anew; return its number of items.

    ValueError if the document has no marks or there are no files of a run.
    """
    text = Path(document).read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise ValueError(f"{document}: expected the marks {BEGIN} and {END}, once each")
    lines = costs_table(config, papers, benchmarks)
    if len(lines) == 2:
        raise ValueError(f"costs: no benchmark files of a run in {benchmarks}")
    block = "\n".join([BEGIN, "", *lines, "", END])
    pattern = f"{re.escape(BEGIN)}.*{re.escape(END)}"
    write_text(re.sub(pattern, lambda _: block, text, flags=re.DOTALL), document)
    return len(lines) - 2


def _row(name: str, found: Cost, size: int) -> str:
    """Row of an item."""
    numbers = f"{found.jobs}", f"{found.seconds:.0f}", f"{found.memory:.0f}", f"{size / 1000:.0f}"
    return _line(name, *numbers)


def _line(*cells: str) -> str:
    """Line of a table."""
    return f"| {' | '.join(cells)} |"
