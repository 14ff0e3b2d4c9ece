"""Tables I and II of flipped-huber-2023 as pages: every number is there, the paper's first."""

import numpy as np
import pandas as pd

from dpnoise_papers.claims.model import Claim, Condition, Printed
from dpnoise_papers.flipped_huber_2023.figures.privacy import table_1_page
from dpnoise_papers.flipped_huber_2023.figures.variances import table_2_page


def cells(page):
    lines = [line for line in page.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def claim(epsilon, printed):
    fields = dict.fromkeys(Claim.__dataclass_fields__, "")
    select = Condition.parse(f"mechanism=laplace;method=pure;epsilon={epsilon}")
    own = {"id": "x", "item": "table-2", "kind": "printed", "quantity": "number"}
    return Claim(**(fields | own | {"select": select, "printed": Printed.parse(printed)}))


def test_table_2_has_the_papers_rows_first_with_what_is_printed():
    rows = [
        (20, delta, mechanism, method, epsilon, scale / epsilon)
        for delta in (1e-8, 1e-6)
        for mechanism, method, scale in (
            ("gaussian", "exact", 3.0), ("laplace", "pure", 800.0),
            ("flipped-huber", "box", np.nan), ("gaussian", "infimum", 1.0),
        )
        for epsilon in (1.0, 2.0)
    ]  # fmt: skip
    columns = ["dimension", "delta", "mechanism", "method", "epsilon", "variance"]
    page, latex = table_2_page(pd.DataFrame(rows, columns=columns), claims=[claim("1", "800")])
    body = cells(page)
    assert body[0] == ["Laplace, pure (delta = 0)", "1e-08", "800.00 [800]", "400.00"]
    assert body[1] == ["Gaussian, exact*", "1e-08", "3.00", "1.50"]
    assert body[2][2:] == ["-", "-"]
    assert len(body) == 6
    assert [row[0].endswith("*") for row in body] == [False] + [True] * 5
    assert latex.count("800.00 [800]") == 1


def test_table_1_counts_trials_and_says_how_far_the_worst_is_off():
    table = pd.DataFrame(
        {
            "case": ["i", "i", "i-ii"], "relative_error": [1e-16, -3e-9, 2e-12],
            "loss_error": [0.0, 1e-20, np.nan], "t1_in_interval": [1, 0, np.nan],
            "t2_in_interval": [1, 1, np.nan], "ranges": [1, 2, np.nan],
        }
    )  # fmt: skip
    page, latex = table_1_page(table)
    assert cells(page) == [
        ["(i)", "2", "1 of 2", "1", "1e-20", "3e-09"],
        ["(i-ii)", "1", "-", "-", "-", "2e-12"],
    ]
    assert "3e-09" in latex
