"""`from_frame` for random rows: counted by definition, and neighbours within the set."""

import numpy as np
import pandas as pd

from dpnoise.sensitivity.contributions import from_frame

_IDS = [1, 2, 3, 1.5, "1", "Ada", None, float("nan")]
_LABELS = [0, 1, "0", "x", ("x", 1), 2.5]
_OTHERS = [*_LABELS, None, float("nan"), "unknown", 10**400]


def _column(draws, values, n):
    """Return a column of objects, drawn with equal chances."""
    return pd.Series([draws.pick(values) for _ in range(n)], dtype=object)


def check_frame(draws, report):
    """Rows of one person more or less move the counts by an element of the set."""
    n = int(draws.rng.integers(0, 80))
    rows = pd.DataFrame({"who": _column(draws, _IDS, n), "what": _column(draws, _OTHERS, n)})
    K = int(draws.rng.integers(1, len(_LABELS) + 1))
    labels, m = _LABELS[:K], int(draws.rng.integers(1, K + 1))
    asked = {"person": "who", "by": "what", "at_most": m, "categories": labels}
    found = report.call(from_frame, rows, **asked)
    report.about("from_frame", copies=K)
    pairs = list(zip(rows["who"], rows["what"], strict=True))
    want = [0] * K
    for who in _IDS[:-2]:
        own = [what for one, what in pairs if one == who and what in labels]
        for label in list(dict.fromkeys(own))[:m]:
            want[labels.index(label)] += 1
        rest = np.array([one != who for one, _ in pairs], dtype=bool)
        other = from_frame(rows[rest], **asked)
        change = (found.counts.to_numpy() - other.counts.to_numpy()).astype(float)
        size = float(found.sensitivity.norm(change))
        report.require(size <= 1.0 + 1e-12, f"a person changes {change.tolist()}: norm {size!r}")
        report.require(bool((change >= 0.0).all()), f"a person lowers a count: {change.tolist()}")
    got = found.counts.tolist()
    report.require(got == want, f"counts {got}, by definition {want}")


CHECKS = {"frames": (check_frame, 0.2)}
