"""The table of peers as a figure and as a page of the documents.

python benchmarks/peers/show.py writes docs/images/peers.svg and the table in docs/peers.md.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.patches import Patch

from dpnoise_papers.result_files import write_bytes, write_text
from dpnoise_papers.style import house_style, legend_below, page, save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs"
TASKS = {
    "sigma": "sigma of Gaussian noise",
    "gaussian_epsilon": "epsilon of Gaussian releases",
    "laplace_epsilon": "epsilon of Laplace releases",
}
KINDS = {  # what counts, its columns and its colour
    "within 1e-9 of the truth": (["within 1e-09"], "#0072B2"),
    "within 0.1 %": (["within 1e-06", "within 0.001"], "#56B4E9"),
    "within 10 %": (["within 0.01", "within 0.1"], "#BFE3F5"),
    "more than 10 % above": (["beyond"], "#DDDDDD"),
    "not judged": (["undecided"], "#FFFFFF"),
    "no answer": (["error", "no answer", "hang", "death"], "#8A8A8A"),
    "short by rounding": (["short by rounding"], "#F0B48C"),
    "unsafe": (["unsafe"], "#D55E00"),
}
MARKS = "<!-- peers -->", "<!-- end of peers -->"
SAMPLED = "<!-- sampled -->", "<!-- end of sampled -->"
MULTIPLIER = "<!-- multiplier -->", "<!-- end of multiplier -->"
WORTH = {
    "below": ["below"],
    "within 1e-6": ["within 1e-6"],
    "within 0.1 %": ["within 0.1 %"],
    "within 10 %": ["within 10 %"],
    "more than 10 % above": ["beyond"],
    "not judged": ["undecided"],
    "no answer": ["error", "memory", "hang", "death", "not a number", "negative", "infinite"],
}

NOISE = {
    "too little by more than 0.1 %": ["too little by more"],
    "by at most 0.1 %": ["too little by at most 0.1 %"],
    "by at most 1e-6": ["too little by at most 1e-6"],
    "within 1e-6": ["within 1e-6"],
    "within 0.1 %": ["within 0.1 %"],
    "within 1 %": ["within 1 %"],
    "within 10 %": ["within 10 %"],
    "more than 10 % above": ["beyond"],
    "not judged": ["undecided"],
    "no answer": WORTH["no answer"],
}


@house_style()
def figure(table: pd.DataFrame) -> Figure:
    """Shares of the answers of each library, by what they are worth."""
    drawing, panels = page(1, len(TASKS), height=2.6)
    for panel, (task, words) in zip(np.ravel(panels), TASKS.items(), strict=True):
        rows = table[table["task"] == task].iloc[::-1]
        left = np.zeros(len(rows))
        for columns, colour in KINDS.values():
            share = 100.0 * (rows[columns].sum(axis=1) / rows["asked"]).to_numpy()
            panel.barh(
                rows["library"],
                share,
                left=left,
                color=colour,
                height=0.7,
                edgecolor="#8A8A8A",
                linewidth=0.3,
            )
            left += share
        panel.set_title(words.replace(" of ", "\nof ", 1), loc="left")
        panel.set_xlim(0, 100)
        panel.set_xlabel("% of the questions asked")
        panel.grid(visible=False)
    legend_below(
        drawing,
        [
            Patch(facecolor=colour, edgecolor="#8A8A8A", linewidth=0.3, label=kind)
            for kind, (_, colour) in KINDS.items()
        ],
    )
    return drawing


def lines(table: pd.DataFrame) -> list[str]:
    """Lines of the table in Markdown; time as a multiple of ours."""
    found = []
    for task, words in TASKS.items():
        rows = table[table["task"] == task]
        ours = float(rows.loc[rows["library"] == "dpnoise", "median_seconds"].iloc[0])
        heads = ["library", "asked", *KINDS, "everyday", "unsafe of these", "time"]
        found += ["", f"**{words[0].upper()}{words[1:]}**", "", _line(*heads)]
        found += [_line("---", *["---:"] * (len(heads) - 1))]
        for _, row in rows.iterrows():
            counts = [int(row[columns].sum()) for columns, _ in KINDS.values()]
            name = f"{row['library']} {row['version']}".removesuffix(" this")
            common = row["everyday"], row["unsafe everyday"]
            time = f"{row['median_seconds'] / ours:.2g}"
            found.append(_line(name, row["asked"], *counts, *common, time))
    return [*found, ""]


def filled(text: str, table: pd.DataFrame) -> str:
    """Page with the table between its marks."""
    block = "\n".join([MARKS[0], *lines(table), MARKS[1]])
    return re.sub(f"{MARKS[0]}.*{MARKS[1]}", lambda _: block, text, flags=re.DOTALL)


def _counted(counts: pd.DataFrame, worth: dict[str, list[str]]) -> list[str]:
    """Lines of the tables of counts on samples, one for each group of questions."""
    found = []
    for group, rows in counts.groupby("group", sort=False):
        heads = ["account", "asked", *worth, "processor s, median", "at most", "MB at most"]
        found += ["", f"**{str(group).capitalize()} questions**", "", _line(*heads)]
        found += [_line("---", *["---:"] * (len(heads) - 1))]
        for _, row in rows.iterrows():
            kinds = [int(row[columns].sum()) for columns in worth.values()]
            name = f"{row['library']}, {row['account']}"
            keys = ("median_seconds", "most_seconds", "megabytes")
            used = ["" if pd.isna(row[key]) else f"{row[key]:.3g}" for key in keys]
            found.append(_line(name, row["asked"], *kinds, *used))
    return found


def _named(named: pd.DataFrame, ends: dict[str, str], first: int) -> list[str]:
    """Lines of the answers to the named questions: columns with a head, then accounts."""
    accounts = list(dict.fromkeys(zip(named["library"], named["account"], strict=True)))[first:]
    heads = ["question", *ends.values(), *(f"{a}, {b}" for a, b in accounts)]
    found = ["", _line(*heads), _line("---", *["---:"] * (len(heads) - 1))]
    for question, rows in named.groupby("question", sort=False):
        answers = rows.set_index(["library", "account"])["answer"]
        known = [f"{float(rows[end].iloc[0]):.9g}" for end in ends]
        found.append(_line(question, *known, *(_short(answers[key]) for key in accounts)))
    return found


def _between(text: str, marks: tuple[str, str], found: list[str]) -> str:
    """Text with the lines found in place of what stands between two marks."""
    block = "\n".join([marks[0], *found, "", marks[1]])
    return re.sub(f"{marks[0]}.*{marks[1]}", lambda _: block, text, flags=re.DOTALL)


def sampled(text: str, counts: pd.DataFrame, named: pd.DataFrame) -> str:
    """Page with the tables on samples between their marks."""
    ends = {"lower": "lower end", "upper": "upper end"}
    return _between(text, SAMPLED, [*_counted(counts, WORTH), *_named(named, ends, 1)])


def multiplier(text: str, counts: pd.DataFrame, named: pd.DataFrame) -> str:
    """Page with the tables on noise multipliers between their marks."""
    ends = {"printed": "printed", "too_little": "too little by our lower end"}
    return _between(text, MULTIPLIER, [*_counted(counts, NOISE), *_named(named, ends, 0)])


def _short(answer: object) -> str:
    try:
        return f"{float(str(answer)):.6g}"
    except ValueError:
        return str(answer)


def _line(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    """Write the figure and the page."""
    table = pd.read_csv(HERE / "peers.csv")
    words = "Answers of seven libraries by how far they are above the truth, and unsafe ones"
    svg, *others = save(figure(table), HERE / "peers", title="Peers", description=words)
    write_bytes(svg.read_bytes(), DOCS / "images" / "peers.svg")
    for path in (svg, *others):
        path.unlink()
    document = DOCS / "peers.md"
    text = filled(document.read_text(encoding="utf-8"), table)
    for fill, name in ((sampled, "sampled"), (multiplier, "multiplier")):
        parts = (pd.read_csv(HERE / f"{one}.csv") for one in (name, f"{name}-named"))
        text = fill(text, *parts)
    write_text(text, document)


if __name__ == "__main__":
    main()
