"""The recorded run: what the repository keeps of a run at the papers' scale.

    python -m dpnoise_papers.claims.findings docs published results figures

writes `docs/snapshot/` from a run: every verdict, every number that a cause or an account refers
to, the tables that documents quote, on which machine and with which packages it was made, and the
figures of what the causes explain; and renews the images of the documents and the accounts of what
came out: the numbers of a template go between two marks of a document, of which the first names the
template. Documents and tests are held to the recorded run, never to whatever run lies in results/.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd
from PIL import Image

from dpnoise_papers.claims import report
from dpnoise_papers.claims.judge import CANNOT
from dpnoise_papers.claims.published import read_published
from dpnoise_papers.claims.quantity import read_tables
from dpnoise_papers.claims.references import NOT_RUN as UNKNOWN
from dpnoise_papers.claims.references import (
    REFERENCE,
    account,
    named_tables,
    references,
    render,
    templates,
)
from dpnoise_papers.claims.references import VERDICTS as VERDICTS_TABLE
from dpnoise_papers.pages import one_line
from dpnoise_papers.result_files import read_texts, write_bytes, write_table, write_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dpnoise_papers.claims.published import Published

VERDICTS = ["id", "paper", "item", "place", "kind", "form", "statement", "printed", "ours", "soft",
            "verdict", "reason", "cause", "finding", "optional"]  # fmt: skip
NUMBERS = ["reference", "value"]
# Figures that the README and other documents show, by their name in docs/images.
IMAGES = {
    "descent-orders": "inid-2024/descent-orders",
    "figure-1a": "inid-2024/figure-1a",
    "figure-1b": "balle-wang-2018/figure-1b",
    "figure-2": "flipped-huber-2023/figure-2",
    "figure-3a": "flipped-huber-2023/figure-3a",
    "gain": "flipped-huber-2023/gain",
    "heat-map": "balle-wang-2018/figure-2",
    "table-3": "flipped-huber-2023/table-3",
}
STAMP = ("machine", "packages")  # of provenance.json
WIDTH = 1100  # pixels of a figure
_COLOURS = 128


class Snapshot(NamedTuple):
    """Verdicts and numbers of a run, as tables of texts."""

    verdicts: pd.DataFrame
    numbers: pd.DataFrame

    @property
    def shown(self) -> dict[str, str]:
        """Numbers, as they are shown, by the text of their reference."""
        return dict(zip(self.numbers["reference"], self.numbers["value"], strict=True))


def snapshot(
    published: Published,
    tables: Mapping[str, pd.DataFrame],
    verdicts: pd.DataFrame,
    accounts: Iterable[str] = (),
) -> Snapshot:
    """Snapshot of a run with these result tables and verdicts.

    `accounts` are the templates of accounts in documents, whose references count too.
    """
    texts = [f"{cause.finding} {cause.evidence}" for cause in published.causes]
    texts += accounts
    tables = {**tables, VERDICTS_TABLE: verdicts}
    known = dict.fromkeys(part.text for text in texts for part in references(text))
    rows = [(text, render(f"{{{text}}}", tables)) for text in known]
    kept = verdicts[VERDICTS].fillna("").astype(str)
    return Snapshot(kept, pd.DataFrame(rows, columns=NUMBERS))


def read_snapshot(folder: Path) -> Snapshot:
    """Snapshot that `write` made in a folder."""
    return Snapshot(*(read_texts(folder / f"{name}.csv") for name in Snapshot._fields))


def different_verdicts(
    recorded: pd.DataFrame, verdicts: pd.DataFrame
) -> dict[str, tuple[str, str]]:
    """Verdicts that two runs do not share: the recorded one and the other, by claim.

    A claim about an optional table is compared where both runs have it.
    """
    optional = set(verdicts["id"][verdicts["optional"] == "yes"])
    return {
        name: pair
        for name, pair in _different(_said(recorded), _said(verdicts), "id", "said").items()
        if not (name in optional and any(said.startswith(CANNOT) for said in pair))
    }


def _said(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Verdicts with their reasons, in a column `said`."""
    words = zip(verdicts["verdict"], verdicts.get("reason", verdicts["verdict"]), strict=True)
    return verdicts.assign(
        said=[word if reason in ("", word) else f"{word} ({reason})" for word, reason in words]
    )


def differences(kept: Snapshot, run: Snapshot) -> list[str]:
    """Where a kept snapshot is not what a run says, one line for each verdict and number.

    Numbers are compared where both have one.
    """
    found = different_verdicts(kept.verdicts, run.verdicts)
    numbers = _different(kept.numbers, run.numbers, "reference", "value")
    found |= {name: pair for name, pair in numbers.items() if UNKNOWN not in pair}
    return [
        f"docs/snapshot says {said}, the run {now}: {name}" for name, (said, now) in found.items()
    ]


