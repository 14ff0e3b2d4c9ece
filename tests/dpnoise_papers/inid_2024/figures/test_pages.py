"""Tables of inid-2024 as text: every number is that of its table, and in its place."""

import pytest

from dpnoise_papers.claims.model import Claim, Condition, Printed
from dpnoise_papers.inid_2024.figures.pages import table_1, table_2, table_3
from dpnoise_papers.inid_2024.settings import Formulas, Pca, TwoDimensions
from dpnoise_papers.inid_2024.tables.pca import dp_pca_table
from dpnoise_papers.inid_2024.tables.profiles import table_1 as formulas
from dpnoise_papers.inid_2024.tables.profiles import two_dimensions

EPSILONS = [0.5, 2.0]


def cells(page):
    """Return the body of a Markdown table."""
    lines = [line for line in page.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def claim(item, select, printed, **changes):
    fields = dict.fromkeys(Claim.__dataclass_fields__, "") | {
        "id": "x", "item": item, "kind": "printed", "quantity": "number",
        "select": Condition.parse(select), "printed": Printed.parse(printed),
    }  # fmt: skip
    return Claim(**fields | changes)


def test_table_1_has_each_formula_and_calibration_meets_it():
    settings = Formulas(profiles=["linear", "exponential"], dimension=7, epsilon=0.5, delta=1e-6)
    table = formulas(settings)
    assert len(table) == 12
    # on the private side of the formula, and by no more than calibration leaves
    assert table["excess"].between(-1e-15, 1e-8).all()
    page, latex = table_1(table)
    body = cells(page)
    assert {len(row) for row in body} == {5}
    assert [row[:2] for row in body][:3] == [
        ["Gaussian", "i.i.d."], ["Gaussian", "SPR"], ["Gaussian", "optimal i.n.i.d."],
    ]  # fmt: skip
    assert latex.count(r"\\") == 7


def test_table_2_shows_ours_beside_what_is_printed():
    table = two_dimensions(TwoDimensions(sensitivities=[0.85, 0.15], epsilons=EPSILONS))
    claims = [claim("table-2", "mechanism=staircase;epsilon=0.5", "3.9962")]
    page, latex = table_2(table, claims=claims)
    body = cells(page)
    assert body[0][:2] == ["Staircase", "3.9962 [3.9962]"]
    assert body[1] == ["i.i.d. Laplace", "4.0000", "1.0000"]
    assert len(body) == len(set(table["mechanism"]))
    starred = [row[0].endswith("*") for row in body]
    assert starred == [False] * 3 + [True] * (len(body) - 3)  # the paper's rows come first
    private = table[table["mechanism"] != "lower-bound"]
    for place, (_, rows) in enumerate(private.groupby("epsilon"), start=1):
        bold = [row[place] for row in body if "**" in row[place]]
        assert bold == [f"**{rows['mae'].min():.4f}**"]
    assert latex.count("&") == (len(body) + 1) * 2
    assert "**" not in latex
    assert r"$\epsilon$ = 0.5" in latex


def test_table_3_puts_variants_below_what_is_printed():
    settings = Pca(
        seed=0, variants=["stated", "unclipped", "add-remove"], samples=100, features=6, rank=2,
        subspaces=1, epsilons=EPSILONS, delta=1e-5, trials=3,
        others={"counts": [1], "variants": ["stated"], "trials": 2},
    )  # fmt: skip
    table = dp_pca_table(settings)
    claims = [claim("table-3", "noise=gaussian;scheme=inid;epsilon=2", "0.1728")]
    page, latex = table_3(table, claims=claims)
    body = cells(page)
    assert len(body) == 4 * 4
    assert body[4] == ["Gaussian i.n.i.d.", "printed", "-", "0.1728", ""]
    row = table[(table["reading"] == "unclipped") & (table["scheme"] == "inid")].iloc[0]
    assert body[6][1] == "nothing clipped"
    assert float(body[6][2].split(" ± ")[0]) == pytest.approx(row["sre"], rel=0.05)
    assert float(body[6][4]) == pytest.approx(row["epsilon_add_remove"], abs=0.005)
    assert latex.count(r"$\pm$") == 4 * 3 * 2
