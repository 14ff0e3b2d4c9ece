"""Four tasks of a statistics office: the noise that two other libraries need for them.

    python benchmarks/peers/office.py

asks those of OpenDP and diffprivlib that are installed where it runs and writes their rows of
office.csv, with version and day. docs/peers.md shows them beside ours, which its examples compute
(tests/test_office.py). Epsilon is 1; delta is 1e-9 for unknown categories and 1e-6 for the year.
"""

from __future__ import annotations

import csv
import math
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
TABLE = HERE / "office.csv"
COLUMNS = ("task", "library", "version", "std", "named_from", "day")
TASKS = ("twelve counts", "sums of 20 regions", "unknown codes", "a year of weeks")
MOST, WEEKS, UNKNOWN_DELTA, YEAR_DELTA, BOUND = 3, 52, 1e-9, 1e-6, 1e5
_MOST_THRESHOLD = 100


def discrete_laplace_std(scale: float) -> float:
    """The standard deviation of discrete Laplace noise."""
    return 1.0 / (math.sqrt(2.0) * math.sinh(0.5 / scale))


def opendp() -> dict[str, tuple[float, int | None]]:
    """OpenDP: scales by its own search, and its threshold."""
    import opendp.prelude as dp  # noqa: PLC0415 - where it is installed

    dp.enable_features("contrib", "honest-but-curious")
    counts = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    scale = dp.binary_search_param(lambda s: counts >> dp.m.then_laplace(s), d_in=MOST, d_out=1.0)
    found: dict[str, tuple[float, int | None]] = {TASKS[0]: (discrete_laplace_std(scale), None)}
    number = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    scale = dp.binary_search_param(lambda s: number >> dp.m.then_laplace(s), d_in=BOUND, d_out=1.0)
    found[TASKS[1]] = scale * math.sqrt(2.0), None
    codes: Any = (
        dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int)),
        dp.l01inf_distance(dp.absolute_distance(T=int)),
    )
    for threshold in range(2, _MOST_THRESHOLD):
        measured = codes >> dp.m.then_laplace_threshold(scale=1.0, threshold=threshold)
        epsilon, delta = measured.map((1, 1, 1))
        if epsilon <= 1.0 and delta <= UNKNOWN_DELTA:
            break
    found[TASKS[2]] = discrete_laplace_std(1.0), threshold + 1  # what exceeds it is named
    vector = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)

    def year(sigma: float) -> Any:  # noqa: ANN401
        each = vector >> dp.m.then_gaussian(sigma)
        together = dp.c.make_composition([each] * WEEKS)
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(together), YEAR_DELTA)

    limits = {"d_in": math.sqrt(MOST), "d_out": (1.0, YEAR_DELTA), "T": float}
    found[TASKS[3]] = dp.binary_search_param(year, **limits), None
    return found


def diffprivlib() -> dict[str, tuple[float, int | None]]:
    """diffprivlib: its mechanisms, and its accountant with half of delta as slack for a year."""
    from diffprivlib import BudgetAccountant  # noqa: PLC0415 - where it is installed
    from diffprivlib.mechanisms import GaussianAnalytic, Geometric, Laplace  # noqa: PLC0415

    def std(mechanism: Any) -> float:  # noqa: ANN401
        return math.sqrt(mechanism.variance(0))

    accountant = BudgetAccountant(epsilon=1.0, delta=YEAR_DELTA, slack=YEAR_DELTA / 2)
    epsilon, delta = map(float, accountant.remaining(WEEKS))
    year = min(
        std(Geometric(epsilon=epsilon, sensitivity=MOST)),
        std(GaussianAnalytic(epsilon=epsilon, delta=delta, sensitivity=math.sqrt(MOST))),
    )
    return {
        TASKS[0]: (std(Geometric(epsilon=1.0, sensitivity=MOST)), None),
        TASKS[1]: (std(Laplace(epsilon=1.0, sensitivity=BOUND)), None),
        TASKS[3]: (year, None),
    }


LIBRARIES: dict[str, Callable[[], dict[str, tuple[float, int | None]]]] = {
    "opendp": opendp,
    "diffprivlib": diffprivlib,
}


def recorded() -> list[dict[str, str]]:
    """The rows of the table."""
    if not TABLE.exists():
        return []
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def rows_of(library: str) -> list[dict[str, str]]:
    """The rows of one library as of today; none if it is not installed."""
    try:
        its = version(library)
    except PackageNotFoundError:
        return []
    day = datetime.now(tz=UTC).date().isoformat()
    return [
        dict(zip(COLUMNS, (task, library, its, f"{std:.9g}", str(least or ""), day), strict=True))
        for task, (std, least) in LIBRARIES[library]().items()
    ]


def main() -> None:
    """Write the rows of what is installed, beside those that are recorded of others."""
    found = {library: rows_of(library) for library in LIBRARIES}
    kept = [row for row in recorded() if not found[row["library"]]]
    rows = [*kept, *(row for some in found.values() for row in some)]
    rows.sort(key=lambda row: (TASKS.index(row["task"]), list(LIBRARIES).index(row["library"])))
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
