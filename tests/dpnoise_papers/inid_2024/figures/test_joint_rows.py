"""Joint noise beside the errors of inid-2024 as a page."""

import pandas as pd

from dpnoise_papers.inid_2024.figures.joint_rows import joint_rows

COLUMNS = ["item", "profile", "dimension", "epsilon", "delta", "mechanism", "error"]
ROWS = [
    ("figure-4", "linear", 21, 0.5, 1e-6, "gaussian-optimal", 1046.0),
    ("figure-4", "linear", 21, 0.5, 0.0, "laplace-optimal", 2386.0),
    ("table-2", None, 2, 0.5, 0.0, "staircase", 3.996),
    ("table-2", None, 2, 0.5, 0.0, "laplace-optimal", 3.428),
    ("table-2", None, 2, 3.0, 0.0, "staircase", 0.5),
    ("table-2", None, 2, 3.0, 0.0, "laplace-optimal", 0.5714),
]


def test_each_setting_has_the_lowest_error_of_the_paper():
    table = pd.DataFrame(ROWS, columns=COLUMNS).assign(
        joint="blocks", joint_error=2.0, floor=1.0, joint_over_floor=2.0
    )
    (page,) = joint_rows(table.assign(over_joint=table["error"] / 2.0, measure="mse"))
    assert "Beyond the paper, and no verdict on it" in page
    lines = [line for line in page.splitlines() if line.startswith(("| Figure", "| Table"))]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert [row[:7] for row in cells] == [
        ["Figure 4", "linear", "21", "0.5", "1e-06", "Gaussian, optimal i.n.i.d.", "1046"],
        ["Figure 4", "linear", "21", "0.5", "0", "Laplace, optimal i.n.i.d.", "2386"],
        ["Table II", "-", "2", "0.5", "0", "Laplace, optimal i.n.i.d.", "3.428"],
        ["Table II", "-", "2", "3", "0", "staircase in two dimensions", "0.5"],
    ]
    assert cells[0][7:] == ["2", "blocks", "1", "523.00", "2.00"]