def _different(
    old: pd.DataFrame, new: pd.DataFrame, key: str, value: str
) -> dict[str, tuple[str, str]]:
    """Both values of what two tables do not share, by key."""
    said, now = (dict(zip(table[key], table[value], strict=True)) for table in (old, new))
    pairs = {name: (said.get(name, "nothing"), now.get(name, "nothing")) for name in said | now}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def write(docs: Path, published: Path, results: Path, figures: Path) -> None:
    """Write what `docs` keeps of a run in `results` and `figures`; renew the accounts of it."""
    known = read_published(published)
    accounts = [
        (published.parent / path).read_text(encoding="utf-8")
        for path in templates(published.parent).values()
    ]
    accounts += report.texts(published)
    tables = read_tables(named_tables(known, *accounts), results)
    made = snapshot(known, tables, read_texts(results / "verdicts.csv"), accounts)
    folder = docs / "snapshot"
    if all((folder / f"{name}.csv").is_file() for name in Snapshot._fields):
        made = _with_optional(made, read_snapshot(folder))
    stamp = json.loads((results / "provenance.json").read_text(encoding="utf-8"))
    kept_stamp = {key: stamp.get(key) for key in STAMP}
    write_text(json.dumps(kept_stamp, indent=1) + "\n", folder / "run.json")
    for name, table in made._asdict().items():
        write_table(table, folder / f"{name}.csv")
    explained = made.verdicts[made.verdicts["cause"] != ""]
    items = set(explained["paper"] + "/" + explained["item"])
    wanted = {name for name in items if (figures / f"{name}.png").is_file()}
    kept = set(folder.glob("*/*.png"))
    for name in sorted(wanted):
        write_bytes(_small(figures / f"{name}.png"), folder / f"{name}.png")
    for name, figure in IMAGES.items():
        if (figures / f"{figure}.png").is_file():
            write_bytes(_small(figures / f"{figure}.png"), docs / "images" / f"{name}.png")
    for path in kept - {folder / f"{name}.png" for name in wanted}:
        path.unlink()
    write_summaries(docs, published)
    for name in templates(published.parent):
        update(published.parent / name, published.parent, read_snapshot(folder).shown)


def write_summaries(docs: Path, published: Path) -> None:
    """Write the pages of headline claims, `docs/summary/<paper>.md`, from the recorded run."""
    kept = read_snapshot(docs / "snapshot")
    for name, told in report.read_headlines(published).items():
        text = report.page(name, told, kept.verdicts, kept.shown)
        write_text(text, docs / "summary" / f"{name}.md")


def _with_optional(made: Snapshot, recorded: Snapshot) -> Snapshot:
    """Snapshot with what was recorded of optional targets and this run has not made.

    These take hours or another machine; a run that has made them replaces what was recorded.
    """
    before = recorded.verdicts.set_index("id")
    known = before.index[before["verdict"] != CANNOT]
    verdicts = made.verdicts.set_index("id")
    open_ = (verdicts["optional"] == "yes") & (verdicts["verdict"] == CANNOT)
    kept = verdicts.index[open_].intersection(known)
    shared = ["ours", "soft", "verdict", "reason", "cause", "finding"]
    verdicts.loc[kept, shared] = before.loc[kept, shared]
    numbers = made.numbers.set_index("reference")["value"]
    earlier = recorded.numbers.set_index("reference")["value"]
    missing = numbers.index[numbers == UNKNOWN].intersection(earlier.index)
    numbers.loc[missing] = earlier.loc[missing]
    return Snapshot(verdicts.reset_index()[VERDICTS], numbers.reset_index()[NUMBERS])


def _small(path: Path) -> bytes:
    """Figure as a PNG of few colours and of the width of a page on a screen."""
    with Image.open(path) as image:
        height = round(image.height * WIDTH / image.width)
        smaller = image.convert("RGB").resize((WIDTH, height), Image.Resampling.LANCZOS)
    buffer = BytesIO()
    smaller.quantize(_COLOURS).save(buffer, format="png", optimize=True)
    return buffer.getvalue()


def outdated(document: str | Path, template: str, numbers: Mapping[str, str]) -> list[str]:
    """Where a document is not what its template says with these numbers, one line for each number.

    One line if the words differ; what `numbers` lacks is not compared.
    """
    given = account(document)
    words = [re.escape(part) for part in REFERENCE.sub("\0", one_line(template)).split("\0")]
    match = re.fullmatch(r"([^\s|]+?)".join(words), one_line(given.text))
    if not match:
        return [f"the words of {document} are not those of {given.template}"]
    return [
        f"{document} says {said}, the recorded run {numbers[part.text]}: {part.text}"
        for said, part in zip(match.groups(), references(template), strict=True)
        if numbers.get(part.text, said) != said
    ]


def update(document: Path, root: Path, numbers: Mapping[str, str]) -> None:
    """Write numbers into a document whose template lies below `root`.

    ValueError if one of them is missing; then nothing is written.
    """
    given = account(document)
    text = (root / given.template).read_text(encoding="utf-8")
    wanted = [part.text for part in references(text)]
    missing = [one for one in wanted if numbers.get(one, UNKNOWN) == UNKNOWN]
    if missing:
        raise ValueError(f"{given.template}: the recorded run has no {'; '.join(missing)}")
    filled = REFERENCE.sub(lambda match: numbers[match[1]], text)
    page, end = document.read_text(encoding="utf-8"), given.start + len(given.text)
    write_text(page[: given.start] + _filled(filled).rstrip() + "\n" + page[end:], document)


def _filled(text: str) -> str:
    """Markdown with its paragraphs and list items wrapped; tables stay as they are."""
    parts = re.split(r"\n(?=\n|- |\|)", text)
    for place, part in enumerate(parts):
        if not part.lstrip().startswith("|"):
            blank, indent = "\n" * part.startswith("\n"), "  " * part.lstrip().startswith("- ")
            words = one_line(part)
            lines = textwrap.wrap(
                words, 100, subsequent_indent=indent,
                break_long_words=False, break_on_hyphens=False,
            )  # fmt: skip
            parts[place] = blank + "\n".join(lines)
    return "\n".join(parts)


if __name__ == "__main__":
    write(*(Path(name) for name in sys.argv[1:5]))
