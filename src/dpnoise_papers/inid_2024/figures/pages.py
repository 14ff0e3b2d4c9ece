"""Tables I to III of inid-2024 for people, printed beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from dpnoise_papers.claims.judge import printed_texts
from dpnoise_papers.pages import latex, markdown, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise_papers.claims.model import Claim

NOISES = {"gaussian": "Gaussian", "laplace": "Laplace"}
SCHEMES = {"iid": "i.i.d.", "spr": "SPR", "optimal": "optimal i.n.i.d.", "inid": "i.n.i.d."}
FORMULAS = {  # the mean squared errors as Table I prints them: in words and in LaTeX
    ("gaussian", "iid"): ("K Delta_2^2 / mu_0^2", r"K \Delta_2^2 / \mu_0^2"),
    ("gaussian", "spr"): ("K sum lambda_i^2 / mu_0^2", r"K \|\lambda\|_2^2 / \mu_0^2"),
    ("gaussian", "optimal"): ("(sum lambda_i)^2 / mu_0^2", r"\|\lambda\|_1^2 / \mu_0^2"),
    ("laplace", "iid"): ("2 K Delta_1^2 / epsilon^2", r"2 K \Delta_1^2 / \epsilon^2"),
    ("laplace", "spr"): ("2 K^2 sum lambda_i^2 / epsilon^2", r"2 K^2 \|\lambda\|_2^2 / \epsilon^2"),
    ("laplace", "optimal"): (
        "2 (sum lambda_i^(2/3))^3 / epsilon^2", r"2 (\sum_i \lambda_i^{2/3})^3 / \epsilon^2",
    ),
}  # fmt: skip
MECHANISMS = {  # the paper's three rows first
    "staircase": "Staircase",
    "laplace-iid": "i.i.d. Laplace",
    "laplace-optimal": "i.n.i.d. Laplace",
    "box-staircase": "staircase in the norm of the box*",
    "lower-bound": "lower bound on any noise*",
}
VARIANTS = {
    "stated": "as stated: entries clipped for i.n.i.d. noise",
    "unclipped": "nothing clipped",
    "add-remove": "private if a sample is added or removed",
}


def table_1(table: pd.DataFrame) -> tuple[str, str]:
    """Table I as Markdown and LaTeX: the formulas, and the calibrated noise over them."""
    profiles = list(dict.fromkeys(table["profile"]))
    known = table.set_index(["noise", "scheme", "profile"])["excess"]
    note = (
        "Mean squared errors as printed, with Delta_p = ||lambda||_p (decoupled coordinates). "
        "Beside them, by how much the noise that is calibrated exceeds the formula, relative."
    )
    heads = ["noise", "scheme", "mean squared error", *profiles]
    cells, typeset = [], []
    for (noise, scheme), (words, formula) in FORMULAS.items():
        excess = [f"{known[noise, scheme, name]:.0e}" for name in profiles]
        cells.append([NOISES[noise], SCHEMES[scheme], f"`{words}`", *excess])
        typeset.append([NOISES[noise], SCHEMES[scheme], f"${formula}$", *excess])
    page = markdown(
        "Table I of inid-2024: mean squared errors by scheme",
        note,
        pd.DataFrame(cells, columns=heads),
    )
    return page, latex(pd.DataFrame(typeset, columns=heads))


def table_2(table: pd.DataFrame, *, claims: Sequence[Claim]) -> tuple[str, str]:
    """Table II as Markdown and LaTeX, with the printed numbers in brackets.

    The lowest error of each column, bound aside, is bold in Markdown.
    """
    printed = printed_texts(claims, "table-2", ["mechanism", "epsilon"])
    epsilons = sorted(set(table["epsilon"]))
    known = table.set_index(["mechanism", "epsilon"])["mae"]
    lowest = table[table["mechanism"] != "lower-bound"].groupby("epsilon")["mae"].min()

    def page(bold: str) -> pd.DataFrame:
        """Return the table, its lowest numbers between two marks."""

        def cell(name: str, epsilon: float) -> str:
            beside, value = printed.get((name, epsilon)), known[name, epsilon]
            mark = bold if value == lowest[epsilon] else ""
            return f"{mark}{value:.4f}{mark}" + (f" [{beside}]" if beside else "")

        rows = [
            [words, *(cell(name, e) for e in epsilons)]
            for name, words in MECHANISMS.items()
            if (name, epsilons[0]) in known
        ]
        heads = ["mechanism", *(f"epsilon = {value:g}" for value in epsilons)]
        return pd.DataFrame(rows, columns=heads)

    title = "Table II of inid-2024: staircase and Laplace noise for two coordinates"
    note = (
        "Mean absolute errors, the lowest of each column in bold; in brackets what the paper "
        "prints. The staircase and i.i.d. Laplace noise are told the sum of the sensitivities "
        "alone. Rows with an asterisk are not in the paper."
    )
    return markdown(title, note, page("**")), latex(page(""))


def table_3(table: pd.DataFrame, *, claims: Sequence[Claim]) -> tuple[str, str]:
    """Table III as Markdown and LaTeX, by variant, with the printed numbers above ours."""
    printed = printed_texts(claims, "table-3", ["noise", "scheme", "epsilon"])
    epsilons = sorted(set(table["epsilon"]))
    keys = zip(*(table[key] for key in ("reading", "noise", "scheme", "epsilon")), strict=True)
    known = dict(zip(keys, table.to_dict("records"), strict=True))
    note = (
        "Subspace recovery error ± one standard error. 'keeps' is the epsilon that the noise "
        "really keeps if a sample is added or removed, at the first epsilon of the table."
    )
    cells = []
    for noise, noise_words in NOISES.items():
        for scheme in ("iid", "inid"):
            paper = [printed.get((noise, scheme, e), "-") for e in epsilons]
            cells.append([f"{noise_words} {SCHEMES[scheme]}", "printed", *paper, ""])
            for variant, words in VARIANTS.items():
                if (variant, noise, scheme, epsilons[0]) not in known:
                    continue
                rows = [known[variant, noise, scheme, e] for e in epsilons]
                ours = [number(row["sre"], row["sre_se"]) for row in rows]
                cells.append(["", words, *ours, f"{rows[0]['epsilon_add_remove']:.2f}"])
    shown = pd.DataFrame(
        cells, columns=["noise", "variant", *(f"epsilon = {e:g}" for e in epsilons), "keeps"]
    )
    title = "Table III of inid-2024: private principal components, by variant"
    return markdown(title, note, shown), latex(shown)
