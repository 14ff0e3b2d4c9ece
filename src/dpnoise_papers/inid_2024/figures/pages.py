"""Tables I to III of inid-2024 for people: Markdown and LaTeX, printed beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpnoise_papers.pages import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

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
MECHANISMS = {
    "staircase": "Staircase",
    "laplace-iid": "i.i.d. Laplace",
    "laplace-optimal": "i.n.i.d. Laplace",
}
READINGS = {
    "stated": "as stated: entries clipped for i.n.i.d. noise",
    "unclipped": "nothing clipped",
    "add-remove": "private if a sample is added or removed",
    "replace-one": "private if a sample is replaced",
}


def printed_texts(claims: Sequence[Claim], item: str, keys: Sequence[str]) -> dict[tuple, str]:
    """Return the numbers of one table as the paper prints them, by the values of `keys`.

    Parameters
    ----------
    claims : sequence of Claim
        All claims; those that are single printed numbers of the item are taken.
    item : str
    keys : sequence of str
        Columns that the claims select by; a number becomes a float.
    """
    found = {}
    for claim in claims:
        where = {condition.column: condition.value for condition in claim.select}
        single = claim.quantity == "number" and not claim.relation and claim.kind == "printed"
        if claim.item == item and single and claim.printed and set(keys) <= set(where):
            found[tuple(_value(where[key]) for key in keys)] = claim.printed.text
    return found


def _value(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def table_1(table: pd.DataFrame) -> tuple[str, str]:
    """Return Table I as Markdown and LaTeX: the formulas, and the calibrated noise over them."""
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
    title = "Table I of inid-2024: mean squared errors by scheme"
    return _markdown(title, note, heads, cells), _latex(heads, typeset)


def table_2(table: pd.DataFrame, printed: dict[tuple, str]) -> tuple[str, str]:
    """Return Table II as Markdown and LaTeX.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.inid_2024.tables.two_dimensions.two_dimensions` returns it.
    printed : dict
        As `printed_texts` returns it for the keys mechanism and epsilon.
    """
    epsilons = sorted(set(table["epsilon"]))
    known = table.set_index(["mechanism", "epsilon"])["mae"]
    note = "Mean absolute errors; in brackets what the paper prints."
    heads = ["mechanism", *(f"epsilon = {value:g}" for value in epsilons)]
    cells = [
        [words, *(_beside(f"{known[name, e]:.4f}", printed.get((name, e))) for e in epsilons)]
        for name, words in MECHANISMS.items()
    ]
    title = "Table II of inid-2024: staircase and Laplace noise for two coordinates"
    return _markdown(title, note, heads, cells), _latex(heads, cells)


def table_3(table: pd.DataFrame, printed: dict[tuple, str]) -> tuple[str, str]:
    """Return Table III as Markdown and LaTeX, by reading.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.inid_2024.tables.pca.dp_pca_table` returns it.
    printed : dict
        As `printed_texts` returns it for the keys noise, scheme and epsilon.
    """
    epsilons = sorted(set(table["epsilon"]))
    known = table.set_index(["reading", "noise", "scheme", "epsilon"])
    note = (
        "Subspace recovery error ± one standard error. 'keeps' is the epsilon that the noise "
        "really keeps if a sample is added or removed, at the first epsilon of the table."
    )
    heads = ["noise", "reading", *(f"epsilon = {value:g}" for value in epsilons), "keeps"]
    cells = []
    for noise, noise_words in NOISES.items():
        for scheme in ("iid", "inid"):
            name = f"{noise_words} {SCHEMES[scheme]}"
            paper = [printed.get((noise, scheme, e), "-") for e in epsilons]
            cells.append([name, "printed", *paper, ""])
            for reading, words in READINGS.items():
                if (reading, noise, scheme, epsilons[0]) not in known.index:
                    continue
                rows = [known.loc[(reading, noise, scheme, e)] for e in epsilons]
                ours = [number(row["sre"], row["sre_se"]) for row in rows]
                cells.append(["", words, *ours, f"{rows[0]['epsilon_add_remove']:.2f}"])
    title = "Table III of inid-2024: private principal components, by reading"
    return _markdown(title, note, heads, cells), _latex(heads, cells)


def _beside(ours: str, printed: str | None) -> str:
    return f"{ours} [{printed}]" if printed else ours


def _markdown(title: str, note: str, heads: list[str], cells: list[list[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in (heads, ["---"] * len(heads), *cells)]
    return "\n".join([f"# {title}", "", note, "", *lines]) + "\n"


def _latex(heads: list[str], cells: list[list[str]]) -> str:
    """Return a table; cells are text but for formulas, which stand between dollar signs."""

    def line(row: list[str]) -> str:
        texts = (
            cell if "$" in cell else cell.replace("epsilon", r"$\epsilon$").replace("±", r"$\pm$")
            for cell in row
        )
        return " & ".join(texts) + r" \\"

    start = [rf"\begin{{tabular}}{{{'l' * len(heads)}}}", r"\toprule", line(heads), r"\midrule"]
    return "\n".join([*start, *map(line, cells), r"\bottomrule", r"\end{tabular}"]) + "\n"
