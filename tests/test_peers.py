"""The page on other libraries: its table is that of the last run of benchmarks/peers."""

import importlib.util
from pathlib import Path

import pandas as pd

PEERS = Path(__file__).parents[1] / "benchmarks" / "peers"


def show():
    spec = importlib.util.spec_from_file_location("show_peers", PEERS / "show.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_says_what_the_run_said():
    module, table = show(), pd.read_csv(PEERS / "peers.csv")
    page = (module.DOCS / "peers.md").read_text(encoding="utf-8")
    assert module.filled(page, table) == page


def test_every_answer_is_counted_once():
    module, table = show(), pd.read_csv(PEERS / "peers.csv")
    columns = [name for names, _ in module.KINDS.values() for name in names]
    assert (table[columns].sum(axis=1) == table["asked"]).all()
    ours = table[table["library"] == "dpnoise"]
    assert len(ours) == len(module.TASKS)
    assert (ours[["unsafe", "short by rounding", "hang", "death"]] == 0).all(axis=None)
